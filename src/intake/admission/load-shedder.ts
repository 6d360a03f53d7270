/**
 * Keeps the processor from being given more than it can do. Messages that wait for nothing are never under way together, so
 * no bound on their number would ever refuse one: what comes too fast would wait unseen, on its connection, for longer and
 * longer. So while the event loop lags, requests are only noted as they come; in each turn of the loop some of them
 * begin, as many as fit into a short time, and those who wait too long are refused before their body is read.
 *
 * Of new connections the loop takes one in each of its rounds, so that they can wait for long without a lag. Where they come
 * and the loop never rests, it goes round without beginning anything until no more come.
 */

import { createAdaptiveLifoQueue, type TurnBounds } from './adaptive-lifo-queue.ts'
import { createEventLoop, type EventLoop } from './event-loop.ts'

/** A request that waits for its turn; one of the two is called, once. */
export type Turn = Readonly<{ begin(): void; refuse(): void }>

export interface LoadShedder {
  /** Whether a request may go on at once; else it has to `wait`. Asked once of each request. */
  passes(): boolean
  /** Told of each new connection. */
  connected(): void
  wait(turn: Turn): void
  readonly waiting: number
}

/** How often the lag is looked at while requests come, and from which lag on they have to wait. */
const BEAT_MS = 20
const LAG_MS = 20

/** The share of a beat that the loop is busy in, from which on it counts as never resting. */
const RESTLESS = 0.95

/** How long it goes round at most before a message begins. */
const GATHER_MS = 50

/** After so many beats without a lag nobody has to wait any more. */
const CALM_BEATS = 50

/** How long the messages of one turn may take, and how many there are at most. */
const TURN_MS = 20
const OVERLOADED_TURN_MS = 2
const MOST_A_TURN = 256

/**
 * The most that counts as worked from one look to the next. One message that holds the processor for a second is no load:
 * there may be none behind it.
 */
const MOST_AT_ONCE_MS = 50

/** Processor time of this thread: while others have the processor, nobody waits for what this service does. */
function createWork(loop: EventLoop): () => number {
  let workedMs = 0
  let seenMs = Number.NaN
  return () => {
    const nowMs = loop.cpuMs()
    if (!Number.isNaN(seenMs)) workedMs += Math.min(nowMs - seenMs, MOST_AT_ONCE_MS)
    seenMs = nowMs
    return workedMs
  }
}

/** However few messages may be under way: requests take little while they are unread. */
const LEAST_PLACES = 1_000

export function createLoadShedder({ places, waitMs }: TurnBounds, loop: EventLoop = createEventLoop()): LoadShedder {
  const queue = createAdaptiveLifoQueue<Turn>({ places: Math.max(LEAST_PLACES, places), waitMs })
  const workedSoFarMs = createWork(loop)
  let crowded = false
  let calmBeats = 0
  let requests = 0
  let connections = 0
  /** Requests and connections since the loop went round last. */
  let arrivals = 0
  let gatheringSinceMs = Number.NaN
  let lastBeatMs = Number.NaN
  let isBeating = false
  let perTurn = 1
  /** What had been worked when the turn before began, where that filled it; NaN where there is none. */
  let filledSinceMs = Number.NaN
  /** What has been worked until the first request since the last turn came; NaN where none has. */
  let workedMs = Number.NaN

  const beat = (): void => {
    const nowMs = loop.nowMs()
    const isRestless = loop.busyShare() > RESTLESS && connections > 0
    const lags = isRestless || nowMs - lastBeatMs - BEAT_MS > LAG_MS
    calmBeats = lags || queue.size > 0 ? 0 : calmBeats + 1
    if (lags) crowded = true
    else if (calmBeats >= CALM_BEATS) crowded = false
    isBeating = crowded || requests > 0
    requests = 0
    connections = 0
    lastBeatMs = nowMs
    if (isBeating) nextBeat()
  }
  const nextBeat = loop.createTimer(beat, BEAT_MS)

  const takeTurn = (): void => {
    const nowMs = workedSoFarMs()
    if (Number.isNaN(gatheringSinceMs)) gatheringSinceMs = nowMs
    if (arrivals > 0 && nowMs - gatheringSinceMs < GATHER_MS) {
      arrivals = 0
      loop.nextRound(takeTurn)
      return
    }
    gatheringSinceMs = Number.NaN
    const mostMs = queue.overloaded ? OVERLOADED_TURN_MS : TURN_MS
    const lastedMs = nowMs - filledSinceMs
    if (lastedMs < mostMs / 2) perTurn = Math.min(MOST_A_TURN, perTurn * 2)
    else if (lastedMs > mostMs) perTurn = Math.max(1, Math.floor(perTurn / 2))
    let begun = 0
    for (; begun < perTurn; begun += 1) {
      const turn = queue.next()
      if (turn === undefined) break
      turn.begin()
    }
    for (const { refuse } of queue.expire(nowMs)) refuse()
    filledSinceMs = begun === perTurn ? nowMs : Number.NaN
    workedMs = Number.NaN
    if (queue.size > 0) loop.nextRound(takeTurn)
  }

  return {
    connected: () => {
      connections += 1
      arrivals += 1
    },
    passes: () => {
      requests += 1
      if (isBeating) return !crowded
      isBeating = true
      loop.busyShare()
      lastBeatMs = loop.nowMs()
      nextBeat()
      return true
    },
    wait: (turn) => {
      arrivals += 1
      if (queue.size === 0) loop.nextRound(takeTurn)
      if (Number.isNaN(workedMs)) workedMs = workedSoFarMs()
      queue.add(turn, workedMs)?.refuse()
    },
    get waiting() {
      return queue.size
    },
  }
}
