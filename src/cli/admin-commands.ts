/** `crosswalk migrate`, `copy-store` and `keys`: they open the store itself. */
import type { Command } from 'commander'
import type { KeyRequest } from '../access/api-keys.ts'
import { shownStore } from '../settings/setting-kinds.ts'
import type { Settings } from '../settings/settings.ts'
import { EXIT } from './command-process.ts'
import type { KeyCommands } from './key-commands.ts'
import { refuse, startFault, withSettings } from './with-settings.ts'

export function addStoreCommands(program: Command): void {
  program
    .command('migrate')
    .description(
      'updates the tables of DATABASE_URL, as every start does, and exits; stop a service on a SQLite file first',
    )
    .action(withSettings(migrate, EXIT.impossible))
  program
    .command('copy-store')
    .description(
      'copies a store with its API keys and audit log from SQLite to an empty PostgreSQL and verifies the copy; stop the service first',
    )
    .requiredOption('--from <url>', '`sqlite:` and the path of a file')
    .option('--to <url>', '`postgres://user:password@host:port/database`; by default DATABASE_URL')
    .action((urls: { from: string; to?: string }) =>
      withSettings((settings) => copy(urls, settings), EXIT.impossible)(),
    )
  const keys = program
    .command('keys')
    .description('manages the API keys of the management API, also while the service runs')
  keys
    .command('create')
    .description('creates a key and prints it; it cannot be shown again')
    .requiredOption('--name <name>', 'the person or program that uses the key')
    .requiredOption('--role <role...>', 'viewer, operator, author or admin; several may be given')
    .option('--expires <time>', 'a date, or a time as 2030-12-31T18:00:00Z, from which on the key is not accepted')
    .action(({ name, role, expires }: { name: string; role: string[]; expires?: string }) => {
      const request = { name, roles: role, expiresAt: expires }
      return withKeys(async (commands) => {
        const { key, note } = await commands.create(request)
        process.stderr.write(note)
        process.stdout.write(`${key}\n`)
      }, request)
    })
  keys
    .command('list')
    .description('lists the keys, including revoked ones')
    .action(() => withKeys(async (commands) => void process.stdout.write(await commands.list())))
  keys
    .command('revoke <id>')
    .description('revokes a key; takes effect at once')
    .action((id: string) => withKeys(async (commands) => void process.stdout.write(await commands.revoke(id))))
}

async function loggerOf(settings: Settings) {
  const { createLogger } = await import('../adapters/log/logger.ts')
  return createLogger(settings)
}

async function migrate(settings: Settings): Promise<void> {
  const { migrateStore, nameStore } = await import('./store-commands.ts')
  try {
    const logger = await loggerOf(settings)
    const named = await nameStore(settings, logger, true)
    await migrateStore(settings.databaseUrl, settings, logger)
    process.stderr.write(named)
    process.stdout.write('The tables of the store are up to date.\n')
  } catch (thrown) {
    refuse([startFault(thrown, settings)], EXIT.impossible)
  }
}

async function copy({ from, to }: { from: string; to?: string }, settings: Settings): Promise<void> {
  const { checkCopy, copyStore } = await import('./store-commands.ts')
  const urls = checkCopy({ from, to: to ?? settings.databaseUrl })
  if (!urls.ok) return refuse([urls.message], EXIT.impossible)
  try {
    const summary = await copyStore(urls.value, settings, await loggerOf(settings))
    process.stdout.write(
      `Copied from ${shownStore(urls.value.from)} to ${shownStore(urls.value.to)}, read back and found the same:\n`,
    )
    for (const [name, { rows, sha256 }] of Object.entries(summary)) {
      process.stdout.write(`${name} ${rows} rows, sha256 ${sha256}\n`)
    }
    process.stdout.write(
      'Not copied: the message log, captures, plans of replays and the counts of messages; the files keep them.\n',
    )
  } catch (thrown) {
    refuse([startFault(thrown, settings)], EXIT.impossible)
  }
}

/** `request`: of the key that the work makes; only then may it make a store, too. */
function withKeys(work: (commands: KeyCommands) => Promise<void>, request?: KeyRequest): Promise<void> {
  return withSettings(async (settings) => {
    const { checkKeyRequest } = await import('../access/api-keys.ts')
    const { openKeyCommands } = await import('./key-commands.ts')
    const { nameStore } = await import('./store-commands.ts')
    try {
      const logger = await loggerOf({ ...settings, logLevel: 'error' })
      if (request !== undefined) checkKeyRequest(request, Date.now())
      const named = await nameStore(settings, logger, request !== undefined)
      const commands = await openKeyCommands(settings, logger)
      process.stderr.write(named)
      await work(commands).finally(commands.close)
    } catch (thrown) {
      refuse([startFault(thrown, settings)], EXIT.impossible)
    }
  }, EXIT.impossible)()
}
