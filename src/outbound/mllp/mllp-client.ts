/** Sends messages to MLLP listeners and gives their acknowledgements as answers. */
import { setTimeout as pause } from 'node:timers/promises'
import { nextPauseMs } from '../../core/backoff.ts'
import {
  CallStopped,
  type OutboundAnswer,
  OutboundError,
  type OutboundHealth,
  timedOut,
} from '../../core/ports/http-client-port.ts'
import type { Pass, Trouble } from '../circuit.ts'
import { describeErrorCode, findErrorCode, isTlsError } from '../connection-errors.ts'
import { EgressDenied } from '../egress-guard.ts'
import { type OriginOptions, Origins, type Upstream } from '../origins.ts'
import { readAcknowledgement, readControlId } from './acknowledgement.ts'
import { fitsFrame } from './frames.ts'
import { ConnectionLost, type ConnectionOptions, ConnectTimeout, MllpPool, type Sending } from './mllp-connections.ts'
import { formatMllpUrl, parseMllpUrl } from './mllp-url.ts'

export type MllpRequest = Readonly<{
  url: string
  content: Uint8Array
  /** Milliseconds for all: waiting for a connection, connecting, the acknowledgement, retries. */
  timeoutMs: number
  /** Further attempts after a lost connection or an acknowledgement with AE or CE. */
  retries: number
  /** The message may be sent twice. */
  idempotent: boolean
  /** No caller waits: while the circuit is open, the message waits for it to close, up to its timeout. */
  patient: boolean
  /** Ends it early, with CallStopped. */
  signal?: AbortSignal | undefined
  /** Pays for what arrives; false where it does not suffice. */
  take(bytes: number): boolean
}>

export type MllpOptions = ConnectionOptions & OriginOptions

export const MEDIA_TYPE = 'application/hl7-v2'

const MIN_WAIT_MS = 20
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000
const NOT_RETRIED = 'It was not tried again: too many calls to its target are retries already.'

export class MllpClient {
  private readonly options: MllpOptions
  private readonly origins: Origins
  private readonly pools = new Map<string, MllpPool>()
  private running = 0
  private whenIdle: (() => void) | undefined
  private isClosing = false

  constructor(options: MllpOptions) {
    this.options = options
    this.origins = new Origins(options)
  }

  /** Fails with OutboundError. */
  async send(request: MllpRequest): Promise<OutboundAnswer> {
    this.running += 1
    const ending = new AbortController()
    const subject = `SEND ${request.url}`
    const timer = setTimeout(() => ending.abort(timedOut(subject, request.timeoutMs)), request.timeoutMs)
    const stop = () => ending.abort(new CallStopped(subject))
    request.signal?.addEventListener('abort', stop)
    try {
      if (this.isClosing) throw notSent(subject, 'the service is shutting down')
      return await this.exchange(request, subject, ending.signal)
    } finally {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', stop)
      this.running -= 1
      if (this.running === 0) this.whenIdle?.()
    }
  }

  health(): OutboundHealth {
    return this.origins.health()
  }

  /** Takes no further message, waits for the current ones, and closes all connections. */
  async close(): Promise<void> {
    this.isClosing = true
    if (this.running > 0) {
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve
      })
    }
    for (const pool of this.pools.values()) pool.close()
  }

  private async exchange(request: MllpRequest, subject: string, signal: AbortSignal): Promise<OutboundAnswer> {
    const { url, content, take } = request
    const address = parseMllpUrl(url)
    if (address === undefined) throw notSent(subject, 'its URL is not an MLLP URL')
    if (!fitsFrame(content)) {
      throw new OutboundError(
        'refused',
        `${subject} was not sent: the message has the byte 0x1C, which ends a message of MLLP.`,
      )
    }
    const refusal = this.options.egress.policy.refusal(address.host, address.port)
    if (refusal !== undefined) throw denied(subject, refusal)
    const controlId = readControlId(content)
    const key = `${address.host} ${address.port}`
    const pool = this.pools.get(key) ?? new MllpPool(address, this.options)
    this.pools.set(key, pool)
    const sending: Sending<OutboundAnswer> = {
      subject,
      content,
      take,
      signal,
      read: (acknowledgement) => readAnswer(subject, controlId, acknowledgement),
    }
    const { origins, options } = this
    return new Attempts(request, sending, pool, origins, formatMllpUrl(address), options.connectTimeoutMs).run()
  }
}

/** The attempts of one message, as far as the circuit of its origin, its retries and its time allow. */
class Attempts {
  private readonly request: MllpRequest
  private readonly sending: Sending<OutboundAnswer>
  private readonly pool: MllpPool
  private readonly origins: Origins
  private readonly upstream: Upstream
  private readonly deadlineMs: number
  private readonly connectTimeoutMs: number

  constructor(
    request: MllpRequest,
    sending: Sending<OutboundAnswer>,
    pool: MllpPool,
    origins: Origins,
    origin: string,
    connectTimeoutMs: number,
  ) {
    this.request = request
    this.sending = sending
    this.pool = pool
    this.origins = origins
    this.upstream = origins.of(origin, request)
    this.deadlineMs = performance.now() + request.timeoutMs
    this.connectTimeoutMs = connectTimeoutMs
  }

  async run(): Promise<OutboundAnswer> {
    let ended = await this.attempt(await this.enter())
    let maxMs = 0
    for (let retry = 0; ; retry += 1) {
      const mayRetry = 'answer' in ended ? ended.answer.status === 503 : isTransient(ended.error)
      if (!mayRetry || retry >= this.request.retries) return this.conclude(ended)
      maxMs = nextPauseMs(maxMs, { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS })
      // Random, so that messages that failed together are not retried together.
      const pauseMs = this.origins.openForMs(this.upstream) + Math.random() * maxMs
      if (pauseMs >= this.leftMs()) return this.conclude(ended)
      if (!this.origins.takeRetry(this.upstream)) return this.conclude(ended, NOT_RETRIED)
      await pause(pauseMs)
      const pass = this.origins.pass(this.upstream)
      if (pass === undefined) return this.conclude(ended)
      ended = await this.attempt(pass)
    }
  }

  private leftMs(): number {
    return this.deadlineMs - performance.now()
  }

  /** Passes the circuit, or fails with CircuitOpen. */
  private async enter(): Promise<Pass> {
    for (;;) {
      const pass = this.origins.pass(this.upstream)
      if (pass !== undefined) return pass
      const waitMs = Math.max(this.origins.openForMs(this.upstream), MIN_WAIT_MS)
      if (!this.request.patient || waitMs >= this.leftMs()) {
        throw this.origins.refusal(this.upstream, this.sending.subject)
      }
      await pause(waitMs)
    }
  }

  private async attempt(pass: Pass): Promise<Ended> {
    const first = await this.sendOnce(false)
    this.origins.recordTrouble(this.upstream, pass, findTrouble(first))
    const isStale = 'error' in first && first.error instanceof ConnectionLost && first.error.isStale
    if (!isStale || !this.request.idempotent) return first
    // A listener may close a connection while it is idle: this says nothing about the message.
    const again = this.origins.pass(this.upstream)
    if (again === undefined) return first
    const second = await this.sendOnce(true)
    this.origins.recordTrouble(this.upstream, again, findTrouble(second))
    return second
  }

  private sendOnce(isFresh: boolean): Promise<Ended> {
    return this.pool.send(this.sending, isFresh).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    )
  }

  private conclude(ended: Ended, remark?: string): OutboundAnswer {
    if ('answer' in ended) return remark === undefined ? ended.answer : { ...ended.answer, remark }
    const error = toOutboundError(this.sending.subject, ended.error, this.connectTimeoutMs)
    if (remark === undefined) throw error
    throw new OutboundError(error.fault, `${error.message} ${remark}`, { cause: error.cause })
  }
}

type Ended = Readonly<{ answer: OutboundAnswer }> | Readonly<{ error: unknown }>

/** Fails with OutboundError if it is not an acknowledgement of this message. */
function readAnswer(
  subject: string,
  sent: string | undefined,
  content: Uint8Array,
): Readonly<{ result: OutboundAnswer; mayContinue: boolean }> {
  const acknowledgement = readAcknowledgement(content)
  if (acknowledgement === undefined) throw unreadable(subject, 'is not a message of HL7 v2 with an MSA segment')
  const { status, controlId, isAccept } = acknowledgement
  if (status === undefined) throw unreadable(subject, 'has no known code in MSA-1')
  // Without an id in the message, the listener has none to name.
  if (sent !== undefined && controlId !== sent) {
    throw unreadable(subject, 'is for another message: its MSA-2 is not the MSH-10 that was sent')
  }
  return { result: { status, headers: { 'content-type': MEDIA_TYPE }, body: content }, mayContinue: isAccept }
}

const unreadable = (subject: string, what: string): OutboundError =>
  new OutboundError('unreadable', `The acknowledgement of ${subject} ${what}.`)

const notSent = (subject: string, why: string): OutboundError =>
  new OutboundError('unreachable', `${subject} was not sent: ${why}.`)

const denied = (subject: string, why: string, cause?: unknown): OutboundError =>
  new OutboundError('denied', `${subject} is not allowed: ${why}.`, { cause })

/** Every acknowledgement, whatever its code, shows that the listener works: an AE is about one message. */
function findTrouble(ended: Ended): Trouble | undefined | 'unknown' {
  if ('answer' in ended) return undefined
  const { error } = ended
  if (error instanceof CallStopped) return 'unknown'
  if (error instanceof OutboundError) {
    return error.fault === 'timeout'
      ? { status: 504, why: 'no acknowledgement in time', retryAfterMs: undefined }
      : undefined
  }
  if (error instanceof EgressDenied || (error instanceof ConnectionLost && error.isStale)) return 'unknown'
  if (error instanceof ConnectTimeout) return { status: 504, why: 'no connection in time', retryAfterMs: undefined }
  return { status: 502, why: whyLost(error), retryAfterMs: undefined }
}

const isTransient = (error: unknown): boolean =>
  !(error instanceof OutboundError || error instanceof EgressDenied || isTlsError(causeOf(error)))

const causeOf = (error: unknown): unknown => (error instanceof ConnectionLost ? error.cause : error)

function whyLost(error: unknown): string {
  const cause = causeOf(error)
  return cause === undefined
    ? 'connection closed before the acknowledgement arrived'
    : describeErrorCode(findErrorCode(cause))
}

function toOutboundError(subject: string, error: unknown, connectTimeoutMs: number): OutboundError {
  if (error instanceof OutboundError) return error
  if (error instanceof EgressDenied) return denied(subject, error.message, error)
  if (error instanceof ConnectTimeout) {
    const message = `${subject} timed out: no connection within ${connectTimeoutMs} ms.`
    return new OutboundError('timeout', message, { cause: error })
  }
  return new OutboundError('unreachable', `${subject} got no acknowledgement: ${whyLost(error)}.`, { cause: error })
}
