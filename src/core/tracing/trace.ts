/**
 * The trace of one message: its stages, its calls and the data it produced. A message in flight only adds references; its
 * record, metrics and spans are made from the trace after the answer.
 */
import type { NewDelivery } from '../deliveries/delivery.ts'
import type { Headers } from '../message.ts'
import type { OutboundAnswer, OutboundFault } from '../ports/http-client-port.ts'
import type { SecretValues } from '../secrets/secrets.ts'
import { copyTableReads, type TableReads } from '../tables/table-reads.ts'
import type { StageName } from './stages.ts'

/** Times are in milliseconds of `performance.now()`, a monotonic clock. */
export type StageSpan = Readonly<{ stage: StageName; startMs: number; endMs: number }>

/** To the microsecond, as reports, log lines and records have durations. */
export const roundMs = (ms: number): number => Math.round(ms * 1_000) / 1_000

/** What a call sent, for an answer that reports it. */
type SentRequest = Readonly<{
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  /** Left out if there is no room to keep it. */
  body: string | Uint8Array | undefined
  /** Bytes of the body, kept or not. */
  size: number
}>

/** `renewed`: asked for once more, because the target refused the one before; `failed`: there is none. */
export const TOKEN_ORIGINS = ['asked', 'kept', 'renewed', 'failed'] as const
type TokenOrigin = (typeof TOKEN_ORIGINS)[number]

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
  /** Set for a traced message only. */
  readonly spanId: string | undefined
  readonly startMs: number
  /** Set only if the trace keeps what its calls send. */
  sent: SentRequest | undefined
  /** NaN while the call is in progress. */
  endMs: number
  answer: OutboundAnswer | undefined
  /** A note on an accepted answer: a sentence that does not quote its body. */
  remark: string | undefined
  /** The token endpoint, as reports show it, and where its token came from; undefined if the call needs none. */
  token: Readonly<{ from: string; how: TokenOrigin }> | undefined
  /** The answer was kept from an earlier call, or is that of another message's call at the same time. */
  cached: boolean
  /** The failure of the target that a kept answer stands in for: a fault, or the status of an answer. */
  stale: OutboundFault | number | undefined
  /** The reason why there is no answer, without the cause of an internal error. */
  fault: OutboundFault | 'deadline' | 'internal' | undefined
}

/**
 * Why a request of the document was not made: its `when` did not give true, another lookup failed before it, or the message is
 * a replay and an earlier run had delivered it.
 */
export const NOT_MADE_CAUSES = ['when', 'failure', 'delivered'] as const
export type NotMade = Readonly<{
  kind: CallSpan['kind']
  id: string
  /** The index of the item in a forEach. */
  item?: number
  why: (typeof NOT_MADE_CAUSES)[number]
}>

export type Trace = {
  readonly startMs: number
  /** The end of the last stage, which is the start of the next one. */
  lastMs: number
  /** In their order; a failed message failed in the last one. */
  readonly stages: StageSpan[]
  /** In the order of their starts. */
  readonly calls: CallSpan[]
  /** The requests that were not made although the message reached their stage; undefined if there are none. */
  notMade: NotMade[] | undefined
  /** The requests that are stored at the end of the message, or were; undefined if there are none. */
  deliveries: NewDelivery[] | undefined
  /** Undefined if it read no table, unless its rows are kept. */
  tableReads: TableReads | undefined
  /** The message (core/message.ts) after its last successful stage; undefined until it is completed. */
  reached: object | undefined
  /** Set for a traced message only. */
  readonly context: TraceContext | undefined
  /** The secrets that the message used. */
  secrets: Map<string, string> | undefined
  /** How many bytes of bodies that calls send may still be kept; undefined if nothing of what they send is kept. */
  sentBytesLeft: number | undefined
}

/** `sentBytes`: for a trace that keeps what its calls send, the most bytes of their bodies. */
export function startTrace(context?: TraceContext, sentBytes?: number): Trace {
  const startMs = performance.now()
  return {
    startMs,
    lastMs: startMs,
    stages: [],
    calls: [],
    notMade: undefined,
    deliveries: undefined,
    tableReads: undefined,
    reached: undefined,
    context,
    secrets: undefined,
    sentBytesLeft: sentBytes,
  }
}

/** A copy of the trace of a message in flight, which later stages do not change. */
export const traceSoFar = (trace: Trace): Trace => ({
  ...trace,
  stages: [...trace.stages],
  calls: trace.calls.map((call) => ({ ...call })),
  notMade: trace.notMade && [...trace.notMade],
  deliveries: trace.deliveries && [...trace.deliveries],
  tableReads: trace.tableReads && copyTableReads(trace.tableReads),
})

export function noteNotMade(trace: Trace, request: NotMade): void {
  trace.notMade ??= []
  trace.notMade.push(request)
}

export function noteDelivery(trace: Trace, delivery: NewDelivery): void {
  trace.deliveries ??= []
  trace.deliveries.push(delivery)
}

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
    sent: undefined,
    endMs: Number.NaN,
    answer: undefined,
    remark: undefined,
    token: undefined,
    cached: false,
    stale: undefined,
    fault: undefined,
  }
  trace.calls.push(span)
  return span
}

const SHOWN_CHARACTERS = 2_048

/** A target as records and reports show it: a message with a forEach may make a thousand URLs of 64 KB. */
export const shownTarget = (target: string): string =>
  target.length <= SHOWN_CHARACTERS ? target : `${target.slice(0, SHOWN_CHARACTERS)}…`

export const keepsSent = ({ sentBytesLeft }: Trace): boolean => sentBytesLeft !== undefined

/** Keeps what a call sends, if the trace keeps it. */
export function noteSent(
  trace: Trace,
  call: CallSpan,
  headers: SentRequest['headers'],
  body: SentRequest['body'],
): void {
  if (trace.sentBytesLeft === undefined) return
  const size = body === undefined ? 0 : Buffer.byteLength(body)
  const isKept = size <= trace.sentBytesLeft
  if (isKept) trace.sentBytesLeft -= size
  call.sent = { headers, body: isKept ? body : undefined, size }
}

export function endCall(call: CallSpan, result: OutboundAnswer | NonNullable<CallSpan['fault']>): void {
  call.endMs = performance.now()
  if (typeof result === 'string') call.fault = result
  else call.answer = result
}

/** The call that gave the answer; undefined of an answer that no target gave. */
export const findCall = (trace: Trace, answer: OutboundAnswer): CallSpan | undefined =>
  trace.calls.find((one) => one.answer === answer)

/** Sets the remark of the call that gave the answer. */
export function noteAnswer(trace: Trace, answer: OutboundAnswer, remark: string): void {
  const call = findCall(trace, answer)
  if (call !== undefined) call.remark = remark
}

// The headers `traceparent` and `tracestate` of W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/).

export type TraceContext = Readonly<{
  /** 32 hex digits, those of the caller if it sent any. */
  traceId: string
  /** The span of the message: 16 hex digits. */
  spanId: string
  /** The span of the caller; undefined if the trace starts here. */
  parentId: string | undefined
  sampled: boolean
  /** `tracestate`, passed on unchanged. */
  state: string | undefined
}>

type Parent = Readonly<{ traceId: string; parentId: string; sampled: boolean; state: string | undefined }>

/** A header that is not well-formed is ignored (section 3.2). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** A longer `tracestate` need not be passed on (section 3.3.1.5). */
const MAX_STATE_CHARACTERS = 512

export function readParent(headers: Headers): Parent | undefined {
  const [, version, traceId, parentId, flags, more] = TRACEPARENT.exec(headers.traceparent ?? '') ?? []
  if (traceId === undefined || parentId === undefined) return undefined
  if (version === '00' && more !== undefined) return undefined
  const { tracestate = '' } = headers
  const state = tracestate === '' || tracestate.length > MAX_STATE_CHARACTERS ? undefined : tracestate
  return { traceId, parentId, sampled: (Number.parseInt(flags ?? '0', 16) & 1) === 1, state }
}

/** The headers of a call that is part of the trace. */
export function traceHeaders({ traceId, sampled, state }: TraceContext, spanId: string): Headers {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
  return state === undefined ? { traceparent } : { traceparent, tracestate: state }
}

export const newTraceId = (): string => randomHex(32)
export const newSpanId = (): string => randomHex(16)

/** Ids must differ from each other but need not be secret; all zeros are not a valid id. */
function randomHex(digits: 16 | 32): string {
  let text = ''
  while (text.length < digits)
    text += Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return /[1-9a-f]/.test(text) ? text : randomHex(digits)
}
