/** The embedded store: one file, one connection, on the thread of the service. */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type EndpointStore, type Logger, type StateStore, StoreUnavailable } from '../../domain/ports.ts'
import type { StatsStore } from '../../domain/stats.ts'
import { MIGRATIONS } from '../sql/migrations.ts'
import { SchemaTooNew } from '../sql/schema-too-new.ts'
import { makeFile } from './database-file.ts'
import { compileQueryBuilder } from './dialect.ts'
import { compileEndpointStore } from './endpoint-store.ts'
import { isBusy, unavailableReason } from './faults.ts'
import { compileGroupCommit } from './group-commit.ts'
import { migrate } from './migrate.ts'
import { compileStateStore } from './state-store.ts'
import { compileStatsStore } from './stats-store.ts'

export type SqliteStoreOptions = Readonly<{
  /** Of the file, which is made with its folder where it is not there; or `:memory:`. */
  path: string
  logger: Logger
  /** How long to wait for a lock that another process holds; 5,000 where it is left out. */
  busyTimeoutMs?: number
}>

export type SqliteStore = Readonly<{
  endpoints: EndpointStore
  states: StateStore
  stats: StatsStore
  close(): Promise<void>
}>

/**
 * Opens the store and brings its tables up to date.
 *
 * Out: both stores over one connection; `close` (also as `endpoints.close`) takes no more calls, finishes the writes
 * that wait and closes the file. Rejects with StoreUnavailable, in one sentence fit for the operator, where the file
 * cannot be opened, is no database, or was written by a newer version.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, logger, busyTimeoutMs = 5_000 } = options
  const queries = compileQueryBuilder()
  const db = await openFile(path, busyTimeoutMs, (opened) => {
    const ran = migrate({ db: opened, queries, migrations: MIGRATIONS })
    if (ran.length > 0) logger.info({ path, migrations: ran }, 'The tables of the store were brought up to date.')
  })
  const writer = compileGroupCommit({ db, busyTimeoutMs, logger })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= writer.close().then(() => db.close())
    return closing
  }
  return {
    endpoints: compileEndpointStore({ db, queries, writer, close }),
    states: compileStateStore({ db, queries, writer }),
    stats: compileStatsStore({ db, queries, writer }),
    close,
  }
}

async function openFile(path: string, busyTimeoutMs: number, prepareTables: (db: DatabaseSync) => void) {
  const giveUpAt = performance.now() + busyTimeoutMs
  for (;;) {
    try {
      return connect(path, busyTimeoutMs, prepareTables)
    } catch (thrown) {
      // SQLite does not wait for the lock that a change to WAL takes, as when two processes start at once.
      if (!isBusy(thrown) || performance.now() > giveUpAt) throw openFault(path, thrown)
      await pause(20)
    }
  }
}

function connect(path: string, busyTimeoutMs: number, prepareTables: (db: DatabaseSync) => void): DatabaseSync {
  const db = new DatabaseSync(path === ':memory:' ? path : makeFile(path), { timeout: busyTimeoutMs })
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
    prepareTables(db)
    return db
  } catch (thrown) {
    db.close()
    throw thrown
  }
}

/** What kept a file from being opened, in one sentence fit for the operator. */
export function openFault(path: string, thrown: unknown): StoreUnavailable {
  const elsewhere = 'or name another file in DATABASE_URL.'
  if (thrown instanceof SchemaTooNew)
    return new StoreUnavailable(
      `The database ${path} was written by a newer version: ${thrown.message}; start that version, ${elsewhere}`,
    )
  const text = unavailableReason(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown))
  return new StoreUnavailable(`The database ${path} cannot be opened: ${text}; mend that, ${elsewhere}`, {
    cause: thrown,
  })
}
