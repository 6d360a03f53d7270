/**
 * Keeps the circuit and the retry budget of each origin that is called: a scheme, a host and a port. For clients of any
 * protocol, each of which tells what an outcome of a call says about its origin.
 */
import { CircuitOpen, type OutboundHealth, type OutboundRequest } from '../core/ports/http-client-port.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import {
  type Circuit,
  type CircuitOptions,
  closedCircuit,
  enter,
  isOpen,
  openForMs,
  type Pass,
  recordFailure,
  recordNothing,
  recordSuccess,
  type Trouble,
} from './circuit.ts'

export type OriginOptions = Readonly<{
  /** None unless given. */
  circuit?: CircuitOptions
  /** Retries in percent of the calls that may be retried; default 20. */
  retryBudgetPercent?: number
  /** Of which something is remembered, since redirects can lead to any number; default 1000. */
  maxOrigins?: number
  logger?: Pick<Logger, 'info' | 'warn'>
}>

export type Upstream = Circuit & RetryBudget & Readonly<{ origin: string; name: string }>

/** A circuit that never opens. */
const NO_CIRCUIT: CircuitOptions = { failures: Number.POSITIVE_INFINITY, pauseMs: 0, maxPauseMs: 0 }

export class Origins {
  private readonly limits: OriginOptions
  private readonly circuit: CircuitOptions
  private readonly retryBudgetPercent: number
  private readonly known = new Map<string, Upstream>()
  private readonly counts = { opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }

  constructor(options: OriginOptions) {
    this.limits = options
    this.circuit = options.circuit?.failures ? options.circuit : NO_CIRCUIT
    this.retryBudgetPercent = options.retryBudgetPercent ?? 20
  }

  /** The state of the request's origin; counts the request in its retry budget. */
  of(origin: string, { originName = origin, retries }: Pick<OutboundRequest, 'originName' | 'retries'>): Upstream {
    const upstream = this.known.get(origin) ?? this.add(origin, originName)
    if (retries > 0) noteCall(upstream, this.retryBudgetPercent)
    return upstream
  }

  /** How an attempt passes the circuit, whose outcome goes to `recordTrouble`; undefined if the circuit is open. */
  pass(upstream: Upstream): Pass | undefined {
    return upstream.probeAt === 0 ? 'through' : enter(upstream, performance.now(), this.circuit)
  }

  /** `trouble`: undefined if the origin answers; 'unknown' if the outcome says nothing about it. */
  recordTrouble(upstream: Upstream, pass: Pass, trouble: Trouble | undefined | 'unknown'): void {
    if (trouble === undefined) this.recordAnswer(upstream, pass)
    else if (trouble === 'unknown') recordNothing(upstream, pass)
    else this.recordFailure(upstream, pass, trouble)
  }

  /** The error of a call that the open circuit rejects. `subject`: the call, as messages name it. */
  refusal(upstream: Upstream, subject: string): CircuitOpen {
    this.counts.refused += 1
    const { failures, trouble } = upstream
    const forMs = Math.ceil(openForMs(upstream, performance.now()))
    const message = `${subject} was not sent: the last ${failures} attempts at its target failed (${trouble?.why}); no further one is made for ${forMs} ms.`
    return new CircuitOpen(message, trouble?.status ?? 502, forMs)
  }

  /** Whole milliseconds for which the circuit stays open. */
  openForMs(upstream: Upstream): number {
    const forMs = openForMs(upstream, performance.now())
    // Timers count in whole milliseconds, and may fire up to one early.
    return forMs === 0 ? 0 : Math.ceil(forMs) + 1
  }

  takeRetry(upstream: Upstream): boolean {
    const isTaken = takeRetry(upstream, performance.now())
    this.counts[isTaken ? 'retries' : 'retriesWithheld'] += 1
    return isTaken
  }

  health(): OutboundHealth {
    const now = performance.now()
    const open = [...this.known.values()].filter((upstream) => isOpen(upstream, now, this.circuit))
    // Several origins may have one name.
    return { ...this.counts, open: [...new Set(open.map(({ name }) => name))] }
  }

  /** `name`: the origin in logs and metrics, because the origin itself may be a secret. */
  private add(origin: string, name: string): Upstream {
    if (this.known.size >= (this.limits.maxOrigins ?? 1_000)) this.forgetOne()
    const upstream = { origin, name, ...closedCircuit(), ...fullBudget(performance.now()) }
    this.known.set(origin, upstream)
    return upstream
  }

  /** The oldest without a failure, otherwise the oldest. */
  private forgetOne(): void {
    const [oldest] = this.known.values()
    const forgotten = this.known.values().find(({ failures }) => failures === 0) ?? oldest
    if (forgotten !== undefined) this.known.delete(forgotten.origin)
  }

  private recordAnswer(upstream: Upstream, pass: Pass): void {
    const { name: origin, openedAt } = upstream
    if (!recordSuccess(upstream, pass)) return
    const openMs = Math.round(performance.now() - openedAt)
    this.limits.logger?.info({ origin, openMs }, 'A circuit closed: the origin answers')
  }

  private recordFailure(upstream: Upstream, pass: Pass, trouble: Trouble): void {
    const now = performance.now()
    if (!recordFailure(upstream, pass, trouble, now, this.circuit)) return
    this.counts.opened += 1
    const { name: origin, failures } = upstream
    const fields = { origin, failures, why: trouble.why, pauseMs: Math.round(openForMs(upstream, now)) }
    this.limits.logger?.warn(fields, 'A circuit opened: calls to the origin fail at once until a probe succeeds')
  }
}

/**
 * How many retries an origin gets: a part of the calls to it. If it fails for all callers, the retries of all would
 * multiply its load at the worst time. Times are of `performance.now()`.
 */
type RetryBudget = {
  /** Retries that may be made now. */
  tokens: number
  filledAt: number
}

/** The budget refills by one retry a second up to this many, so that an origin with few calls can be retried too. */
export const FLOOR_TOKENS = 10
/** The most that calls can add. */
export const MAX_TOKENS = 100

export const fullBudget = (now: number): RetryBudget => ({ tokens: FLOOR_TOKENS, filledAt: now })

/** A call that may be retried adds `percent` of a retry. */
export function noteCall(budget: RetryBudget, percent: number): void {
  budget.tokens = Math.min(budget.tokens + percent / 100, Math.max(budget.tokens, MAX_TOKENS))
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
