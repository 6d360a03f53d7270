/** The process: arguments, settings, signals. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { createLogger } from './adapters/log.ts'
import { startApp } from './app.ts'
import { loadEnvFile, readSettings, type Settings } from './settings.ts'
import { settingsHelp } from './settings-help.ts'

const { version, description } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
  description: string
}

new Command('crosswalk')
  .description(description)
  .version(version)
  .addHelpText('after', () => `\n${settingsHelp()}`)
  .action(start)
  .parse()

async function start(): Promise<void> {
  const file = loadEnvFile()
  if (!file.ok) return refuse([file.message])
  const reading = readSettings(process.env)
  if (!reading.ok) return refuse(reading.faults)
  const { settings, warnings } = reading
  const logger = createLogger(settings)
  for (const warning of warnings) logger.warn({}, warning)
  process.on('uncaughtException', (err) => {
    logger.error({ err }, 'A fault that nothing caught ends the service')
    process.exit(1)
  })
  try {
    const app = await startApp(settings, version, logger)
    stopOnSignal(app.stop, logger)
    logger.info(
      { version, messagePort: app.messagePort, adminPort: app.adminPort },
      `Crosswalk listens for messages on http://${urlHost(settings.host)}:${app.messagePort} and for its administrators on http://${urlHost(settings.adminHost)}:${app.adminPort}`,
    )
  } catch (thrown) {
    refuse([startFault(thrown, settings)])
  }
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

function stopOnSignal(stop: () => Promise<number>, logger: ReturnType<typeof createLogger>): void {
  let stopping = false
  const onSignal = async (signal: string) => {
    if (stopping) {
      // A supervisor that signals the whole process group reaches us twice, by itself and through the launcher; a
      // second Ctrl-C is a person who does not want to wait.
      if (signal !== 'SIGINT') return
      logger.warn({ signal }, 'Told to stop again: stopping at once')
      process.exit(1)
    }
    stopping = true
    logger.info({ signal }, 'Stopping: no new messages, those under way finish')
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
  if (code === 'EACCES') return `Port ${port} needs more rights than this user has; set ${setting} to 1024 or higher.`
  if (code === 'EADDRNOTAVAIL') return `This machine has no such address (${message}); set HOST or ADMIN_HOST.`
  return message ?? String(thrown)
}

/** Ends the process before it served anything: one line a fault, no stack. */
function refuse(faults: readonly string[]): void {
  for (const fault of faults) process.stderr.write(`crosswalk: ${fault}\n`)
  process.exitCode = 1
}
