/** The store of what people say of groups of failures, of both databases. */

import { type AuditEntry, addEntries } from './audit-store.ts'
import { type Database, step } from './database.ts'
import type { GroupKey } from './messages.ts'
import { indexable, type Tables } from './schema.ts'
import { type NoValues, sql } from './sql.ts'

export const GROUP_STATES = ['open', 'acknowledged', 'ignored'] as const
export type GroupState = (typeof GROUP_STATES)[number]

/** The last mark of a group. */
export type GroupMark = Readonly<{
  state: GroupState
  note?: string | undefined
  /** Who said it, as the audit log names callers. */
  by: string
  /** ISO 8601. */
  at: string
}>

type MarkedGroup = Readonly<{ group: GroupKey; mark: GroupMark }>
type Row = Tables['failure_groups']

const PUT = sql<Row>`
  insert into failure_groups (key, at, detail) values (:key, :at, :detail)
  on conflict (key) do update set at = excluded.at, detail = excluded.detail`
const TRIM = sql<{ most: number }>`
  delete from failure_groups where key in (
    select key from failure_groups order by at desc limit 1000 offset cast(:most as integer)
  )`
const LIST = sql<NoValues, Row>`select key, at, detail from failure_groups order by at desc, key`

export type FailureGroupStore = ReturnType<typeof compileFailureGroupStore>

/** Builds the store over a database whose tables are up to date. Rejects with StoreUnavailable if it does not answer. */
export function compileFailureGroupStore(database: Database) {
  return {
    /**
     * Replaces the mark of a group, with `entry` in the audit log. If there are more than `max` marks then, the oldest are
     * removed.
     */
    put: (group: GroupKey, { at, ...mark }: GroupMark, max: number, entry?: AuditEntry): Promise<void> =>
      database.transaction(function* () {
        const text = formatKey(group)
        yield* step(PUT, { key: indexable(text), at, detail: JSON.stringify([text, mark]) })
        yield* step(TRIM, { most: max })
        yield* addEntries([entry])
      }),
    /** The newest first. */
    list: async (): Promise<readonly MarkedGroup[]> => (await database.read(LIST, {})).map(markedGroupFromRow),
  }
}

/** JSON has no text that is not well-formed, which databases reject. */
const formatKey = ({ endpointId, stage, code, path }: GroupKey): string =>
  JSON.stringify([endpointId ?? null, stage ?? null, code ?? null, path ?? null])

function markedGroupFromRow({ at, detail }: Row): MarkedGroup {
  const [text, mark] = JSON.parse(detail) as [string, Omit<GroupMark, 'at'>]
  const [endpointId, stage, code, path] = (JSON.parse(text) as (string | null)[]).map((value) => value ?? undefined)
  return { group: { endpointId, stage, code, path }, mark: { ...mark, at } }
}
