/** Fills an empty database with what another store held: all of it, verified, or nothing. */
import pg from 'pg'
import { StoreUnavailable } from '../../domain/ports.ts'
import {
  COPIED,
  COPIED_NAMES,
  type ColumnKind,
  type CopiedTable,
  digested,
  isDigested,
  type Row,
  type Snapshot,
  type StoreSummary,
  summaryOf,
  type TableSummary,
} from '../sql/rows.ts'
import { chunksOf } from './chunks.ts'
import { CONNECT_TIMEOUT_MS } from './connections.ts'
import { storeFault } from './faults.ts'
import { ask } from './session.ts'

const DIFFERENT =
  'The source or the target has changed during the copy, so nothing was copied: stop the services that work on them, and try again.'

/** Rows of a page that is read back: keys, names and checksums. */
const PAGE = 1_000

/**
 * Writes the rows in one transaction, reads them back in it, and commits where they are what the source still holds;
 * neither store is ever in memory as a whole. The tables must be up to date. Gives the summary of what was read back.
 * Rejects with StoreUnavailable, in a sentence fit for the operator, where the database holds anything of it already or
 * the copy is not the same.
 */
export async function writeRows(url: string, open: () => Snapshot): Promise<StoreSummary> {
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
    for (const name of COPIED_NAMES) await refuseHeld(client, COPIED[name])
    await withSource(open, async (source) => {
      for (const name of COPIED_NAMES) await insert(client, COPIED[name], source)
    })
    // What is written from now on is newer than all of it.
    await client.query(`select setval('states_sequence', max(sequence)) from states having count(*) > 0`)
    const copied = await summarise((table) => summaryOf(table, readBack(client, table)))
    const present = await withSource(open, (source) => summarise((table) => summaryOf(table, digestsOf(table, source))))
    if (JSON.stringify(copied) !== JSON.stringify(present)) throw new StoreUnavailable(DIFFERENT)
    await client.query('commit')
    return copied
  } catch (thrown) {
    throw storeFault(thrown)
  } finally {
    // What was not committed ends with the connection.
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

async function refuseHeld(client: pg.Client, { table, holds }: CopiedTable): Promise<void> {
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

/** The driver writes bytes within an array of Buffers only. */
const asParameter = (value: Row[string] | undefined) =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value

/** Bytes go over as two characters each. */
const charactersOf = (row: Row): number =>
  Object.values(row).reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + value.length
    return value instanceof Uint8Array ? sum + 2 * value.byteLength : sum
  }, 0)

function* digestsOf(table: CopiedTable, source: Snapshot): Generator<Row> {
  for (const row of source.rows(table)) yield digested(table, row)
}

/** Page by page; what is long is read by the server, which tells its checksum. */
async function* readBack(client: pg.Client, { table, key, columns }: CopiedTable): AsyncGenerator<Row> {
  const selected = Object.entries(columns).map(([name, kind]) =>
    isDigested(kind) ? `${digestText(name, kind)} as ${name}` : name,
  )
  // In the order of bytes, whatever language the database sorts for.
  const order = key.map((name) => (columns[name] === 'text' ? `${table}.${name} collate "C"` : name))
  await client.query(
    `declare copied no scroll cursor for select ${selected.join(', ')} from ${table} order by ${order.join(', ')}`,
  )
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${PAGE} from copied`)
    if (rows.length === 0) break
    yield* rows
  }
  await client.query('close copied')
}

const digestText = (name: string, kind: ColumnKind): string =>
  `encode(sha256(${kind === 'bytes' ? name : `convert_to(${name}, 'UTF8')`}), 'hex')`
