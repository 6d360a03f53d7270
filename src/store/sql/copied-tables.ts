/** The tables that are copied from one store into another, and the checksums that show that both hold the same. */
import { createHash } from 'node:crypto'
import type { SqlValue } from './sql.ts'
import type { Tables } from './tables.ts'

/** `long text` and `bytes` are compared by their SHA-256, which each database computes itself. */
export type ColumnKind = 'text' | 'integer' | 'bigint' | 'long text' | 'bytes'

export type CopiedRow = Readonly<Record<string, SqlValue>>

export type CopiedTable = Readonly<{
  table: string
  /** What it holds, as users read it. */
  holds: string
  /** The columns by which its rows are sorted for the comparison. */
  key: readonly string[]
  columns: Readonly<Record<string, ColumnKind>>
  /** A condition in SQL on the rows to copy; all of them by default. */
  only?: string
}>

/** A store as of one moment. */
export type Snapshot = Readonly<{
  /** Sorted by their key. Throws StoreUnavailable, or what the database throws. */
  rows(table: CopiedTable): Iterable<CopiedRow>
  close(): void
}>

/** The types demand every column, so that none is forgotten. */
const copied = <Name extends keyof Tables>(
  table: Name,
  holds: string,
  key: readonly (keyof Tables[Name] & string)[],
  columns: Readonly<Record<keyof Tables[Name] & string, ColumnKind>>,
  only?: string,
): CopiedTable => ({ table, holds, key, columns, ...(only === undefined ? {} : { only }) })

/** By the names that users read, each table after those that it refers to. */
export const COPIED = {
  endpoints: copied('endpoints', 'endpoints', ['id'], {
    id: 'text',
    name: 'text',
    route_key: 'text',
    document: 'long text',
  }),
  states: copied('states', 'states', ['endpoint_id', 'lookup_status', 'network_error'], {
    endpoint_id: 'text',
    lookup_status: 'integer',
    network_error: 'integer',
    sequence: 'bigint',
    state: 'long text',
  }),
  versions: copied('endpoint_versions', 'versions of endpoints', ['endpoint_id', 'version'], {
    endpoint_id: 'text',
    version: 'integer',
    at: 'text',
    about: 'text',
    document: 'long text',
  }),
  tests: copied('endpoint_tests', 'tests of endpoints', ['endpoint_id'], {
    endpoint_id: 'text',
    tests: 'long text',
  }),
  answers: copied(
    'kept_answers',
    'cached responses',
    ['endpoint_id', 'key'],
    {
      endpoint_id: 'text',
      key: 'text',
      fingerprint: 'text',
      owner: 'text',
      until: 'bigint',
      size: 'integer',
      detail: 'long text',
      body: 'bytes',
    },
    // Claims are left out: the processes that held them have ended.
    `owner = ''`,
  ),
  keys: copied('api_keys', 'API keys', ['id'], {
    id: 'text',
    name: 'text',
    roles: 'text',
    hash: 'text',
    created_at: 'text',
    revoked_at: 'text',
    expires_at: 'text',
  }),
  audit: copied('audit', 'an audit log', ['id'], {
    id: 'text',
    who: 'text',
    name: 'text',
    what: 'text',
    target: 'text',
    refused: 'integer',
    detail: 'long text',
  }),
  groups: copied('failure_groups', 'marks of failure groups', ['key'], {
    key: 'text',
    at: 'text',
    detail: 'long text',
  }),
} as const satisfies Readonly<Record<string, CopiedTable>>

export type CopiedName = keyof typeof COPIED
export const COPIED_NAMES = Object.keys(COPIED) as readonly CopiedName[]

export const isDigested = (kind: ColumnKind): boolean => kind === 'long text' || kind === 'bytes'

export type TableSummary = Readonly<{ rows: number; sha256: string }>
export type StoreSummary = Readonly<Record<CopiedName, TableSummary>>

/** Number and checksum of rows that come sorted by their key. The rows hold digests in place of long values. */
export async function summaryOf(
  { columns }: CopiedTable,
  rows: AsyncIterable<CopiedRow> | Iterable<CopiedRow>,
): Promise<TableSummary> {
  const names = Object.keys(columns)
  // Some drivers return numbers as text.
  const textOf = (value: SqlValue | undefined) => (value === undefined || value === null ? null : `${value}`)
  const hash = createHash('sha256')
  let count = 0
  for await (const row of rows) {
    count += 1
    hash.update(`${JSON.stringify(names.map((name) => textOf(row[name])))}\n`)
  }
  return { rows: count, sha256: hash.digest('hex') }
}

/** A row as `summaryOf` expects it. */
export const digested = ({ columns }: CopiedTable, row: CopiedRow): CopiedRow =>
  Object.fromEntries(
    Object.entries(columns).map(([name, kind]) => [
      name,
      isDigested(kind) ? digestOf(row[name] ?? null) : (row[name] ?? null),
    ]),
  )

const digestOf = (value: SqlValue): SqlValue =>
  typeof value === 'string' || value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value
