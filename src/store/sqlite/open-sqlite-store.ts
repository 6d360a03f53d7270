/** Opens the embedded store: one file, one connection, on the thread of the messages. */

import { realpathSync } from 'node:fs'
import type { Logger } from '../../core/ports/logger-port.ts'
import { compileAuditStore } from '../sql/audit-store.ts'
import { compileCaptureStore } from '../sql/capture-store.ts'
import { compileEndpointStore, compileEndpointTestStore } from '../sql/endpoint-store.ts'
import { compileFailureGroupStore } from '../sql/failure-group-store.ts'
import { compileIdempotencyStore } from '../sql/idempotency-store.ts'
import { compileKeyStore } from '../sql/key-store.ts'
import { compileReplayPlanStore } from '../sql/replay-plan-store.ts'
import { migrationsOf } from '../sql/schema.ts'
import { compileStatsStore } from '../sql/stats-store.ts'
import type { Store } from '../store.ts'
import { compileChangeFeed } from './change-feed.ts'
import { GroupCommit } from './group-commit.ts'
import { createMessageStore } from './message-store.ts'
import { demandVersion, migrate } from './migrate.ts'
import { openFile } from './open-file.ts'
import { createSqliteDatabase } from './sqlite-database.ts'
import { compileStateStore } from './state-store.ts'
import { compileLogFile } from './write-ahead-log.ts'

export type SqliteStoreOptions = Readonly<{
  /** Of the file, which is created with its folder if absent; or `:memory:`. */
  path: string
  logger: Logger
  /** How long to wait for a lock that another process holds; 5,000 by default. */
  busyTimeoutMs?: number
  /** The free space of the disk that the message log leaves to the store; a default of its own if undefined. */
  messageReserveBytes?: number | undefined
  /** Whether other processes of the service work on the file too. */
  shared?: boolean
  /** Whether another process serves the file: its tables stay unchanged and must be those of this version. */
  beside?: boolean
}>

/**
 * Opens the store and brings its tables up to date.
 *
 * Out: the stores over one connection, and that of the message log. `close` (also as `endpoints.close`) accepts no more
 * calls, finishes the queued writes and closes the files. Rejects with StoreUnavailable, whose message is one sentence
 * for the operator, if the file cannot be opened, is no database, or was written by a version whose tables this one does not know.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, logger, busyTimeoutMs = 5_000, shared = false, beside = false, messageReserveBytes } = options
  const db = await openFile({
    path,
    busyTimeoutMs,
    pragmas: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
    prepareTables: (opened) => {
      const migrations = migrationsOf('sqlite')
      if (beside) return demandVersion(opened, migrations)
      const ran = migrate(opened, migrations)
      if (ran.length > 0) logger.info({ path, migrations: ran }, 'The tables of the store were brought up to date.')
    },
  })
  const messages = createMessageStore(path, messageReserveBytes)
  // SQLite keeps the log beside the file itself, not beside a link to it.
  const log = path === ':memory:' ? undefined : compileLogFile(realpathSync(path))
  const writer = new GroupCommit({
    db,
    busyTimeoutMs,
    logger,
    ...(log && {
      log,
      requestCheckpoint: () => void messages.checkpoint(log.database).catch(() => undefined),
    }),
  })
  const database = createSqliteDatabase({ db, writer, shared })
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
    endpoints: compileEndpointStore(database, close),
    tests: compileEndpointTestStore(database),
    states: compileStateStore({ db, writer }),
    idempotency: compileIdempotencyStore(database),
    stats: compileStatsStore(database),
    messages,
    ...(changes === undefined ? {} : { changes }),
    keys: compileKeyStore(database),
    audit: compileAuditStore(database),
    replayPlans: compileReplayPlanStore(database),
    failureGroups: compileFailureGroupStore(database),
    captures: compileCaptureStore(database),
    close,
  }
}
