/**
 * The course of one message: which stages it went through, what it called, how far it came. Kept by reference while the
 * message is under way, so that it costs next to nothing; what is made of it (a record, metrics, spans) is made behind
 * the answer.
 */
import type { OutboundAnswer, OutboundFault } from '../ports/http-client-port.ts'
import type { SecretValues } from '../secrets/secrets.ts'
import type { StageName } from './stages.ts'
import { newSpanId, type TraceContext } from './trace-context.ts'

/** Times are in milliseconds of a clock that never goes back (`performance.now()`); only their differences mean anything. */
export type StageSpan = Readonly<{ stage: StageName; startMs: number; endMs: number }>

/** One outbound call, its retries included. */
export type CallSpan = {
  readonly kind: 'lookup' | 'response'
  /** Of the request in the document. */
  readonly id: string
  /** Position of the item, inside a forEach. */
  readonly item: number | undefined
  readonly method: string
  /** Where it went: a URL with its query, which may hold secrets, or `kafka:` and a topic. */
  readonly target: string
  /** Undefined where nobody traces. */
  readonly spanId: string | undefined
  readonly startMs: number
  /** NaN while it is under way. */
  endMs: number
  /** Undefined where no answer came. */
  answer: OutboundAnswer | undefined
  /** A note on an answer that was accepted, as a sentence that quotes nothing of its body. */
  remark: string | undefined
  /** Why none did; INTERNAL's cause is not told here. */
  fault: OutboundFault | 'deadline' | 'internal' | undefined
}

export type Trace = {
  readonly startMs: number
  /** When the last stage ended, and so the next one began. */
  lastMs: number
  /** In the order in which they ran; the last one is where a failed message failed. */
  readonly stages: StageSpan[]
  /** In the order in which they were begun. */
  readonly calls: CallSpan[]
  /** The message (domain/message.ts) with what the stages that succeeded have added; undefined until it has ended. */
  reached: object | undefined
  /** Undefined where nobody traces. */
  readonly context: TraceContext | undefined
  /** Those that the message was given; undefined where it was given none. */
  secrets: Map<string, string> | undefined
}

export function startTrace(context?: TraceContext): Trace {
  const startMs = performance.now()
  return { startMs, lastMs: startMs, stages: [], calls: [], reached: undefined, context, secrets: undefined }
}

/** Of a message that goes on: what comes later is not seen in it. */
export const traceSoFar = (trace: Trace): Trace => ({
  ...trace,
  stages: [...trace.stages],
  calls: trace.calls.map((call) => ({ ...call })),
})

/** The values of secrets that the message is about to be given. */
export function noteSecrets(trace: Trace, secrets: SecretValues): void {
  trace.secrets ??= new Map()
  for (const [value, reference] of secrets) trace.secrets.set(value, reference)
}

/** The stage that began when the one before it ended has ended now. */
export function endStage(trace: Trace, stage: StageName): void {
  const endMs = performance.now()
  trace.stages.push({ stage, startMs: trace.lastMs, endMs })
  trace.lastMs = endMs
}

export function startCall(
  trace: Trace,
  { kind, id, item, method, target }: Pick<CallSpan, 'kind' | 'id' | 'item' | 'method' | 'target'>,
): CallSpan {
  const startMs = performance.now()
  const spanId = trace.context === undefined ? undefined : newSpanId()
  const call = {
    kind,
    id,
    item,
    method,
    target,
    spanId,
    startMs,
    endMs: Number.NaN,
    answer: undefined,
    remark: undefined,
    fault: undefined,
  }
  trace.calls.push(call)
  return call
}

/** What came of a call: its answer, or why there is none. */
export function endCall(call: CallSpan, ended: OutboundAnswer | NonNullable<CallSpan['fault']>): void {
  call.endMs = performance.now()
  if (typeof ended === 'string') call.fault = ended
  else call.answer = ended
}

/** Sets the remark of the call that gave the answer. */
export function noteAnswer(trace: Trace, answer: OutboundAnswer, remark: string): void {
  const call = trace.calls.find((one) => one.answer === answer)
  if (call !== undefined) call.remark = remark
}
