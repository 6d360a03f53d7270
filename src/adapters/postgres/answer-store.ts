/** Answers that are given again, in PostgreSQL: whichever instance gave one, each of them gives it again. */
import { type Kysely, sql } from 'kysely'
import type { AnswerStore } from '../../domain/answer-store.ts'
import { claimOf, compileAnswerStatements, keepValues } from '../sql/answer-statements.ts'
import type { Tables } from '../sql/tables.ts'
import { type Connections, prepare, prepareText } from './connections.ts'

export type AnswerStoreOptions = Readonly<{ connections: Connections; queries: Kysely<Tables> }>

const DIALECT = { now: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`, bytes: sql`bytea` }

/** All of them at once: there may be as many as messages under way. */
const RENEW = prepareText<Readonly<{ owners: readonly string[]; leaseMs: number }>, never>(
  `update kept_answers set until = cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + $2
  where owner = any($1::text[]) and owner <> ''`,
  ({ owners, leaseMs }) => [owners, leaseMs],
)

/** Builds the store over a database whose tables are in place. */
export function compileAnswerStore({ connections, queries }: AnswerStoreOptions): AnswerStore {
  const statements = compileAnswerStatements(queries, DIALECT)
  const claim = prepare(statements.claim)
  const find = prepare(statements.find)
  const keep = prepare(statements.keep)
  const release = prepare(statements.release)
  const purge = prepare(statements.purge)
  const bytes = prepare(statements.bytes)
  return {
    claim: async ({ endpointId, key, fingerprint }, owner, leaseMs) => {
      for (;;) {
        const [mine] = await connections.run(claim, { endpointId, key, fingerprint, owner, leaseMs })
        if (mine !== undefined) return { kind: 'mine' }
        const [row] = await connections.run(find, { endpointId, key })
        const found = claimOf(row)
        // What was in the way may have gone between the two.
        if (found !== undefined) return found
      }
    },
    renew: async (owners, leaseMs) => {
      await connections.run(RENEW, { owners, leaseMs })
    },
    keep: async (request, owner, answer, keepMs) => {
      const values = keepValues(request, owner, answer, keepMs)
      const [kept] = await connections.run(keep, values)
      if (kept !== undefined) return 'kept'
      const [row] = await connections.run(find, values)
      return row === undefined ? 'gone' : 'lost'
    },
    release: async ({ endpointId, key }, owner) => {
      await connections.run(release, { endpointId, key, owner })
    },
    purge: async () => (await connections.run(purge, {})).length,
    bytes: async () => Number((await connections.run(bytes, {}))[0]?.bytes ?? 0),
  }
}
