/** The store that DATABASE_URL names, and the lock that keeps other services out of a file. */
import { existsSync } from 'node:fs'
import type { Logger } from '../core/ports/logger-port.ts'
import { isPostgres, sqlitePath } from '../settings/setting-kinds.ts'
import type { Settings } from '../settings/settings.ts'
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts'
import { type ServiceLock, takeServiceLock, tryServiceLock } from '../store/sqlite/service-lock.ts'
import { holdsStore } from '../store/sqlite/sqlite-file.ts'
import type { Store } from '../store/store.ts'

/** Locks the file of a service whose workers share it. Throws StoreUnavailable with a sentence for the operator. */
export function lockStore({ databaseUrl }: Pick<Settings, 'databaseUrl'>): ServiceLock {
  return isPostgres(databaseUrl) ? { release() {} } : takeServiceLock(sqlitePath(databaseUrl))
}

/** Opens a file and locks it until `close`. Rejects as `openStore` does. */
export async function openSoleStore(path: string, logger: Logger, messageReserveBytes?: number): Promise<Store> {
  const lock = takeServiceLock(path)
  try {
    const store = await openSqliteStore({ path, logger, messageReserveBytes })
    return { ...store, close: () => store.close().finally(lock.release) }
  } catch (thrown) {
    lock.release()
    throw thrown
  }
}

/**
 * True if DATABASE_URL names a store of any version of the service; makes none. Rejects as `openStore` does, also where a
 * service uses the file by another name.
 */
export async function hasStore(
  {
    databaseUrl: url,
    databaseStartTimeoutMs: startTimeoutMs,
  }: Pick<Settings, 'databaseUrl' | 'databaseStartTimeoutMs'>,
  logger: Logger,
): Promise<boolean> {
  if (isPostgres(url)) {
    const { holdsPostgresStore } = await import('../store/postgres/open-postgres-store.ts')
    return holdsPostgresStore({ url, startTimeoutMs, logger })
  }
  const path = sqlitePath(url)
  if (!existsSync(path)) return false
  // By another name of a file in use SQLite sees none of its latest changes.
  const lock = tryServiceLock(path)
  if (lock === undefined) return true
  lock.release()
  try {
    return holdsStore(path)
  } catch {
    // Opening it reports the fault.
    return true
  }
}

/** For a command that may run beside the service on the same store. Rejects as `openStore` does. */
export async function openStoreBeside(settings: Settings, logger: Logger): Promise<Store> {
  if (isPostgres(settings.databaseUrl)) return openStore(settings, logger)
  const path = sqlitePath(settings.databaseUrl)
  const lock = tryServiceLock(path)
  if (lock === undefined) return openSqliteStore({ path, logger, beside: true })
  lock.release()
  return openSoleStore(path, logger)
}

/**
 * `shared`: this process is a worker, and the primary process has locked the store for all workers.
 * Rejects with StoreUnavailable, with a sentence for the operator, if the store cannot be opened.
 */
export async function openStore(settings: Settings, logger: Logger, shared = false): Promise<Store> {
  const { databaseUrl, databasePoolSize, databaseTimeoutMs, databaseStartTimeoutMs, messageLogDiskReserveMb } = settings
  if (!isPostgres(databaseUrl)) {
    const path = sqlitePath(databaseUrl)
    const reserve = messageLogDiskReserveMb === undefined ? undefined : messageLogDiskReserveMb * 1024 * 1024
    return shared
      ? openSqliteStore({ path, logger, shared, messageReserveBytes: reserve })
      : openSoleStore(path, logger, reserve)
  }
  // Loaded only for PostgreSQL: its driver would cost every start time and memory.
  const { openPostgresStore } = await import('../store/postgres/open-postgres-store.ts')
  return openPostgresStore({
    url: databaseUrl,
    poolSize: databasePoolSize,
    timeoutMs: databaseTimeoutMs,
    startTimeoutMs: databaseStartTimeoutMs,
    logger,
  })
}
