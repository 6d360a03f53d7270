/** Copies another store into an empty database: all of it, verified, or nothing. */
import pg from 'pg'
import {
  COPIED,
  COPIED_NAMES,
  type CopiedName,
  type CopiedRow,
  type CopiedTable,
  digested,
  isDigested,
  type Snapshot,
  type SourceTable,
  type StoreSummary,
  summarizeTable,
  type TableSummary,
} from '../sql/copied-tables.ts'
import { StoreUnavailable } from '../store-access.ts'
import { ask, CONNECT_TIMEOUT_MS, splitIntoChunks, storeFault } from './connection-pool.ts'

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
    const tables = await withSource(open, async (source) => {
      const read = COPIED_NAMES.map((name) => ({ name, ...COPIED[name], columns: source.columns(COPIED[name]) }))
      for (const table of read) await insert(client, table, source)
      return read
    })
    // States written from now on are newer than the copied ones.
    await client.query(`select setval('states_sequence', max(sequence)) from states having count(*) > 0`)
    const copied = await summarise(tables, (table) => summarizeTable(table, readBack(client, table)))
    const present = await withSource(open, (source) =>
      summarise(tables, (table) => summarizeTable(table, digestRows(table, source))),
    )
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

async function summarise(
  tables: readonly (SourceTable & Readonly<{ name: CopiedName }>)[],
  of: (table: SourceTable) => Promise<TableSummary>,
): Promise<StoreSummary> {
  const summaries: [string, TableSummary][] = []
  for (const table of tables) summaries.push([table.name, await of(table)])
  return Object.fromEntries(summaries) as StoreSummary
}

async function demandEmpty(client: pg.Client, { table, holds }: CopiedTable): Promise<void> {
  if ((await ask(client, `select 1 from ${table} limit 1`)).length === 0) return
  throw new StoreUnavailable(`The target holds ${holds} already; copy into an empty database.`)
}

/** The server casts a number to the type of its column. */
const TYPES = { text: 'text', integer: 'bigint', bytes: 'bytea' } as const

async function insert(client: pg.Client, copied: SourceTable, source: Snapshot): Promise<void> {
  const columns = Object.entries(copied.columns)
  const values = columns.map(([, kind], index) => `$${index + 1}::${TYPES[kind]}[]`).join(', ')
  const text = `insert into ${copied.table} (${columns.map(([name]) => name).join(', ')}) select * from unnest(${values})`
  for (const chunk of splitIntoChunks(source.rows(copied), countCharacters)) {
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
const countCharacters = (row: CopiedRow): number =>
  Object.values(row).reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + value.length
    return value instanceof Uint8Array ? sum + 2 * value.byteLength : sum
  }, 0)

function* digestRows(table: SourceTable, source: Snapshot): Generator<CopiedRow> {
  for (const row of source.rows(table)) yield digested(table, row)
}

/** Page by page; of long values the server sends the checksum only. */
async function* readBack(client: pg.Client, copied: SourceTable): AsyncGenerator<CopiedRow> {
  const { table, key, columns } = copied
  const selected = Object.keys(columns).map((name) =>
    isDigested(copied, name) ? `${digestText(name, copied)} as ${name}` : name,
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

const digestText = (name: string, { columns }: SourceTable): string =>
  `encode(sha256(${columns[name] === 'bytes' ? name : `convert_to(${name}, 'UTF8')`}), 'hex')`
