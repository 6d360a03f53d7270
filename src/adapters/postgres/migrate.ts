/** Brings the tables of a database up to what this version knows, or refuses to touch them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Compilable, Kysely } from 'kysely'
import pg from 'pg'
import { StoreUnavailable } from '../../domain/ports.ts'
import type { Migration } from '../sql/migrations.ts'
import { SchemaTooNew } from '../sql/schema-too-new.ts'
import type { Tables } from '../sql/tables.ts'
import { CONNECT_TIMEOUT_MS } from './connections.ts'
import { TABLE_OPTIONS } from './dialect.ts'
import { ask, sessionText } from './session.ts'

export type MigrateOptions = Readonly<{
  url: string
  queries: Kysely<Tables>
  /** All that this version knows, oldest first; the version of the schema is their number. */
  migrations: readonly Migration[]
  /** How long another instance may take to bring the tables up to date. */
  patienceMs: number
}>

/** Any number that every instance agrees on. */
const LOCK = 3_003_3004
const LOCK_RETRY_MS = 50

/** An instance that stands still with the lock in its hands loses it after this. */
const IDLE_TIMEOUT_MS = 5_000

/**
 * Runs the migrations that have not run yet, all in one transaction. Of instances that start at once, one does and the
 * others wait for it. Where none is due, the user needs no right to change tables. Gives their names. Throws
 * SchemaTooNew, StoreUnavailable, or what the driver throws.
 */
export async function migrate({ url, queries, migrations, patienceMs }: MigrateOptions): Promise<readonly string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'crosswalk migrations',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  })
  // A break is told by the query that it interrupts.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await ask(client, sessionText({ idleTimeoutMs: IDLE_TIMEOUT_MS }))
    if ((await versionOf(client, migrations)) === migrations.length) return []
    await ask(client, 'begin')
    await takeLock(client, patienceMs)
    const version = await versionOf(client, migrations)
    const due = migrations.slice(version)
    if (version === 0) await run(client, createVersions(queries))
    for (const [index, { name, statements }] of due.entries()) {
      for (const statement of statements(queries.schema, TABLE_OPTIONS)) await run(client, statement)
      await run(client, queries.insertInto('schema_version').values({ version: version + index + 1, name }))
    }
    await ask(client, 'commit')
    return due.map(({ name }) => name)
  } finally {
    // What was not committed ends with the connection.
    await client.end()
  }
}

/** `to_regclass` may answer what it remembers of before the lock; a query of the catalogue sees what is there now. */
const MADE = `select exists (
  select from pg_catalog.pg_class where relname = 'schema_version' and pg_catalog.pg_table_is_visible(oid)
) as made`

/** The version of the schema; 0 where there is none. */
async function versionOf(client: pg.Client, migrations: readonly Migration[]): Promise<number> {
  const [table] = await ask<{ made: boolean }>(client, MADE)
  if (!table?.made) return 0
  const [row] = await ask<{ version: number }>(
    client,
    'select coalesce(max(version), 0) as version from schema_version',
  )
  const version = Number(row?.version)
  if (version > migrations.length) throw new SchemaTooNew(version, migrations.length)
  return version
}

/** Asked for again and again, rather than waited for: so a connection that has died meanwhile is found out. */
async function takeLock(client: pg.Client, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
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

/** Without a limit: to change a large table may take its time. */
async function run(client: pg.Client, query: Compilable): Promise<void> {
  const { sql, parameters } = query.compile()
  await client.query(sql, [...parameters])
}
