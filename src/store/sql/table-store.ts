/**
 * The store of tables, of both databases. The rows of a version are stored first, in parts, so that no transaction is long;
 * the version itself is one row, written with everything else that its change changes (endpoint-store.ts).
 */
import { idFrom } from '../../core/id.ts'
import { sharedBuffer } from '../../core/large-bytes.ts'
import type { Change } from '../../core/stored-document.ts'
import {
  type StoredTable,
  type TableHead,
  type TableVersion,
  VERSIONS_OF_A_TABLE,
} from '../../core/tables/stored-table.ts'
import type { AuditEntry } from './audit-store.ts'
import { type Database, step, type TransactionWork } from './database.ts'
import type { Tables } from './schema.ts'
import { type NoValues, raw, sql } from './sql.ts'

/** A version to write. `before`: the number of the version before it, 0 without one; `table`: undefined for a deletion. */
export type TableWrite = Readonly<{
  name: string
  before: number
  table: Readonly<{ head: TableHead; content: string }> | undefined
  change: Change
  entry?: AuditEntry | undefined
}>

type Row = Tables['table_versions']
type ByName = Readonly<{ name: string }>

/** Parts of rows are at most so long: one is read, or written, between two messages. */
const PART_BYTES = 262_144
/** Parts without a version are left by a process that ended, or a store that did not answer: the change had an hour. */
const UNUSED_MS = 3_600_000
/** Parts that one statement removes. */
const REMOVED_AT_ONCE = 16

const LIST = sql<NoValues, Row>`
  select name, version, at, about, head, content from table_versions as newest
  where content <> '' and version = (select max(version) from table_versions where name = newest.name) order by name`
const VERSIONS = sql<ByName, Row>`
  select name, version, at, about, head, content from table_versions where name = :name order by version desc`
const NEWEST = sql<ByName, Readonly<{ version: number }>>`
  select coalesce(max(version), 0) as version from table_versions where name = :name`
const ADD = sql<Omit<Row, 'version'> & Readonly<{ version: number }>>`
  insert into table_versions (name, version, at, about, head, content)
  values (:name, :version, :at, :about, :head, :content)`
const TRIM = sql<ByName & Readonly<{ last: number }>>`
  delete from table_versions where name = :name and version <= cast(:last as integer)`
/** A later table of the name starts with none. */
const REMOVE_UNMAPPED = sql<ByName>`delete from unmapped_codes where table_name = :name`
const PART = sql<Readonly<{ content: string; part: number }>, Pick<Tables['table_parts'], 'bytes'>>`
  select bytes from table_parts where content = :content and part = :part`
const ADD_PART = sql<Tables['table_parts']>`
  insert into table_parts (content, part, bytes) values (:content, :part, :bytes)`
const REMOVE_UNUSED = sql<Readonly<{ first: string; last: string }>>`
  delete from table_parts where (content, part) in (
    select content, part from table_parts where content between :first and :last
    and not exists (select 1 from table_versions where table_versions.content = table_parts.content)
    limit ${raw(`${REMOVED_AT_ONCE}`)}
  ) returning part`

export type TableStore = ReturnType<typeof compileTableStore>

/** Builds the store. Each call rejects with StoreUnavailable if the database does not answer. */
export function compileTableStore(database: Database) {
  return {
    /** The tables that there are, by name. */
    list: async (): Promise<readonly StoredTable[]> => (await database.read(LIST, {})).map(tableFromRow),
    /** Newest first; also of a table that was deleted. */
    versions: async (name: string): Promise<readonly TableVersion[]> =>
      (await database.read(VERSIONS, { name })).map(versionFromRow),
    /** The bytes that were stored as `content`; undefined if not all are there any more. */
    async read(content: string, bytes: number): Promise<Uint8Array | undefined> {
      const whole = sharedBuffer(bytes)
      let end = 0
      for (let part = 0; end < bytes; part += 1) {
        const [row] = await database.read(PART, { content, part })
        if (row === undefined) return undefined
        whole.set(row.bytes, end)
        end += row.bytes.byteLength
      }
      return whole
    },
    /** Stores bytes for a version to come, under a new id (core/id.ts). */
    async keep(content: string, bytes: Uint8Array): Promise<void> {
      for (let part = 0; part * PART_BYTES < bytes.byteLength; part += 1) {
        const from = part * PART_BYTES
        await database.write(ADD_PART, { content, part, bytes: bytes.subarray(from, from + PART_BYTES) })
      }
    },
    /** Removes what no version has and no change is about to have. `now`: milliseconds since the epoch. */
    removeUnused: (now: number): Promise<void> => removeUnused('', idFrom(now - UNUSED_MS)),
    /** Removes what a change kept that was refused, unless a version has it. */
    unkeep: (content: string): Promise<void> => removeUnused(content, content),
  }

  /** A little at a time. */
  async function removeUnused(first: string, last: string): Promise<void> {
    while ((await database.write(REMOVE_UNUSED, { first, last })).length > 0);
  }
}

/** What writes were checked against besides what they replace: the version of the store, and those of tables, by name. */
export type Premises = Readonly<{ storeVersion?: number | undefined; tables: ReadonlyMap<string, number> }>

/** Whether the store has changed since, within a transaction. */
export function* haveChanged({ storeVersion, tables }: Premises, database: Database): TransactionWork<boolean> {
  if (storeVersion !== undefined) {
    const [now] = yield* step(database.version, {})
    if (Number(now?.version) !== storeVersion) return true
  }
  for (const [name, version] of tables) {
    const [newest] = yield* step(NEWEST, { name })
    if (newest?.version !== version) return true
  }
  return false
}

/** Writes the versions within a transaction. Out: the index of the first one whose table has changed; else undefined. */
export function* writeTables(writes: readonly TableWrite[]): TransactionWork<number | undefined> {
  for (const [index, { name, before }] of writes.entries()) {
    const [newest] = yield* step(NEWEST, { name })
    if (newest?.version !== before) return index
  }
  for (const { name, before, table, change } of writes) {
    const { at, ...about } = change
    const version = before + 1
    const head = table === undefined ? '' : JSON.stringify(table.head)
    yield* step(ADD, { name, version, at, about: JSON.stringify(about), head, content: table?.content ?? '' })
    yield* step(TRIM, { name, last: version - VERSIONS_OF_A_TABLE })
    if (table === undefined) yield* step(REMOVE_UNMAPPED, { name })
  }
  return undefined
}

const versionFromRow = ({ version, at, about, head, content }: Row): TableVersion => ({
  ...(JSON.parse(about) as Omit<Change, 'at'>),
  version,
  at,
  head: head === '' ? null : JSON.parse(head),
  content,
})

const tableFromRow = ({ name, version, at, head, content }: Row): StoredTable => ({
  ...(JSON.parse(head) as TableHead),
  name,
  version,
  updatedAt: at,
  content,
})
