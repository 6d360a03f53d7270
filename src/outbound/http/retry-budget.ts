/**
 * How many retries an origin gets: a part of the calls to it. If it fails for all callers, the retries of all would multiply
 * its load at the worst time.
 */

/** Times are of `performance.now()`. */
export type RetryBudget = {
  /** Retries that may be made now. */
  tokens: number
  filledAt: number
}

/** The budget refills by one retry a second up to this many, so that an origin with few calls can be retried too. */
export const FLOOR_TOKENS = 10
/** The most that calls can add. */
export const MOST_TOKENS = 100

export const fullBudget = (now: number): RetryBudget => ({ tokens: FLOOR_TOKENS, filledAt: now })

/** A call that may be retried adds `percent` of a retry. */
export function noteCall(budget: RetryBudget, percent: number): void {
  budget.tokens = Math.min(budget.tokens + percent / 100, Math.max(budget.tokens, MOST_TOKENS))
}

/** Takes one retry; false if there is none left. */
export function takeRetry(budget: RetryBudget, now: number): boolean {
  const refill = (now - budget.filledAt) / 1000
  if (budget.tokens < FLOOR_TOKENS) budget.tokens = Math.min(budget.tokens + refill, FLOOR_TOKENS)
  budget.filledAt = now
  if (budget.tokens < 1) return false
  budget.tokens -= 1
  return true
}
