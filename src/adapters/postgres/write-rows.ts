/** Fills an empty database with what another store held: all of it, verified, or nothing. */
import pg from 'pg'
import { StoreUnavailable } from '../../domain/ports.ts'
import { type AnswerRow, type StoreRows, type StoreSummary, summaryOf } from '../sql/rows.ts'
import type { Tables } from '../sql/tables.ts'
import { chunksOf } from './chunks.ts'
import { CONNECT_TIMEOUT_MS } from './connections.ts'
import { storeFault } from './faults.ts'
import { ask } from './session.ts'

const DIFFERENT =
  'The source has changed during the copy, so nothing was copied: stop the service that works on it, and try again.'

/**
 * Writes the rows in one transaction, reads them back in it, and commits where they are what the source still holds.
 * The tables must be up to date. Gives the summary of what was read back. Rejects with StoreUnavailable, in a sentence
 * fit for the operator, where the database holds endpoints already or the copy is not the same.
 */
export async function writeRows(url: string, read: () => StoreRows): Promise<StoreSummary> {
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
    const present = await ask(client, 'select 1 from endpoints limit 1')
    if (present.length > 0)
      throw new StoreUnavailable('The target holds endpoints already; copy into an empty database.')
    // Versions that deleted endpoints left here would stand beside those of the source.
    await client.query('delete from endpoint_versions')
    const rows = read()
    for (const chunk of chunksOf(rows.endpoints, ({ document }) => document.length))
      await insertEndpoints(client, chunk)
    for (const chunk of chunksOf(rows.states, ({ state }) => state.length)) await insertStates(client, chunk)
    for (const chunk of chunksOf(rows.versions, ({ document }) => document.length)) await insertVersions(client, chunk)
    for (const chunk of chunksOf(rows.answers, ({ size }) => 2 * size)) await insertAnswers(client, chunk)
    // What is written from now on is newer than all of it.
    await client.query(`select setval('states_sequence', max(sequence)) from states having count(*) > 0`)
    const copied = summaryOf(await readBack(client))
    if (JSON.stringify(copied) !== JSON.stringify(summaryOf(read()))) throw new StoreUnavailable(DIFFERENT)
    await client.query('commit')
    return copied
  } catch (thrown) {
    throw storeFault(thrown)
  } finally {
    // What was not committed ends with the connection.
    await client.end()
  }
}

const column = <Row, Key extends keyof Row>(rows: readonly Row[], key: Key): Row[Key][] => rows.map((row) => row[key])

async function insertEndpoints(client: pg.Client, rows: StoreRows['endpoints']): Promise<void> {
  await client.query(
    `insert into endpoints (id, name, route_key, document)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])`,
    [column(rows, 'id'), column(rows, 'name'), column(rows, 'route_key'), column(rows, 'document')],
  )
}

async function insertStates(client: pg.Client, rows: StoreRows['states']): Promise<void> {
  await client.query(
    `insert into states (endpoint_id, lookup_status, network_error, sequence, state)
    select * from unnest($1::text[], $2::integer[], $3::integer[], $4::bigint[], $5::text[])`,
    [
      column(rows, 'endpoint_id'),
      column(rows, 'lookup_status'),
      column(rows, 'network_error'),
      column(rows, 'sequence'),
      column(rows, 'state'),
    ],
  )
}

async function insertVersions(client: pg.Client, rows: StoreRows['versions']): Promise<void> {
  await client.query(
    `insert into endpoint_versions (endpoint_id, version, at, about, document)
    select * from unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[])`,
    [
      column(rows, 'endpoint_id'),
      column(rows, 'version'),
      column(rows, 'at'),
      column(rows, 'about'),
      column(rows, 'document'),
    ],
  )
}

async function insertAnswers(client: pg.Client, rows: StoreRows['answers']): Promise<void> {
  await client.query(
    `insert into kept_answers (endpoint_id, key, fingerprint, owner, until, size, detail, body)
    select endpoint_id, key, fingerprint, '', until, size, detail, body
    from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::integer[], $6::text[], $7::bytea[])
      as item (endpoint_id, key, fingerprint, until, size, detail, body)`,
    [
      column(rows, 'endpoint_id'),
      column(rows, 'key'),
      column(rows, 'fingerprint'),
      column(rows, 'until'),
      column(rows, 'size'),
      column(rows, 'detail'),
      // The driver writes bytes within an array of Buffers only.
      rows.map(({ body }) => (body === null ? null : Buffer.from(body))),
    ],
  )
}

async function readBack(client: pg.Client): Promise<StoreRows> {
  const endpoints = await client.query<Tables['endpoints']>('select id, name, route_key, document from endpoints')
  const states = await client.query<Omit<Tables['states'], 'sequence'> & { sequence: string }>(
    'select endpoint_id, lookup_status, network_error, sequence, state from states',
  )
  const versions = await client.query<Tables['endpoint_versions']>(
    'select endpoint_id, version, at, about, document from endpoint_versions',
  )
  const answers = await client.query<Omit<AnswerRow, 'until'> & { until: string }>(
    'select endpoint_id, key, fingerprint, until, size, detail, body from kept_answers',
  )
  return {
    endpoints: endpoints.rows,
    // The driver gives 64-bit numbers as text.
    states: states.rows.map((row) => ({ ...row, sequence: Number(row.sequence) })),
    versions: versions.rows,
    answers: answers.rows.map((row) => ({ ...row, until: Number(row.until) })),
  }
}
