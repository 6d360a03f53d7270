/** What becomes of a delivery after an attempt. */
import type { AttemptEnd, ClaimedDelivery, DeliveryAttempt, DeliveryState } from '../core/deliveries/delivery.ts'

/**
 * What an attempt says of its target: 'answers', whatever it answers; 'busy': it answers that it cannot take this one now;
 * 'away': nothing behind its address works; 'unknown': nothing was sent.
 */
export type TargetSign = 'answers' | 'busy' | 'away' | 'unknown'

export type EndedResult =
  | Readonly<{
      attempt: DeliveryAttempt
      /** 'pending': it is tried again. */
      state: Exclude<DeliveryState, 'cancelled'>
      /** `Retry-After` of the answer, milliseconds. */
      retryAfterMs?: number | undefined
      target: TargetSign
    }>
  /** Nothing was sent: the target has failed too often. Milliseconds until it may be asked again. */
  | Readonly<{ circuitOpenMs: number }>

/** 'isStopped': its lease could not be renewed in time, or another process has it, which goes on with the delivery. */
export type AttemptResult = EndedResult | Readonly<{ isStopped: true }>

/** The longest pause that a target can ask for: a mistaken header must not hold a delivery for a year. */
const MAX_ASKED_MS = 86_400_000

/** The shortest: some targets ask for none with each answer. */
const MIN_ASKED_MS = 1_000

/** By how much a pause is lengthened at most, so that what failed at the same time is not tried again at the same time. */
const JITTER = 0.1

const TOO_OLD = 'The delivery is older than "giveUpAfter" allows, so it is not tried again.'

export type NextStep = Omit<AttemptEnd, 'lease'>

/** So old that a failure is the last. */
export const isTooOld = ({ request: { rules } }: Pick<ClaimedDelivery, 'request'>, ageMs: number): boolean =>
  ageMs >= rules.giveUpAfterMs

/** `ageMs`: of the delivery now; `random`: from 0 to below 1. */
export function nextStep(
  result: EndedResult,
  { delivery, request }: Pick<ClaimedDelivery, 'delivery' | 'request'>,
  { ageMs, random }: Readonly<{ ageMs: number; random: () => number }>,
): NextStep {
  const { id, since, attempts } = delivery
  const isLast = isTooOld({ request }, ageMs)
  if ('circuitOpenMs' in result) {
    if (!isLast) return { id, attempt: undefined, state: 'pending', dueInMs: result.circuitOpenMs }
    const at = new Date(Date.parse(since) + ageMs).toISOString()
    const message = `Nothing was sent, since the target was away. ${TOO_OLD}`
    return { id, attempt: { at, ms: 0, fault: 'circuit-open', message }, state: 'undeliverable' }
  }
  const { attempt, state, retryAfterMs } = result
  if (state !== 'pending') return { id, attempt, state }
  if (isLast) {
    const message = `${attempt.message ?? 'The attempt failed.'} ${TOO_OLD}`
    return { id, attempt: { ...attempt, message }, state: 'undeliverable' }
  }
  return { id, attempt, state, dueInMs: dueInMs(request.rules.scheduleMs, attempts + 1, retryAfterMs, random) }
}

/** `made`: attempts up to now. */
function dueInMs(
  scheduleMs: readonly number[],
  made: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, MIN_ASKED_MS), MAX_ASKED_MS)
  const ms = scheduleMs[Math.min(made, scheduleMs.length - 1)] ?? MAX_ASKED_MS
  return Math.round(ms * (1 + JITTER * random()))
}

/**
 * Milliseconds until the first attempt of a delivery is due, by its schedule; 0 if it is due, or is not the first. The store has
 * what it accepts due at once.
 */
export function firstDueInMs({
  delivery: { attempts },
  request: { rules },
  ageMs,
}: Pick<ClaimedDelivery, 'delivery' | 'request' | 'ageMs'>): number {
  const [firstMs = 0] = rules.scheduleMs
  if (attempts > 0 || firstMs === 0) return 0
  return Math.min(firstMs, Math.max(0, firstMs - ageMs))
}
