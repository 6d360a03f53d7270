/**
 * Keeps the processor from more work than it can do. A message that waits for nothing finishes before the next starts, so a
 * bound on messages in flight never rejects one; under too many, requests would wait unseen on their connections, longer and
 * longer. So while the event loop lags, requests queue as they arrive; each round of the loop starts as many as fit into a
 * short time, and requests that wait too long are shed before their body is read.
 *
 * The loop accepts one new connection in each round, so connections can wait for long without a lag. So requests also queue
 * while connections arrive and the loop is busy. As long as more arrive, no round starts a request, for at most GATHER_MS.
 */
import { Failure } from '../../core/failure.ts'
import { createAdaptiveLifoQueue, type QueueBounds } from './adaptive-lifo-queue.ts'
import { createEventLoop, type EventLoop } from './event-loop.ts'

/** A request that waits; one of the two is called, once. */
type WaitingRequest = Readonly<{ start(): void; shed(failure: Failure): void }>

export interface LoadShedder {
  /** True if a request may start at once; else it has to `wait`. Asked once for each request. */
  passes(): boolean
  /** To be called for each new connection. */
  connected(): void
  wait(request: WaitingRequest): void
  readonly waiting: number
}

/** How often the lag is measured while requests arrive, and the lag from which on they have to wait. */
const CHECK_MS = 20
const LAG_MS = 20

/** The busy share of the time between two checks from which on the loop counts as never resting. */
const RESTLESS = 0.95

/** The longest that rounds start no request because requests or connections arrive. */
const GATHER_MS = 50

/** After so many checks without a lag, no request has to wait any more. */
const CALM_CHECKS = 50

/** How long the requests of one round may take, normally and when overloaded, and how many they may be. */
const ROUND_MS = 20
const OVERLOADED_ROUND_MS = 2
const MAX_PER_ROUND = 256

/**
 * The most that counts as work from one measurement to the next. One message that holds the processor for a second is no
 * load: none may wait behind it.
 */
const MAX_AT_ONCE_MS = 50

/** Processor time of this thread: while others have the processor, no request counts as waiting for this service. */
function createWork(loop: EventLoop): () => number {
  let workedMs = 0
  let seenMs = Number.NaN
  return () => {
    const nowMs = loop.cpuMs()
    if (!Number.isNaN(seenMs)) workedMs += Math.min(nowMs - seenMs, MAX_AT_ONCE_MS)
    seenMs = nowMs
    return workedMs
  }
}

/** The least that may queue, even if few messages may run at once: an unread request takes little memory. */
const MIN_CAPACITY = 1_000

const tooMuch = (): Failure => new Failure('OVERLOADED', 'The service is overloaded; send this message again shortly.')

export function createLoadShedder({ capacity, waitMs }: QueueBounds, loop: EventLoop = createEventLoop()): LoadShedder {
  const queue = createAdaptiveLifoQueue<WaitingRequest>({ capacity: Math.max(MIN_CAPACITY, capacity), waitMs })
  const workedSoFarMs = createWork(loop)
  let mustWait = false
  let calmChecks = 0
  let requests = 0
  let connections = 0
  /** Requests and connections since the last round. */
  let arrivals = 0
  let gatheringSinceMs = Number.NaN
  let lastCheckMs = Number.NaN
  let isChecking = false
  let perRound = 1
  /** The processor time when the last round started, if it started as many requests as it might; else NaN. */
  let filledSinceMs = Number.NaN
  /** The work up to the first request since the last round; NaN before it. */
  let workedMs = Number.NaN

  const check = (): void => {
    const nowMs = loop.nowMs()
    const isRestless = loop.busyShare() > RESTLESS && connections > 0
    const lags = isRestless || nowMs - lastCheckMs - CHECK_MS > LAG_MS
    calmChecks = lags || queue.size > 0 ? 0 : calmChecks + 1
    if (lags) mustWait = true
    else if (calmChecks >= CALM_CHECKS) mustWait = false
    isChecking = mustWait || requests > 0
    requests = 0
    connections = 0
    lastCheckMs = nowMs
    if (isChecking) scheduleCheck()
  }
  const scheduleCheck = loop.createTimer(check, CHECK_MS)

  const runRound = (): void => {
    const nowMs = workedSoFarMs()
    if (Number.isNaN(gatheringSinceMs)) gatheringSinceMs = nowMs
    if (arrivals > 0 && nowMs - gatheringSinceMs < GATHER_MS) {
      arrivals = 0
      loop.nextRound(runRound)
      return
    }
    gatheringSinceMs = Number.NaN
    const maxMs = queue.overloaded ? OVERLOADED_ROUND_MS : ROUND_MS
    const lastedMs = nowMs - filledSinceMs
    if (lastedMs < maxMs / 2) perRound = Math.min(MAX_PER_ROUND, perRound * 2)
    else if (lastedMs > maxMs) perRound = Math.max(1, Math.floor(perRound / 2))
    let started = 0
    for (; started < perRound; started += 1) {
      const request = queue.next()
      if (request === undefined) break
      request.start()
    }
    for (const { shed } of queue.expire(nowMs)) shed(tooMuch())
    filledSinceMs = started === perRound ? nowMs : Number.NaN
    workedMs = Number.NaN
    if (queue.size > 0) loop.nextRound(runRound)
  }

  return {
    connected: () => {
      connections += 1
      arrivals += 1
    },
    passes: () => {
      requests += 1
      if (isChecking) return !mustWait
      isChecking = true
      loop.busyShare()
      lastCheckMs = loop.nowMs()
      scheduleCheck()
      return true
    },
    wait: (request) => {
      arrivals += 1
      if (queue.size === 0) loop.nextRound(runRound)
      if (Number.isNaN(workedMs)) workedMs = workedSoFarMs()
      queue.add(request, workedMs)?.shed(tooMuch())
    },
    get waiting() {
      return queue.size
    },
  }
}
