/** The port HttpClient on undici: connections kept alive, and one deadline and one size limit for every exchange. */
import { setTimeout as pause } from 'node:timers/promises'
import { IDEMPOTENT_METHODS } from '../../core/http.ts'
import {
  type HttpClient,
  type OutboundAnswer,
  OutboundError,
  type OutboundHealth,
  type OutboundRequest,
} from '../../core/ports/http-client-port.ts'
import type { AttemptOutcome } from './attempt.ts'
import { type ClientCall, callOf, subjectOf, targetOf } from './call.ts'
import type { Pass } from './circuit.ts'
import { outboundError, timedOut } from './client-faults.ts'
import { decodeBody } from './content-coding.ts'
import { type Deadline, leftMs, startDeadline, stopDeadline } from './deadline.ts'
import { createHttpConnections, type EgressGuard, type HttpConnections } from './http-connections.ts'
import { follow, isRedirect } from './redirects.ts'
import { finalAnswer, type RetryPolicy, retryFrom } from './retry.ts'
import { createSender, type Sender, type SenderOptions } from './sender.ts'
import type { Upstream } from './upstreams.ts'

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
  /** Whether the certificates of servers are not checked; default false. */
  acceptAnyCertificate?: boolean
}> &
  /** `circuit`: none unless given. `retryBudgetPercent`: retries in percent of the calls that may be retried; default 20. */
  Pick<SenderOptions, 'circuit' | 'retryBudgetPercent' | 'logger'>

export type OwnHttpClient = HttpClient & Readonly<{ health(): OutboundHealth }>

/** The most that setTimeout takes; for more, it fires at once. */
const MOST_TIMEOUT_MS = 2 ** 31 - 1

/** The shortest wait of a patient request before it tries an open circuit again. */
const LEAST_WAIT_MS = 20

export function createHttpClient(options: HttpClientOptions): OwnHttpClient {
  const { connectTimeoutMs, answerLimitBytes, connectionsPerOrigin = 256 } = options
  const policy: RetryPolicy = { pauseMs: 200, random: Math.random, clock: Date.now, pause, ...options.retry }
  const connections = createHttpConnections(connectTimeoutMs, options.egress, options.acceptAnyCertificate)
  const sender = createSender({ ...options, connections, connectionsPerOrigin, clock: policy.clock })
  let running = 0
  let whenIdle: (() => void) | undefined
  let closing: Promise<void> | undefined

  const wire: Wire = {
    sender,
    connections,
    policy,
    connectTimeoutMs,
    answerLimitBytes,
    via: options.via,
    exchange: (request) => {
      running += 1
      return exchangeOver(wire, request)
    },
    ended: () => {
      running -= 1
      if (running === 0) whenIdle?.()
    },
  }
  const idle = (): Promise<void> =>
    new Promise((resolve) => {
      whenIdle = resolve
      if (running === 0) resolve()
    })

  return {
    send(request) {
      if (closing !== undefined) return Promise.reject(notSent(request, 'the service is shutting down'))
      return wire.exchange(request)
    },
    health: sender.health,
    /** Takes no further request, waits for the current ones, and closes all connections. */
    close() {
      closing ??= idle().then(async () => {
        connections.abandon()
        await sender.close()
      })
      return closing
    },
  }
}

type Wire = Readonly<{
  sender: Sender
  connections: HttpConnections
  policy: RetryPolicy
  connectTimeoutMs: number
  answerLimitBytes: number
  via: string | undefined
  /** Fails with OutboundError. */
  exchange(request: OutboundRequest): Promise<OutboundAnswer>
  /** Called at the end of each exchange, with whatever result. */
  ended(): void
}>

function exchangeOver(wire: Wire, request: OutboundRequest): Promise<OutboundAnswer> {
  const target = targetOf(request.url)
  const timeoutMs = Math.min(request.timeoutMs, MOST_TIMEOUT_MS)
  if (target === undefined || !(timeoutMs > 0)) {
    wire.ended()
    return Promise.reject(
      target === undefined
        ? notSent(request, 'its URL is not an absolute http or https URL')
        : timedOut(subjectOf({ ...target, method: request.method }), 0),
    )
  }
  const call = callOf(request, target, wire.via)
  return new Promise((resolve, reject) => new Exchange(request, call, timeoutMs, wire, resolve, reject).start())
}

/** A class with callbacks, because most calls are one attempt whose answer is returned as it is: no promise is needed. */
class Exchange {
  pass: Pass = 'through'
  private readonly request: OutboundRequest
  private readonly call: ClientCall
  private readonly wire: Wire
  private readonly resolve: (answer: OutboundAnswer) => void
  private readonly reject: (thrown: unknown) => void
  private readonly deadline: Deadline
  private readonly upstream: Upstream

  constructor(
    request: OutboundRequest,
    call: ClientCall,
    timeoutMs: number,
    wire: Wire,
    resolve: (answer: OutboundAnswer) => void,
    reject: (thrown: unknown) => void,
  ) {
    this.request = request
    this.call = call
    this.wire = wire
    this.resolve = resolve
    this.reject = reject
    this.deadline = startDeadline(timeoutMs, call)
    this.upstream = wire.sender.upstreamOf(call.origin, request)
  }

  start(): void {
    const { sender } = this.wire
    const { upstream, call } = this
    if (sender.start(upstream, call, this.deadline, this)) return
    const waitMs = Math.max(sender.openForMs(upstream), LEAST_WAIT_MS)
    if (this.request.patient === true && waitMs < leftMs(this.deadline)) this.startAfter(waitMs)
    else this.fail(sender.refusal(upstream, call))
  }

  private async startAfter(waitMs: number): Promise<void> {
    await this.wire.policy.pause(waitMs)
    this.start()
  }

  /** The outcome of the first attempt. */
  ended(outcome: AttemptOutcome): void {
    this.wire.sender.record(this.upstream, this.pass, outcome)
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
    const { request, call, deadline, upstream } = this
    const { sender, connections, policy, connectTimeoutMs, answerLimitBytes } = this.wire
    const attempts = {
      retries: request.retries,
      idempotent: request.idempotent === true || IDEMPOTENT_METHODS.has(request.method),
      leftMs: () => leftMs(deadline),
      send: (connection?: 'fresh') => sender.send(upstream, call, deadline, connection),
      openForMs: () => sender.openForMs(upstream),
      takeRetry: () => sender.takeRetry(upstream),
      endedUsed: connections.endedUsed,
      describe: (error: unknown) => outboundError(subjectOf(call), error, connectTimeoutMs),
    }
    const answer = await retryFrom(first, attempts, policy)
    const coding = answer.headers['content-encoding']
    if (coding === undefined) return answer
    try {
      return { ...answer, body: await decodedWithin(deadline, subjectOf(call), answer.body, coding, answerLimitBytes) }
    } catch (thrown) {
      if (!(thrown instanceof OutboundError) || ENDS_CALL.has(thrown.fault)) throw thrown
      const { fault, message, cause } = thrown
      throw new OutboundError(fault, message, { cause, answer: { ...answer, isCoded: true } })
    }
  }

  private succeed(answer: OutboundAnswer): void {
    const next = isRedirect(this.request, answer) ? follow(this.request, answer, leftMs(this.deadline)) : answer
    // The next exchange starts before this one ends, so that closing the client waits for both.
    if ('url' in next) this.wire.exchange(next).then(this.resolve, this.reject)
    this.end()
    if (!('url' in next)) this.resolve(next)
  }

  private fail(thrown: unknown): void {
    this.end()
    this.reject(thrown)
  }

  private end(): void {
    stopDeadline(this.deadline)
    this.wire.ended()
  }
}

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
