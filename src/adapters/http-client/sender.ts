/** Sends to an origin as far as its circuit lets anything through, and learns from what comes of it. */
import type { Agent as UndiciAgent } from 'undici'
import { CircuitOpen, type OutboundHealth, type OutboundRequest } from '../../domain/ports/http-client-port.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import type { Clock } from '../../domain/run.ts'
import { type AttemptOutcome, attempt, type Waiting } from './attempt.ts'
import type { ClientCall } from './call.ts'
import {
  type CircuitOptions,
  enter,
  openForMs,
  type Pass,
  saidNothing,
  type Trouble,
  wentWell,
  wentWrong,
} from './circuit.ts'
import { isTimeout, saysOfUpstream, whyLost } from './client-faults.ts'
import type { HttpConnections } from './connections/http-connections.ts'
import { Agent } from './connections/undici.ts'
import type { Deadline } from './deadline.ts'
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

/** Who waits for an attempt, with how it came through the circuit. */
export type Learning = Waiting & { pass: Pass }

export type Sender = Readonly<{
  /** What is known of the origin; counts the call where it may be retried. */
  upstreamOf(origin: string, request: OutboundRequest): Upstream
  /** Sends, unless the circuit is open: false then. Whoever waits is to tell `learn` of the outcome. */
  begin(upstream: Upstream, call: ClientCall, deadline: Deadline, waiting: Learning): boolean
  learn(upstream: Upstream, pass: Pass, outcome: AttemptOutcome): void
  /** Both in one; undefined where the circuit is open. Never rejects. */
  send(upstream: Upstream, call: ClientCall, deadline: Deadline): Promise<AttemptOutcome> | undefined
  /** The same, on a connection of its own. */
  sendAfresh(upstream: Upstream, call: ClientCall, deadline: Deadline): Promise<AttemptOutcome> | undefined
  /** What a call fails with that the circuit did not let through. */
  refusal(upstream: Upstream, subject: string): CircuitOpen
  closedForMs(upstream: Upstream): number
  takeRetry(upstream: Upstream): boolean
  health(): OutboundHealth
  close(): Promise<void>
}>

export function createSender(options: SenderOptions): Sender {
  const { answerLimitBytes, clock, retryBudgetPercent = 20, logger } = options
  const circuit = options.circuit?.failures === 0 ? undefined : options.circuit
  const upstreams = createUpstreams(circuit)
  const agentOptions = {
    connect: options.connections.connect,
    connections: options.connectionsPerOrigin,
    allowH2: false,
    // The deadline of the exchange bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const agent = new Agent(agentOptions)
  let fresh: UndiciAgent | undefined

  const learn = (upstream: Upstream, pass: Pass, outcome: AttemptOutcome, rules: CircuitOptions): void => {
    const found = judge(outcome, clock, options.connections)
    if (found === undefined) {
      saidNothing(upstream, pass)
      return
    }
    const { name: origin, openedAt } = upstream
    if (found === 'well') {
      if (!wentWell(upstream, pass)) return
      logger?.info({ origin, openMs: Math.round(performance.now() - openedAt) }, 'A circuit closed: the origin answers')
      return
    }
    const now = performance.now()
    if (!wentWrong(upstream, pass, found, now, rules)) return
    upstreams.counts.opened += 1
    const { failures } = upstream
    const pauseMs = Math.round(openForMs(upstream, now))
    logger?.warn(
      { origin, failures, why: found.why, pauseMs },
      'A circuit opened: the origin is left alone for a while',
    )
  }

  /** Gives nothing and tells nobody where the circuit is open. */
  const sendBy = (
    via: UndiciAgent,
    upstream: Upstream,
    call: ClientCall,
    deadline: Deadline,
    waiting: Learning,
  ): boolean => {
    if (circuit !== undefined) {
      const pass = upstream.probeAt === 0 ? 'through' : enter(upstream, performance.now(), circuit)
      if (pass === undefined) return false
      waiting.pass = pass
    }
    attempt(via, call, answerLimitBytes, deadline, waiting)
    return true
  }
  const promised = (via: UndiciAgent, upstream: Upstream, call: ClientCall, deadline: Deadline) => {
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>()
    const waiting: Learning = {
      pass: 'through',
      ended: (outcome) => {
        if (circuit !== undefined) learn(upstream, waiting.pass, outcome, circuit)
        resolve(outcome)
      },
    }
    return sendBy(via, upstream, call, deadline, waiting) ? promise : undefined
  }

  return {
    upstreamOf: (origin, { originName, retries }) => {
      const upstream = upstreams.of(origin, originName)
      if (retries > 0) noteCall(upstream, retryBudgetPercent)
      return upstream
    },
    begin: (upstream, call, deadline, waiting) => sendBy(agent, upstream, call, deadline, waiting),
    learn: (upstream, pass, outcome) => {
      if (circuit !== undefined) learn(upstream, pass, outcome, circuit)
    },
    send: (upstream, call, deadline) => promised(agent, upstream, call, deadline),
    sendAfresh: (upstream, call, deadline) => {
      fresh ??= new Agent(agentOptions)
      return promised(fresh, upstream, { ...call, reset: true }, deadline)
    },
    refusal: (upstream, subject) => {
      upstreams.counts.refused += 1
      const { failures, trouble } = upstream
      const forMs = Math.ceil(openForMs(upstream, performance.now()))
      return new CircuitOpen(
        `${subject} was not sent: the last ${failures} attempts at its target failed (${trouble?.why}), so it is left alone, for ${forMs} ms more.`,
        trouble?.status ?? 502,
        forMs,
      )
    },
    closedForMs: (upstream) => {
      const forMs = openForMs(upstream, performance.now())
      // Timers count in whole milliseconds, and may be a part of one early.
      return forMs === 0 ? 0 : Math.ceil(forMs) + 1
    },
    takeRetry: (upstream) => {
      const isThere = takeRetry(upstream, performance.now())
      upstreams.counts[isThere ? 'retries' : 'retriesWithheld'] += 1
      return isThere
    },
    health: upstreams.health,
    close: async () => void (await Promise.all([agent.destroy(), fresh?.destroy()])),
  }
}

const FAILED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * What an outcome says of the origin; undefined where it says nothing, as of a connection that was closed while idle. One
 * that answers is well, whatever it answers else.
 */
function judge(outcome: AttemptOutcome, clock: Clock, { endedUsed }: HttpConnections): Trouble | 'well' | undefined {
  if (outcome.kind === 'answer') {
    const { status, headers } = outcome.answer
    if (!FAILED_STATUSES.has(status)) return 'well'
    return { status, why: `status ${status}`, retryAfterMs: retryAfterMs(headers['retry-after'], clock) }
  }
  if (outcome.kind === 'given-up') {
    return outcome.error.fault === 'timeout'
      ? { status: 504, why: 'no answer in time', retryAfterMs: undefined }
      : 'well'
  }
  if (!saysOfUpstream(outcome.error) || (!outcome.answered && endedUsed(outcome.error))) return undefined
  return { status: isTimeout(outcome.error) ? 504 : 502, why: whyLost(outcome.error), retryAfterMs: undefined }
}
