/**
 * A message as spans of OpenTelemetry, made after the fact: one for the message, one a stage, one an outbound call. In
 * the JSON form of OTLP 1 (opentelemetry/proto/trace/v1/trace.proto), with the names of its semantic conventions.
 *
 * Spans leave the house: they hold what a person wrote into the document, statuses and times, and nothing of a message:
 * no body, no header, no path or query of a URL.
 */
import type { CallSpan, StageSpan, Trace } from '../../domain/trace.ts'
import { newSpanId, type TraceContext } from '../../domain/trace-context.ts'
import type { Finished } from '../../registry/finished.ts'

type Value = Readonly<{ stringValue: string } | { intValue: number }>
export type Attribute = Readonly<{ key: string; value: Value }>

export type Span = Readonly<{
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: readonly Attribute[]
  status: Readonly<{ code?: number }>
}>

const KIND = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
const ERROR = { code: 2 } as const

/** None where the message is not sampled, or did not come as far as the pipeline. */
export function spansOf(finished: Finished): readonly Span[] {
  const { trace, startedAt } = finished
  if (trace?.context?.sampled !== true) return []
  const { context } = trace
  const nanos = (ms: number): string => {
    const micros = Math.round((startedAt + ms - trace.startMs) * 1_000)
    return `${micros}000`
  }
  const stages = trace.stages.map((stage) => stageSpan(stage, context, nanos))
  const calls = trace.calls.map((call) => callSpan(call, context, parentOf(call, trace, stages), nanos))
  return [messageSpan(finished, context, trace, nanos), ...stages, ...calls]
}

type Nanos = (ms: number) => string

function messageSpan(finished: Finished, context: TraceContext, { startMs }: Trace, nanos: Nanos): Span {
  const { compiled, source, outcome, code, answer, messageId, ms, incoming } = finished
  const { name = '' } = compiled?.document ?? {}
  const { method = '', pattern = '' } = compiled?.endpoint.endpoint ?? {}
  const topic = compiled?.endpoint.kafkaConsumerTopic ?? ''
  const isRecord = incoming?.isRecord === true
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(context.parentId === undefined ? {} : { parentSpanId: context.parentId }),
    ...(context.state === undefined ? {} : { traceState: context.state }),
    name: isRecord ? `process ${topic}` : `${method} ${pattern}`,
    kind: isRecord ? KIND.consumer : KIND.server,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(startMs + ms),
    attributes: attributes({
      'crosswalk.message.id': messageId,
      'crosswalk.endpoint': name,
      'crosswalk.source': source,
      'crosswalk.outcome': outcome,
      'crosswalk.code': code === '' ? undefined : code,
      'crosswalk.answer_of': answer.repeats,
      ...(isRecord
        ? { 'messaging.system': 'kafka', 'messaging.destination.name': topic, 'messaging.operation.type': 'process' }
        : { 'http.request.method': method, 'http.route': pattern, 'http.response.status_code': answer.status }),
      'error.type': outcome === 'failed' ? code : undefined,
    }),
    status: outcome === 'failed' ? ERROR : {},
  }
}

function stageSpan({ stage, startMs, endMs }: StageSpan, { traceId, spanId }: TraceContext, nanos: Nanos): Span {
  return {
    traceId,
    spanId: newSpanId(),
    parentSpanId: spanId,
    name: stage,
    kind: KIND.internal,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: [],
    status: {},
  }
}

/** The span of the stage that made the call. */
function parentOf({ kind }: CallSpan, { stages, context }: Trace, spans: readonly Span[]): string {
  const index = stages.findIndex(({ stage }) => stage === (kind === 'lookup' ? 'lookup' : 'respond'))
  return spans[index]?.spanId ?? context?.spanId ?? ''
}

function callSpan(call: CallSpan, { traceId }: TraceContext, parentSpanId: string, nanos: Nanos): Span {
  const { kind, id, item, method, target, startMs, endMs, answer, fault, spanId = newSpanId() } = call
  const topic = target.startsWith('kafka:') ? target.slice('kafka:'.length) : undefined
  const status = answer?.status
  const failed = fault ?? (status !== undefined && status >= 400 ? String(status) : undefined)
  return {
    traceId,
    spanId,
    parentSpanId,
    name: topic === undefined ? `${method} ${id}` : `send ${topic}`,
    kind: topic === undefined ? KIND.client : KIND.producer,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(Number.isNaN(endMs) ? startMs : endMs),
    attributes: attributes({
      'crosswalk.request': id,
      'crosswalk.request.kind': kind,
      'crosswalk.request.item': item,
      ...(topic === undefined
        ? { 'http.request.method': method, ...serverOf(target), 'http.response.status_code': status }
        : { 'messaging.system': 'kafka', 'messaging.destination.name': topic, 'messaging.operation.type': 'send' }),
      'error.type': failed,
    }),
    status: failed === undefined ? {} : ERROR,
  }
}

function serverOf(target: string): Readonly<Record<string, string | number>> {
  const url = URL.parse(target)
  if (url === null) return {}
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { 'server.address': url.hostname, 'server.port': port }
}

export function attributes(values: Readonly<Record<string, string | number | undefined>>): Attribute[] {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return []
    return [{ key, value: typeof value === 'number' ? { intValue: value } : { stringValue: value } }]
  })
}
