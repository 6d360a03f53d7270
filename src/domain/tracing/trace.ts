/**
 * The course of one message: its stages, its calls and their results. A running message only collects references, which costs
 * next to nothing; records, metrics and spans are built from them after the answer.
 */
import type { OutboundAnswer, OutboundFault } from '../ports/http-client-port.ts'
import type { SecretValues } from '../secrets/secrets.ts'
import type { StageName } from './stages.ts'
import { newSpanId, type TraceContext } from './trace-context.ts'

/** Times are milliseconds of `performance.now()`, which never goes back; only differences have a meaning. */
export type StageSpan = Readonly<{ stage: StageName; startMs: number; endMs: number }>

/** One outbound call, its retries included. */
export type CallSpan = {
  readonly kind: 'lookup' | 'response'
  /** The id of the request in the document. */
  readonly id: string
  /** Position of the item, inside a forEach. */
  readonly item: number | undefined
  readonly method: string
  /** A URL with its query, which may hold secrets, or `kafka:` and a topic. */
  readonly target: string
  /** Undefined if tracing is off. */
  readonly spanId: string | undefined
  readonly startMs: number
  /** NaN while the call runs. */
  endMs: number
  /** Undefined if no answer arrived. */
  answer: OutboundAnswer | undefined
  /** A note on an answer that was accepted, as a sentence that quotes nothing of its body. */
  remark: string | undefined
  /** Why there is no answer; `internal` does not contain its cause. */
  fault: OutboundFault | 'deadline' | 'internal' | undefined
}

export type Trace = {
  readonly startMs: number
  /** When the last stage ended, and so the next one started. */
  lastMs: number
  /** In the order in which they ran; the last one is where a failed message failed. */
  readonly stages: StageSpan[]
  /** In the order in which they started. */
  readonly calls: CallSpan[]
  /** The message (domain/message.ts) after the last stage that succeeded; undefined until the message ends. */
  reached: object | undefined
  /** Undefined if tracing is off. */
  readonly context: TraceContext | undefined
  /** The secrets that the message used; undefined if it used none. */
  secrets: Map<string, string> | undefined
}

export function startTrace(context?: TraceContext): Trace {
  const startMs = performance.now()
  return { startMs, lastMs: startMs, stages: [], calls: [], reached: undefined, context, secrets: undefined }
}

/** A copy of the trace of a running message: later stages and calls do not change it. */
export const traceSoFar = (trace: Trace): Trace => ({
  ...trace,
  stages: [...trace.stages],
  calls: trace.calls.map((call) => ({ ...call })),
})

/** Notes the secrets that the message uses from now on. */
export function noteSecrets(trace: Trace, secrets: SecretValues): void {
  trace.secrets ??= new Map()
  for (const [value, reference] of secrets) trace.secrets.set(value, reference)
}

/** Ends the stage that started when the one before it ended. */
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

/** `ended`: the answer of the call, or why there is none. */
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
