/** The store that DATABASE_URL names. */
import { openSqliteStore } from '../adapters/sqlite/open-sqlite-store.ts'
import { takeServiceLock, tryServiceLock } from '../adapters/sqlite/service-lock.ts'
import type { AuditStore } from '../domain/ports/audit-store-port.ts'
import type { ChangeFeed } from '../domain/ports/change-feed-port.ts'
import type { EndpointStore } from '../domain/ports/endpoint-store-port.ts'
import type { IdempotencyStore } from '../domain/ports/idempotency-store-port.ts'
import type { KeyStore } from '../domain/ports/key-store-port.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import type { StateStore } from '../domain/ports/state-store-port.ts'
import type { StatsStore } from '../domain/ports/stats-store-port.ts'
import type { Settings } from '../settings/settings.ts'
import { isPostgres, sqlitePath } from './store-lock.ts'

export type Store = Readonly<{
  endpoints: EndpointStore
  states: StateStore
  idempotency: IdempotencyStore
  stats: StatsStore
  messages: MessageStore
  keys: KeyStore
  audit: AuditStore
  /** Where other instances may change the endpoints. */
  changes?: ChangeFeed
  close(): Promise<void>
}>

/** Opens a file for as long as nobody else does: until `close`. Rejects as `openStore` does. */
export async function openSoleStore(path: string, logger: Logger): Promise<Store> {
  const lock = takeServiceLock(path)
  try {
    const store = await openSqliteStore({ path, logger })
    return { ...store, close: () => store.close().finally(lock.release) }
  } catch (thrown) {
    lock.release()
    throw thrown
  }
}

/** For a command: beside the service that runs on the store, where one does. Rejects as `openStore` does. */
export async function openStoreBeside(settings: Settings, logger: Logger): Promise<Store> {
  if (isPostgres(settings.databaseUrl)) return openStore(settings, logger)
  const path = sqlitePath(settings.databaseUrl)
  const lock = tryServiceLock(path)
  if (lock === undefined) return openSqliteStore({ path, logger, beside: true })
  lock.release()
  return openSoleStore(path, logger)
}

/**
 * `shared`: other processes of this service open the store too, and somebody else has locked it for them.
 * Rejects with StoreUnavailable, in one sentence fit for the operator, where it cannot be opened.
 */
export async function openStore(settings: Settings, logger: Logger, shared = false): Promise<Store> {
  const { databaseUrl, databasePoolSize, databaseTimeoutMs, databaseStartTimeoutMs } = settings
  if (!isPostgres(databaseUrl)) {
    const path = sqlitePath(databaseUrl)
    return shared ? openSqliteStore({ path, logger, shared }) : openSoleStore(path, logger)
  }
  // Loaded where it is used only: its driver costs every start time and memory.
  const { openPostgresStore } = await import('../adapters/postgres/open-postgres-store.ts')
  return openPostgresStore({
    url: databaseUrl,
    poolSize: databasePoolSize,
    timeoutMs: databaseTimeoutMs,
    startTimeoutMs: databaseStartTimeoutMs,
    logger,
  })
}
