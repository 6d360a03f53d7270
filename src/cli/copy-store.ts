/** `crosswalk copy-store`: copies a store from SQLite to PostgreSQL while no service uses it. */
import { existsSync } from 'node:fs'
import { hasStore, openSoleStore } from '../app/open-store.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import { databaseUrl, isPostgres, shownStore, sqlitePath } from '../settings/setting-kinds.ts'
import type { Settings } from '../settings/settings.ts'
import { copyInto } from '../store/postgres/copy-into.ts'
import type { StoreSummary } from '../store/sql/copied-tables.ts'
import { openSnapshot } from '../store/sqlite/sqlite-file.ts'
import type { Store } from '../store/store.ts'
import { StoreUnavailable } from '../store/store-access.ts'
import { CommandFault, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { migrateStore, withStore } from './store.ts'

export const run = (given: Given<'copy-store'>, terminal: Terminal): Promise<Ending<'copy-store'>> =>
  withStore(terminal, async (settings, logger) => {
    const urls = { from: given.from, to: given.to ?? settings.databaseUrl }
    checkUrls(urls)
    const summary = await copyStore(urls, settings, logger)
    terminal.print(`Copied from ${shownStore(urls.from)} to ${shownStore(urls.to)}, read back and found the same:`)
    for (const [name, { rows, sha256 }] of Object.entries(summary)) {
      terminal.print(`${name} ${rows} rows, sha256 ${sha256}`)
    }
    terminal.print(
      'Not copied: the message log, captures, plans of replays, unmapped codes and the counts of messages; the files keep them.',
    )
  })

type Copy = Readonly<{ from: string; to: string }>

/** Throws CommandFault, which never repeats a URL: it may contain a password. */
function checkUrls({ from, to }: Copy): void {
  for (const [option, text] of Object.entries({ from, to })) {
    const url = databaseUrl.parse(text)
    if (!url.ok) throw new CommandFault(`--${option} is wrong. ${url.message}`)
  }
  if (isPostgres(from))
    throw new CommandFault('--from is wrong. Stores are copied from SQLite: give `sqlite:` and the path.')
  if (!isPostgres(to))
    throw new CommandFault('--to is wrong. Stores are copied to PostgreSQL: give a `postgres://` URL.')
  if (!existsSync(sqlitePath(from))) throw new CommandFault(`--from is wrong. There is no file ${sqlitePath(from)}.`)
}

/**
 * Copies everything but the message log and the statistics into an empty database, in one transaction. Resolves to the
 * content that both sides have afterwards. Rejects with StoreUnavailable, with a sentence for the operator.
 */
async function copyStore({ from, to }: Copy, settings: Settings, logger: Logger): Promise<StoreSummary> {
  const path = sqlitePath(from)
  // Open until the end, so that no service uses it meanwhile.
  const source = await openSource(path, logger)
  try {
    await migrateStore(to, settings, logger)
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
