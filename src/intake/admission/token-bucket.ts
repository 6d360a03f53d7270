/**
 * How many messages an endpoint takes in a time: the generic cell rate algorithm, which is a bucket of tokens that needs no
 * timer. One number tells all: when the bucket will be full again.
 */

/** `messages` each `seconds` in the long run, and at most `burst` at once. */
export type RateLimit = Readonly<{ messages: number; seconds: number; burst?: number }>

/** What sums of times may be off by. */
const ROUNDING_MS = 1e-6

export interface Rate {
  /** Takes one message at this time; gives 0, or the milliseconds after which it would be taken where it is one too many. */
  take(nowMs: number): number
  /** Goes on with another limit: what was taken stays taken. */
  change(limit: RateLimit): void
}

/** Of one of `workers`, which have equal shares; a burst has at least one message. */
export function createTokenBucket(limit: RateLimit, workers = 1): Rate {
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
      // A bucket that was made for another limit is never further from full than this one can be.
      const from = Math.min(Math.max(fullAtMs, nowMs), nowMs + toleranceMs + intervalMs)
      const waitMs = from - nowMs - toleranceMs
      if (waitMs > ROUNDING_MS) return waitMs
      fullAtMs = from + intervalMs
      return 0
    },
  }
}
