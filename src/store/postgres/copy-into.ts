/** Copies another store into an empty database: all of it, verified, or nothing. */
import pg from 'pg'
import { StoreUnavailable } from '../../domain/ports/store-port.ts'
import {
  COPIED,
  COPIED_NAMES,
  type ColumnKind,
  type CopiedRow,
  type CopiedTable,
  digested,
  isDigested,
  type Snapshot,
  type StoreSummary,
  summaryOf,
  type TableSummary,
} from '../sql/copied-tables.ts'
import { chunksOf } from './chunks.ts'
import { ask, CONNECT_TIMEOUT_MS } from './connection-pool.ts'
import { storeFault } from './error-codes.ts'

const DIFFERENT =
  'The source or the target has changed during the copy, so nothing was copied: stop the services that work on them, and try again.'

/** Rows of a page of the verification: keys, names and checksums. */
const PAGE = 1_000

/**
 * Writes the rows in one transaction, reads them back in it, and commits if they equal what the source still holds.
 * Neither store is ever in memory as a whole. The tables must be up to date. Gives the summary of what was read back.
 * Rejects with StoreUnavailable, whose message is one sentence for the operator, if the database is not empty or the copy
 * differs.
 */
export async function copyInto(url: string, open: () => Snapshot): Promise<StoreSummary> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'crosswalk copy',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await ask(client, 'begin')
    await ask(client, 'select version from configuration for update')
    for (const name of COPIED_NAMES) await demandEmpty(client, COPIED[name])
    await withSource(open, async (source) => {
      for (const name of COPIED_NAMES) await insert(client, COPIED[name], source)
    })
    // States written from now on are newer than the copied ones.
    await client.query(`select setval('states_sequence', max(sequence)) from states having count(*) > 0`)
    const copied = await summarise((table) => summaryOf(table, readBack(client, table)))
    const present = await withSource(open, (source) => summarise((table) => summaryOf(table, digestsOf(table, source))))
    if (JSON.stringify(copied) !== JSON.stringify(present)) throw new StoreUnavailable(DIFFERENT)
    await client.query('commit')
    return copied
  } catch (thrown) {
    throw storeFault(thrown)
  } finally {
    // Closing the connection rolls back what was not committed.
    await client.end()
  }
}

async function withSource<T>(open: () => Snapshot, work: (source: Snapshot) => Promise<T>): Promise<T> {
  const source = open()
  try {
    return await work(source)
  } finally {
    source.close()
  }
}

async function summarise(of: (table: CopiedTable) => Promise<TableSummary>): Promise<StoreSummary> {
  const summaries: [string, TableSummary][] = []
  for (const name of COPIED_NAMES) summaries.push([name, await of(COPIED[name])])
  return Object.fromEntries(summaries) as StoreSummary
}

async function demandEmpty(client: pg.Client, { table, holds }: CopiedTable): Promise<void> {
  if ((await ask(client, `select 1 from ${table} limit 1`)).length === 0) return
  throw new StoreUnavailable(`The target holds ${holds} already; copy into an empty database.`)
}

const TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text',
  'long text': 'text',
  integer: 'integer',
  bigint: 'bigint',
  bytes: 'bytea',
}

async function insert(client: pg.Client, copied: CopiedTable, source: Snapshot): Promise<void> {
  const columns = Object.entries(copied.columns)
  const values = columns.map(([, kind], index) => `$${index + 1}::${TYPES[kind]}[]`).join(', ')
  const text = `insert into ${copied.table} (${columns.map(([name]) => name).join(', ')}) select * from unnest(${values})`
  for (const chunk of chunksOf(source.rows(copied), charactersOf)) {
    await client.query(
      text,
      columns.map(([name]) => chunk.map((row) => asParameter(row[name]))),
    )
  }
}

/** Within an array the driver accepts bytes as Buffers only. */
const asParameter = (value: CopiedRow[string] | undefined) =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value

/** A byte is sent as two characters. */
const charactersOf = (row: CopiedRow): number =>
  Object.values(row).reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + value.length
    return value instanceof Uint8Array ? sum + 2 * value.byteLength : sum
  }, 0)

function* digestsOf(table: CopiedTable, source: Snapshot): Generator<CopiedRow> {
  for (const row of source.rows(table)) yield digested(table, row)
}

/** Page by page; of long values the server sends the checksum only. */
async function* readBack(client: pg.Client, { table, key, columns }: CopiedTable): AsyncGenerator<CopiedRow> {
  const selected = Object.entries(columns).map(([name, kind]) =>
    isDigested(kind) ? `${digestText(name, kind)} as ${name}` : name,
  )
  // Sorted by bytes, whatever the collation of the database.
  const order = key.map((name) => (columns[name] === 'text' ? `${table}.${name} collate "C"` : name))
  await client.query(
    `declare copied no scroll cursor for select ${selected.join(', ')} from ${table} order by ${order.join(', ')}`,
  )
  for (;;) {
    const { rows } = await client.query<CopiedRow>(`fetch ${PAGE} from copied`)
    if (rows.length === 0) break
    yield* rows
  }
  await client.query('close copied')
}

const digestText = (name: string, kind: ColumnKind): string =>
  `encode(sha256(${kind === 'bytes' ? name : `convert_to(${name}, 'UTF8')`}), 'hex')`
