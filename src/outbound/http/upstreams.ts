/** Sends HTTP requests to origins as far as their circuits allow. */
import { createHash } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Agent as UndiciAgent } from 'undici'
import { type ClientTls, findTlsFault } from '../../core/client-tls.ts'
import { OutboundError } from '../../core/ports/http-client-port.ts'
import type { Clock } from '../../core/run.ts'
import type { Pass, Trouble } from '../circuit.ts'
import { type OriginOptions, Origins, type Upstream } from '../origins.ts'
import { type AttemptListener, type AttemptOutcome, attempt, type ClientCall, type Deadline } from './attempt.ts'
import { Agent, type HttpConnections, isOfOrigin, isTimeout, whyLost } from './http-connections.ts'

export type UpstreamOptions = OriginOptions &
  Readonly<{
    connections: HttpConnections
    connectionsPerOrigin: number
    answerLimitBytes: number
    clock: Clock
  }>

/** With how the attempt passed the circuit. */
type SendListener = AttemptListener & { pass: Pass }

export class Upstreams extends Origins {
  private readonly options: UpstreamOptions
  private readonly agents: Agents
  /** By their certificates; those that were used last come last. */
  private readonly ownAgents = new Map<string, Agents>()

  constructor(options: UpstreamOptions) {
    super(options)
    this.options = options
    this.agents = new Agents(undefined, () => this.openAgent(options.connections.connect))
  }

  /** The connections for requests with these certificates, which no other request gets. Fails with OutboundError. */
  agentsFor(tls: ClientTls | undefined): Agents {
    if (tls === undefined) return this.agents
    const id = createHash('sha256')
      .update(JSON.stringify([tls.ca, tls.cert, tls.key]))
      .digest('base64')
    const agents = this.ownAgents.get(id) ?? this.openAgents(id, tls)
    this.ownAgents.delete(id)
    this.ownAgents.set(id, agents)
    return agents
  }

  /** Sends, unless the circuit is open: then false. The listener passes the outcome to `record`. */
  start(
    upstream: Upstream,
    call: ClientCall,
    deadline: Deadline,
    listener: SendListener,
    agent = this.agents.kept,
  ): boolean {
    const pass = this.pass(upstream)
    if (pass === undefined) return false
    listener.pass = pass
    attempt(agent, call, this.options.answerLimitBytes, deadline, listener)
    return true
  }

  record(upstream: Upstream, pass: Pass, outcome: AttemptOutcome): void {
    this.recordTrouble(upstream, pass, findTrouble(outcome, this.options))
  }

  /** Both in one, 'fresh' on a new connection; undefined if the circuit is open. Never rejects. */
  send(
    upstream: Upstream,
    call: ClientCall,
    deadline: Deadline,
    connection?: 'fresh',
    agents = this.agents,
  ): Promise<AttemptOutcome> | undefined {
    const { promise, resolve } = Promise.withResolvers<AttemptOutcome>()
    const listener: SendListener = {
      pass: 'through',
      ended: (outcome) => {
        this.record(upstream, listener.pass, outcome)
        resolve(outcome)
      },
    }
    const isStarted =
      connection === 'fresh'
        ? this.start(upstream, { ...call, reset: true }, deadline, listener, agents.fresh)
        : this.start(upstream, call, deadline, listener, agents.kept)
    return isStarted ? promise : undefined
  }

  async close(): Promise<void> {
    await Promise.all([this.agents, ...this.ownAgents.values()].map((agents) => agents.close('at once')))
  }

  private openAgents(id: string, tls: ClientTls): Agents {
    const fault = findTlsFault(tls)
    if (fault !== undefined) {
      const { field, message } = fault
      throw new OutboundError('no-auth', `it was not sent, as the "${field}" of its "tls" ${message}.`)
    }
    const connect = this.options.connections.connectWith(createSecureContext(tls))
    const [oldest] = this.ownAgents
    if (oldest !== undefined && this.ownAgents.size >= MAX_OWN_AGENTS) {
      this.ownAgents.delete(oldest[0])
      void oldest[1].close('when idle')
    }
    return new Agents(id, () => this.openAgent(connect))
  }

  private openAgent(connect: HttpConnections['connect']): UndiciAgent {
    return new Agent({
      connect,
      connections: this.options.connectionsPerOrigin,
      allowH2: false,
      // The deadline of the exchange bounds both.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }
}

/** Each keeps connections, and a document may get its certificates from files that change. */
const MAX_OWN_AGENTS = 100

/** The connections of requests with the same certificates. */
export class Agents {
  /** Undefined for requests without certificates of their own. */
  readonly id: string | undefined
  readonly kept: UndiciAgent
  private readonly open: () => UndiciAgent
  private opened: UndiciAgent | undefined

  constructor(id: string | undefined, open: () => UndiciAgent) {
    this.id = id
    this.kept = open()
    this.open = open
  }

  /** Opens a connection for each request. */
  get fresh(): UndiciAgent {
    this.opened ??= this.open()
    return this.opened
  }

  async close(when: 'at once' | 'when idle'): Promise<void> {
    const both = [this.kept, this.opened]
    await Promise.all(both.map((agent) => (when === 'at once' ? agent?.destroy() : agent?.close())))
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
