/** Counts of messages since the process started, as plain numbers (docs/decisions/speed.md). */
import { STAGE_NAMES, type StageName } from '../../core/tracing/stages.ts'
import type { CallSpan, Trace } from '../../core/tracing/trace.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { OutcomeName } from '../../pipeline/outcome.ts'

/** `endpoint` is a name, empty if no endpoint matched; `code` is empty if nothing failed. */
export type MessageCount = Readonly<{ endpoint: string; outcome: OutcomeName; code: string; count: number }>

/** The counts of one process, whose name is unique. */
export type ProcessCounts = Readonly<{ process: string; counts: readonly MessageCount[] }>

type Counted = Pick<CompletedMessage, 'compiled' | 'outcome' | 'code'> & Partial<Pick<CompletedMessage, 'trace' | 'ms'>>

export interface MessageMetrics {
  count(completed: Counted): void
  entries(): readonly MessageCount[]
  durations(): Iterable<DurationEntry & Readonly<{ endpoint: string }>>
  calls(): Iterable<CallCount & Readonly<{ endpoint: string }>>
  /** Removes endpoints and requests that are no longer active; `get` returns the active endpoint by id. */
  keep(get: (id: string) => CompiledEndpoint | undefined): void
}

/** The name that all endpoints beyond the limit share. */
export const OTHERS = '(others)'

/** Counts at most `maxEndpoints` one by one, which bounds memory and the size of a scrape. */
export function createMessageMetrics(maxEndpoints = 1_000): MessageMetrics {
  const byName = new Map<string, EndpointMetrics>()

  const addEndpoint = (compiled: CompiledEndpoint | undefined): EndpointMetrics => {
    const isOwn = compiled === undefined || byName.size < maxEndpoints
    const name = isOwn ? (compiled?.document.name ?? '') : OTHERS
    const known = byName.get(name)
    if (known !== undefined) return known
    const metrics = createEndpointMetrics(isOwn ? compiled : undefined)
    byName.set(name, metrics)
    return metrics
  }
  return {
    count: ({ compiled, outcome, code, trace, ms }) => {
      const metrics = byName.get(compiled?.document.name ?? '') ?? addEndpoint(compiled)
      countOutcome(metrics, outcome, code)
      if (trace !== undefined) countTrace(metrics, trace, ms ?? 0)
    },
    entries: () =>
      [...byName].flatMap(([endpoint, { done, rest }]) => [
        ...(done === 0 ? [] : [{ endpoint, outcome: 'done' as const, code: '', count: done }]),
        ...[...rest.values()].map((entry) => ({ endpoint, ...entry })),
      ]),
    *durations() {
      for (const [endpoint, metrics] of byName) for (const entry of listDurations(metrics)) yield { endpoint, ...entry }
    },
    *calls() {
      for (const [endpoint, metrics] of byName) for (const entry of listCalls(metrics)) yield { endpoint, ...entry }
    },
    keep: (get) => {
      for (const [name, metrics] of byName) {
        if (metrics.compiled === undefined) continue
        const now = get(metrics.compiled.document._id)
        if (now?.document.name !== name) byName.delete(name)
        else if (now !== metrics.compiled) {
          dropRequests(metrics, now)
          metrics.compiled = now
        }
      }
    },
  }
}

/** Row 0 of the durations is that of the whole message. */
const ROW_OF_STAGE = Object.fromEntries(STAGE_NAMES.map((stage, index) => [stage, index + 1])) as Readonly<
  Record<StageName, number>
>

type CallCount = Readonly<{
  kind: CallSpan['kind']
  /** Id of the request in the document. */
  request: string
  /** Status of the answer; empty without an answer. */
  status: string
  /** Why there is no answer; empty if there is one. */
  fault: string
  count: number
}>

type DurationEntry = Histogram & Readonly<{ stage: StageName | 'message' }>

type EndpointMetrics = {
  /** The endpoint when it was last counted; undefined if several endpoints share the counts or none matched. */
  compiled: CompiledEndpoint | undefined
  done: number
  readonly rest: Map<string, { outcome: OutcomeName; code: string; count: number }>
  readonly durations: Float64Array
  readonly calls: Readonly<Record<CallSpan['kind'], Map<string, Map<string | number, number>>>>
}

const createEndpointMetrics = (compiled: CompiledEndpoint | undefined): EndpointMetrics => ({
  compiled,
  done: 0,
  rest: new Map(),
  durations: createDurations(1 + STAGE_NAMES.length),
  calls: { lookup: new Map(), response: new Map() },
})

function countOutcome(metrics: EndpointMetrics, outcome: OutcomeName, code: string): void {
  if (outcome === 'done') {
    metrics.done += 1
    return
  }
  const key = `${outcome} ${code}`
  const entry = metrics.rest.get(key)
  if (entry === undefined) metrics.rest.set(key, { outcome, code, count: 1 })
  else entry.count += 1
}

function countTrace({ compiled, durations, calls }: EndpointMetrics, { stages, calls: made }: Trace, ms: number): void {
  addDuration(durations, 0, ms)
  for (const { stage, startMs, endMs } of stages) addDuration(durations, ROW_OF_STAGE[stage], endMs - startMs)
  // The requests of many endpoints that share counts would have no bound.
  if (compiled !== undefined) {
    for (const call of made) if (!call.cached || call.stale !== undefined) countCall(calls[call.kind], call)
  }
}

function countCall(byRequest: Map<string, Map<string | number, number>>, { id, answer, stale, fault }: CallSpan): void {
  let counts = byRequest.get(id)
  if (counts === undefined) {
    counts = new Map()
    byRequest.set(id, counts)
  }
  const result = stale ?? answer?.status ?? fault ?? 'internal'
  const how = typeof result === 'number' ? statusLabel(result) : result
  counts.set(how, (counts.get(how) ?? 0) + 1)
}

/** A target may answer with any three digits; those without a meaning share one label. */
const statusLabel = (status: number): number | 'other' => (status >= 100 && status <= 599 ? status : 'other')

/** Removes requests that the endpoint no longer has. */
function dropRequests({ calls }: EndpointMetrics, { endpoint: { requests } }: CompiledEndpoint): void {
  for (const kind of ['lookup', 'response'] as const) {
    const ids = new Set(requests[kind].map(({ id }) => id))
    for (const id of calls[kind].keys()) if (!ids.has(id)) calls[kind].delete(id)
  }
}

function* listDurations({ durations }: EndpointMetrics): Generator<DurationEntry> {
  const rows = [['message', 0], ...Object.entries(ROW_OF_STAGE)] as readonly [DurationEntry['stage'], number][]
  for (const [stage, row] of rows) {
    const histogram = readDurations(durations, row)
    if (histogram !== undefined) yield { stage, ...histogram }
  }
}

function* listCalls({ calls }: EndpointMetrics): Generator<CallCount> {
  for (const kind of ['lookup', 'response'] as const) {
    for (const [request, counts] of calls[kind]) {
      for (const [how, count] of counts) {
        const answered = typeof how === 'number' || how === 'other'
        yield { kind, request, status: answered ? `${how}` : '', fault: answered ? '' : how, count }
      }
    }
  }
}

// Histograms of durations: rows of numbers in one typed array, so that adding a duration allocates nothing.

/** Upper bounds of the buckets, in milliseconds; a last bucket without a bound follows. */
export const BOUNDS_MS: readonly number[] = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
]

const BUCKETS = BOUNDS_MS.length + 1
const WIDTH = BUCKETS + 1

/** Each row has one number for each bucket, then the sum. */
const createDurations = (rows: number): Float64Array => new Float64Array(rows * WIDTH)

function addDuration(durations: Float64Array, row: number, ms: number): void {
  let bucket = 0
  while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] as number)) bucket += 1
  const start = row * WIDTH
  durations[start + bucket] = (durations[start + bucket] as number) + 1
  durations[start + BUCKETS] = (durations[start + BUCKETS] as number) + ms
}

export type Histogram = Readonly<{
  /** How many durations were at most each of BOUNDS_MS. */
  cumulative: readonly number[]
  count: number
  sumMs: number
}>

function readDurations(durations: Float64Array, row: number): Histogram | undefined {
  const start = row * WIDTH
  const cumulative: number[] = []
  let count = 0
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    count += durations[start + bucket] as number
    if (bucket < BOUNDS_MS.length) cumulative.push(count)
  }
  return count === 0 ? undefined : { cumulative, count, sumMs: durations[start + BUCKETS] as number }
}
