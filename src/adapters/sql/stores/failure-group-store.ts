/** The store of what people say of groups of failures, of both databases. */
import { sql } from 'kysely'
import type { GroupKey } from '../../../domain/ports/message-store-port.ts'
import type { FailureGroupStore, GroupMark } from '../../../domain/replays/failure-group-store-port.ts'
import { type SqlDatabase, type SqlDialect, step } from '../database.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import { indexable, type Tables } from '../tables.ts'
import { compileEntries } from './audit-store.ts'

type Row = Tables['failure_groups']

function compileStatements({ queries }: SqlDialect) {
  const raw = rawQuery(queries)
  return {
    put: compileStatement<Row>((value) =>
      raw(sql`insert into failure_groups (key, at, detail)
        values (${value('key')}, ${value('at')}, ${value('detail')})
        on conflict (key) do update set at = excluded.at, detail = excluded.detail`),
    ),
    trim: compileStatement<Readonly<{ most: number }>>((value) =>
      raw(sql`delete from failure_groups where key in (
        select key from failure_groups order by at desc limit 1000 offset cast(${value('most')} as integer)
      )`),
    ),
    list: compileStatement<Record<never, never>, Row>(() =>
      queries.selectFrom('failure_groups').selectAll().orderBy('at', 'desc').orderBy('key'),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileFailureGroupStore(database: SqlDatabase): FailureGroupStore {
  const statements = compileStatements(database.dialect)
  const addEntries = compileEntries(database)
  return {
    put: (group, { at, ...mark }, most, entry) =>
      database.transaction(function* () {
        const text = textOf(group)
        yield* step(statements.put, { key: indexable(text), at, detail: JSON.stringify([text, mark]) })
        yield* step(statements.trim, { most })
        yield* addEntries([entry])
      }),
    list: async () => (await database.read(statements.list, {})).map(markedOf),
  }
}

/** JSON has no text that is not well-formed, which databases reject. */
const textOf = ({ endpointId, stage, code, path }: GroupKey): string =>
  JSON.stringify([endpointId ?? null, stage ?? null, code ?? null, path ?? null])

function markedOf({ at, detail }: Row): Readonly<{ group: GroupKey; mark: GroupMark }> {
  const [text, mark] = JSON.parse(detail) as [string, Omit<GroupMark, 'at'>]
  const [endpointId, stage, code, path] = (JSON.parse(text) as (string | null)[]).map((value) => value ?? undefined)
  return { group: { endpointId, stage, code, path }, mark: { ...mark, at } }
}
