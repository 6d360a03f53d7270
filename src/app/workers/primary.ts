/**
 * The process that manages the workers: it starts them, replaces lost ones, routes their requests and stops them. No
 * message and no connection passes through it.
 */
import cluster, { type Worker } from 'node:cluster'
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import { addExpositions } from '../../observe/metrics/expositions.ts'
import type { Settings } from '../../settings/settings.ts'
import {
  type Gathered,
  type ToPrimary,
  type ToWorker,
  WORKER_MARK,
  type WorkerRequest,
  type WorkerResponses,
} from './ipc-protocol.ts'

type PrimaryOptions = Readonly<{
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

/** The longest wait for responses, without `extraMs` of the request. */
const TIMEOUT_MS: Readonly<Record<WorkerRequest, number>> = {
  catchUp: 10_000,
  reloadCaptures: 10_000,
  flushRecords: 2_000,
  flushCounts: 2_000,
  status: 2_000,
  messageCounts: 2_000,
  drift: 2_000,
  metrics: 5_000,
}

/** Resolves when every worker listens. If one cannot, rejects with its sentence when all have exited. */
export async function startPrimary(options: PrimaryOptions): Promise<Primary> {
  // Each worker accepts connections itself: a connection that this process handed to a dying worker would neither be
  // answered nor closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const crew = new Crew(options)
  await crew.start()
  const { messagePort, adminPort } = crew
  return { messagePort, adminPort, stop: () => crew.stop() }
}

/** A worker as the primary sees it. */
class WorkerHandle {
  /** It answers questions. */
  joined = false
  /** When it started to take messages, on the clock of `performance.now()`. */
  listeningSince: number | undefined
  administers = false
  /** It completed its messages after a stop. */
  stopped = false
  /** It is restarted because it asked for a port that no other worker holds now. */
  recalled = false
  /** Its last exposition. */
  metrics = ''
  readonly slot: number
  readonly worker: Worker
  /** The restart delay before it; undefined for the first worker in its slot. */
  readonly pauseMs: number | undefined

  constructor(slot: number, worker: Worker, pauseMs: number | undefined) {
    this.slot = slot
    this.worker = worker
    this.pauseMs = pauseMs
  }

  get listens(): boolean {
    return this.listeningSince !== undefined
  }

  /** Sends without waiting: a worker that no longer reads has an `exit` event soon. */
  send(message: ToWorker): void {
    this.worker.send(message, () => undefined)
  }

  kill(): void {
    this.worker.process.kill('SIGKILL')
  }
}

class Crew {
  messagePort: number
  adminPort: number
  readonly #settings: PrimaryOptions['settings']
  readonly #logger: Logger
  readonly #handles = new Set<WorkerHandle>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #allEnded = Promise.withResolvers<void>()
  readonly #calls = new ScatterGather<WorkerHandle, WorkerResponses[WorkerRequest]>()
  /** The port that workers ask for; all that listen at one time must ask for the same. */
  #askedPort: number
  #phase: 'starting' | 'running' | 'stopping' = 'starting'
  #lost = 0
  /** The sum of the last expositions of lost workers. */
  #lostMetrics = Promise.resolve('')
  #left = 0

  constructor({ settings, logger }: PrimaryOptions) {
    this.#settings = settings
    this.#logger = logger
    this.#askedPort = settings.serverPort
    this.messagePort = settings.serverPort
    this.adminPort = settings.adminPort
  }

  async start(): Promise<void> {
    this.#fork(0)
    await this.#ready.promise
  }

  async stop(): Promise<number> {
    this.#phase = 'stopping'
    for (const restart of this.#restarts) clearTimeout(restart)
    for (const handle of this.#handles) {
      // A worker that does not listen yet has no messages.
      if (handle.listens) handle.send({ kind: 'stop' })
      else handle.kill()
    }
    if (this.#handles.size === 0) return this.#left
    const killTimer = setTimeout(() => {
      for (const handle of this.#handles) {
        const { slot, worker } = handle
        this.#logger.warn({ worker: slot, pid: worker.process.pid }, 'A worker did not end in time and is killed')
        handle.kill()
      }
    }, this.#settings.shutdownTimeoutMs + CLOSING_MS)
    await this.#allEnded.promise
    clearTimeout(killTimer)
    return this.#left
  }

  #running(): WorkerHandle[] {
    return [...this.#handles].filter(({ listens }) => listens)
  }

  #fork(slot: number, pauseMs?: number): void {
    const { workers } = this.#settings
    const worker = cluster.fork({ [WORKER_MARK]: String(slot) })
    const handle = new WorkerHandle(slot, worker, pauseMs)
    this.#handles.add(handle)
    worker.on('message', (message: ToPrimary) => this.#receive(handle, message))
    worker.on('error', (err) => {
      this.#logger.error({ err, worker: slot }, 'A worker process could not be started or reached')
      if (worker.process.pid === undefined) this.#handleExit(handle, null, null)
    })
    worker.on('exit', (code: number | null, signal: string | null) => {
      // Its last message may still arrive.
      if (worker.isConnected()) worker.once('disconnect', () => this.#handleExit(handle, code, signal))
      else this.#handleExit(handle, code, signal)
    })
    const ports = { messagePort: this.#askedPort, adminPort: this.adminPort }
    handle.send({ kind: 'start', start: { slot, workers, ...ports, startedAt: performance.timeOrigin } })
  }

  #receive(handle: WorkerHandle, message: ToPrimary): void {
    switch (message.kind) {
      case 'join':
        handle.joined = true
        handle.send({ kind: 'joined' })
        return
      case 'listening':
        if (handle.recalled) return
        handle.listeningSince = performance.now()
        if (this.#phase === 'running') this.#logger.info({ worker: handle.slot }, 'A new worker replaces a lost one')
        this.messagePort = message.messagePort
        this.#assignAdminPort()
        if (this.#phase !== 'starting' || this.#running().length < this.#settings.workers) return
        this.#phase = 'running'
        this.#ready.resolve()
        return
      case 'administering':
        this.adminPort = message.adminPort
        // The first worker has opened everything that they share, so the others can start.
        if (this.#phase !== 'starting') return
        for (let slot = 1; slot < this.#settings.workers; slot += 1) this.#fork(slot)
        return
      case 'failed':
        if (this.#phase === 'starting') this.#giveUp(message.message)
        else this.#logger.error({ worker: handle.slot }, message.message)
        return
      case 'stopped':
        handle.stopped = true
        this.#left += message.left
        return
      case 'response':
        if (typeof message.response === 'string') handle.metrics = message.response
        this.#calls.respond(handle, message.call, message.response)
        return
      case 'gather':
        void this.#gather(handle, message).then((gathered) =>
          handle.send({ kind: 'gathered', call: message.call, gathered }),
        )
    }
  }

  async #gather(
    sender: WorkerHandle,
    { request, extraMs, endpointId }: Extract<ToPrimary, { kind: 'gather' }>,
  ): Promise<Gathered> {
    // The worker that announces a change has activated it already.
    const isAsked = (handle: WorkerHandle) => handle.joined && !(request === 'catchUp' && handle === sender)
    const { responses, missing } = await this.#calls.gather(
      [...this.#handles].filter(isAsked),
      (handle, call) => handle.send({ kind: 'request', call, request, endpointId }),
      TIMEOUT_MS[request] + extraMs,
    )
    const isMetrics = request === 'metrics'
    const lost = isMetrics ? [await this.#sumOfLost()] : []
    const workers = { configured: this.#settings.workers, running: this.#running().length, lost: this.#lost }
    // A worker that does not respond counts with its last exposition: a sum that decreases looks like a restart.
    const all = isMetrics ? [...this.#handles].map(({ metrics }) => metrics) : [...responses.values()]
    return { responses: all, missing, workers, lost }
  }

  async #sumOfLost(): Promise<string> {
    for (;;) {
      const now = this.#lostMetrics
      const text = await now
      if (now === this.#lostMetrics) return text
    }
  }

  /** If no worker holds a port that the system chose, a worker that asks for port 0 again would get another one. */
  #keepPort(): void {
    if (this.#running().length > 0 || this.#askedPort === this.messagePort) return
    this.#askedPort = this.messagePort
    for (const handle of this.#handles) {
      handle.recalled = true
      handle.kill()
    }
  }

  /** One worker has the admin port. When it is lost, another worker takes over. */
  #assignAdminPort(): void {
    const running = this.#running()
    const [first] = running
    if (first === undefined || this.#phase === 'stopping' || running.some(({ administers }) => administers)) return
    first.administers = true
    first.send({ kind: 'administer', adminPort: this.adminPort })
  }

  #giveUp(sentence: string): void {
    void this.stop().then(() => this.#ready.reject(new Error(sentence)))
  }

  #handleExit(handle: WorkerHandle, code: number | null, signal: string | null): void {
    this.#handles.delete(handle)
    this.#calls.leave(handle)
    if (handle.metrics !== '') {
      this.#lostMetrics = this.#lostMetrics.then((text) => addExpositions([], [text, handle.metrics]))
    }
    const { slot: worker, worker: ended, listeningSince } = handle
    const fields = { worker, pid: ended.process.pid, code, signal }
    if (this.#phase === 'starting') {
      this.#giveUp(`A worker ended while the service started (${signal ?? `exit code ${code}`}).`)
      return
    }
    if (this.#phase === 'stopping') {
      if (handle.listens && !handle.stopped) {
        this.#logger.error(fields, 'A worker ended before it had completed its messages')
      }
      if (this.#handles.size === 0) this.#allEnded.resolve()
      return
    }
    this.#keepPort()
    if (handle.recalled) {
      this.#fork(worker, handle.pauseMs)
      return
    }
    this.#lost += 1
    const livedMs = listeningSince === undefined ? 0 : performance.now() - listeningSince
    const pauseMs = restartDelayMs(handle.pauseMs, livedMs)
    this.#logger.error(
      { ...fields, lost: this.#lost, pauseMs },
      'A worker is lost, with its messages in flight; a new one replaces it',
    )
    const restart = setTimeout(() => {
      this.#restarts.delete(restart)
      this.#fork(worker, pauseMs)
    }, pauseMs)
    this.#restarts.add(restart)
    this.#assignAdminPort()
  }
}

/** A worker that ran for so long was not lost because of its start. */
const SETTLED_MS = 60_000
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 }

/**
 * No delay the first time, then delays that double, so that a worker that fails again and again leaves the processor to
 * the others. In: the delay before the lost worker, undefined for the first in its slot, and how long it took messages.
 */
export function restartDelayMs(lastPauseMs: number | undefined, livedMs: number): number {
  if (lastPauseMs === undefined || livedMs >= SETTLED_MS) return 0
  return nextPauseMs(lastPauseMs, BACKOFF)
}

type Gathering<Member, Response> = Readonly<{
  waitingFor: Set<Member>
  responses: Map<Member, Response>
  failed: Set<Member>
  finish(): void
}>

/** Sends a request to many members and collects their responses, up to a timeout; it does not wait for lost members. */
export class ScatterGather<Member, Response> {
  readonly #gatherings = new Map<number, Gathering<Member, Response>>()
  #count = 0

  /** Calls `send` for each member. Out: the responses, and the number of members that failed or did not respond in time. */
  gather(
    members: readonly Member[],
    send: (member: Member, call: number) => void,
    timeoutMs: number,
  ): Promise<Readonly<{ responses: ReadonlyMap<Member, Response>; missing: number }>> {
    this.#count += 1
    const id = this.#count
    return new Promise((resolve) => {
      const waitingFor = new Set(members)
      const responses = new Map<Member, Response>()
      const failed = new Set<Member>()
      const finish = () => {
        clearTimeout(timer)
        this.#gatherings.delete(id)
        resolve({ responses, missing: waitingFor.size + failed.size })
      }
      const timer = setTimeout(finish, timeoutMs)
      this.#gatherings.set(id, { waitingFor, responses, failed, finish })
      if (waitingFor.size === 0) finish()
      else for (const member of members) send(member, id)
    })
  }

  /** `response`: undefined if the member failed. */
  respond(member: Member, call: number, response: Response | undefined): void {
    const gathering = this.#gatherings.get(call)
    if (gathering === undefined) return
    if (response === undefined) gathering.failed.add(member)
    else gathering.responses.set(member, response)
    this.#settle(gathering, member)
  }

  /** The member is lost and counts as missing in no call. */
  leave(member: Member): void {
    for (const gathering of this.#gatherings.values()) {
      gathering.failed.delete(member)
      this.#settle(gathering, member)
    }
  }

  #settle({ waitingFor, finish }: Gathering<Member, Response>, member: Member): void {
    if (waitingFor.delete(member) && waitingFor.size === 0) finish()
  }
}
