/** Whether an exchange is retried, and after which pause. */
import { nextPauseMs } from '../../core/backoff.ts'
import { type OutboundAnswer, OutboundError } from '../../core/ports/http-client-port.ts'
import type { Clock } from '../../core/run.ts'
import type { AttemptOutcome } from './attempt.ts'
import { isTransient } from './client-faults.ts'

export type RetryPolicy = Readonly<{
  /** The upper bound of the first pause, which is random; the bound doubles with each retry, up to MOST_PAUSE_MS. */
  pauseMs: number
  /** 0 to below 1, as Math.random. */
  random: () => number
  clock: Clock
  /** Resolves after so many milliseconds. */
  pause(pauseMs: number): Promise<void>
}>

type Attempts = Readonly<{
  retries: number
  /** Whether the request may be sent twice (RFC 9110 section 9.2.2). */
  idempotent: boolean
  /** Milliseconds until the deadline of the exchange. */
  leftMs(): number
  /** Sends once more, 'fresh' on a new connection; undefined if the circuit is open. */
  send(connection?: 'fresh'): Promise<AttemptOutcome> | undefined
  /** Milliseconds for which the circuit stays open. */
  openForMs(): number
  /** Takes a retry of the origin's budget; false if there is none. */
  takeRetry(): boolean
  /** Whether the error ended a connection that had served before. */
  endedUsed(error: unknown): boolean
  describe(error: unknown): OutboundError
}>

const MOST_PAUSE_MS = 5_000
const RETRIED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])
const NOT_RETRIED = 'It was not tried again: too many calls to its target are retries already.'

/** The answer of an attempt that no retry can improve. */
export const finalAnswer = (outcome: AttemptOutcome): OutboundAnswer | undefined =>
  outcome.kind === 'answer' && !mayBeRetried(outcome.answer) ? outcome.answer : undefined

const mayBeRetried = ({ status, headers }: OutboundAnswer): boolean =>
  RETRIED_STATUSES.has(status) || (status === 429 && retryAfterMs(headers['retry-after'], Date.now) !== undefined)

/**
 * In: the outcome of the first attempt. Retries after a lost connection, a 502, 503 or 504, or a 429 with `Retry-After`, at
 * most `retries` times. If the pause exceeds the time left or the origin's budget is spent, the last outcome counts. One
 * more attempt, at once, is free if the server had closed a connection that was kept alive.
 * Fails with OutboundError.
 */
export async function retryFrom(
  first: AttemptOutcome,
  attempts: Attempts,
  policy: RetryPolicy,
): Promise<OutboundAnswer> {
  let next: AttemptOutcome = first
  let longestMs = 0
  for (let retry = 0; ; retry += 1) {
    const outcome = isStale(next, attempts) ? ((await attempts.send('fresh')) ?? next) : next
    if (outcome.kind === 'aborted') throw outcome.error
    const final = finalAnswer(outcome)
    if (final !== undefined) return final
    longestMs = nextPauseMs(longestMs, { firstMs: policy.pauseMs, longestMs: MOST_PAUSE_MS })
    const isRetried = retry < attempts.retries && (outcome.kind === 'answer' || isTransient(outcome.error))
    const pauseMs = isRetried ? pauseBefore(longestMs, outcome, attempts, policy) : Infinity
    if (pauseMs >= attempts.leftMs()) return conclude(outcome, attempts)
    if (!attempts.takeRetry()) return concludeOverBudget(outcome, attempts)
    await policy.pause(pauseMs)
    const sent = await attempts.send()
    if (sent === undefined) return conclude(outcome, attempts)
    next = sent
  }
}

type Failed = Exclude<AttemptOutcome, Readonly<{ kind: 'aborted' }>>

function conclude(outcome: Failed, attempts: Attempts): OutboundAnswer {
  if (outcome.kind === 'answer') return outcome.answer
  throw attempts.describe(outcome.error)
}

function concludeOverBudget(outcome: Failed, attempts: Attempts): OutboundAnswer {
  if (outcome.kind === 'answer') return { ...outcome.answer, remark: NOT_RETRIED }
  const error = attempts.describe(outcome.error)
  throw new OutboundError(error.fault, `${error.message} ${NOT_RETRIED}`, { cause: error.cause })
}

/**
 * Whether a kept-alive connection was closed under the request, and it may be sent again: because it is idempotent, or
 * because none of it was sent.
 */
const isStale = (outcome: AttemptOutcome, { idempotent, endedUsed }: Attempts): boolean =>
  outcome.kind === 'lost' && !outcome.answered && (idempotent || !outcome.sent) && endedUsed(outcome.error)

/** Random, so that calls that failed together are not retried together. */
function pauseBefore(
  longestMs: number,
  outcome: Failed,
  { openForMs }: Attempts,
  { random, clock }: RetryPolicy,
): number {
  const asked = outcome.kind === 'answer' ? retryAfterMs(outcome.answer.headers['retry-after'], clock) : undefined
  return Math.max(asked ?? 0, openForMs()) + random() * longestMs
}

/** `Retry-After`, seconds or a date (RFC 9110 section 10.2.3), in milliseconds from now; undefined if it is neither. */
export function retryAfterMs(header: string | readonly string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000
  const date = / GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock())
}
