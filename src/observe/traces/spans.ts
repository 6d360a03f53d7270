/**
 * A completed message as OpenTelemetry spans: one for the message, one a stage, one an outbound call, with the names of
 * OpenTelemetry's semantic conventions. They are made from the trace that every message has.
 *
 * Spans leave the service: they have names of the document, statuses and times, but no body, no header, and no path or query
 * of a URL.
 */

import {
  type Attributes,
  createTraceState,
  type HrTime,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api'
import type { InstrumentationScope } from '@opentelemetry/core'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import type { Answer } from '../../core/message.ts'
import type { Door, Origin } from '../../core/origin.ts'
import { type CallSpan, newSpanId, type StageSpan, type Trace, type TraceContext } from '../../core/tracing/trace.ts'
import { readTarget } from '../../outbound/targets.ts'

/** The parts of a completed message that its spans show. */
export type TracedMessage = Readonly<{
  messageId: string
  source: string
  outcome: string
  /** Empty if nothing failed. */
  code: string
  /** Milliseconds since the epoch. */
  startedAt: number
  /** Milliseconds until the answer. */
  ms: number
  /** A message that was refused before the pipeline has none. */
  trace: Trace | undefined
  answer: Pick<Answer, 'status' | 'repeats'>
  incoming: Readonly<{ origin: Origin }> | undefined
  compiled:
    | Readonly<{
        document: Readonly<{ name: string }>
        endpoint: Readonly<{
          endpoint: Readonly<{ method: string; pattern?: string | undefined }>
          kafkaConsumerTopic?: string | undefined
          mllp?: Readonly<{ port: number }> | undefined
        }>
      }>
    | undefined
}>

type SpanOrigin = Readonly<{ resource: Resource; scope: InstrumentationScope }>

/** The spans of a message, its own first; none if it is not sampled or did not reach the pipeline. */
export function createSpans(message: TracedMessage, origin: SpanOrigin): readonly ReadableSpan[] {
  const { trace, startedAt } = message
  if (trace?.context?.sampled !== true) return []
  const { context } = trace
  const traced = { origin, context, hrTime: (ms: number) => toHrTime(startedAt + ms - trace.startMs) }
  const stages = trace.stages.map((stage) => stageSpan(stage, traced))
  const calls = trace.calls.map((call) => callSpan(call, parentSpanId(call, trace, stages), traced))
  return [messageSpan(message, trace, traced), ...stages, ...calls]
}

type Traced = Readonly<{
  origin: SpanOrigin
  context: TraceContext
  /** In: milliseconds on the clock of the trace. */
  hrTime(ms: number): HrTime
}>

function messageSpan(message: TracedMessage, { startMs }: Trace, traced: Traced): ReadableSpan {
  const { compiled, source, outcome, code, answer, messageId, ms, incoming } = message
  const { name = '' } = compiled?.document ?? {}
  const door = DOOR_SPANS[incoming?.origin.door ?? 'http'](message)
  const { spanId, parentId } = traced.context
  return {
    ...spanIn(traced, spanId, parentId, startMs, startMs + ms),
    name: door.name,
    kind: door.kind,
    status: toSpanStatus(outcome === 'failed'),
    attributes: defined({
      'crosswalk.message.id': messageId,
      'crosswalk.endpoint': name,
      'crosswalk.source': source,
      'crosswalk.outcome': outcome,
      'crosswalk.code': code === '' ? undefined : code,
      'crosswalk.answer_of': answer.repeats,
      ...door.attributes,
      'error.type': outcome === 'failed' ? code : undefined,
    }),
  }
}

type DoorSpan = Readonly<{ name: string; kind: SpanKind; attributes: Readonly<Record<string, string | number>> }>

/** What the span of a message says of the door that it came through. */
const DOOR_SPANS: Readonly<Record<Door, (message: TracedMessage) => DoorSpan>> = {
  http: ({ compiled, answer }) => {
    const { method = '', pattern = '' } = compiled?.endpoint.endpoint ?? {}
    return {
      name: `${method} ${pattern}`,
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'http.route': pattern, 'http.response.status_code': answer.status },
    }
  },
  kafka: ({ compiled }) => {
    const topic = compiled?.endpoint.kafkaConsumerTopic ?? ''
    return {
      name: `process ${topic}`,
      kind: SpanKind.CONSUMER,
      attributes: {
        'messaging.system': 'kafka',
        'messaging.destination.name': topic,
        'messaging.operation.type': 'process',
      },
    }
  },
  mllp: ({ compiled }) => {
    const { port = 0 } = compiled?.endpoint.mllp ?? {}
    return {
      name: `MLLP ${port}`,
      kind: SpanKind.SERVER,
      attributes: { 'network.protocol.name': 'mllp', 'server.port': port },
    }
  },
  schedule: ({ compiled }) => ({
    name: `run ${compiled?.document.name ?? ''}`,
    kind: SpanKind.INTERNAL,
    attributes: {},
  }),
}

function stageSpan({ stage, startMs, endMs }: StageSpan, traced: Traced): ReadableSpan {
  return {
    ...spanIn(traced, newSpanId(), traced.context.spanId, startMs, endMs),
    name: stage,
    kind: SpanKind.INTERNAL,
    status: toSpanStatus(false),
    attributes: {},
  }
}

/** The span of the stage that made the call. */
function parentSpanId({ kind }: CallSpan, { stages, context }: Trace, spans: readonly ReadableSpan[]): string {
  const index = stages.findIndex(({ stage }) => stage === (kind === 'lookup' ? 'lookup' : 'respond'))
  return spans[index]?.spanContext().spanId ?? context?.spanId ?? ''
}

const SPAN_KINDS = { client: SpanKind.CLIENT, producer: SpanKind.PRODUCER } as const

function callSpan(call: CallSpan, parentId: string, traced: Traced): ReadableSpan {
  const { kind, id, item, target, startMs, endMs, answer, cached, stale, fault, spanId = newSpanId() } = call
  const { target: row, address } = readTarget(target)
  const named = row.describeSpan(call, address)
  const status = answer?.status
  const failed = fault ?? (status !== undefined && status >= 400 ? String(status) : undefined)
  return {
    ...spanIn(traced, spanId, parentId, startMs, Number.isNaN(endMs) ? startMs : endMs),
    name: named.name,
    kind: SPAN_KINDS[named.kind],
    status: toSpanStatus(failed !== undefined),
    attributes: defined({
      'crosswalk.request': id,
      'crosswalk.request.kind': kind,
      'crosswalk.request.item': item,
      'crosswalk.request.cached': cached || undefined,
      'crosswalk.request.stale': stale,
      ...named.attributes,
      'error.type': failed,
    }),
  }
}

/** The fields that all spans share. Times are in milliseconds on the clock of the trace. */
function spanIn(
  { origin, context, hrTime }: Traced,
  spanId: string,
  parentId: string | undefined,
  startMs: number,
  endMs: number,
) {
  const [startTime, endTime] = [hrTime(startMs), hrTime(endMs)]
  const { traceId, state } = context
  const own: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED }
  // Only the message's span continues the trace of another system.
  if (spanId === context.spanId && state !== undefined) own.traceState = createTraceState(state)
  return {
    spanContext: () => own,
    ...(parentId === undefined
      ? {}
      : { parentSpanContext: { traceId, spanId: parentId, traceFlags: TraceFlags.SAMPLED } }),
    startTime,
    endTime,
    duration: toHrTime(endMs - startMs),
    ended: true,
    links: [],
    events: [],
    resource: origin.resource,
    instrumentationScope: origin.scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

/** Seconds and nanoseconds, exact to a microsecond. */
function toHrTime(ms: number): HrTime {
  const micros = Math.round(ms * 1_000)
  return [Math.floor(micros / 1e6), (micros % 1e6) * 1_000]
}

const toSpanStatus = (failed: boolean) => ({ code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET })

const defined = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
