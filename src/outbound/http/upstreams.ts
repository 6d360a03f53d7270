/** Sends to origins as far as their circuits allow, and keeps the circuit and the retry budget of each. */
import type { Agent as UndiciAgent } from 'undici'
import { CircuitOpen, type OutboundHealth, type OutboundRequest } from '../../core/ports/http-client-port.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import {
  type AttemptListener,
  type AttemptOutcome,
  attempt,
  type ClientCall,
  type Deadline,
  formatCall,
} from './attempt.ts'
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
import { Agent, type HttpConnections, isOfOrigin, isTimeout, whyLost } from './http-connections.ts'

export type UpstreamOptions = Readonly<{
  connections: HttpConnections
  connectionsPerOrigin: number
  answerLimitBytes: number
  clock: Clock
  /** None unless given. */
  circuit?: CircuitOptions
  /** Retries in percent of the calls that may be retried; default 20. */
  retryBudgetPercent?: number
  /** Of which something is remembered, since redirects can lead to any number; default 1000. */
  maxOrigins?: number
  logger?: Pick<Logger, 'info' | 'warn'>
}>

export type Upstream = Circuit & RetryBudget & Readonly<{ origin: string; name: string }>

/** With how the attempt passed the circuit. */
type SendListener = AttemptListener & { pass: Pass }

/** A circuit that never opens. */
const NO_CIRCUIT: CircuitOptions = { failures: Number.POSITIVE_INFINITY, pauseMs: 0, maxPauseMs: 0 }

export class Upstreams {
  private readonly options: UpstreamOptions
  private readonly circuit: CircuitOptions
  private readonly retryBudgetPercent: number
  private readonly known = new Map<string, Upstream>()
  private readonly counts = { opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }
  private readonly agent: UndiciAgent
  /** Opens a connection for each request. */
  private freshAgent: UndiciAgent | undefined

  constructor(options: UpstreamOptions) {
    this.options = options
    this.circuit = options.circuit?.failures ? options.circuit : NO_CIRCUIT
    this.retryBudgetPercent = options.retryBudgetPercent ?? 20
    this.agent = this.openAgent()
  }

  /** The state of the request's origin; counts the request in its retry budget. */
  of(origin: string, { originName = origin, retries }: OutboundRequest): Upstream {
    const upstream = this.known.get(origin) ?? this.add(origin, originName)
    if (retries > 0) noteCall(upstream, this.retryBudgetPercent)
    return upstream
  }

  /** Sends, unless the circuit is open: then false. The listener passes the outcome to `record`. */
  start(upstream: Upstream, call: ClientCall, deadline: Deadline, listener: SendListener, agent = this.agent): boolean {
    const pass = upstream.probeAt === 0 ? 'through' : enter(upstream, performance.now(), this.circuit)
    if (pass === undefined) return false
    listener.pass = pass
    attempt(agent, call, this.options.answerLimitBytes, deadline, listener)
    return true
  }

  record(upstream: Upstream, pass: Pass, outcome: AttemptOutcome): void {
    const trouble = findTrouble(outcome, this.options)
    if (trouble === undefined) this.recordAnswer(upstream, pass)
    else if (trouble === 'unknown') recordNothing(upstream, pass)
    else this.recordTrouble(upstream, pass, trouble)
  }

  /** Both in one, 'fresh' on a new connection; undefined if the circuit is open. Never rejects. */
  send(
    upstream: Upstream,
    call: ClientCall,
    deadline: Deadline,
    connection?: 'fresh',
  ): Promise<AttemptOutcome> | undefined {
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>()
    const listener: SendListener = {
      pass: 'through',
      ended: (outcome) => {
        this.record(upstream, listener.pass, outcome)
        resolve(outcome)
      },
    }
    if (connection === 'fresh') this.freshAgent ??= this.openAgent()
    const isStarted =
      connection === 'fresh'
        ? this.start(upstream, { ...call, reset: true }, deadline, listener, this.freshAgent)
        : this.start(upstream, call, deadline, listener)
    return isStarted ? promise : undefined
  }

  /** The error of a call that the open circuit rejects. */
  refusal(upstream: Upstream, call: ClientCall): CircuitOpen {
    this.counts.refused += 1
    const { failures, trouble } = upstream
    const forMs = Math.ceil(openForMs(upstream, performance.now()))
    const message = `${formatCall(call)} was not sent: the last ${failures} attempts at its target failed (${trouble?.why}); no further one is made for ${forMs} ms.`
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

  async close(): Promise<void> {
    await Promise.all([this.agent.destroy(), this.freshAgent?.destroy()])
  }

  private openAgent(): UndiciAgent {
    return new Agent({
      connect: this.options.connections.connect,
      connections: this.options.connectionsPerOrigin,
      allowH2: false,
      // The deadline of the exchange bounds both.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** `name`: the origin in logs and metrics, because the origin itself may be a secret. */
  private add(origin: string, name: string): Upstream {
    if (this.known.size >= (this.options.maxOrigins ?? 1_000)) this.forgetOne()
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
    this.options.logger?.info({ origin, openMs }, 'A circuit closed: the origin answers')
  }

  private recordTrouble(upstream: Upstream, pass: Pass, trouble: Trouble): void {
    const now = performance.now()
    if (!recordFailure(upstream, pass, trouble, now, this.circuit)) return
    this.counts.opened += 1
    const { name: origin, failures } = upstream
    const fields = { origin, failures, why: trouble.why, pauseMs: Math.round(openForMs(upstream, now)) }
    this.options.logger?.warn(fields, 'A circuit opened: calls to the origin fail at once until a probe succeeds')
  }
}

export const FAILED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * The failure of the origin that an outcome shows; undefined if it answers, with whatever other status; 'unknown' if the
 * outcome says nothing about it, as with a connection that was closed while idle.
 */
function findTrouble(
  outcome: AttemptOutcome,
  { clock, connections }: UpstreamOptions,
): Trouble | undefined | 'unknown' {
  if (outcome.kind === 'answer') {
    const { status, headers } = outcome.answer
    if (!FAILED_STATUSES.has(status)) return undefined
    return { status, why: `status ${status}`, retryAfterMs: retryAfterMs(headers['retry-after'], clock) }
  }
  if (outcome.kind === 'aborted') {
    const isLate = outcome.error.fault === 'timeout'
    return isLate ? { status: 504, why: 'no answer in time', retryAfterMs: undefined } : undefined
  }
  const { error, answered } = outcome
  if (!isOfOrigin(error) || (!answered && connections.endedUsed(error))) return 'unknown'
  return { status: isTimeout(error) ? 504 : 502, why: whyLost(error), retryAfterMs: undefined }
}

/** `Retry-After`, seconds or a date (RFC 9110 section 10.2.3), in milliseconds from now; undefined if it is neither. */
export function retryAfterMs(header: string | readonly string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000
  const date = / GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock())
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
