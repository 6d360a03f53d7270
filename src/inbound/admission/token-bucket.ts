/**
 * The rate of an endpoint: the generic cell rate algorithm, a token bucket without a timer. Its only state is the time at
 * which the bucket is full again.
 */

/** `messages` each `seconds` in the long run, at most `burst` at once. */
export type RateLimit = Readonly<{ messages: number; seconds: number; burst?: number }>

/** The rounding error of sums of times. */
const ROUNDING_MS = 1e-6

export interface TokenBucket {
  /** Takes a token for one message. Out: 0, or the milliseconds until there is a token if there is none now. */
  take(nowMs: number): number
  /** Continues with another limit: tokens that were taken stay taken. */
  change(limit: RateLimit): void
}

/** The bucket of one of `workers` with equal shares; a burst has at least one message. */
export function createTokenBucket(limit: RateLimit, workers = 1): TokenBucket {
  let intervalMs = 0
  let toleranceMs = 0
  let fullAtMs = Number.NEGATIVE_INFINITY
  const change = ({ messages, seconds, burst = messages }: RateLimit): void => {
    intervalMs = (seconds * 1_000 * workers) / messages
    toleranceMs = intervalMs * (Math.max(1, Math.floor(burst / workers)) - 1)
  }
  change(limit)
  return {
    change,
    take: (nowMs) => {
      // A change of the limit may have left the bucket further from full than the new limit allows.
      const from = Math.min(Math.max(fullAtMs, nowMs), nowMs + toleranceMs + intervalMs)
      const waitMs = from - nowMs - toleranceMs
      if (waitMs > ROUNDING_MS) return waitMs
      fullAtMs = from + intervalMs
      return 0
    },
  }
}
