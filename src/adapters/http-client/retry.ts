/** When an exchange is tried again, and after how long. */

import type { OutboundAnswer, OutboundError } from '../../domain/ports.ts'
import type { Clock } from '../../domain/run.ts'
import type { Outcome } from './attempt.ts'
import { isPassing } from './faults.ts'

export type RetryPolicy = Readonly<{
  /** Half of the first pause; each further one is twice as long as the one before. */
  pauseMs: number
  /** 0 to below 1, as Math.random. */
  random: () => number
  clock: Clock
  /** Resolves after so many milliseconds. */
  pause(pauseMs: number): Promise<void>
}>

export type Attempts = Readonly<{
  retries: number
  /** RFC 9110 section 9.2.2: whether the method may be sent twice. */
  idempotent: boolean
  /** Milliseconds until the whole exchange is given up. */
  leftMs(): number
  /** What the first sending gave. */
  first: Outcome
  /** Sends once more. */
  send(): Promise<Outcome>
  /** Whether the error ended a connection that had served before. */
  endedUsed(error: unknown): boolean
  describe(error: unknown): OutboundError
}>

const MOST_PAUSE_MS = 5_000
const RETRIED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/** The answer where nothing is gained by sending again: nearly always, so it is asked before anything of this is begun. */
export const finalAnswer = (outcome: Outcome): OutboundAnswer | undefined =>
  outcome.kind === 'answer' && !RETRIED_STATUSES.has(outcome.answer.status) ? outcome.answer : undefined

/**
 * Sends until there is an answer worth keeping, at most `retries` times again after a lost connection or a 502, 503
 * or 504. A pause that would not fit into the time left is not begun: the last outcome then counts.
 * One more sending, at once, is free where a connection that was kept alive turned out to be dead.
 * Fails with OutboundError.
 */
export async function sendWithRetries(attempts: Attempts, policy: RetryPolicy): Promise<OutboundAnswer> {
  let resendable = true
  let retry = 0
  for (let outcome = attempts.first; ; outcome = await attempts.send()) {
    if (outcome.kind === 'given-up') throw outcome.error
    const final = finalAnswer(outcome)
    if (final !== undefined) return final
    if (resendable && wasStale(outcome, attempts)) {
      resendable = false
      continue
    }
    const pauseMs = retry < attempts.retries && mayPass(outcome) ? pauseBefore(retry, outcome, policy) : Infinity
    if (pauseMs >= attempts.leftMs()) {
      if (outcome.kind === 'answer') return outcome.answer
      throw attempts.describe(outcome.error)
    }
    await policy.pause(pauseMs)
    retry += 1
  }
}

const mayPass = (outcome: Outcome): boolean => outcome.kind !== 'lost' || isPassing(outcome.error)

/** A request of any method may go again where none of it was sent. */
function wasStale(outcome: Outcome, { idempotent, endedUsed }: Attempts): boolean {
  return outcome.kind === 'lost' && !outcome.answered && (idempotent || !outcome.sent) && endedUsed(outcome.error)
}

function pauseBefore(retry: number, outcome: Outcome, { pauseMs, random, clock }: RetryPolicy): number {
  const asked = outcome.kind === 'answer' ? retryAfterMs(outcome.answer.headers['retry-after'], clock) : undefined
  return asked ?? Math.min(pauseMs * 2 ** retry * (1 + random()), MOST_PAUSE_MS)
}

/** `Retry-After` in milliseconds from now, seconds or a date (RFC 9110 section 10.2.3); undefined where it is neither. */
export function retryAfterMs(header: string | readonly string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000
  const date = / GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock())
}
