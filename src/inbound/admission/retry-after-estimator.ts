/** Estimates when a rejected caller may find a permit, from how fast messages have ended lately. */
import type { PermitPool } from './concurrency-limiter.ts'

/** The least time over which the speed is measured, and the time without a question after which it counts as unknown. */
const MIN_MS = 1_000
const FORGOTTEN_MS = 10_000

const MAX_SECONDS = 30

/** Out: whole seconds, 1 to 30, until so many more messages of the pool will have ended. */
export type RetryAfterEstimator = (messages: number, nowMs: number) => number

/** Does no work between questions. */
export function createRetryAfterEstimator(pool: PermitPool): RetryAfterEstimator {
  let askedAtMs = Number.NEGATIVE_INFINITY
  let sinceMs = 0
  let releasedBefore = 0
  let perSecond = Number.POSITIVE_INFINITY

  return (messages, nowMs) => {
    const isForgotten = nowMs - askedAtMs > FORGOTTEN_MS
    askedAtMs = nowMs
    const elapsedMs = isForgotten ? 0 : nowMs - sinceMs
    const released = pool.released - releasedBefore
    const isMeasured = elapsedMs >= MIN_MS && released > 0
    if (isForgotten) perSecond = Number.POSITIVE_INFINITY
    else if (isMeasured) perSecond = (released * 1_000) / elapsedMs
    // While no message ends, the measured time grows.
    if (isForgotten || isMeasured) {
      sinceMs = nowMs
      releasedBefore = pool.released
    }
    const seconds = Math.max(messages / perSecond, released === 0 ? elapsedMs / 1_000 : 0)
    return Math.min(MAX_SECONDS, Math.max(1, Math.ceil(seconds)))
  }
}
