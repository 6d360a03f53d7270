/** The process: arguments, settings, signals. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { createLogger } from './adapters/log/logger.ts'
import type { App } from './app.ts'
import { addCompareCommand } from './cli/compare-command.ts'
import { addImportCommand } from './cli/import-command.ts'
import type { KeyCommands } from './cli/key-commands.ts'
import { nearest } from './domain/nearest.ts'
import type { Logger } from './domain/ports/logger-port.ts'
import { loadEnvFile, readSettings, type Settings } from './settings/settings.ts'
import { settingsHelp } from './settings/settings-help.ts'
import { WORKER_MARK } from './workers/ipc-protocol.ts'
import type { Primary } from './workers/primary.ts'
import type { WorkerCluster } from './workers/worker-cluster.ts'

const { version, description } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
  description: string
}

const program = new Command('crosswalk')
  .description(description)
  .version(version)
  .addHelpText('after', () => `\n${settingsHelp()}`)
  .helpCommand('help [command]', 'display help for command')
  .allowExcessArguments()
  .action(() => {
    const [name] = program.args
    return name === undefined ? withSettings(start)() : refuse([unknownCommand(name)])
  })
program
  .command('migrate')
  .description(
    'updates the tables of DATABASE_URL, as every start does, and exits; stop a service on a SQLite file first',
  )
  .action(withSettings(migrate))
program
  .command('copy-store')
  .description(
    'copies a store with its API keys and audit log from SQLite to an empty PostgreSQL and verifies the copy; stop the service first',
  )
  .requiredOption('--from <url>', '`sqlite:` and the path of a file')
  .option('--to <url>', '`postgres://user:password@host:port/database`; by default DATABASE_URL')
  .action((urls: { from: string; to?: string }) => withSettings((settings) => copy(urls, settings))())
const keys = program
  .command('keys')
  .description('manages the API keys of the management API, also while the service runs')
keys
  .command('create')
  .description('creates a key and prints it; it cannot be shown again')
  .requiredOption('--name <name>', 'the person or program that uses the key')
  .requiredOption('--role <role...>', 'viewer, operator, author or admin; several may be given')
  .action(({ name, role }: { name: string; role: string[] }) =>
    withKeys(async (commands) => {
      const { key, note } = await commands.create({ name, roles: role })
      process.stderr.write(note)
      process.stdout.write(`${key}\n`)
    }),
  )
keys
  .command('list')
  .description('lists the keys, including revoked ones')
  .action(() => withKeys(async (commands) => void process.stdout.write(await commands.list())))
keys
  .command('revoke <id>')
  .description('revokes a key; takes effect at once')
  .action((id: string) => withKeys(async (commands) => void process.stdout.write(await commands.revoke(id))))
addCompareCommand(program, withSettings)
addImportCommand(program)
program.parse()

function unknownCommand(name: string): string {
  const names = program.commands.map((command) => command.name())
  const meant = nearest(name, names)
  const advice = meant === undefined ? `The commands: ${names.join(', ')}.` : `Did you mean "${meant}"?`
  return `There is no command ${JSON.stringify(name)}. ${advice}`
}

/** A command that runs only if all settings are valid. */
function withSettings(run: (settings: Settings, warnings: readonly string[]) => Promise<void>): () => Promise<void> {
  return async () => {
    const file = loadEnvFile()
    if (!file.ok) return refuse([file.message])
    const reading = readSettings(process.env)
    if (!reading.ok) return refuse(reading.faults)
    await run(reading.settings, reading.warnings)
  }
}

async function migrate(settings: Settings): Promise<void> {
  const { migrateStore } = await import('./cli/store-commands.ts')
  try {
    await migrateStore(settings.databaseUrl, settings, createLogger(settings))
    process.stdout.write('The tables of the store are up to date.\n')
  } catch (thrown) {
    refuse([startFault(thrown, settings)])
  }
}

async function copy({ from, to }: { from: string; to?: string }, settings: Settings): Promise<void> {
  const { checkCopy, copyStore } = await import('./cli/store-commands.ts')
  const urls = checkCopy({ from, to: to ?? settings.databaseUrl })
  if (!urls.ok) return refuse([urls.message])
  try {
    const summary = await copyStore(urls.value, settings, createLogger(settings))
    process.stdout.write('Copied, read back and found the same:\n')
    for (const [name, { rows, sha256 }] of Object.entries(summary)) {
      process.stdout.write(`${name} ${rows} rows, sha256 ${sha256}\n`)
    }
    process.stdout.write(
      'Not copied: the message log, plans of replays and the counts of messages; the files keep them.\n',
    )
  } catch (thrown) {
    refuse([startFault(thrown, settings)])
  }
}

function withKeys(work: (commands: KeyCommands) => Promise<void>): Promise<void> {
  return withSettings(async (settings) => {
    const { openKeyCommands } = await import('./cli/key-commands.ts')
    try {
      const commands = await openKeyCommands(settings, createLogger({ ...settings, logLevel: 'error' }))
      await work(commands).finally(commands.close)
    } catch (thrown) {
      refuse([startFault(thrown, settings)])
    }
  })()
}

async function start(settings: Settings, warnings: readonly string[]): Promise<void> {
  const isWorker = WORKER_MARK in process.env && process.send !== undefined
  const logger = createLogger(settings, undefined, settings.workers > 1)
  process.on('uncaughtException', (err) => {
    logger.error(
      { err },
      isWorker ? 'A fault that nothing caught ends a worker' : 'A fault that nothing caught ends the service',
    )
    process.exit(1)
  })
  if (isWorker) {
    const { runWorker } = await import('./workers/worker.ts')
    const startWorker = (own: Settings, workerCluster: WorkerCluster) => listen(own, logger, workerCluster)
    return runWorker({ settings, start: startWorker, faultOf: (thrown) => startFault(thrown, settings) })
  }
  for (const warning of warnings) logger.warn({}, warning)
  try {
    const service = await (settings.workers > 1 ? startWorkers : listen)(settings, logger)
    stopOnSignal(service.stop, logger)
    const { messagePort, adminPort } = service
    logger.info(
      { version, messagePort, adminPort, ...(settings.workers > 1 ? { workers: settings.workers } : {}) },
      `Crosswalk listens for messages on http://${urlHost(settings.host)}:${messagePort} and for its administrators on http://${urlHost(settings.adminHost)}:${adminPort}`,
    )
    // Scripts wait for this line, so it must not stay in the buffer.
    logger.flush()
  } catch (thrown) {
    refuse([startFault(thrown, settings)])
  }
}

async function listen(settings: Settings, logger: Logger, workerCluster?: WorkerCluster): Promise<App> {
  const { startApp } = await import('./app.ts')
  return startApp(settings, version, logger, workerCluster)
}

/** The primary process locks the store for all workers. */
async function startWorkers(settings: Settings, logger: Logger): Promise<Primary> {
  const { startPrimary } = await import('./workers/primary.ts')
  const { lockStore } = await import('./wiring/open-store.ts')
  const lock = lockStore(settings)
  try {
    const primary = await startPrimary({ settings, logger })
    return { ...primary, stop: () => primary.stop().finally(lock.release) }
  } catch (thrown) {
    lock.release()
    throw thrown
  }
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

function stopOnSignal(stop: () => Promise<number>, logger: Logger): void {
  let stopping = false
  const onSignal = async (signal: string) => {
    if (stopping) {
      // A supervisor that signals the process group reaches this process twice, directly and through the launcher. A
      // second Ctrl-C comes from a person who does not want to wait.
      if (signal !== 'SIGINT') return
      logger.warn({ signal }, 'Second stop signal: exiting at once')
      process.exit(1)
    }
    stopping = true
    logger.info({ signal }, 'Stopping: taking no new messages, finishing those in flight')
    const left = await stop()
    if (left > 0) logger.warn({ left }, 'Stopped; messages that took too long were given up')
    else logger.info({}, 'Stopped')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void onSignal(signal))
}

function startFault(thrown: unknown, settings: Settings): string {
  const { code, message, port } = thrown as { code?: string; message?: string; port?: number }
  const setting = port === settings.adminPort ? 'ADMIN_PORT' : 'SERVER_PORT'
  if (code === 'EADDRINUSE') return `Port ${port} is in use already; stop what uses it or set ${setting}.`
  if (code === 'EACCES')
    return `Port ${port} requires more rights than this user has; set ${setting} to 1024 or higher.`
  if (code === 'EADDRNOTAVAIL') return `This machine has no such address (${message}); set HOST or ADMIN_HOST.`
  return message ?? String(thrown)
}

/** Reports why the process cannot start: one line for each fault, without a stack. */
function refuse(faults: readonly string[]): void {
  for (const fault of faults) process.stderr.write(`crosswalk: ${fault}\n`)
  process.exitCode = 1
}
