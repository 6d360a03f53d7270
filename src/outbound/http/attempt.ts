/**
 * One request on the wire. On undici's dispatcher, below its `request`: only there can a request that waits for a
 * connection end at its deadline, and only there is it known whether anything was sent or answered.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { FRAMING_HEADERS, withoutQuery } from '../../core/http.ts'
import {
  CallStopped,
  type OutboundAnswer,
  type OutboundError,
  type OutboundRequest,
  overBudget,
  timedOut,
  tooLarge,
} from '../../core/ports/http-client-port.ts'
import { tooManyInterim } from './http-connections.ts'

/**
 * How an attempt ended: with an answer, its content codings not decoded; aborted by this side; or with its connection lost.
 */
export type AttemptOutcome =
  | Readonly<{ kind: 'answer'; answer: OutboundAnswer }>
  | Readonly<{ kind: 'aborted'; error: OutboundError }>
  | Readonly<{ kind: 'lost'; error: unknown; sent: boolean; answered: boolean }>

/** Interim answers such as 102 and 103: a server that sends them without end never answers. */
const MAX_INTERIM = 100
const FIRST_CAPACITY_BYTES = 16 * 1024

/** Called once for each attempt. */
export type AttemptListener = Readonly<{ ended(outcome: AttemptOutcome): void }>

/** Sends once and reads the whole answer. Drops the connection if the body exceeds `limitBytes`, or at the deadline. */
export function attempt(
  agent: Agent,
  call: ClientCall,
  limitBytes: number,
  deadline: Deadline,
  listener: AttemptListener,
): void {
  const handler = new Attempt(call, limitBytes, deadline, listener)
  if (deadline.passed !== undefined) {
    handler.abort(deadline.passed)
    return
  }
  deadline.listener = handler
  agent.dispatch(call, handler)
}

/** A class, because every call makes one: an object of closures takes more time and memory than the rest of the call. */
class Attempt implements Dispatcher.DispatchHandler {
  private readonly call: ClientCall
  private readonly limitBytes: number
  private readonly deadline: Deadline
  private readonly listener: AttemptListener
  private controller: Dispatcher.DispatchController | undefined = undefined
  private hasEnded = false
  private answered = false
  private interim = 0
  private status = 0
  private headers: OutboundAnswer['headers'] = NO_HEADERS
  /** One growing buffer, not a list of chunks: a body of one byte a chunk would take a hundred times its size. */
  private body: Uint8Array = NO_BYTES
  private sizeBytes = 0

  constructor(call: ClientCall, limitBytes: number, deadline: Deadline, listener: AttemptListener) {
    this.call = call
    this.limitBytes = limitBytes
    this.deadline = deadline
    this.listener = listener
  }

  abort(error: OutboundError): void {
    this.end({ kind: 'aborted', error })
    this.controller?.abort(error)
  }

  onRequestStart(starting: Dispatcher.DispatchController): void {
    // The request waited for a connection beyond its deadline. A throw keeps the connection; an abort would drop it.
    if (this.deadline.passed !== undefined) throw this.deadline.passed
    this.controller = starting
  }

  onResponseStarted(): void {
    this.answered = true
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, received: IncomingHttpHeaders): void {
    if (status < 200) {
      this.interim += 1
      if (this.interim > MAX_INTERIM) this.abort(tooManyInterim(formatCall(this.call), MAX_INTERIM))
      return
    }
    this.status = status
    this.headers = received as OutboundAnswer['headers']
    const hasBody = this.call.method !== 'HEAD' && status !== 204 && status !== 304
    if (hasBody && Number(received['content-length']) > this.limitBytes) this.abortForSize()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    const sizeBytes = this.sizeBytes + chunk.length
    if (sizeBytes > this.limitBytes) {
      this.abortForSize()
      return
    }
    if (this.call.budget?.take(chunk.length) === false) {
      this.abort(overBudget(formatCall(this.call)))
      return
    }
    // Most bodies are a single chunk, which needs no copy; it has no room left, so nothing is written to it.
    if (this.sizeBytes === 0) this.body = chunk
    else {
      if (sizeBytes > this.body.length) this.body = grown(this.body, this.sizeBytes, sizeBytes)
      this.body.set(chunk, this.sizeBytes)
    }
    this.sizeBytes = sizeBytes
  }

  onResponseEnd(): void {
    const { status, headers, body, sizeBytes } = this
    const whole = sizeBytes === body.length ? body : body.subarray(0, sizeBytes)
    this.end({ kind: 'answer', answer: { status, headers, body: whole } })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.end({ kind: 'lost', error, sent: this.controller !== undefined, answered: this.answered })
  }

  private abortForSize(): void {
    this.abort(tooLarge(formatCall(this.call), this.limitBytes))
  }

  private end(outcome: AttemptOutcome): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.deadline.listener = undefined
    this.listener.ended(outcome)
  }
}

function grown(body: Uint8Array, sizeBytes: number, neededBytes: number): Uint8Array {
  const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY_BYTES, neededBytes * 2))
  larger.set(body.subarray(0, sizeBytes))
  return larger
}

const NO_HEADERS = {}
const NO_BYTES = new Uint8Array(0)

/** A request in the form that undici's dispatcher takes, for any number of attempts. */
export type ClientCall = Readonly<
  Dispatcher.DispatchOptions & { origin: string; path: string; budget: OutboundRequest['budget'] }
>

/** The name of a call in messages: method, origin and path, never the query. */
export const formatCall = ({ method, origin, path }: Pick<ClientCall, 'method' | 'origin' | 'path'>): string =>
  `${method} ${origin}${withoutQuery(path)}`

type CallTarget = Readonly<{ origin: string; path: string }>

/** A path and query of characters that RFC 3986 allows in them. */
const PLAIN = /^\/[A-Za-z0-9\-_.~!$&'()*+,;=:@/?%]*$/
/** A `.` or `..` segment, which the URL parser resolves: https://url.spec.whatwg.org/#path-state. */
const DOT_SEGMENT = /\/(?:\.|%2e)/i
/** Scheme, host and port alone; the URL parser removes tabs and line ends. */
const PLAIN_BASE = /^https?:\/\/[^/?#@\\\t\n\r]+$/i

/**
 * In: a URL. Out: its origin, and its path with the query; undefined if it is not an absolute http or https URL.
 *
 * A legal path is sent as written: the URL parser would change `'` in a query to `%27` and drop a trailing `?`.
 */
export function parseTarget(text: string): CallTarget | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  const slash = text.indexOf('/', 'https://'.length)
  const path = slash < 0 ? '' : text.slice(slash)
  const isPlain = PLAIN.test(path) && !DOT_SEGMENT.test(path) && PLAIN_BASE.test(text.slice(0, slash))
  return { origin: url.origin, path: isPlain ? path : url.pathname + url.search }
}

/** `via`: a member that the header `Via` gets, behind those that the request has. */
export function createClientCall(request: OutboundRequest, { origin, path }: CallTarget, via?: string): ClientCall {
  const headers: string[] = []
  for (const name in request.headers) {
    if (FRAMING_HEADERS.has(name) || (name === 'via' && via !== undefined)) continue
    headers.push(name, request.headers[name] as string)
  }
  if (via !== undefined)
    headers.push('via', Object.hasOwn(request.headers, 'via') ? `${request.headers.via}, ${via}` : via)
  if (!Object.hasOwn(request.headers, 'accept-encoding')) headers.push('accept-encoding', 'identity')
  return { origin, path, method: request.method, headers, body: request.body ?? null, budget: request.budget }
}

/**
 * The time at which an exchange is aborted, its retries included. It needs one timer and one listener, the current attempt;
 * an AbortController is made for many listeners.
 */
export type Deadline = {
  /** What the exchange fails with; undefined until the deadline has passed. */
  passed: OutboundError | undefined
  /** The current attempt, which sets it and removes it when it ends. */
  listener: Readonly<{ abort(error: OutboundError): void }> | undefined
  /** On the clock of `performance.now()`. */
  readonly at: number
  readonly statedMs: number
  readonly call: ClientCall
  timer: NodeJS.Timeout | undefined
  /** Removes the listener of a signal. */
  unwatch?: () => void
}

export function startDeadline(
  timeoutMs: number,
  call: ClientCall,
  statedMs = timeoutMs,
  signal?: AbortSignal,
): Deadline {
  const at = performance.now() + timeoutMs
  const deadline: Deadline = { passed: undefined, listener: undefined, at, statedMs, call, timer: undefined }
  deadline.timer = setTimeout(expire, timeoutMs, deadline)
  if (signal === undefined) return deadline
  const end = () => pass(deadline, new CallStopped(formatCall(call)))
  if (signal.aborted) end()
  else signal.addEventListener('abort', end)
  deadline.unwatch = () => signal.removeEventListener('abort', end)
  return deadline
}

/** A delay of a timer that only a busy event loop explains. */
const BUSY_MS = 20

/**
 * If this process was busy at the deadline, the answer may have arrived without being read: the event loop runs timers
 * before it reads. It gets one more read, so that no upstream is blamed for this service's own lack of time.
 */
function expire(deadline: Deadline): void {
  if (performance.now() - deadline.at < BUSY_MS) pass(deadline)
  else setImmediate(passUnlessStopped, deadline)
}

function passUnlessStopped(deadline: Deadline): void {
  if (deadline.timer !== undefined) pass(deadline)
}

function pass(deadline: Deadline, passed = timedOut(formatCall(deadline.call), deadline.statedMs)): void {
  deadline.passed = passed
  deadline.listener?.abort(passed)
}

export function stopDeadline(deadline: Deadline): void {
  clearTimeout(deadline.timer)
  deadline.timer = undefined
  deadline.unwatch?.()
}

export const leftMs = ({ at }: Deadline): number => at - performance.now()
