/** Sends HTTP requests to origins as far as their circuits allow. */
import type { Agent as UndiciAgent } from 'undici'
import { CallStopped } from '../../core/ports/http-client-port.ts'
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
  private readonly agent: UndiciAgent
  /** Opens a connection for each request. */
  private freshAgent: UndiciAgent | undefined

  constructor(options: UpstreamOptions) {
    super(options)
    this.options = options
    this.agent = this.openAgent()
  }

  /** Sends, unless the circuit is open: then false. The listener passes the outcome to `record`. */
  start(upstream: Upstream, call: ClientCall, deadline: Deadline, listener: SendListener, agent = this.agent): boolean {
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

  async close(): Promise<void> {
    await Promise.all([this.agent.destroy(), this.freshAgent?.destroy()])
  }

  /** Closes its connections when the requests on them are answered. */
  async retire(): Promise<void> {
    await Promise.all([this.agent.close(), this.freshAgent?.close()])
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
    if (outcome.error instanceof CallStopped) return 'unknown'
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
