/** Which store DATABASE_URL names, and the lock on it for a service whose processes share it. */
import { type ServiceLock, takeServiceLock } from '../adapters/sqlite/service-lock.ts'
import type { Settings } from '../settings/settings.ts'

export const isPostgres = (databaseUrl: string): boolean => /^postgres(ql)?:/i.test(databaseUrl)

export const sqlitePath = (databaseUrl: string): string => databaseUrl.replace(/^sqlite:/, '')

/** Keeps other services out of a file. Throws StoreUnavailable, in one sentence fit for the operator. */
export function lockStore({ databaseUrl }: Pick<Settings, 'databaseUrl'>): ServiceLock {
  return isPostgres(databaseUrl) ? { release() {} } : takeServiceLock(sqlitePath(databaseUrl))
}
