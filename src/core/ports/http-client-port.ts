/** The client for requests to other systems. */
import type { ClientTls } from '../client-tls.ts'
import type { JsonObject } from '../json.ts'
import type { MessageBudget } from '../message-budget.ts'

export type OutboundRequest = Readonly<{
  /** Upper case. */
  method: string
  /** Absolute http or https URL. */
  url: string
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Milliseconds for the whole exchange: connecting, redirects, retries and reading the answer. */
  timeoutMs: number
  /** What messages give as the time, where a part of it had passed before: of a configured 200 ms, 187.3 may be left. */
  statedTimeoutMs?: number
  /** Ends the exchange early, with CallStopped. */
  signal?: AbortSignal | undefined
  /** Further attempts after a network error, a 502, 503 or 504, or a 429 with `Retry-After`. */
  retries: number
  /** The request may be sent twice, whatever its method. */
  idempotent?: true
  /** Pays for the body of the answer as it arrives; where it does not suffice, the exchange ends as 'over-budget'. */
  budget?: Pick<MessageBudget, 'take'>
  /** No caller waits for the answer: while the origin's circuit is open, the request waits for it to close, up to its timeout. */
  patient?: boolean
  /** The name of the origin for people, if the origin itself is a secret. */
  originName?: string
  /** The most redirects that are followed; none by default. */
  redirects?: number
  /** A redirect to another origin is not followed. */
  staysOnOrigin?: true
  /** For the origin of the URL; a redirect to another origin goes without. */
  tls?: ClientTls
}>

export type OutboundAnswer = Readonly<{
  status: number
  /** Lower-case names, as received. */
  headers: Readonly<Record<string, string | readonly string[]>>
  /** Content codings decoded, unless `isCoded`. */
  body: Uint8Array
  /** The content codings could not be decoded: the body is as received. */
  isCoded?: true
  /** A sentence: why the request was not retried, or a redirect not followed, although it was eligible. */
  remark?: string
  /** The calls that the answering OpenHIM mediator reported beside its answer. */
  orchestrations?: readonly JsonObject[]
  /** Of an answer that is kept: drops it, because it is of no use. */
  forget?: () => void
}>

/**
 * 'refused': the other side refused the request and would refuse it again; 'denied': the egress rules forbid the address,
 * nothing was sent; 'over-budget': the message may not read as much; 'circuit-open': nothing was sent, because the other side has failed too often;
 * 'no-auth': nothing was sent, because there is no token or no certificate to send it with.
 */
export type OutboundFault =
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'over-budget'
  | 'unreadable'
  | 'refused'
  | 'denied'
  | 'circuit-open'
  | 'no-auth'

/** An exchange without a complete answer. The message is safe to send to callers: no credentials, no query of the URL. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly fault: OutboundFault
  /** The answer, if only the content codings of its body are at fault. */
  readonly answer: OutboundAnswer | undefined
  constructor(
    fault: OutboundFault,
    message: string,
    { answer, ...options }: ErrorOptions & { answer?: OutboundAnswer } = {},
  ) {
    super(message, options)
    this.fault = fault
    this.answer = answer
  }
}

export const tooLarge = (subject: string, limitBytes: number): OutboundError =>
  new OutboundError('too-large', `The answer to ${subject} is larger than the limit of ${limitBytes} bytes.`)

export const overBudget = (subject: string): OutboundError =>
  new OutboundError('over-budget', `The answer to ${subject} is larger than what this message may still read.`)

export const timedOut = (subject: string, timeoutMs: number): OutboundError =>
  new OutboundError('timeout', `${subject} timed out after ${timeoutMs} ms.`)

/** This side ended the exchange before its time, which says nothing about the other side. */
export class CallStopped extends OutboundError {
  constructor(subject: string) {
    super('timeout', `${subject} was stopped before its answer arrived.`)
  }
}

/** Nothing was sent. `status`: the result of the last call; `retryAfterMs`: milliseconds until the next one is tried. */
export class CircuitOpen extends OutboundError {
  readonly status: number
  readonly retryAfterMs: number
  constructor(message: string, status: number, retryAfterMs: number) {
    super('circuit-open', message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Counts over all origins since the process started. */
export type OutboundHealth = Readonly<{
  /** Names of the origins whose circuit is open now. */
  open: readonly string[]
  /** How often a circuit opened. */
  opened: number
  /** Calls that an open circuit refused. */
  refused: number
  retries: number
  /** Retries that were due but not made because the origin's retry budget was used up. */
  retriesWithheld: number
}>

export const sumHealth = (all: readonly OutboundHealth[]): OutboundHealth => ({
  open: all.flatMap(({ open }) => open),
  opened: total(all.map(({ opened }) => opened)),
  refused: total(all.map(({ refused }) => refused)),
  retries: total(all.map(({ retries }) => retries)),
  retriesWithheld: total(all.map(({ retriesWithheld }) => retriesWithheld)),
})

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

export interface HttpClient {
  /** Fails with OutboundError. */
  send(request: OutboundRequest): Promise<OutboundAnswer>
  close(): Promise<void>
}
