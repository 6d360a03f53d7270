/** The counts of one endpoint. */

import { STAGE_NAMES, type StageName } from '../../core/tracing/stages.ts'
import type { CallSpan, Trace } from '../../core/tracing/trace.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { OutcomeName } from '../../pipeline/outcome.ts'
import { addDuration, createDurations, type Histogram, readDurations } from './duration-histogram.ts'

/** Row 0 of the durations is that of the whole message. */
const ROW_OF_STAGE = Object.fromEntries(STAGE_NAMES.map((stage, index) => [stage, index + 1])) as Readonly<
  Record<StageName, number>
>

export type CallCount = Readonly<{
  kind: CallSpan['kind']
  /** Id of the request in the document. */
  request: string
  /** Status of the answer; empty without an answer. */
  status: string
  /** Why there is no answer; empty if there is one. */
  fault: string
  count: number
}>

export type DurationEntry = Histogram & Readonly<{ stage: StageName | 'message' }>

export type EndpointMetrics = {
  /** The endpoint when it was last counted; undefined if several endpoints share the counts or none matched. */
  compiled: CompiledEndpoint | undefined
  done: number
  readonly rest: Map<string, { outcome: OutcomeName; code: string; count: number }>
  readonly durations: Float64Array
  readonly calls: Readonly<Record<CallSpan['kind'], Map<string, Map<string | number, number>>>>
}

export const createEndpointMetrics = (compiled: CompiledEndpoint | undefined): EndpointMetrics => ({
  compiled,
  done: 0,
  rest: new Map(),
  durations: createDurations(1 + STAGE_NAMES.length),
  calls: { lookup: new Map(), response: new Map() },
})

export function countOutcome(metrics: EndpointMetrics, outcome: OutcomeName, code: string): void {
  if (outcome === 'done') {
    metrics.done += 1
    return
  }
  const key = `${outcome} ${code}`
  const entry = metrics.rest.get(key)
  if (entry === undefined) metrics.rest.set(key, { outcome, code, count: 1 })
  else entry.count += 1
}

export function countTrace(
  { compiled, durations, calls }: EndpointMetrics,
  { stages, calls: made }: Trace,
  ms: number,
): void {
  addDuration(durations, 0, ms)
  for (const { stage, startMs, endMs } of stages) addDuration(durations, ROW_OF_STAGE[stage], endMs - startMs)
  // The requests of many endpoints that share counts would have no bound.
  if (compiled !== undefined) for (const call of made) countCall(calls[call.kind], call)
}

function countCall(byRequest: Map<string, Map<string | number, number>>, { id, answer, fault }: CallSpan): void {
  let counts = byRequest.get(id)
  if (counts === undefined) {
    counts = new Map()
    byRequest.set(id, counts)
  }
  const how = answer === undefined ? (fault ?? 'internal') : statusLabel(answer.status)
  counts.set(how, (counts.get(how) ?? 0) + 1)
}

/** A target may answer with any three digits; those without a meaning share one label. */
const statusLabel = (status: number): number | 'other' => (status >= 100 && status <= 599 ? status : 'other')

/** Removes requests that the endpoint no longer has. */
export function dropRequests({ calls }: EndpointMetrics, { endpoint: { requests } }: CompiledEndpoint): void {
  for (const kind of ['lookup', 'response'] as const) {
    const ids = new Set(requests[kind].map(({ id }) => id))
    for (const id of calls[kind].keys()) if (!ids.has(id)) calls[kind].delete(id)
  }
}

export function* durationsOf({ durations }: EndpointMetrics): Generator<DurationEntry> {
  const rows = [['message', 0], ...Object.entries(ROW_OF_STAGE)] as readonly [DurationEntry['stage'], number][]
  for (const [stage, row] of rows) {
    const histogram = readDurations(durations, row)
    if (histogram !== undefined) yield { stage, ...histogram }
  }
}

export function* callsOf({ calls }: EndpointMetrics): Generator<CallCount> {
  for (const kind of ['lookup', 'response'] as const) {
    for (const [request, counts] of calls[kind]) {
      for (const [how, count] of counts) {
        const answered = typeof how === 'number' || how === 'other'
        yield { kind, request, status: answered ? `${how}` : '', fault: answered ? '' : how, count }
      }
    }
  }
}
