/** What an attempt means for its delivery: it has ended, or is tried again after a time. */
import type { Delivery, DeliveryRequest } from '../core/deliveries/delivery.ts'
import type { OutboundFault } from '../core/ports/http-client-port.ts'
import { hasStatus } from '../language/status-set.ts'

/** How an attempt ended. `retryAfterMs`: what the target asked for. */
export type AttemptResult = Readonly<
  | { status: number; retryAfterMs?: number; isAborted: boolean }
  | { fault: OutboundFault | 'secret' | 'invalid' | 'internal' }
>

export type NextStep = Readonly<{ state: 'delivered' | 'undeliverable' } | { state: 'pending'; dueInMs: number }>

/** Statuses after which the target may take the same request later. */
const TEMPORARY = new Set([408, 425, 429])
/** Faults that another attempt would meet again. */
const FINAL = new Set<string>(['refused', 'denied', 'invalid'])
/** A target cannot put off an attempt for longer. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000
/** The most by which a pause is lengthened at random, so that deliveries of one outage do not stay together. */
const JITTER = 0.1

/**
 * In: the delivery as it was before the attempt, its age in milliseconds after it, and a random number from 0 up to 1.
 * `Retry-After` comes before the schedule; an age above `giveUpAfterMs` ends what would be tried again.
 */
export function nextStep(
  result: AttemptResult,
  { attempts }: Pick<Delivery, 'attempts'>,
  { allowed, rules }: Pick<DeliveryRequest, 'allowed' | 'rules'>,
  ageMs: number,
  random: number,
): NextStep {
  if ('status' in result) {
    if (hasStatus(allowed, result.status)) return { state: 'delivered' }
    const isTemporary = result.status >= 500 || TEMPORARY.has(result.status)
    if (result.isAborted || !isTemporary) return { state: 'undeliverable' }
  } else if (FINAL.has(result.fault)) return { state: 'undeliverable' }
  if (ageMs > rules.giveUpAfterMs) return { state: 'undeliverable' }
  const asked = 'status' in result ? result.retryAfterMs : undefined
  const pauseMs =
    asked === undefined ? scheduledMs(rules.scheduleMs, attempts + 1) : Math.min(asked, MAX_RETRY_AFTER_MS)
  return { state: 'pending', dueInMs: Math.round(pauseMs * (1 + JITTER * random)) }
}

/** The pause before an attempt; `made`: how many were made before it. */
export const scheduledMs = (scheduleMs: readonly number[], made: number): number =>
  scheduleMs[Math.min(made, scheduleMs.length - 1)] ?? 0
