/** Sends to an origin as far as its circuit allows, and records the outcomes in the circuit. */
import type { Agent as UndiciAgent } from 'undici'
import { CircuitOpen, type OutboundHealth, type OutboundRequest } from '../../core/ports/http-client-port.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import { type AttemptListener, type AttemptOutcome, attempt } from './attempt.ts'
import { type ClientCall, subjectOf } from './call.ts'
import {
  type CircuitOptions,
  enter,
  openForMs,
  type Pass,
  recordFailure,
  recordNothing,
  recordSuccess,
  type Trouble,
} from './circuit.ts'
import { isOfOrigin, isTimeout, whyLost } from './client-faults.ts'
import type { Deadline } from './deadline.ts'
import { Agent, type HttpConnections } from './http-connections.ts'
import { retryAfterMs } from './retry.ts'
import { noteCall, takeRetry } from './retry-budget.ts'
import { createUpstreams, type Upstream } from './upstreams.ts'

export type SenderOptions = Readonly<{
  connections: HttpConnections
  connectionsPerOrigin: number
  answerLimitBytes: number
  clock: Clock
  circuit?: CircuitOptions
  retryBudgetPercent?: number
  logger?: Pick<Logger, 'info' | 'warn'>
}>

/** With how the attempt passed the circuit. */
type SendListener = AttemptListener & { pass: Pass }

export type Sender = Readonly<{
  /** The state of an origin; counts the request in its retry budget. */
  upstreamOf(origin: string, request: OutboundRequest): Upstream
  /** Sends, unless the circuit is open: then false. The listener passes the outcome to `record`. */
  start(upstream: Upstream, call: ClientCall, deadline: Deadline, listener: SendListener): boolean
  record(upstream: Upstream, pass: Pass, outcome: AttemptOutcome): void
  /** Both in one, 'fresh' on a new connection; undefined if the circuit is open. Never rejects. */
  send(
    upstream: Upstream,
    call: ClientCall,
    deadline: Deadline,
    connection?: 'fresh',
  ): Promise<AttemptOutcome> | undefined
  /** The error of a call that the open circuit rejects. */
  refusal(upstream: Upstream, call: ClientCall): CircuitOpen
  /** Whole milliseconds for which the circuit stays open. */
  openForMs(upstream: Upstream): number
  takeRetry(upstream: Upstream): boolean
  health(): OutboundHealth
  close(): Promise<void>
}>

/** A circuit that never opens. */
const NO_CIRCUIT: CircuitOptions = { failures: Number.POSITIVE_INFINITY, pauseMs: 0, mostPauseMs: 0 }

export function createSender(options: SenderOptions): Sender {
  const { connections, answerLimitBytes, clock, retryBudgetPercent = 20, logger } = options
  const circuit = options.circuit?.failures ? options.circuit : NO_CIRCUIT
  const upstreams = createUpstreams(circuit)
  const agentOptions = {
    connect: connections.connect,
    connections: options.connectionsPerOrigin,
    allowH2: false,
    // The deadline of the exchange bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const agent = new Agent(agentOptions)
  let fresh: UndiciAgent | undefined
  const freshAgent = (): UndiciAgent => {
    fresh ??= new Agent(agentOptions)
    return fresh
  }

  const record = (upstream: Upstream, pass: Pass, outcome: AttemptOutcome): void => {
    const trouble = troubleOf(outcome, clock, connections)
    if (trouble === undefined) recordAnswer(upstream, pass)
    else if (trouble === 'unknown') recordNothing(upstream, pass)
    else recordTrouble(upstream, pass, trouble)
  }
  const recordAnswer = (upstream: Upstream, pass: Pass): void => {
    const { name: origin, openedAt } = upstream
    if (!recordSuccess(upstream, pass)) return
    const openMs = Math.round(performance.now() - openedAt)
    logger?.info({ origin, openMs }, 'A circuit closed: the origin answers')
  }
  const recordTrouble = (upstream: Upstream, pass: Pass, trouble: Trouble): void => {
    const now = performance.now()
    if (!recordFailure(upstream, pass, trouble, now, circuit)) return
    upstreams.counts.opened += 1
    const { name: origin, failures } = upstream
    const fields = { origin, failures, why: trouble.why, pauseMs: Math.round(openForMs(upstream, now)) }
    logger?.warn(fields, 'A circuit opened: calls to the origin fail at once until a probe succeeds')
  }

  const startBy = (
    via: UndiciAgent,
    upstream: Upstream,
    call: ClientCall,
    deadline: Deadline,
    listener: SendListener,
  ): boolean => {
    const pass = upstream.probeAt === 0 ? 'through' : enter(upstream, performance.now(), circuit)
    if (pass === undefined) return false
    listener.pass = pass
    attempt(via, call, answerLimitBytes, deadline, listener)
    return true
  }

  return {
    upstreamOf: (origin, { originName, retries }) => {
      const upstream = upstreams.of(origin, originName)
      if (retries > 0) noteCall(upstream, retryBudgetPercent)
      return upstream
    },
    start: (upstream, call, deadline, listener) => startBy(agent, upstream, call, deadline, listener),
    record,
    send: (upstream, call, deadline, connection) => {
      const { promise, resolve } = Promise.withResolvers<AttemptOutcome>()
      const listener: SendListener = {
        pass: 'through',
        ended: (outcome) => {
          record(upstream, listener.pass, outcome)
          resolve(outcome)
        },
      }
      const via = connection === 'fresh' ? freshAgent() : agent
      const sent = connection === 'fresh' ? { ...call, reset: true } : call
      return startBy(via, upstream, sent, deadline, listener) ? promise : undefined
    },
    refusal: (upstream, call) => {
      upstreams.counts.refused += 1
      const { failures, trouble } = upstream
      const forMs = Math.ceil(openForMs(upstream, performance.now()))
      const message = `${subjectOf(call)} was not sent: the last ${failures} attempts at its target failed (${trouble?.why}); no further one is made for ${forMs} ms.`
      return new CircuitOpen(message, trouble?.status ?? 502, forMs)
    },
    openForMs: (upstream) => {
      const forMs = openForMs(upstream, performance.now())
      // Timers count in whole milliseconds, and may fire up to one early.
      return forMs === 0 ? 0 : Math.ceil(forMs) + 1
    },
    takeRetry: (upstream) => {
      const isTaken = takeRetry(upstream, performance.now())
      upstreams.counts[isTaken ? 'retries' : 'retriesWithheld'] += 1
      return isTaken
    },
    health: upstreams.health,
    close: async () => void (await Promise.all([agent.destroy(), fresh?.destroy()])),
  }
}

const FAILED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * The failure of the origin that an outcome shows; undefined if it answers, with whatever other status; 'unknown' if the
 * outcome says nothing about it, as with a connection that was closed while idle.
 */
function troubleOf(
  outcome: AttemptOutcome,
  clock: Clock,
  { endedUsed }: HttpConnections,
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
  if (!isOfOrigin(error) || (!answered && endedUsed(error))) return 'unknown'
  return { status: isTimeout(error) ? 504 : 502, why: whyLost(error), retryAfterMs: undefined }
}
