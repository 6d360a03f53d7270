/** The store that DATABASE_URL names. */
import { openSqliteStore } from './adapters/sqlite/open-sqlite-store.ts'
import type { MessageStore } from './domain/message-record.ts'
import type { ChangeFeed, EndpointStore, Logger, StateStore } from './domain/ports.ts'
import type { Settings } from './settings.ts'

export type Store = Readonly<{
  endpoints: EndpointStore
  states: StateStore
  messages: MessageStore
  /** Where other instances may change the endpoints. */
  changes?: ChangeFeed
  close(): Promise<void>
}>

export const isPostgres = (databaseUrl: string): boolean => /^postgres(ql)?:/i.test(databaseUrl)

export const sqlitePath = (databaseUrl: string): string => databaseUrl.replace(/^sqlite:/, '')

/** Rejects with StoreUnavailable, in one sentence fit for the operator, where it cannot be opened. */
export async function openStore(settings: Settings, logger: Logger): Promise<Store> {
  const { databaseUrl, databasePoolSize, databaseTimeoutMs, databaseStartTimeoutMs } = settings
  if (!isPostgres(databaseUrl)) return openSqliteStore({ path: sqlitePath(databaseUrl), logger })
  // Loaded where it is used only: its driver costs every start time and memory.
  const { openPostgresStore } = await import('./adapters/postgres/open-postgres-store.ts')
  return openPostgresStore({
    url: databaseUrl,
    poolSize: databasePoolSize,
    timeoutMs: databaseTimeoutMs,
    startTimeoutMs: databaseStartTimeoutMs,
    logger,
  })
}
