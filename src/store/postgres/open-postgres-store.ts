/** Opens the store that any number of instances share. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../../core/ports/logger-port.ts'
import {
  dueMigrations,
  RAN_MIGRATIONS,
  type RanMigration,
  renderMigrations,
  type TextMigration,
  UnknownSchema,
} from '../sql/migrations.ts'
import { compileSqlStores } from '../sql/sql-stores.ts'
import type { Store } from '../store.ts'
import { StoreUnavailable } from '../store-access.ts'
import { PostgresChangeFeed } from './change-feed.ts'
import {
  ask,
  CONNECT_TIMEOUT_MS,
  Connections,
  isDenied,
  isLasting,
  serverMessage,
  sessionText,
  unavailableReason,
} from './connection-pool.ts'
import { createMessageStore } from './message-store.ts'
import { createPostgresDatabase } from './postgres-database.ts'
import { PostgresStateStore } from './state-store.ts'

export type PostgresStoreOptions = Readonly<{
  url: string
  poolSize: number
  /** How long a query may take. */
  timeoutMs: number
  /** How long to retry until the server can be reached. */
  startTimeoutMs: number
  logger: Logger
}>

/** One writes, one searches, and a third one so that a long search does not delay the next. */
const MESSAGE_CONNECTIONS = 3

/**
 * Opens the store and brings its tables up to date.
 *
 * Out: the stores and the feed of the changes of other instances. `close` accepts no more
 * calls, finishes the running ones and closes every connection. Rejects with StoreUnavailable, whose message is one
 * sentence for the operator without the URL, if the server cannot be used.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Required<Store>> {
  const { url, logger } = options
  await migratePostgres(options)
  const connections = new Connections(options)
  const states = new PostgresStateStore(connections)
  const messages = createMessageStore(new Connections({ ...options, poolSize: MESSAGE_CONNECTIONS }))
  const changes = new PostgresChangeFeed({ url, connections, logger })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= Promise.all([states.close(), changes.close(), messages.close()]).then(() => connections.close())
    return closing
  }
  return { ...compileSqlStores(createPostgresDatabase(connections), close), states, messages, changes }
}

const RETRY_MS = 500

/** The least time to wait for another instance that migrates, however short the timeout for an unreachable server. */
const MIN_LOCK_TIMEOUT_MS = 10_000

type StartOptions = Pick<PostgresStoreOptions, 'url' | 'startTimeoutMs' | 'logger'>

/** Brings the tables up to date; gives the names of the migrations that ran. Rejects as `openPostgresStore` does. */
export const migratePostgres = (options: StartOptions): Promise<readonly string[]> =>
  whenReachable(options, async (giveUpAt) => {
    const { url, logger } = options
    const lockTimeoutMs = Math.max(giveUpAt - performance.now(), MIN_LOCK_TIMEOUT_MS)
    const ran = await migrate({ url, migrations: renderMigrations('postgres'), lockTimeoutMs })
    if (ran.length > 0) logger.info({ migrations: ran }, 'The schema of the store is up to date.')
    return ran
  })

/** True if the database holds a store of any version; makes none. Rejects as `openPostgresStore` does. */
export const holdsPostgresStore = (options: StartOptions): Promise<boolean> =>
  whenReachable(options, () => hasTables(options.url))

async function whenReachable<T>(
  { startTimeoutMs, logger }: StartOptions,
  work: (giveUpAt: number) => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + startTimeoutMs
  for (;;) {
    try {
      return await work(giveUpAt)
    } catch (thrown) {
      const reason = unavailableReason(thrown)
      if (reason === undefined || isLasting(thrown) || performance.now() > giveUpAt) throw openFault(thrown)
      logger.warn({ reason }, 'The store cannot be reached yet; trying again')
      await pause(RETRY_MS)
    }
  }
}

function openFault(thrown: unknown): StoreUnavailable {
  const start = 'The database of DATABASE_URL'
  if (thrown instanceof UnknownSchema)
    return new StoreUnavailable(`${start} ${thrown.message}; start that version, or name another database.`)
  if (isDenied(thrown))
    return new StoreUnavailable(
      `${start} cannot be used: the user lacks a right; let one who may change its tables run \`npm start -- migrate\` and grant what docs/scaling-out.md lists.`,
      { cause: thrown },
    )
  const reason = unavailableReason(thrown)
  const said = serverMessage(thrown)
  const text = reason === undefined || said === undefined ? (reason ?? formatError(thrown)) : `${reason} (${said})`
  return new StoreUnavailable(`${start} cannot be used: ${text}; fix that, or name another one.`, { cause: thrown })
}

const formatError = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

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

/** True if the database has the tables of a store, of any version. Throws StoreUnavailable, or what the driver throws. */
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
