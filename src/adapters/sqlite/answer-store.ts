/**
 * Answers that are given again, in SQLite. Where one process has the file to itself, whoever asks knows by itself what is
 * under way (pipeline/answers.ts), and nothing is written before there is an answer: what a process that died had begun is
 * free at once. Processes that share the file claim in it.
 */
import type { DatabaseSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import type { AnswerStore } from '../../domain/answer-store.ts'
import { claimOf, compileAnswerStatements, keepValues } from '../sql/answer-statements.ts'
import type { Tables } from '../sql/tables.ts'
import type { GroupCommit } from './group-commit.ts'
import { prepare } from './prepare.ts'

export type AnswerStoreOptions = Readonly<{
  db: DatabaseSync
  queries: Kysely<Tables>
  writer: GroupCommit
  /** Whether other processes keep answers in the file too. */
  shared: boolean
}>

const DIALECT = { now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`, bytes: sql`blob` }

/** Builds the store over a connection whose tables are in place. */
export function compileAnswerStore({ db, queries, writer, shared }: AnswerStoreOptions): AnswerStore {
  const statements = compileAnswerStatements(queries, DIALECT)
  const claim = prepare(db, statements.claim)
  const find = prepare(db, statements.find)
  const keep = prepare(db, statements.keep)
  const renew = prepare(db, statements.renew)
  const release = prepare(db, statements.release)
  const purge = prepare(db, statements.purge)
  const bytes = prepare(db, statements.bytes)
  return {
    claim: async (request, owner, leaseMs) => {
      const { endpointId, key, fingerprint } = request
      const found = claimOf(find.first({ endpointId, key }))
      if (found !== undefined || !shared) return found ?? { kind: 'mine' }
      return writer.write(() => {
        const isMine = claim.first({ endpointId, key, fingerprint, owner, leaseMs }) !== undefined
        return isMine ? { kind: 'mine' } : (claimOf(find.first({ endpointId, key })) ?? { kind: 'gone' })
      })
    },
    renew: async (owners, leaseMs) => {
      if (!shared) return
      await writer.write(() => {
        for (const owner of owners) renew.run({ owner, leaseMs })
      })
    },
    keep: async (request, owner, answer, keepMs) => {
      const values = keepValues(request, owner, answer, keepMs)
      return writer.write(() => {
        if (keep.first(values) !== undefined) return 'kept'
        return find.first(values) === undefined ? 'gone' : 'lost'
      })
    },
    release: async ({ endpointId, key }, owner) => {
      if (shared) await writer.write(() => release.run({ endpointId, key, owner }))
    },
    purge: () => writer.write(() => purge.all({}).length),
    bytes: async () => Number(bytes.first({})?.bytes ?? 0),
  }
}
