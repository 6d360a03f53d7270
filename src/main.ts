/** The process: arguments, settings, signals. */
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { App } from './app/app.ts'
import { WORKER_MARK } from './app/workers/ipc-protocol.ts'
import type { Primary } from './app/workers/primary.ts'
import type { WorkerCluster } from './app/workers/worker-cluster.ts'
import { CommandFault, startFault } from './cli/command.ts'
import { runProgram } from './cli/program.ts'
import type { Logger } from './core/ports/logger-port.ts'
import { createLogger } from './observe/log/logger.ts'
import { loadEnvFile, type Settings } from './settings/settings.ts'

const { version, description } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
  description: string
}

const { env, stdout, stderr } = process
// A reader such as `head` may have enough before a command has written all.
stdout.on('error', (err: NodeJS.ErrnoException) => {
  if (err.code !== 'EPIPE') throw err
})
void runProgram(
  process.argv.slice(2),
  { version, description, start },
  {
    env,
    stdout,
    stderr,
    // `process.stdin` would make a pipe non-blocking, and commands that read it to its end would find nothing yet.
    ask: isatty(0) ? askPerson : undefined,
    loadEnv: () => {
      const file = loadEnvFile()
      if (!file.ok) throw new CommandFault(file.message)
    },
  },
).then((exitCode) => {
  if (exitCode !== undefined) process.exitCode = exitCode
})

/** Questions go to standard error: standard output may be read by a program. Resolves to nothing at the end of the input. */
async function askPerson(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: stderr })
  // Without an answer, at the end of the input, nothing would ever settle.
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  try {
    return await Promise.race([terminal.question(question), ended])
  } finally {
    terminal.close()
  }
}

async function start(settings: Settings, warnings: readonly string[]): Promise<void> {
  const isWorker = WORKER_MARK in process.env && process.send !== undefined
  const logger = createLogger(settings, undefined, settings.workers > 1)
  process.on('uncaughtException', (err) => {
    logger.error({ err }, isWorker ? 'Worker stopped: uncaught exception' : 'Service stopped: uncaught exception')
    process.exit(1)
  })
  if (isWorker) {
    const { runWorker } = await import('./app/workers/worker.ts')
    const startWorker = (own: Settings, workerCluster: WorkerCluster) => listen(own, logger, workerCluster)
    return runWorker({ settings, start: startWorker, formatFault: (thrown) => startFault(thrown, settings) })
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
    throw new CommandFault(startFault(thrown, settings))
  }
}

async function listen(settings: Settings, logger: Logger, workerCluster?: WorkerCluster): Promise<App> {
  const { startApp } = await import('./app/app.ts')
  return startApp(settings, version, logger, workerCluster)
}

/** The primary process locks the store for all workers. */
async function startWorkers(settings: Settings, logger: Logger): Promise<Primary> {
  const { startPrimary } = await import('./app/workers/primary.ts')
  const { lockStore } = await import('./app/open-store.ts')
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
