/**
 * The trace of one message: its stages, its calls and the data it produced. A message in flight only adds references; its
 * record, metrics and spans are made from the trace after the answer.
 */
import type { OutboundAnswer, OutboundFault } from '../ports/http-client-port.ts'
import type { SecretValues } from '../secrets/secrets.ts'
import type { StageName } from './stages.ts'
import { newSpanId, type TraceContext } from './trace-context.ts'

/** Times are in milliseconds of `performance.now()`, a monotonic clock. */
export type StageSpan = Readonly<{ stage: StageName; startMs: number; endMs: number }>

/** One outbound call, its retries included. */
export type CallSpan = {
  readonly kind: 'lookup' | 'response'
  /** The id of the request in the document. */
  readonly id: string
  /** The index of the item in a forEach. */
  readonly item: number | undefined
  readonly method: string
  /** A URL with its query, which may contain secrets, or `kafka:` and a topic. */
  readonly target: string
  /** Undefined if the message is not traced. */
  readonly spanId: string | undefined
  readonly startMs: number
  /** NaN while the call is in progress. */
  endMs: number
  /** Undefined if there is no answer. */
  answer: OutboundAnswer | undefined
  /** A note on an accepted answer: a sentence that does not quote its body. */
  remark: string | undefined
  /** The reason why there is no answer, without the cause of an internal error. */
  fault: OutboundFault | 'deadline' | 'internal' | undefined
}

export type Trace = {
  readonly startMs: number
  /** The end of the last stage, which is the start of the next one. */
  lastMs: number
  /** In their order; a failed message failed in the last one. */
  readonly stages: StageSpan[]
  /** In the order of their starts. */
  readonly calls: CallSpan[]
  /** The message (domain/message.ts) after its last successful stage; undefined until it is completed. */
  reached: object | undefined
  /** Undefined if the message is not traced. */
  readonly context: TraceContext | undefined
  /** The secrets that the message used; undefined if it used none. */
  secrets: Map<string, string> | undefined
}

export function startTrace(context?: TraceContext): Trace {
  const startMs = performance.now()
  return { startMs, lastMs: startMs, stages: [], calls: [], reached: undefined, context, secrets: undefined }
}

/** A copy of the trace of a message in flight, which later stages do not change. */
export const traceSoFar = (trace: Trace): Trace => ({
  ...trace,
  stages: [...trace.stages],
  calls: trace.calls.map((call) => ({ ...call })),
})

/** Adds the secrets that the message uses next. */
export function noteSecrets(trace: Trace, secrets: SecretValues): void {
  trace.secrets ??= new Map()
  for (const [value, reference] of secrets) trace.secrets.set(value, reference)
}

export function endStage(trace: Trace, stage: StageName): void {
  const endMs = performance.now()
  trace.stages.push({ stage, startMs: trace.lastMs, endMs })
  trace.lastMs = endMs
}

export function startCall(trace: Trace, call: Pick<CallSpan, 'kind' | 'id' | 'item' | 'method' | 'target'>): CallSpan {
  const spanId = trace.context === undefined ? undefined : newSpanId()
  const span = {
    ...call,
    spanId,
    startMs: performance.now(),
    endMs: Number.NaN,
    answer: undefined,
    remark: undefined,
    fault: undefined,
  }
  trace.calls.push(span)
  return span
}

export function endCall(call: CallSpan, result: OutboundAnswer | NonNullable<CallSpan['fault']>): void {
  call.endMs = performance.now()
  if (typeof result === 'string') call.fault = result
  else call.answer = result
}

/** Sets the remark of the call that gave the answer. */
export function noteAnswer(trace: Trace, answer: OutboundAnswer, remark: string): void {
  const call = trace.calls.find((one) => one.answer === answer)
  if (call !== undefined) call.remark = remark
}
