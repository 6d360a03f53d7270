/** How soon a refused caller may find room: told by how fast messages have ended lately. */
import type { Gate } from './concurrency-limiter.ts'

/** Over how long the speed is measured at least, and how long after somebody asked it is not known any more. */
const LEAST_MS = 1_000
const FORGOTTEN_MS = 10_000

const MOST_SECONDS = 30

/** Gives the whole seconds, from 1 to 30, until so many more messages of the gate will have ended. */
export type RetryAfterEstimator = (messages: number, nowMs: number) => number

/** Costs nothing but where it is asked. */
export function createRetryAfterEstimator(gate: Gate): RetryAfterEstimator {
  let askedAtMs = Number.NEGATIVE_INFINITY
  let sinceMs = 0
  let endedBefore = 0
  let perSecond = Number.POSITIVE_INFINITY

  return (messages, nowMs) => {
    const forgotten = nowMs - askedAtMs > FORGOTTEN_MS
    askedAtMs = nowMs
    const elapsedMs = forgotten ? 0 : nowMs - sinceMs
    const ended = gate.ended - endedBefore
    if (forgotten) perSecond = Number.POSITIVE_INFINITY
    else if (elapsedMs >= LEAST_MS && ended > 0) perSecond = (ended * 1_000) / elapsedMs
    // As long as nothing ends, the time grows in which nothing did.
    if (forgotten || (elapsedMs >= LEAST_MS && ended > 0)) {
      sinceMs = nowMs
      endedBefore = gate.ended
    }
    const seconds = Math.max(messages / perSecond, ended === 0 ? elapsedMs / 1_000 : 0)
    return Math.min(MOST_SECONDS, Math.max(1, Math.ceil(seconds)))
  }
}
