/** The port HttpClient on undici: connections kept alive, and one deadline and one size limit for every exchange. */
import { setTimeout as pause } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import { nextPauseMs } from '../../core/backoff.ts'
import { type ClientTls, findTlsFault } from '../../core/client-tls.ts'
import { IDEMPOTENT_METHODS } from '../../core/http.ts'
import {
  type HttpClient,
  type OutboundAnswer,
  OutboundError,
  type OutboundHealth,
  type OutboundRequest,
  sumHealth,
  timedOut,
} from '../../core/ports/http-client-port.ts'
import type { Clock } from '../../core/run.ts'
import type { Pass } from '../circuit.ts'
import type { EgressGuard } from '../egress-guard.ts'
import type { Upstream } from '../origins.ts'
import { decodeBody, follow, isRedirect } from './answers.ts'
import {
  type AttemptOutcome,
  type ClientCall,
  createClientCall,
  type Deadline,
  formatCall,
  leftMs,
  parseTarget,
  startDeadline,
  stopDeadline,
} from './attempt.ts'
import { createHttpConnections, type HttpConnections, isTransient, outboundError } from './http-connections.ts'
import { FAILED_STATUSES, retryAfterMs, type UpstreamOptions, Upstreams } from './upstreams.ts'

type RetryPolicy = Readonly<{
  /** The upper bound of the first pause, which is random; the bound doubles with each retry, up to MAX_PAUSE_MS. */
  pauseMs: number
  /** 0 to below 1, as Math.random. */
  random: () => number
  clock: Clock
  /** Resolves after so many milliseconds. */
  pause(pauseMs: number): Promise<void>
}>

export type HttpClientOptions = Readonly<{
  /** For one attempt to connect, name lookup and TLS included. */
  connectTimeoutMs: number
  /** For the body of an answer, as transferred and as decoded. */
  answerLimitBytes: number
  /** Further requests to the same origin wait, within their own timeouts. Default 256. */
  connectionsPerOrigin?: number
  /** Parts of the retry policy to replace; by default the first pause is up to 200 ms. */
  retry?: Partial<RetryPolicy>
  /** Anywhere unless given. */
  egress?: EgressGuard
  /** What every request adds to the header `Via`; nothing unless given. */
  via?: string
  /** The certificates of servers are not checked; default false. */
  acceptAnyCertificate?: boolean
}> &
  Pick<UpstreamOptions, 'circuit' | 'retryBudgetPercent' | 'logger'>

/** Each keeps connections, and a document may get its certificates from files that change. */
const MAX_OWN_UPSTREAMS = 100

/** The most that setTimeout takes; for more, it fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** The shortest wait of a patient request before it tries an open circuit again. */
const MIN_WAIT_MS = 20

const MAX_PAUSE_MS = 5_000
const NOT_RETRIED = 'It was not tried again: too many calls to its target are retries already.'

export type OwnHttpClient = HttpClient & Readonly<{ health: () => OutboundHealth }>

export const createHttpClient = (options: HttpClientOptions): OwnHttpClient => new UndiciClient(options)

class UndiciClient implements OwnHttpClient {
  private readonly upstreams: Upstreams
  /** By the certificates of their requests; those that were used last come last. */
  private readonly ownUpstreams = new Map<string, Upstreams>()
  readonly connections: HttpConnections
  readonly policy: RetryPolicy
  readonly options: HttpClientOptions
  private running = 0
  private whenIdle: (() => void) | undefined
  private closing: Promise<void> | undefined

  constructor(options: HttpClientOptions) {
    this.options = options
    this.policy = { pauseMs: 200, random: Math.random, clock: Date.now, pause, ...options.retry }
    this.connections = createHttpConnections(options.connectTimeoutMs, options.egress, options.acceptAnyCertificate)
    this.upstreams = this.openUpstreams(this.connections)
  }

  private openUpstreams(connections: HttpConnections): Upstreams {
    const { options, policy } = this
    const { connectionsPerOrigin = 256 } = options
    return new Upstreams({ ...options, connections, connectionsPerOrigin, clock: policy.clock })
  }

  /**
   * Requests with certificates of their own have connections and circuits apart from all others: a wrong certificate says
   * nothing about the origin. Fails with OutboundError.
   */
  private upstreamsFor(tls: ClientTls | undefined): Upstreams {
    if (tls === undefined) return this.upstreams
    const key = JSON.stringify([tls.ca, tls.cert, tls.key])
    const upstreams = this.ownUpstreams.get(key) ?? this.openFor(tls)
    this.ownUpstreams.delete(key)
    this.ownUpstreams.set(key, upstreams)
    return upstreams
  }

  private openFor(tls: ClientTls): Upstreams {
    const fault = findTlsFault(tls)
    if (fault !== undefined) {
      throw new OutboundError('no-auth', `it was not sent, as the "${fault.field}" of its "tls" ${fault.message}.`)
    }
    const [oldest] = this.ownUpstreams
    if (oldest !== undefined && this.ownUpstreams.size >= MAX_OWN_UPSTREAMS) {
      this.ownUpstreams.delete(oldest[0])
      void oldest[1].retire()
    }
    return this.openUpstreams({ ...this.connections, connect: this.connections.connectWith(createSecureContext(tls)) })
  }

  send(request: OutboundRequest): Promise<OutboundAnswer> {
    if (this.closing !== undefined) return Promise.reject(notSent(request, 'the service is shutting down'))
    return this.exchange(request)
  }

  readonly health = (): OutboundHealth =>
    sumHealth([this.upstreams, ...this.ownUpstreams.values()].map((one) => one.health()))

  /** Takes no further request, waits for the current ones, and closes all connections. */
  readonly close = (): Promise<void> => {
    this.closing ??= this.idle().then(async () => {
      this.connections.abandon()
      await Promise.all([this.upstreams, ...this.ownUpstreams.values()].map((one) => one.close()))
    })
    return this.closing
  }

  /** Fails with OutboundError. */
  exchange(request: OutboundRequest): Promise<OutboundAnswer> {
    this.running += 1
    const target = parseTarget(request.url)
    const timeoutMs = Math.min(request.timeoutMs, MAX_TIMEOUT_MS)
    if (target === undefined || !(timeoutMs > 0)) {
      this.ended()
      return Promise.reject(
        target === undefined
          ? notSent(request, 'its URL is not an absolute http or https URL')
          : timedOut(formatCall({ ...target, method: request.method }), request.statedTimeoutMs ?? 0),
      )
    }
    let upstreams: Upstreams
    try {
      upstreams = this.upstreamsFor(request.tls)
    } catch (thrown) {
      this.ended()
      return Promise.reject(thrown)
    }
    const call = createClientCall(request, target, this.options.via)
    return new Promise((resolve, reject) =>
      new Exchange(request, call, timeoutMs, upstreams, this, resolve, reject).start(),
    )
  }

  /** Called at the end of each exchange, with whatever result. */
  ended(): void {
    this.running -= 1
    if (this.running === 0) this.whenIdle?.()
  }

  private idle(): Promise<void> {
    return new Promise((resolve) => {
      this.whenIdle = resolve
      if (this.running === 0) resolve()
    })
  }
}

/** A class with callbacks, because most calls are one attempt whose answer is returned unchanged: no promise is needed. */
class Exchange {
  pass: Pass = 'through'
  private readonly request: OutboundRequest
  private readonly call: ClientCall
  private readonly upstreams: Upstreams
  private readonly client: UndiciClient
  private readonly resolve: (answer: OutboundAnswer) => void
  private readonly reject: (thrown: unknown) => void
  private readonly deadline: Deadline
  private readonly upstream: Upstream

  constructor(
    request: OutboundRequest,
    call: ClientCall,
    timeoutMs: number,
    upstreams: Upstreams,
    client: UndiciClient,
    resolve: (answer: OutboundAnswer) => void,
    reject: (thrown: unknown) => void,
  ) {
    this.request = request
    this.call = call
    this.upstreams = upstreams
    this.client = client
    this.resolve = resolve
    this.reject = reject
    this.deadline = startDeadline(timeoutMs, call, request.statedTimeoutMs, request.signal)
    this.upstream = upstreams.of(call.origin, request)
  }

  start(): void {
    const { upstreams, upstream, call } = this
    if (upstreams.start(upstream, call, this.deadline, this)) return
    const waitMs = Math.max(upstreams.openForMs(upstream), MIN_WAIT_MS)
    if (this.request.patient === true && waitMs < leftMs(this.deadline)) this.startAfter(waitMs)
    else this.fail(upstreams.refusal(upstream, formatCall(call)))
  }

  private async startAfter(waitMs: number): Promise<void> {
    await this.client.policy.pause(waitMs)
    this.start()
  }

  /** The outcome of the first attempt. */
  ended(outcome: AttemptOutcome): void {
    this.upstreams.record(this.upstream, this.pass, outcome)
    const answer = finalAnswer(outcome)
    if (answer !== undefined && answer.headers['content-encoding'] === undefined) this.succeed(answer)
    else
      this.complete(outcome).then(
        (final) => this.succeed(final),
        (thrown) => this.fail(thrown),
      )
  }

  /** Retries and decodes, as far as the outcome needs it. */
  private async complete(first: AttemptOutcome): Promise<OutboundAnswer> {
    const { call, deadline } = this
    const answer = await this.retryFrom(first)
    const coding = answer.headers['content-encoding']
    if (coding === undefined) return answer
    try {
      const { answerLimitBytes } = this.client.options
      return { ...answer, body: await decodedWithin(deadline, formatCall(call), answer.body, coding, answerLimitBytes) }
    } catch (thrown) {
      if (!(thrown instanceof OutboundError) || ENDS_CALL.has(thrown.fault)) throw thrown
      const { fault, message, cause } = thrown
      throw new OutboundError(fault, message, { cause, answer: { ...answer, isCoded: true } })
    }
  }

  /**
   * Retries after a lost connection, a 502, 503 or 504, or a 429 with `Retry-After`, at most `retries` times. If the pause
   * exceeds the time left or the origin's budget is spent, the last outcome counts. One more attempt, at once, is free if
   * the server had closed a connection that was kept alive.
   */
  private async retryFrom(first: AttemptOutcome): Promise<OutboundAnswer> {
    const { upstreams } = this
    const { policy } = this.client
    let next: AttemptOutcome = first
    let maxMs = 0
    for (let retry = 0; ; retry += 1) {
      const outcome = this.isStale(next) ? ((await this.send('fresh')) ?? next) : next
      if (outcome.kind === 'aborted') throw outcome.error
      const final = finalAnswer(outcome)
      if (final !== undefined) return final
      maxMs = nextPauseMs(maxMs, { firstMs: policy.pauseMs, maxMs: MAX_PAUSE_MS })
      const isRetried = retry < this.request.retries && (outcome.kind === 'answer' || isTransient(outcome.error))
      const pauseMs = isRetried ? this.pauseBefore(maxMs, outcome) : Infinity
      if (pauseMs >= leftMs(this.deadline)) return this.conclude(outcome)
      if (!upstreams.takeRetry(this.upstream)) return this.conclude(outcome, NOT_RETRIED)
      await policy.pause(pauseMs)
      const sent = await this.send()
      if (sent === undefined) return this.conclude(outcome)
      next = sent
    }
  }

  private send(connection?: 'fresh'): Promise<AttemptOutcome> | undefined {
    return this.upstreams.send(this.upstream, this.call, this.deadline, connection)
  }

  /**
   * True if a kept-alive connection was closed under the request, and it may be sent again: because it is idempotent (RFC
   * 9110 section 9.2.2), or because none of it was sent.
   */
  private isStale(outcome: AttemptOutcome): boolean {
    if (outcome.kind !== 'lost' || outcome.answered) return false
    const { method, idempotent } = this.request
    const mayRepeat = !outcome.sent || idempotent === true || IDEMPOTENT_METHODS.has(method)
    return mayRepeat && this.client.connections.endedUsed(outcome.error)
  }

  /** Random, so that calls that failed together are not retried together. */
  private pauseBefore(maxMs: number, outcome: Failed): number {
    const { policy } = this.client
    const asked =
      outcome.kind === 'answer' ? retryAfterMs(outcome.answer.headers['retry-after'], policy.clock) : undefined
    return Math.max(asked ?? 0, this.upstreams.openForMs(this.upstream)) + policy.random() * maxMs
  }

  private conclude(outcome: Failed, remark?: string): OutboundAnswer {
    if (outcome.kind === 'answer') return remark === undefined ? outcome.answer : { ...outcome.answer, remark }
    const error = outboundError(formatCall(this.call), outcome.error, this.client.options.connectTimeoutMs)
    if (remark === undefined) throw error
    throw new OutboundError(error.fault, `${error.message} ${remark}`, { cause: error.cause })
  }

  private succeed(answer: OutboundAnswer): void {
    const next = isRedirect(this.request, answer) ? follow(this.request, answer, leftMs(this.deadline)) : answer
    // The next exchange starts before this one ends, so that closing the client waits for both.
    if ('url' in next) this.client.exchange(next).then(this.resolve, this.reject)
    this.end()
    if (!('url' in next)) this.resolve(next)
  }

  private fail(thrown: unknown): void {
    this.end()
    this.reject(thrown)
  }

  private end(): void {
    stopDeadline(this.deadline)
    this.client.ended()
  }
}

type Failed = Exclude<AttemptOutcome, Readonly<{ kind: 'aborted' }>>

/** The answer of an attempt that no retry can improve. */
const finalAnswer = (outcome: AttemptOutcome): OutboundAnswer | undefined =>
  outcome.kind === 'answer' && !mayBeRetried(outcome.answer) ? outcome.answer : undefined

const mayBeRetried = ({ status, headers }: OutboundAnswer): boolean =>
  FAILED_STATUSES.has(status) || (status === 429 && retryAfterMs(headers['retry-after'], Date.now) !== undefined)

/** Faults of decoding that say nothing about the content coding of the answer. */
const ENDS_CALL: ReadonlySet<string> = new Set(['timeout', 'over-budget'])

/** The deadline also holds for decoding, whose output may be far larger than what was received. */
function decodedWithin(deadline: Deadline, ...[subject, body, coding, limitBytes]: Parameters<typeof decodeBody>) {
  return new Promise<Uint8Array>((resolve, reject) => {
    if (deadline.passed !== undefined) return reject(deadline.passed)
    const ending = new AbortController()
    deadline.listener = { abort: (error) => ending.abort(error) }
    decodeBody(subject, body, coding, limitBytes, ending.signal, deadline.call.budget).then(resolve, reject)
  })
}

const notSent = (request: OutboundRequest, why: string): OutboundError =>
  new OutboundError('unreachable', `A ${request.method} request was not sent: ${why}.`)
