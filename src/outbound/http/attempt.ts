/**
 * One request on the wire. On undici's dispatcher, below its `request`: only there can a request that waits for a
 * connection end at its deadline, and only there is it known whether anything was sent or answered.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { type OutboundAnswer, type OutboundError, tooLarge } from '../../core/ports/http-client-port.ts'
import { type ClientCall, subjectOf } from './call.ts'
import { overBudget, tooManyInterim } from './client-faults.ts'
import type { Deadline } from './deadline.ts'

/** How an attempt ended: with an answer, its content codings not decoded; aborted by this side; or with its connection lost. */
export type AttemptOutcome =
  | Readonly<{ kind: 'answer'; answer: OutboundAnswer }>
  | Readonly<{ kind: 'aborted'; error: OutboundError }>
  | Readonly<{ kind: 'lost'; error: unknown; sent: boolean; answered: boolean }>

/** Interim answers such as 102 and 103: a server that sends them without end never answers. */
const MOST_INTERIM = 100
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
      if (this.interim > MOST_INTERIM) this.abort(tooManyInterim(subjectOf(this.call), MOST_INTERIM))
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
      this.abort(overBudget(subjectOf(this.call)))
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
    this.abort(tooLarge(subjectOf(this.call), this.limitBytes))
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
