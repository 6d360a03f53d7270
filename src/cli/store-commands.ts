/** What operators do with stores while no service runs on them. */
import { existsSync } from 'node:fs'
import { copyInto } from '../adapters/postgres/copy-into.ts'
import { migratePostgres } from '../adapters/postgres/open-postgres-store.ts'
import type { StoreSummary } from '../adapters/sql/copied-tables.ts'
import { holdsStore, openSnapshot } from '../adapters/sqlite/snapshot.ts'
import { fault, found, type Result } from '../domain/lint.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import { StoreUnavailable } from '../domain/ports/store-unavailable.ts'
import { databaseUrl } from '../settings/setting-kinds.ts'
import type { Settings } from '../settings/settings.ts'
import { openSoleStore, type Store } from '../wiring/open-store.ts'
import { isPostgres, sqlitePath } from '../wiring/store-lock.ts'

type Patience = Pick<Settings, 'databaseStartTimeoutMs'>

/**
 * Brings the tables of a store up to date, as every start does. Rejects with StoreUnavailable, also where a service works
 * on the file; a PostgreSQL may have services.
 */
export async function migrateStore(url: string, patience: Patience, logger: Logger): Promise<void> {
  if (isPostgres(url)) {
    await migratePostgres({ url, startTimeoutMs: patience.databaseStartTimeoutMs, logger })
  } else {
    await (await openSoleStore(sqlitePath(url), logger)).close()
  }
}

export type Copy = Readonly<{ from: string; to: string }>

/** The URLs of a copy, or what is wrong with them; never repeats one, as it may hold a password. */
export function checkCopy({ from, to }: Copy): Result<Copy> {
  for (const [option, text] of Object.entries({ from, to })) {
    const url = databaseUrl.parse(text)
    if (!url.ok) return fault(`--${option} is wrong. ${url.message}`)
  }
  if (isPostgres(from)) return fault('--from is wrong. Stores are copied from SQLite: give `sqlite:` and the path.')
  if (!isPostgres(to)) return fault('--to is wrong. Stores are copied to PostgreSQL: give a `postgres://` URL.')
  if (!existsSync(sqlitePath(from))) return fault('--from is wrong. There is no such file.')
  return found({ from, to })
}

/**
 * Copies everything but the message log and the counts of messages into an empty database: all of it or nothing. Gives
 * what both sides then hold.
 * Rejects with StoreUnavailable, in a sentence fit for the operator.
 */
export async function copyStore({ from, to }: Copy, patience: Patience, logger: Logger): Promise<StoreSummary> {
  const path = sqlitePath(from)
  // Open until the end, so that no service works on it meanwhile.
  const source = await openSource(path, logger)
  try {
    await migrateStore(to, patience, logger)
    return await copyInto(to, () => openSnapshot(path))
  } finally {
    await source.close()
  }
}

/** Opening a file makes the tables that it lacks: a wrong path would be copied as a store with nothing in it. */
async function openSource(path: string, logger: Logger): Promise<Store> {
  let holds: boolean
  try {
    holds = holdsStore(path)
  } catch {
    // Opening it says what is wrong with it.
    holds = true
  }
  if (!holds) throw new StoreUnavailable(`The file ${path} holds no store of this service: is its path right?`)
  return openSoleStore(path, logger)
}
