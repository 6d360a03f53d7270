/** The port HttpClient on undici: connections kept alive, every exchange within one deadline and one size. */
import { setTimeout as pause } from 'node:timers/promises'
import { IDEMPOTENT_METHODS } from '../../domain/http.ts'
import {
  type HttpClient,
  type Logger,
  type OutboundAnswer,
  OutboundError,
  type OutboundHealth,
  type OutboundRequest,
} from '../../domain/ports.ts'
import { callOf, createTargets, subjectOf, type Targets } from './call.ts'
import type { CircuitOptions } from './circuit.ts'
import { type Connections, createConnections, type EgressGuard } from './connections.ts'
import { decodeBody } from './content-coding.ts'
import { type Deadline, endDeadline, leftMs, startDeadline } from './deadline.ts'
import { outboundError, timedOut } from './faults.ts'
import { sendFollowing } from './redirects.ts'
import { finalAnswer, type RetryPolicy, sendWithRetries } from './retry.ts'
import { createSender, type Sender } from './sender.ts'

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

export function createHttpClient(options: HttpClientOptions): OwnHttpClient {
  const { connectTimeoutMs, answerLimitBytes, connectionsPerOrigin = 256 } = options
  const policy: RetryPolicy = { pauseMs: 200, random: Math.random, clock: Date.now, pause, ...options.retry }
  const connections = createConnections(connectTimeoutMs, options.egress)
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
    targets: createTargets(),
    connections,
    policy,
    connectTimeoutMs,
    answerLimitBytes,
    ended,
  }
  const exchange = (request: OutboundRequest): Promise<OutboundAnswer> => {
    underWay += 1
    return exchangeWithin(request, wire)
  }
  const idle = (): Promise<void> =>
    new Promise((resolve) => {
      whenIdle = resolve
      if (underWay === 0) resolve()
    })

  return {
    send(request) {
      if (closing !== undefined) return Promise.reject(notSent(request, 'the service is shutting down'))
      if (request.redirects === undefined) return exchange(request)
      // Counted as a whole too: between two of its calls it is not at its end.
      underWay += 1
      return sendFollowing(request, exchange).finally(ended)
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
  targets: Targets
  connections: Connections
  policy: RetryPolicy
  connectTimeoutMs: number
  answerLimitBytes: number
  /** Told when an exchange has ended, however. */
  ended(): void
}>

async function exchangeWithin(request: OutboundRequest, wire: Wire): Promise<OutboundAnswer> {
  const { sender, connections, policy, connectTimeoutMs, answerLimitBytes } = wire
  let deadline: Deadline | undefined
  try {
    const target = wire.targets.parse(request.url)
    if (target === undefined) throw notSent(request, 'its URL is not an absolute http or https URL')
    const call = callOf(request, target)
    const timeoutMs = Math.min(request.timeoutMs, MOST_TIMEOUT_MS)
    if (!(timeoutMs > 0)) throw timedOut(subjectOf(call), 0)

    const within = startDeadline(timeoutMs, (ms) => timedOut(subjectOf(call), ms))
    deadline = within
    const upstream = sender.upstreamOf(target.origin, request)
    const first = await sender.send(upstream, call, within)
    if (first === undefined) throw sender.refusal(upstream, subjectOf(call))
    const answer =
      finalAnswer(first) ??
      (await sendWithRetries(
        {
          retries: request.retries,
          idempotent: request.idempotent === true || IDEMPOTENT_METHODS.has(request.method),
          leftMs: () => leftMs(within),
          first,
          send: () => sender.send(upstream, call, within),
          sendAfresh: () => sender.sendAfresh(upstream, call, within),
          closedForMs: () => sender.closedForMs(upstream),
          takeRetry: () => sender.takeRetry(upstream),
          endedUsed: connections.endedUsed,
          describe: (error) => outboundError(subjectOf(call), error, connectTimeoutMs),
        },
        policy,
      ))
    const coding = answer.headers['content-encoding']
    if (coding === undefined) return answer
    return { ...answer, body: await decodedWithin(within, subjectOf(call), answer.body, coding, answerLimitBytes) }
  } finally {
    if (deadline !== undefined) endDeadline(deadline)
    wire.ended()
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
