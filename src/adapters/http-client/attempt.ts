/**
 * One request on the wire. On undici's dispatcher itself, below its `request`: only there can a request that still waits
 * for a connection be given up at its deadline, and be known whether anything was sent or answered.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import type { OutboundAnswer, OutboundError } from '../../domain/ports/http-client-port.ts'
import { type BodyBuffer, createBodyBuffer } from './body-buffer.ts'
import { type ClientCall, subjectOf } from './call.ts'
import { tooLarge, tooManyInterim } from './client-faults.ts'
import type { Deadline } from './deadline.ts'

/** How an attempt ended: with an answer, its codings not yet undone; given up on our side; or lost with its connection. */
export type AttemptOutcome =
  | Readonly<{ kind: 'answer'; answer: OutboundAnswer }>
  | Readonly<{ kind: 'given-up'; error: OutboundError }>
  | Readonly<{ kind: 'lost'; error: unknown; sent: boolean; answered: boolean }>

/** Answers such as 102 and 103, which come before the answer: a server that sends them without end never answers. */
const MOST_INTERIM = 100

/** Who waits for an attempt. Told once, with what has become of it. */
export type Waiting = Readonly<{ ended(outcome: AttemptOutcome): void }>

/**
 * Sends once and reads the whole answer, of at most `limitBytes`; drops the connection where it is larger or where
 * `deadline` passes.
 */
export function attempt(
  agent: Agent,
  call: ClientCall,
  limitBytes: number,
  deadline: Deadline,
  waiting: Waiting,
): void {
  const handler = new Attempt(call, limitBytes, deadline, waiting)
  if (deadline.passed !== undefined) {
    handler.giveUp(deadline.passed)
    return
  }
  deadline.listener = handler
  agent.dispatch(call, handler)
}

/** A class, since it is made for every call: an object of closures takes more time and memory than the rest of the call. */
class Attempt implements Dispatcher.DispatchHandler {
  private readonly call: ClientCall
  private readonly limitBytes: number
  private readonly deadline: Deadline
  private readonly waiting: Waiting
  private controller: Dispatcher.DispatchController | undefined = undefined
  private isSettled = false
  private answered = false
  private interim = 0
  private status = 0
  private headers: OutboundAnswer['headers'] = NO_HEADERS
  /** The body, as long as it came in a single piece. */
  private piece: Uint8Array = NOTHING
  private body: BodyBuffer | undefined = undefined

  constructor(call: ClientCall, limitBytes: number, deadline: Deadline, waiting: Waiting) {
    this.call = call
    this.limitBytes = limitBytes
    this.deadline = deadline
    this.waiting = waiting
  }

  giveUp(error: OutboundError): void {
    this.settle({ kind: 'given-up', error })
    this.controller?.abort(error)
  }

  onRequestStart(starting: Dispatcher.DispatchController): void {
    // It waited for a connection until after its deadline. Thrown, this spares the connection; an abort would drop it.
    if (this.deadline.passed !== undefined) throw this.deadline.passed
    this.controller = starting
  }

  onResponseStarted(): void {
    this.answered = true
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, received: IncomingHttpHeaders): void {
    if (status < 200) {
      this.interim += 1
      if (this.interim > MOST_INTERIM) this.giveUp(tooManyInterim(subjectOf(this.call), MOST_INTERIM))
      return
    }
    this.status = status
    this.headers = received as OutboundAnswer['headers']
    const hasBody = this.call.method !== 'HEAD' && status !== 204 && status !== 304
    if (hasBody && Number(received['content-length']) > this.limitBytes) this.refuseSize()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    // Most answers are a single piece, which needs no copy.
    if (this.piece.length === 0 && this.body === undefined) {
      if (chunk.length > this.limitBytes) this.refuseSize()
      else this.piece = chunk
      return
    }
    if (this.body === undefined) {
      this.body = createBodyBuffer(this.limitBytes)
      this.body.append(this.piece)
    }
    if (!this.body.append(chunk)) this.refuseSize()
  }

  onResponseEnd(): void {
    const { status, headers } = this
    this.settle({ kind: 'answer', answer: { status, headers, body: this.body?.take() ?? this.piece } })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.settle({ kind: 'lost', error, sent: this.controller !== undefined, answered: this.answered })
  }

  private refuseSize(): void {
    this.giveUp(tooLarge(subjectOf(this.call), this.limitBytes))
  }

  private settle(outcome: AttemptOutcome): void {
    if (this.isSettled) return
    this.isSettled = true
    this.deadline.listener = undefined
    this.waiting.ended(outcome)
  }
}

const NO_HEADERS = {}
const NOTHING = new Uint8Array(0)
