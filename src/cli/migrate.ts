/** `crosswalk migrate`: updates the tables of the store, as every start does. */
import type { Terminal } from './command.ts'
import { migrateStore, nameStore, withStore } from './store.ts'

export const run = (_given: object, terminal: Terminal): Promise<'done'> =>
  withStore(terminal, async (settings, logger) => {
    const named = await nameStore(settings, logger, true)
    await migrateStore(settings.databaseUrl, settings, logger)
    terminal.note(named)
    terminal.print('The tables of the store are up to date.')
  })
