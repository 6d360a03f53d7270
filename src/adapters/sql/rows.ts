/** What is copied from one store into another, row by row, and how both are shown to be the same. */
import { createHash } from 'node:crypto'
import type { SqlValue } from './statement.ts'
import type { Tables } from './tables.ts'

/** `long text` and `bytes` are compared by their SHA-256, which each side makes where they are. */
export type ColumnKind = 'text' | 'integer' | 'bigint' | 'long text' | 'bytes'

export type Row = Readonly<Record<string, SqlValue>>

export type CopiedTable = Readonly<{
  table: string
  /** What it holds, for people. */
  holds: string
  /** In whose order its rows are compared. */
  key: readonly string[]
  columns: Readonly<Record<string, ColumnKind>>
  /** A condition in SQL on what is copied; all of it where left out. */
  only?: string
}>

/** What a store held at one moment. */
export type Snapshot = Readonly<{
  /** In the order of their key. Throws StoreUnavailable, or what the database throws. */
  rows(table: CopiedTable): Iterable<Row>
  close(): void
}>

/** With every column, so that none is forgotten. */
const copied = <Name extends keyof Tables>(
  table: Name,
  holds: string,
  key: readonly (keyof Tables[Name] & string)[],
  columns: Readonly<Record<keyof Tables[Name] & string, ColumnKind>>,
  only?: string,
): CopiedTable => ({ table, holds, key, columns, ...(only === undefined ? {} : { only }) })

/** By the names that people see, each after those that it refers to. */
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
  answers: copied(
    'kept_answers',
    'answers',
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
    // What is under way has nobody who works on it any more.
    `owner = ''`,
  ),
  keys: copied('api_keys', 'API keys', ['id'], {
    id: 'text',
    name: 'text',
    roles: 'text',
    hash: 'text',
    created_at: 'text',
    revoked_at: 'text',
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
} as const satisfies Readonly<Record<string, CopiedTable>>

export type CopiedName = keyof typeof COPIED
export const COPIED_NAMES = Object.keys(COPIED) as readonly CopiedName[]

export const isDigested = (kind: ColumnKind): boolean => kind === 'long text' || kind === 'bytes'

export type TableSummary = Readonly<{ rows: number; sha256: string }>
export type StoreSummary = Readonly<Record<CopiedName, TableSummary>>

/** Count and checksum over every column of rows that come in the order of their key. Digests are in the place of values. */
export async function summaryOf(
  { columns }: CopiedTable,
  rows: AsyncIterable<Row> | Iterable<Row>,
): Promise<TableSummary> {
  const names = Object.keys(columns)
  // Some drivers give numbers as text.
  const textOf = (value: SqlValue | undefined) => (value === undefined || value === null ? null : `${value}`)
  const hash = createHash('sha256')
  let count = 0
  for await (const row of rows) {
    count += 1
    hash.update(`${JSON.stringify(names.map((name) => textOf(row[name])))}\n`)
  }
  return { rows: count, sha256: hash.digest('hex') }
}

/** A row as `summaryOf` takes it. */
export const digested = ({ columns }: CopiedTable, row: Row): Row =>
  Object.fromEntries(
    Object.entries(columns).map(([name, kind]) => [
      name,
      isDigested(kind) ? digestOf(row[name] ?? null) : (row[name] ?? null),
    ]),
  )

const digestOf = (value: SqlValue): SqlValue =>
  typeof value === 'string' || value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value
