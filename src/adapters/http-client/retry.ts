/** When an exchange is tried again, and after how long. */
import { nextPauseMs } from '../../domain/backoff.ts'
import { type OutboundAnswer, OutboundError } from '../../domain/ports/http-client-port.ts'
import type { Clock } from '../../domain/run.ts'
import type { AttemptOutcome } from './attempt.ts'
import { isPassing } from './client-faults.ts'

export type RetryPolicy = Readonly<{
  /** The longest that the first pause can be; each further one can be twice as long as the one before. */
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
  first: AttemptOutcome
  /** Sends once more; undefined where nothing may be sent to the origin now. */
  send(): Promise<AttemptOutcome> | undefined
  /** The same, on a connection that nothing was sent on before. */
  sendAfresh(): Promise<AttemptOutcome> | undefined
  /** Milliseconds until something may be sent to the origin again. */
  closedForMs(): number
  /** Takes one from the retries that the origin still gets; false where there is none. */
  takeRetry(): boolean
  /** Whether the error ended a connection that had served before. */
  endedUsed(error: unknown): boolean
  describe(error: unknown): OutboundError
}>

const MOST_PAUSE_MS = 5_000
const RETRIED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/** The answer where nothing is gained by sending again: nearly always, so it is asked before anything of this is begun. */
export const finalAnswer = (outcome: AttemptOutcome): OutboundAnswer | undefined =>
  outcome.kind === 'answer' && !mayBeRetried(outcome.answer) ? outcome.answer : undefined

const mayBeRetried = ({ status, headers }: OutboundAnswer): boolean =>
  RETRIED_STATUSES.has(status) || (status === 429 && retryAfterMs(headers['retry-after'], Date.now) !== undefined)

/**
 * Sends until there is an answer worth keeping, at most `retries` times again after a lost connection, a 502, 503 or 504,
 * or a 429 that says when to come again. A pause that would not fit into the time left is not begun, nor a retry that the
 * origin's budget does not hold: the last outcome then counts.
 * One more sending, at once, is free where a connection that was kept alive turned out to be dead.
 * Fails with OutboundError.
 */
export async function sendWithRetries(attempts: Attempts, policy: RetryPolicy): Promise<OutboundAnswer> {
  let outcome = attempts.first
  if (wasStale(outcome, attempts)) outcome = (await attempts.sendAfresh()) ?? outcome
  let longestMs = 0
  for (let retry = 0; ; retry += 1) {
    longestMs = nextPauseMs(longestMs, { firstMs: policy.pauseMs, longestMs: MOST_PAUSE_MS })
    if (outcome.kind === 'given-up') throw outcome.error
    const final = finalAnswer(outcome)
    if (final !== undefined) return final
    const pauseMs =
      retry < attempts.retries && mayPass(outcome) ? pauseBefore(longestMs, outcome, attempts, policy) : Infinity
    if (pauseMs >= attempts.leftMs()) return conclude(outcome, attempts)
    if (!attempts.takeRetry()) return concludeUnretried(outcome, attempts)
    await policy.pause(pauseMs)
    const next = await attempts.send()
    if (next === undefined) return conclude(outcome, attempts)
    outcome = wasStale(next, attempts) ? ((await attempts.sendAfresh()) ?? next) : next
  }
}

type Failed = Exclude<AttemptOutcome, Readonly<{ kind: 'given-up' }>>

function conclude(outcome: Failed, attempts: Attempts): OutboundAnswer {
  if (outcome.kind === 'answer') return outcome.answer
  throw attempts.describe(outcome.error)
}

function concludeUnretried(outcome: Failed, attempts: Attempts): OutboundAnswer {
  if (outcome.kind === 'answer') return { ...outcome.answer, remark: UNRETRIED }
  const error = attempts.describe(outcome.error)
  throw new OutboundError(error.fault, `${error.message} ${UNRETRIED}`, { cause: error.cause })
}

const UNRETRIED = 'It was not tried again: too many calls to its target are retries already.'

const mayPass = (outcome: Failed): boolean => outcome.kind !== 'lost' || isPassing(outcome.error)

/** A request of any method may go again where none of it was sent. */
function wasStale(outcome: AttemptOutcome, { idempotent, endedUsed }: Attempts): boolean {
  return outcome.kind === 'lost' && !outcome.answered && (idempotent || !outcome.sent) && endedUsed(outcome.error)
}

/** By chance from nothing to the longest, so that calls that failed together do not come again together. */
function pauseBefore(
  longestMs: number,
  outcome: Failed,
  { closedForMs }: Attempts,
  { random, clock }: RetryPolicy,
): number {
  const asked = outcome.kind === 'answer' ? retryAfterMs(outcome.answer.headers['retry-after'], clock) : undefined
  return Math.max(asked ?? 0, closedForMs()) + random() * longestMs
}

/** `Retry-After` in milliseconds from now, seconds or a date (RFC 9110 section 10.2.3); undefined where it is neither. */
export function retryAfterMs(header: string | readonly string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000
  const date = / GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock())
}
