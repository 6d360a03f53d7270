/** Brings the tables of a database up to the schema of this version, or refuses to change them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Compilable, Kysely } from 'kysely'
import pg from 'pg'
import { StoreUnavailable } from '../../domain/ports/store-port.ts'
import { type Migration, SchemaTooNew } from '../sql/migrations/migration.ts'
import type { Tables } from '../sql/tables.ts'
import { CONNECT_TIMEOUT_MS } from './connection-pool.ts'
import { TABLE_OPTIONS } from './dialect.ts'
import { ask, sessionText } from './session.ts'

export type MigrateOptions = Readonly<{
  url: string
  queries: Kysely<Tables>
  /** All migrations of this version, oldest first; the version of the schema is their number. */
  migrations: readonly Migration[]
  /** How long to wait for another instance that migrates. */
  lockTimeoutMs: number
}>

/** An arbitrary number, the same in every instance. */
const LOCK = 3_003_3004
const LOCK_RETRY_MS = 50

/** An instance that is idle in its transaction loses the lock after this time. */
const IDLE_TIMEOUT_MS = 5_000

/**
 * Runs the migrations that are due, all in one transaction. Of instances that start at once, one migrates and the others
 * wait for it. If none is due, the user needs no right to change tables. Gives the names of those that ran. Throws
 * SchemaTooNew, StoreUnavailable, or what the driver throws.
 */
export function migrate({ url, queries, migrations, lockTimeoutMs }: MigrateOptions): Promise<readonly string[]> {
  return connected(url, async (client) => {
    if ((await versionOf(client, migrations)) === migrations.length) return []
    await ask(client, 'begin')
    await takeLock(client, lockTimeoutMs)
    const version = await versionOf(client, migrations)
    const due = migrations.slice(version)
    if (version === 0) await run(client, createVersions(queries))
    for (const [index, { name, statements }] of due.entries()) {
      for (const statement of statements(queries.schema, TABLE_OPTIONS)) await run(client, statement)
      await run(client, queries.insertInto('schema_version').values({ version: version + index + 1, name }))
    }
    await ask(client, 'commit')
    return due.map(({ name }) => name)
  })
}

/** Whether the database has the tables of a store, of any version. Throws StoreUnavailable, or what the driver throws. */
export const hasTables = (url: string): Promise<boolean> => connected(url, hasVersions)

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'crosswalk migrations',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  })
  // A lost connection rejects the query that it interrupts.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await ask(client, sessionText({ idleTimeoutMs: IDLE_TIMEOUT_MS }))
    return await work(client)
  } finally {
    // Closing the connection rolls back what was not committed.
    await client.end()
  }
}

/** Not `to_regclass`, which may give a cached answer of before the lock; a query of the catalogue is current. */
const HAS_VERSIONS = `select exists (
  select from pg_catalog.pg_class where relname = 'schema_version' and pg_catalog.pg_table_is_visible(oid)
) as made`

async function hasVersions(client: pg.Client): Promise<boolean> {
  const [table] = await ask<{ made: boolean }>(client, HAS_VERSIONS)
  return table?.made === true
}

/** The version of the schema; 0 for an empty database. */
async function versionOf(client: pg.Client, migrations: readonly Migration[]): Promise<number> {
  if (!(await hasVersions(client))) return 0
  const [row] = await ask<{ version: number }>(
    client,
    'select coalesce(max(version), 0) as version from schema_version',
  )
  const version = Number(row?.version)
  if (version > migrations.length) throw new SchemaTooNew(version, migrations.length)
  return version
}

/** Polls for the lock rather than blocking on it, so that a lost connection is noticed. */
async function takeLock(client: pg.Client, lockTimeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + lockTimeoutMs
  for (;;) {
    const [lock] = await ask<{ taken: boolean }>(client, `select pg_try_advisory_xact_lock(${LOCK}) as taken`)
    if (lock?.taken) return
    if (performance.now() > giveUpAt)
      throw new StoreUnavailable('another instance has been bringing its tables up to date for too long')
    await pause(LOCK_RETRY_MS)
  }
}

const createVersions = (queries: Kysely<Tables>): Compilable =>
  queries.schema
    .createTable('schema_version')
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())

/** Without a timeout: changing a large table may take long. */
async function run(client: pg.Client, query: Compilable): Promise<void> {
  const { sql, parameters } = query.compile()
  await client.query(sql, [...parameters])
}
