/** Commands on stores that no service uses meanwhile. */
import { existsSync } from 'node:fs'
import { fault, found, type Result } from '../domain/lint.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import { StoreUnavailable } from '../domain/ports/store-port.ts'
import { databaseUrl, isPostgres, shownStore, sqlitePath } from '../settings/setting-kinds.ts'
import type { Settings } from '../settings/settings.ts'
import { copyInto } from '../store/postgres/copy-into.ts'
import { migratePostgres } from '../store/postgres/open-postgres-store.ts'
import type { StoreSummary } from '../store/sql/copied-tables.ts'
import { openSnapshot } from '../store/sqlite/snapshot.ts'
import type { Store } from '../store/store.ts'
import { hasStore, openSoleStore } from '../wiring/open-store.ts'

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
  if (await hasStore(settings, logger)) return `Store: ${name}\n`
  if (makes) return `Made a new store: ${name}. A service uses it if its DATABASE_URL names it.\n`
  throw new StoreUnavailable(
    `There is no store at ${name}. Give its DATABASE_URL, or run this in the folder of the service.`,
  )
}

type StartTimeout = Pick<Settings, 'databaseStartTimeoutMs'>

/**
 * Updates the tables of a store, as every start does. Rejects with StoreUnavailable, also if a service uses the SQLite file;
 * services on PostgreSQL may run meanwhile.
 */
export async function migrateStore(url: string, timeout: StartTimeout, logger: Logger): Promise<void> {
  if (isPostgres(url)) {
    await migratePostgres({ url, startTimeoutMs: timeout.databaseStartTimeoutMs, logger })
  } else {
    await (await openSoleStore(sqlitePath(url), logger)).close()
  }
}

export type Copy = Readonly<{ from: string; to: string }>

/** The URLs of a copy, or their fault; it never repeats a URL, which may contain a password. */
export function checkCopy({ from, to }: Copy): Result<Copy> {
  for (const [option, text] of Object.entries({ from, to })) {
    const url = databaseUrl.parse(text)
    if (!url.ok) return fault(`--${option} is wrong. ${url.message}`)
  }
  if (isPostgres(from)) return fault('--from is wrong. Stores are copied from SQLite: give `sqlite:` and the path.')
  if (!isPostgres(to)) return fault('--to is wrong. Stores are copied to PostgreSQL: give a `postgres://` URL.')
  if (!existsSync(sqlitePath(from))) return fault(`--from is wrong. There is no file ${sqlitePath(from)}.`)
  return found({ from, to })
}

/**
 * Copies everything but the message log and the statistics into an empty database, in one transaction. Resolves to the
 * content that both sides have afterwards. Rejects with StoreUnavailable, with a sentence for the operator.
 */
export async function copyStore({ from, to }: Copy, timeout: StartTimeout, logger: Logger): Promise<StoreSummary> {
  const path = sqlitePath(from)
  // Open until the end, so that no service uses it meanwhile.
  const source = await openSource(path, logger)
  try {
    await migrateStore(to, timeout, logger)
    return await copyInto(to, () => openSnapshot(path))
  } finally {
    await source.close()
  }
}

/** Opening a file creates missing tables, so a wrong path would be copied as an empty store. */
async function openSource(path: string, logger: Logger): Promise<Store> {
  const holds = await hasStore({ databaseUrl: `sqlite:${path}`, databaseStartTimeoutMs: 0 }, logger)
  if (!holds) throw new StoreUnavailable(`The file ${path} holds no store of this service: is its path right?`)
  return openSoleStore(path, logger)
}
