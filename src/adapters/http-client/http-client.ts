/** The port HttpClient on undici: connections kept alive, every exchange within one deadline and one size. */
import { setTimeout as pause } from 'node:timers/promises'
import { IDEMPOTENT_METHODS } from '../../domain/http.ts'
import {
  type HttpClient,
  type OutboundAnswer,
  OutboundError,
  type OutboundHealth,
  type OutboundRequest,
} from '../../domain/ports/http-client-port.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import type { AttemptOutcome } from './attempt.ts'
import { type ClientCall, callOf, subjectOf, targetOf } from './call.ts'
import type { CircuitOptions, Pass } from './circuit.ts'
import { outboundError, timedOut } from './client-faults.ts'
import { createHttpConnections, type EgressGuard, type HttpConnections } from './connections/http-connections.ts'
import { decodeBody } from './content-coding.ts'
import { type Deadline, endDeadline, leftMs, startDeadline } from './deadline.ts'
import { follow, isRedirect } from './redirects.ts'
import { type Attempts, finalAnswer, type RetryPolicy, sendWithRetries } from './retry.ts'
import { createSender, type Sender } from './sender.ts'
import type { Upstream } from './upstreams.ts'

export type HttpClientOptions = Readonly<{
  /** For one attempt to connect, name lookup and TLS included. */
  connectTimeoutMs: number
  /** For the body of an answer, as transferred and with its codings undone. */
  answerLimitBytes: number
  /** Further requests to the same origin wait, within their own timeouts. Default 256. */
  connectionsPerOrigin?: number
  /** Parts of the retry policy to replace; by default the first pause is up to 200 ms. */
  retry?: Partial<RetryPolicy>
  /** Where requests may go; anywhere unless given. */
  egress?: EgressGuard
  /** When an origin is left alone; never unless given. */
  circuit?: CircuitOptions
  /** How many retries an origin gets, in percent of the calls to it that may be retried. Default 20. */
  retryBudgetPercent?: number
  /** Told when a circuit opens and closes. */
  logger?: Pick<Logger, 'info' | 'warn'>
}>

/** `health`: of the origins that it calls. */
export type OwnHttpClient = HttpClient & Readonly<{ health(): OutboundHealth }>

/** What setTimeout can hold; it fires at once for more. */
const MOST_TIMEOUT_MS = 2 ** 31 - 1

/** How long is waited at least for a probe that is under way. */
const LEAST_WAIT_MS = 20

export function createHttpClient(options: HttpClientOptions): OwnHttpClient {
  const { connectTimeoutMs, answerLimitBytes, connectionsPerOrigin = 256 } = options
  const policy: RetryPolicy = { pauseMs: 200, random: Math.random, clock: Date.now, pause, ...options.retry }
  const connections = createHttpConnections(connectTimeoutMs, options.egress)
  const sender = createSender({ ...options, connections, connectionsPerOrigin, clock: policy.clock })
  let underWay = 0
  let whenIdle: (() => void) | undefined
  let closing: Promise<void> | undefined

  const ended = (): void => {
    underWay -= 1
    if (underWay === 0) whenIdle?.()
  }
  const wire: Wire = {
    sender,
    connections,
    policy,
    connectTimeoutMs,
    answerLimitBytes,
    exchange: (request) => {
      underWay += 1
      return exchangeWithin(request, wire)
    },
    ended,
  }
  const idle = (): Promise<void> =>
    new Promise((resolve) => {
      whenIdle = resolve
      if (underWay === 0) resolve()
    })

  return {
    send(request) {
      if (closing !== undefined) return Promise.reject(notSent(request, 'the service is shutting down'))
      return wire.exchange(request)
    },
    health: sender.health,
    /** Takes no further request, waits for those under way, and leaves no connection. */
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
  /** Fails with OutboundError. */
  exchange(request: OutboundRequest): Promise<OutboundAnswer>
  /** Told when an exchange has ended, however. */
  ended(): void
}>

function exchangeWithin(request: OutboundRequest, wire: Wire): Promise<OutboundAnswer> {
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
  const call = callOf(request, target)
  return new Promise((resolve, reject) => new Exchange(request, call, timeoutMs, wire, resolve, reject).begin())
}

/** A class and no asynchronous function for what nearly every call is: sent once, and answered as it is to be passed on. */
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

  begin(): void {
    const { sender } = this.wire
    const { upstream, call } = this
    if (sender.begin(upstream, call, this.deadline, this)) return
    const waitMs = Math.max(sender.closedForMs(upstream), LEAST_WAIT_MS)
    if (this.request.patient === true && waitMs < leftMs(this.deadline)) this.beginAfter(waitMs)
    else this.fail(sender.refusal(upstream, subjectOf(call)))
  }

  private async beginAfter(waitMs: number): Promise<void> {
    await this.wire.policy.pause(waitMs)
    this.begin()
  }

  /** How the first sending ended. */
  ended(outcome: AttemptOutcome): void {
    this.wire.sender.learn(this.upstream, this.pass, outcome)
    const answer = finalAnswer(outcome)
    if (answer !== undefined && answer.headers['content-encoding'] === undefined) this.succeed(answer)
    else
      this.goOn(outcome).then(
        (final) => this.succeed(final),
        (thrown) => this.fail(thrown),
      )
  }

  private async goOn(first: AttemptOutcome): Promise<OutboundAnswer> {
    const { request, call, deadline, upstream } = this
    const { sender, connections, policy, connectTimeoutMs, answerLimitBytes } = this.wire
    const attempts: Attempts = {
      retries: request.retries,
      idempotent: request.idempotent === true || IDEMPOTENT_METHODS.has(request.method),
      leftMs: () => leftMs(deadline),
      first,
      send: () => sender.send(upstream, call, deadline),
      sendAfresh: () => sender.sendAfresh(upstream, call, deadline),
      closedForMs: () => sender.closedForMs(upstream),
      takeRetry: () => sender.takeRetry(upstream),
      endedUsed: connections.endedUsed,
      describe: (error) => outboundError(subjectOf(call), error, connectTimeoutMs),
    }
    const answer = await sendWithRetries(attempts, policy)
    const coding = answer.headers['content-encoding']
    if (coding === undefined) return answer
    try {
      return { ...answer, body: await decodedWithin(deadline, subjectOf(call), answer.body, coding, answerLimitBytes) }
    } catch (thrown) {
      if (!(thrown instanceof OutboundError) || thrown.fault === 'timeout') throw thrown
      const { fault, message, cause } = thrown
      throw new OutboundError(fault, message, { cause, answer: { ...answer, isCoded: true } })
    }
  }

  private succeed(answer: OutboundAnswer): void {
    if (isRedirect(this.request, answer)) {
      this.redirect(answer)
      return
    }
    this.end()
    this.resolve(answer)
  }

  /** The next exchange starts before this one finishes, so that a client that closes waits for both. */
  private redirect(answer: OutboundAnswer): void {
    const next = follow(this.request, answer, leftMs(this.deadline))
    if ('url' in next) this.wire.exchange(next).then(this.resolve, this.reject)
    else this.resolve(next)
    this.end()
  }

  private fail(thrown: unknown): void {
    this.end()
    this.reject(thrown)
  }

  private end(): void {
    endDeadline(this.deadline)
    this.wire.ended()
  }
}

/** The deadline holds for undoing the codings too: what they give may be far larger than what was received. */
function decodedWithin(deadline: Deadline, ...[subject, body, coding, limitBytes]: Parameters<typeof decodeBody>) {
  return new Promise<Uint8Array>((resolve, reject) => {
    if (deadline.passed !== undefined) return reject(deadline.passed)
    deadline.listener = { giveUp: reject }
    decodeBody(subject, body, coding, limitBytes, () => deadline.passed).then(resolve, reject)
  })
}

const notSent = (request: OutboundRequest, why: string): OutboundError =>
  new OutboundError('unreachable', `A ${request.method} request was not sent: ${why}.`)
