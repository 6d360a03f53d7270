/**
 * The process that keeps the workers: starts them, replaces those that are lost, hands questions around, stops them. No
 * message comes by here, nor any connection.
 */
import cluster from 'node:cluster'
import type { Logger } from '../domain/ports.ts'
import type { Settings } from '../settings.ts'
import { createIpcRouter } from './ipc-router.ts'
import { listens, type Member, send } from './member.ts'
import { type ToPrimary, WORKER_MARK } from './protocol.ts'
import { pauseBefore } from './restarts.ts'

export type PrimaryOptions = Readonly<{
  settings: Pick<Settings, 'workers' | 'serverPort' | 'adminPort' | 'shutdownTimeoutMs'>
  logger: Logger
}>

export type Primary = Readonly<{
  messagePort: number
  adminPort: number
  /** Resolves when all workers have ended, to the number of messages that they gave up. */
  stop(): Promise<number>
}>

/** What stopping takes at most beside SHUTDOWN_TIMEOUT_MS. */
const CLOSING_MS = 10_000

/** Resolves when every worker listens. Rejects with what the first says that cannot, when all have ended. */
export async function startPrimary({ settings, logger }: PrimaryOptions): Promise<Primary> {
  const { workers } = settings
  const members = new Set<Member>()
  const restarts = new Set<NodeJS.Timeout>()
  const ready = Promise.withResolvers<void>()
  const allEnded = Promise.withResolvers<void>()
  /** As workers ask for it, and as it is: those that listen at one time must ask for the same. */
  let askedPort = settings.serverPort
  let messagePort = askedPort
  let adminPort = settings.adminPort
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  let lost = 0
  let left = 0

  const running = () => [...members].filter(listens)
  const router = createIpcRouter(members, () => ({ configured: workers, running: running().length, lost }))

  function fork(slot: number, pauseMs?: number): void {
    const worker = cluster.fork({ [WORKER_MARK]: String(slot) })
    const member: Member = {
      slot,
      worker,
      pauseMs,
      joined: false,
      administers: false,
      stopped: false,
      recalled: false,
      metrics: '',
    }
    members.add(member)
    worker.on('message', (message: ToPrimary) => hear(member, message))
    worker.on('error', (err) => {
      logger.error({ err, worker: slot }, 'A worker process could not be started or told')
      if (worker.process.pid === undefined) end(member, null, null)
    })
    worker.on('exit', (code: number | null, signal: string | null) => {
      // What it said last may still be on its way.
      if (worker.isConnected()) worker.once('disconnect', () => end(member, code, signal))
      else end(member, code, signal)
    })
    send(member, { kind: 'start', start: { slot, workers, messagePort: askedPort, startedAt: performance.timeOrigin } })
  }

  function hear(member: Member, message: ToPrimary): void {
    switch (message.kind) {
      case 'listening':
        if (member.recalled) return
        member.listeningSince = performance.now()
        if (phase === 'running') logger.info({ worker: member.slot }, 'Another worker has taken the place')
        messagePort = message.messagePort
        appoint()
        checkReady()
        return
      case 'administering':
        adminPort = message.adminPort
        // The others come now: the first has found out that everything that they share is there.
        if (phase === 'starting') for (let slot = 1; slot < workers; slot += 1) fork(slot)
        return
      case 'failed':
        if (phase === 'starting') giveUp(message.message)
        else logger.error({ worker: member.slot }, message.message)
        return
      case 'stopped':
        member.stopped = true
        left += message.left
        return
      default:
        router.hear(member, message)
    }
  }

  /** Where nobody has a port that the system chose, asking for any would give another one. */
  function keepPort(): void {
    if (running().length > 0 || askedPort === messagePort) return
    askedPort = messagePort
    for (const member of members) {
      member.recalled = true
      member.worker.process.kill('SIGKILL')
    }
  }

  /** One worker has the admin port. Where that one is lost, another one takes it over. */
  function appoint(): void {
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

  function end(member: Member, code: number | null, signal: string | null): void {
    members.delete(member)
    router.leave(member)
    const { slot: worker, worker: ended, pauseMs: lastPauseMs, listeningSince, stopped } = member
    const how = { worker, pid: ended.process.pid, code, signal }
    if (phase === 'starting') {
      giveUp(`A worker ended while the service started (${signal ?? `exit code ${code}`}).`)
      return
    }
    if (phase === 'stopping') {
      if (listens(member) && !stopped) logger.error(how, 'A worker ended before the messages that it had')
      if (members.size === 0) allEnded.resolve()
      return
    }
    keepPort()
    if (member.recalled) {
      fork(worker, lastPauseMs)
      return
    }
    lost += 1
    const pauseMs = pauseBefore(lastPauseMs, listeningSince === undefined ? 0 : performance.now() - listeningSince)
    logger.error(
      { ...how, lost, pauseMs },
      'A worker is lost, with the messages that it had; another one takes its place',
    )
    const restart = setTimeout(() => {
      restarts.delete(restart)
      fork(worker, pauseMs)
    }, pauseMs)
    restarts.add(restart)
    appoint()
  }

  async function stop(): Promise<number> {
    phase = 'stopping'
    for (const restart of restarts) clearTimeout(restart)
    for (const member of members) {
      // One that does not listen yet has no messages.
      if (listens(member)) send(member, { kind: 'stop' })
      else member.worker.process.kill('SIGKILL')
    }
    if (members.size === 0) return left
    const late = setTimeout(() => {
      for (const { slot, worker } of members) {
        logger.warn({ worker: slot, pid: worker.process.pid }, 'A worker does not end and is killed')
        worker.process.kill('SIGKILL')
      }
    }, settings.shutdownTimeoutMs + CLOSING_MS)
    await allEnded.promise
    clearTimeout(late)
    return left
  }

  // Each takes connections from the port itself. Dealt out by this process, one on its way to a worker that dies would
  // be answered by nobody, and not end either.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  fork(0)
  await ready.promise
  return { messagePort, adminPort, stop }
}
