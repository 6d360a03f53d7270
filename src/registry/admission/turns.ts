/**
 * Keeps the processor from being given more than it can do. Messages that wait for nothing are never under way together, so
 * no bound on their number would ever refuse one: what comes too fast would wait unseen, on its connection, for longer and
 * longer. So while the event loop lags, requests are only noted as they come; in each turn of the loop some of them
 * begin, as many as fit into a short time, and those who wait too long are refused before their body is read.
 */
import { createTurnQueue, type TurnBounds } from './turn-queue.ts'

/** A request that waits for its turn; one of the two is called, once. */
export type Turn = Readonly<{ begin(): void; refuse(): void }>

export interface Turns {
  /** Whether a request may go on at once; else it has to `wait`. Asked once of each request. */
  passes(): boolean
  wait(turn: Turn): void
  readonly waiting: number
}

/** How often the lag is looked at while requests come, and from which lag on they have to wait. */
const BEAT_MS = 20
const LAG_MS = 20

/** After so many beats without a lag nobody has to wait any more. */
const CALM_BEATS = 50

/** How long the messages of one turn should take, and how many there are at most. */
const SHORT_MS = 1
const LONG_MS = 2
const MOST_A_TURN = 256

export function createTurns(bounds: TurnBounds): Turns {
  const queue = createTurnQueue<Turn>(bounds)
  let crowded = false
  let calmBeats = 0
  let requests = 0
  let lastBeatMs = Number.NaN
  let isBeating = false
  let perTurn = 1
  /** When the turn before began, where that filled it; NaN where there is none. */
  let filledSinceMs = Number.NaN

  const beat = (): void => {
    const nowMs = performance.now()
    const lags = nowMs - lastBeatMs - BEAT_MS > LAG_MS
    calmBeats = lags || queue.size > 0 ? 0 : calmBeats + 1
    if (lags) crowded = true
    else if (calmBeats >= CALM_BEATS) crowded = false
    isBeating = crowded || requests > 0
    requests = 0
    lastBeatMs = nowMs
    if (isBeating) nextBeat()
  }
  let timer: NodeJS.Timeout | undefined
  const nextBeat = (): void => {
    timer = timer?.refresh() ?? setTimeout(beat, BEAT_MS).unref()
  }

  const takeTurn = (): void => {
    const nowMs = performance.now()
    const lastedMs = nowMs - filledSinceMs
    if (lastedMs < SHORT_MS) perTurn = Math.min(MOST_A_TURN, perTurn * 2)
    else if (lastedMs > LONG_MS) perTurn = Math.max(1, Math.floor(perTurn / 2))
    let begun = 0
    for (; begun < perTurn; begun += 1) {
      const turn = queue.next()
      if (turn === undefined) break
      turn.begin()
    }
    for (const { refuse } of queue.expire(nowMs)) refuse()
    filledSinceMs = begun === perTurn ? nowMs : Number.NaN
    if (queue.size > 0) setImmediate(takeTurn)
  }

  return {
    passes: () => {
      requests += 1
      if (isBeating) return !crowded
      isBeating = true
      lastBeatMs = performance.now()
      nextBeat()
      return true
    },
    wait: (turn) => {
      if (queue.size === 0) setImmediate(takeTurn)
      queue.add(turn, performance.now())?.refuse()
    },
    get waiting() {
      return queue.size
    },
  }
}
