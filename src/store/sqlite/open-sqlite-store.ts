/** Opens the embedded store: one file, one connection, on the thread of the messages. */

import { realpathSync } from 'node:fs'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import { renderMigrations } from '../sql/migrations.ts'
import { compileSqlStores } from '../sql/sql-stores.ts'
import type { Store } from '../store.ts'
import { compileLogFile, GroupCommit } from './group-commit.ts'
import { createMessageStore } from './message-store.ts'
import { compileChangeFeed, createSqliteDatabase } from './sqlite-database.ts'
import { demandVersion, migrate, openFile } from './sqlite-file.ts'
import { compileStateStore } from './state-store.ts'

type SqliteStoreOptions = Readonly<{
  /** Of the file, which is created with its folder if absent; or `:memory:`. */
  path: string
  logger: Logger
  /** How long to wait for a lock that another process holds; 5,000 by default. */
  busyTimeoutMs?: number
  /** The free space of the disk that the message log leaves to the store; a default of its own if undefined. */
  messageReserveBytes?: number | undefined
  /** Other processes of the service work on the file too. */
  shared?: boolean
  /** Another process serves the file: its tables stay unchanged and must be those of this version. */
  beside?: boolean
  /** For tests: the clock of the database, which decides what is due. */
  clock?: Clock
}>

/**
 * Opens the store and brings its tables up to date.
 *
 * Out: the stores over one connection, and that of the message log. `close` accepts no more
 * calls, finishes the queued writes and closes the files. Rejects with StoreUnavailable, whose message is one sentence for
 * the operator, if the file cannot be opened, isn't a database, or was written by a version whose tables this one does not
 * know.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, logger, busyTimeoutMs = 5_000, shared = false, beside = false, messageReserveBytes } = options
  const db = await openFile({
    path,
    busyTimeoutMs,
    pragmas: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
    prepareTables: (opened) => {
      const { clock } = options
      // Defaults of columns call it too. It is used only as `NOW` is written.
      if (clock !== undefined) opened.function('unixepoch', { varargs: true }, () => clock() / 1000)
      const migrations = renderMigrations('sqlite')
      if (beside) return demandVersion(opened, migrations)
      const ran = migrate(opened, migrations)
      if (ran.length > 0) logger.info({ path, migrations: ran }, 'The schema of the store is up to date.')
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
    ...compileSqlStores(database, close),
    states: compileStateStore({ db, writer }),
    messages,
    ...(changes === undefined ? {} : { changes }),
  }
}
