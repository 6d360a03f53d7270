/** The tables that are copied from one store into another, and the checksums that show that both hold the same. */
import { createHash } from 'node:crypto'
import type { Tables } from './schema.ts'
import type { SqlValue } from './sql.ts'

export type CopiedRow = Readonly<Record<string, SqlValue>>

export type CopiedTable = Readonly<{
  table: string
  /** What it holds, as users read it. */
  holds: string
  /** The columns by which its rows are sorted for the comparison. */
  key: readonly string[]
  /** A condition in SQL on the rows to copy; all of them by default. */
  only?: string
}>

/** By the name of each column. */
export type Columns = Readonly<Record<string, 'text' | 'integer' | 'bytes'>>

/** A table with its columns, as the source has them. */
export type SourceTable = CopiedTable & Readonly<{ columns: Columns }>

/** A store as of one moment. */
export type Snapshot = Readonly<{
  columns(table: CopiedTable): Columns
  /** Sorted by their key. Throws StoreUnavailable, or what the database throws. */
  rows(table: CopiedTable): Iterable<CopiedRow>
  close(): void
}>

const copied = <Name extends keyof Tables>(
  table: Name,
  holds: string,
  key: readonly (keyof Tables[Name] & string)[],
  only?: string,
): CopiedTable => ({ table, holds, key, ...(only === undefined ? {} : { only }) })

/** By the names that users read, each table after those that it refers to. */
export const COPIED = {
  endpoints: copied('endpoints', 'endpoints', ['id']),
  claims: copied('endpoint_claims', 'claims of endpoints', ['key']),
  states: copied('states', 'states', ['endpoint_id', 'lookup_status', 'network_error']),
  versions: copied('endpoint_versions', 'versions of endpoints', ['endpoint_id', 'version']),
  tests: copied('endpoint_tests', 'tests of endpoints', ['endpoint_id']),
  // Claims are left out: the processes that held them have ended.
  answers: copied('kept_answers', 'cached responses', ['endpoint_id', 'key'], `owner = ''`),
  tables: copied('table_versions', 'tables', ['name', 'version']),
  tableParts: copied('table_parts', 'rows of tables', ['content', 'part']),
  keys: copied('api_keys', 'API keys', ['id']),
  audit: copied('audit', 'an audit log', ['id']),
  groups: copied('failure_groups', 'marks of failure groups', ['key']),
} as const satisfies Readonly<Record<string, CopiedTable>>

export type CopiedName = keyof typeof COPIED
export const COPIED_NAMES = Object.keys(COPIED) as readonly CopiedName[]

/** Long values are compared by their SHA-256, which each database computes itself. */
export const isDigested = ({ key, columns }: SourceTable, name: string): boolean =>
  columns[name] !== 'integer' && !key.includes(name)

export type TableSummary = Readonly<{ rows: number; sha256: string }>
export type StoreSummary = Readonly<Record<CopiedName, TableSummary>>

/** Number and checksum of rows that come sorted by their key. The rows hold digests in place of long values. */
export async function summarizeTable(
  { columns }: SourceTable,
  rows: AsyncIterable<CopiedRow> | Iterable<CopiedRow>,
): Promise<TableSummary> {
  const names = Object.keys(columns)
  // Some drivers return numbers as text.
  const toText = (value: SqlValue | undefined) => (value === undefined || value === null ? null : `${value}`)
  const hash = createHash('sha256')
  let count = 0
  for await (const row of rows) {
    count += 1
    hash.update(`${JSON.stringify(names.map((name) => toText(row[name])))}\n`)
  }
  return { rows: count, sha256: hash.digest('hex') }
}

/** A row as `summarizeTable` expects it. */
export const digested = (table: SourceTable, row: CopiedRow): CopiedRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isDigested(table, name) ? computeDigest(value) : value]),
  )

const computeDigest = (value: SqlValue): SqlValue =>
  typeof value === 'string' || value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value
