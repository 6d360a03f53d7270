/** The store of what people say of groups of failures, of both databases. */
import type { GroupKey } from '../../../domain/ports/message-store-port.ts'
import type { FailureGroupStore, GroupMark } from '../../../domain/replays/failure-group-store-port.ts'
import { type Database, step } from '../database.ts'
import { type NoValues, sql } from '../sql.ts'
import { indexable, type Tables } from '../tables.ts'
import { addEntries } from './audit-store.ts'

type Row = Tables['failure_groups']

const PUT = sql<Row>`
  insert into failure_groups (key, at, detail) values (:key, :at, :detail)
  on conflict (key) do update set at = excluded.at, detail = excluded.detail`
const TRIM = sql<{ most: number }>`
  delete from failure_groups where key in (
    select key from failure_groups order by at desc limit 1000 offset cast(:most as integer)
  )`
const LIST = sql<NoValues, Row>`select key, at, detail from failure_groups order by at desc, key`

/** Builds the store over a database whose tables are up to date. */
export function compileFailureGroupStore(database: Database): FailureGroupStore {
  return {
    put: (group, { at, ...mark }, most, entry) =>
      database.transaction(function* () {
        const text = textOf(group)
        yield* step(PUT, { key: indexable(text), at, detail: JSON.stringify([text, mark]) })
        yield* step(TRIM, { most })
        yield* addEntries([entry])
      }),
    list: async () => (await database.read(LIST, {})).map(markedOf),
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
