/** The embedded store: one file, one connection, on the thread of the service. */
import { realpathSync } from 'node:fs'
import type { KeyStore } from '../../domain/access.ts'
import type { AnswerStore } from '../../domain/answer-store.ts'
import type { AuditStore } from '../../domain/audit.ts'
import type { MessageStore } from '../../domain/message-record.ts'
import type { ChangeFeed, EndpointStore, Logger, StateStore } from '../../domain/ports.ts'
import type { StatsStore } from '../../domain/stats.ts'
import { MIGRATIONS } from '../sql/migrations.ts'
import { compileAnswerStore } from './answer-store.ts'
import { compileAuditStore } from './audit-store.ts'
import { compileChangeFeed } from './change-feed.ts'
import { compileMigrations } from './compile-migrations.ts'
import { compileQueryBuilder } from './dialect.ts'
import { compileEndpointStore } from './endpoint-store.ts'
import { compileGroupCommit } from './group-commit.ts'
import { compileKeyStore } from './key-store.ts'
import { createMessageStore } from './message-store.ts'
import { demandVersion, migrate } from './migrate.ts'
import { openFile } from './open-file.ts'
import { compileStateStore } from './state-store.ts'
import { compileStatsStore } from './stats-store.ts'
import { compileLogFile } from './write-ahead-log.ts'

export type SqliteStoreOptions = Readonly<{
  /** Of the file, which is made with its folder where it is not there; or `:memory:`. */
  path: string
  logger: Logger
  /** How long to wait for a lock that another process holds; 5,000 where it is left out. */
  busyTimeoutMs?: number
  /** Whether other processes of the service work on the file too. */
  shared?: boolean
  /** Another process serves the file: its tables are left as they are, and must be those of this version. */
  beside?: boolean
}>

export type SqliteStore = Readonly<{
  endpoints: EndpointStore
  states: StateStore
  answers: AnswerStore
  stats: StatsStore
  messages: MessageStore
  /** Of a file that is shared. */
  changes?: ChangeFeed
  keys: KeyStore
  audit: AuditStore
  close(): Promise<void>
}>

/**
 * Opens the store and brings its tables up to date.
 *
 * Out: the stores of endpoints and states over one connection, and that of messages; `close` (also as
 * `endpoints.close`) takes no more calls, finishes the writes that wait and closes the files. Rejects with
 * StoreUnavailable, in one sentence fit for the operator, where the file cannot be opened, is no database, or was written
 * by a newer version.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, logger, busyTimeoutMs = 5_000, shared = false, beside = false } = options
  const queries = compileQueryBuilder()
  const db = await openFile({
    path,
    busyTimeoutMs,
    pragmas: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
    prepareTables: (opened) => {
      if (beside) return demandVersion(opened, MIGRATIONS.length)
      const ran = migrate(opened, compileMigrations(MIGRATIONS))
      if (ran.length > 0) logger.info({ path, migrations: ran }, 'The tables of the store were brought up to date.')
    },
  })
  const messages = createMessageStore(path)
  // SQLite keeps the log beside the file itself, wherever a link to it is.
  const log = path === ':memory:' ? undefined : compileLogFile(realpathSync(path))
  const writer = compileGroupCommit({
    db,
    busyTimeoutMs,
    logger,
    ...(log && {
      log,
      askForCheckpoint: () => void messages.checkpoint(log.database).catch(() => undefined),
    }),
  })
  const changes = shared ? compileChangeFeed(db) : undefined
  let closing: Promise<unknown> | undefined
  const closeFile = async () => {
    await writer.close()
    log?.close()
    db.close()
  }
  const close = async () => {
    changes?.close()
    closing ??= Promise.all([closeFile(), messages.close()])
    await closing
  }
  return {
    endpoints: compileEndpointStore({ db, queries, writer, close }),
    states: compileStateStore({ db, queries, writer }),
    answers: compileAnswerStore({ db, queries, writer, shared }),
    stats: compileStatsStore({ db, queries, writer }),
    messages,
    ...(changes === undefined ? {} : { changes }),
    keys: compileKeyStore({ db, queries, writer }),
    audit: compileAuditStore({ db, queries, writer }),
    close,
  }
}
