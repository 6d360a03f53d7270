/** The port HttpClient on undici: connections kept alive, every exchange within one deadline and one size. */
import { setTimeout as pause } from 'node:timers/promises'
import { IDEMPOTENT_METHODS } from '../../domain/http.ts'
import { type HttpClient, type OutboundAnswer, OutboundError, type OutboundRequest } from '../../domain/ports.ts'
import { attempt, prepareCall } from './attempt.ts'
import { type Connections, createConnections, type EgressGuard } from './connections.ts'
import { decodeBody } from './content-coding.ts'
import { outboundError, timedOut } from './faults.ts'
import { sendFollowing } from './redirects.ts'
import { type RetryPolicy, sendWithRetries } from './retry.ts'
import { Agent } from './undici.ts'

export type HttpClientOptions = Readonly<{
  /** For one attempt to connect, name lookup and TLS included. */
  connectTimeoutMs: number
  /** For the body of an answer, as transferred and with its codings undone. */
  answerLimitBytes: number
  /** Further requests to the same origin wait, within their own timeouts. Default 256. */
  connectionsPerOrigin?: number
  /** Parts of the retry policy to replace; by default pauses start at 100 to 200 ms. */
  retry?: Partial<RetryPolicy>
  /** Where requests may go; anywhere unless given. */
  egress?: EgressGuard
}>

/** What setTimeout can hold; it fires at once for more. */
const MOST_TIMEOUT_MS = 2 ** 31 - 1

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { connectTimeoutMs, answerLimitBytes, connectionsPerOrigin = 256 } = options
  const policy: RetryPolicy = { pauseMs: 100, random: Math.random, clock: Date.now, pause, ...options.retry }
  const connections = createConnections(connectTimeoutMs, options.egress)
  const agent = new Agent({
    connect: connections.connect,
    connections: connectionsPerOrigin,
    allowH2: false,
    // The deadline of the exchange bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const wire: Wire = { agent, connections, policy, connectTimeoutMs, answerLimitBytes }
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  return {
    send(request) {
      if (closing !== undefined) return Promise.reject(notSent(request, 'the service is shutting down'))
      const exchange =
        request.redirects === undefined
          ? exchangeWithin(request, wire)
          : sendFollowing(request, (one) => exchangeWithin(one, wire))
      underWay.add(exchange)
      const done = (): void => void underWay.delete(exchange)
      exchange.then(done, done)
      return exchange
    },
    /** Takes no further request, waits for those under way, and leaves no connection. */
    close() {
      closing ??= Promise.allSettled(underWay).then(async () => {
        connections.abandon()
        await agent.destroy()
      })
      return closing
    },
  }
}

type Wire = Readonly<{
  agent: Agent
  connections: Connections
  policy: RetryPolicy
  connectTimeoutMs: number
  answerLimitBytes: number
}>

async function exchangeWithin(request: OutboundRequest, wire: Wire): Promise<OutboundAnswer> {
  const { agent, connections, policy, connectTimeoutMs, answerLimitBytes } = wire
  const url = URL.parse(request.url)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw notSent(request, 'its URL is not an absolute http or https URL')
  const call = prepareCall(request, url)
  const { subject } = call
  const timeoutMs = Math.min(request.timeoutMs, MOST_TIMEOUT_MS)
  if (!(timeoutMs > 0)) throw timedOut(subject, 0)

  const deadline = new AbortController()
  const deadlineAt = performance.now() + timeoutMs
  const timer = setTimeout(() => deadline.abort(timedOut(subject, timeoutMs)), timeoutMs)
  try {
    const answer = await sendWithRetries(
      {
        retries: request.retries,
        idempotent: IDEMPOTENT_METHODS.has(request.method),
        leftMs: () => deadlineAt - performance.now(),
        send: () => attempt(agent, call, answerLimitBytes, deadline.signal),
        endedUsed: connections.endedUsed,
        describe: (error) => outboundError(subject, error, connectTimeoutMs),
      },
      policy,
    )
    const body = await decodeBody(subject, answer.body, answer.headers['content-encoding'], answerLimitBytes)
    deadline.signal.throwIfAborted()
    return body === answer.body ? answer : { ...answer, body }
  } finally {
    clearTimeout(timer)
  }
}

const notSent = (request: OutboundRequest, why: string): OutboundError =>
  new OutboundError('unreachable', `A ${request.method} request was not sent: ${why}.`)
