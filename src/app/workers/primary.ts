/**
 * The process that manages the workers: it starts them, replaces lost ones, routes their requests and stops them. No
 * message and no connection passes through it.
 */
import cluster from 'node:cluster'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Settings } from '../../settings/settings.ts'
import { type ToPrimary, WORKER_MARK } from './ipc-protocol.ts'
import { createIpcRouter } from './ipc-router.ts'
import { listens, restartDelayMs, send, type WorkerHandle } from './worker-handle.ts'

export type PrimaryOptions = Readonly<{
  settings: Pick<Settings, 'workers' | 'serverPort' | 'adminPort' | 'shutdownTimeoutMs'>
  logger: Logger
}>

export type Primary = Readonly<{
  messagePort: number
  adminPort: number
  /** Resolves, when all workers have exited, to the number of messages that they gave up. */
  stop(): Promise<number>
}>

/** The time that a stop may take beyond SHUTDOWN_TIMEOUT_MS. */
const CLOSING_MS = 10_000

/** Resolves when every worker listens. If one cannot, rejects with its sentence when all have exited. */
export async function startPrimary({ settings, logger }: PrimaryOptions): Promise<Primary> {
  const { workers } = settings
  const handles = new Set<WorkerHandle>()
  const restarts = new Set<NodeJS.Timeout>()
  const ready = Promise.withResolvers<void>()
  const allEnded = Promise.withResolvers<void>()
  /** The port that workers ask for, and the one that they have; all that listen at one time must ask for the same. */
  let askedPort = settings.serverPort
  let messagePort = askedPort
  let adminPort = settings.adminPort
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  let lost = 0
  let left = 0

  const running = () => [...handles].filter(listens)
  const router = createIpcRouter(handles, () => ({ configured: workers, running: running().length, lost }))

  function fork(slot: number, pauseMs?: number): void {
    const worker = cluster.fork({ [WORKER_MARK]: String(slot) })
    const handle: WorkerHandle = {
      slot,
      worker,
      pauseMs,
      joined: false,
      administers: false,
      stopped: false,
      recalled: false,
      metrics: '',
    }
    handles.add(handle)
    worker.on('message', (message: ToPrimary) => receive(handle, message))
    worker.on('error', (err) => {
      logger.error({ err, worker: slot }, 'A worker process could not be started or reached')
      if (worker.process.pid === undefined) handleExit(handle, null, null)
    })
    worker.on('exit', (code: number | null, signal: string | null) => {
      // Its last message may still arrive.
      if (worker.isConnected()) worker.once('disconnect', () => handleExit(handle, code, signal))
      else handleExit(handle, code, signal)
    })
    const start = { slot, workers, messagePort: askedPort, adminPort, startedAt: performance.timeOrigin }
    send(handle, { kind: 'start', start })
  }

  function receive(handle: WorkerHandle, message: ToPrimary): void {
    switch (message.kind) {
      case 'listening':
        if (handle.recalled) return
        handle.listeningSince = performance.now()
        if (phase === 'running') logger.info({ worker: handle.slot }, 'A new worker replaces a lost one')
        messagePort = message.messagePort
        assignAdminPort()
        checkReady()
        return
      case 'administering':
        adminPort = message.adminPort
        // The first worker has opened everything that they share, so the others can start.
        if (phase === 'starting') for (let slot = 1; slot < workers; slot += 1) fork(slot)
        return
      case 'failed':
        if (phase === 'starting') giveUp(message.message)
        else logger.error({ worker: handle.slot }, message.message)
        return
      case 'stopped':
        handle.stopped = true
        left += message.left
        return
      default:
        router.handle(handle, message)
    }
  }

  /** If no worker holds a port that the system chose, a worker that asks for port 0 again would get another one. */
  function keepPort(): void {
    if (running().length > 0 || askedPort === messagePort) return
    askedPort = messagePort
    for (const handle of handles) {
      handle.recalled = true
      handle.worker.process.kill('SIGKILL')
    }
  }

  /** One worker has the admin port. When it is lost, another worker takes over. */
  function assignAdminPort(): void {
    const [first] = running()
    if (first === undefined || phase === 'stopping' || running().some(({ administers }) => administers)) return
    first.administers = true
    send(first, { kind: 'administer', adminPort })
  }

  function checkReady(): void {
    if (phase !== 'starting' || running().length < workers) return
    phase = 'running'
    ready.resolve()
  }

  function giveUp(sentence: string): void {
    void stop().then(() => ready.reject(new Error(sentence)))
  }

  function handleExit(handle: WorkerHandle, code: number | null, signal: string | null): void {
    handles.delete(handle)
    router.leave(handle)
    const { slot: worker, worker: ended, pauseMs: lastPauseMs, listeningSince, stopped } = handle
    const fields = { worker, pid: ended.process.pid, code, signal }
    if (phase === 'starting') {
      giveUp(`A worker ended while the service started (${signal ?? `exit code ${code}`}).`)
      return
    }
    if (phase === 'stopping') {
      if (listens(handle) && !stopped) logger.error(fields, 'A worker ended before it had completed its messages')
      if (handles.size === 0) allEnded.resolve()
      return
    }
    keepPort()
    if (handle.recalled) {
      fork(worker, lastPauseMs)
      return
    }
    lost += 1
    const pauseMs = restartDelayMs(lastPauseMs, listeningSince === undefined ? 0 : performance.now() - listeningSince)
    logger.error({ ...fields, lost, pauseMs }, 'A worker is lost, with its messages in flight; a new one replaces it')
    const restart = setTimeout(() => {
      restarts.delete(restart)
      fork(worker, pauseMs)
    }, pauseMs)
    restarts.add(restart)
    assignAdminPort()
  }

  async function stop(): Promise<number> {
    phase = 'stopping'
    for (const restart of restarts) clearTimeout(restart)
    for (const handle of handles) {
      // A worker that does not listen yet has no messages.
      if (listens(handle)) send(handle, { kind: 'stop' })
      else handle.worker.process.kill('SIGKILL')
    }
    if (handles.size === 0) return left
    const killTimer = setTimeout(() => {
      for (const { slot, worker } of handles) {
        logger.warn({ worker: slot, pid: worker.process.pid }, 'A worker did not end in time and is killed')
        worker.process.kill('SIGKILL')
      }
    }, settings.shutdownTimeoutMs + CLOSING_MS)
    await allEnded.promise
    clearTimeout(killTimer)
    return left
  }

  // Each worker accepts connections itself: a connection that this process handed to a dying worker would neither be
  // answered nor closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  fork(0)
  await ready.promise
  return { messagePort, adminPort, stop }
}
