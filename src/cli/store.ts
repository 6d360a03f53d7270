/** What commands that open the store themselves have in common. */

import { hasStore, openSoleStore } from '../app/open-store.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import { createLogger } from '../observe/log/logger.ts'
import { isPostgres, shownStore, sqlitePath } from '../settings/setting-kinds.ts'
import type { Settings } from '../settings/settings.ts'
import { migratePostgres } from '../store/postgres/open-postgres-store.ts'
import { StoreUnavailable } from '../store/store-access.ts'
import { CommandFault, requireSettings, startFault, type Terminal } from './command.ts'

/** Runs work on the store of the settings. Whatever keeps it from the store is a fault. */
export async function withStore(
  terminal: Terminal,
  work: (settings: Settings, logger: Logger) => Promise<void>,
): Promise<'done'> {
  const settings = requireSettings(terminal)
  try {
    await work(settings, createLogger(settings))
    return 'done'
  } catch (thrown) {
    throw thrown instanceof CommandFault ? thrown : new CommandFault(startFault(thrown, settings))
  }
}

/**
 * Which store a command works with, as a line for people. Rejects with StoreUnavailable where there is none and the command makes
 * none, since a store in another folder than that of the service is rarely meant.
 */
export async function nameStore(settings: Settings, logger: Logger, makes: boolean): Promise<string> {
  const { databaseUrl } = settings
  if (sqlitePath(databaseUrl) === ':memory:') {
    throw new StoreUnavailable(
      'DATABASE_URL keeps everything in memory, which ends with this command; name the store of the service.',
    )
  }
  const name = shownStore(databaseUrl)
  if (await hasStore(settings, logger)) return `Store: ${name}`
  if (makes) return `Created a new store: ${name}. A service uses it if its DATABASE_URL names it.`
  throw new StoreUnavailable(
    `There is no store at ${name}. Give its DATABASE_URL, or run this in the folder of the service.`,
  )
}

/**
 * Updates the tables of a store, as every start does. Rejects with StoreUnavailable, also if a service uses the SQLite file;
 * services on PostgreSQL may run meanwhile.
 */
export async function migrateStore(url: string, settings: Settings, logger: Logger): Promise<void> {
  if (isPostgres(url)) {
    await migratePostgres({ url, startTimeoutMs: settings.databaseStartTimeoutMs, logger })
  } else {
    await (await openSoleStore(sqlitePath(url), logger)).close()
  }
}
