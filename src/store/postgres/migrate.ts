/** Brings the tables of a database up to the schema of this version, or refuses to change them. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { dueMigrations, RAN_MIGRATIONS, type RanMigration, type TextMigration } from '../sql/schema.ts'
import { StoreUnavailable } from '../store-access.ts'
import { ask, CONNECT_TIMEOUT_MS, sessionText } from './connection-pool.ts'

export type MigrateOptions = Readonly<{
  url: string
  /** All migrations of this version, oldest first. */
  migrations: readonly TextMigration[]
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
 * UnknownSchema, StoreUnavailable, or what the driver throws.
 */
export function migrate({ url, migrations, lockTimeoutMs }: MigrateOptions): Promise<readonly string[]> {
  return connected(url, async (client) => {
    if ((await dueIn(client, migrations)).length === 0) return []
    await ask(client, 'begin')
    await takeLock(client, lockTimeoutMs)
    const due = await dueIn(client, migrations)
    const version = migrations.length - due.length
    if (version === 0) await client.query(CREATE_VERSIONS)
    for (const [index, { name, statements }] of due.entries()) {
      // Without a timeout: changing a large table may take long.
      for (const statement of statements) await client.query(statement)
      await client.query('insert into schema_version (version, name) values ($1, $2)', [version + index + 1, name])
    }
    await ask(client, 'commit')
    return due.map(({ name }) => name)
  })
}

const CREATE_VERSIONS =
  'create table if not exists schema_version (version integer not null primary key, name text not null)'

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

const dueIn = async (client: pg.Client, migrations: readonly TextMigration[]): Promise<readonly TextMigration[]> =>
  dueMigrations((await hasVersions(client)) ? await ask<RanMigration>(client, RAN_MIGRATIONS) : [], migrations)

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
