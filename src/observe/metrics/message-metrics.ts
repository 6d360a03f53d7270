/** Counts of messages since the process started, as plain numbers (docs/decisions/speed.md). */
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { OutcomeName } from '../../pipeline/outcome.ts'
import {
  type CallCount,
  callsOf,
  countOutcome,
  countTrace,
  createEndpointMetrics,
  type DurationEntry,
  dropRequests,
  durationsOf,
  type EndpointMetrics,
} from './endpoint-metrics.ts'

/** `endpoint` is a name, empty if no endpoint matched; `code` is empty if nothing failed. */
export type MessageCount = Readonly<{ endpoint: string; outcome: OutcomeName; code: string; count: number }>

/** The counts of one process, whose name is unique. */
export type ProcessCounts = Readonly<{ process: string; counts: readonly MessageCount[] }>

export type Counted = Pick<CompletedMessage, 'compiled' | 'outcome' | 'code'> &
  Partial<Pick<CompletedMessage, 'trace' | 'ms'>>

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

/** Counts at most `mostEndpoints` one by one, which bounds memory and the size of a scrape. */
export function createMessageMetrics(mostEndpoints = 1_000): MessageMetrics {
  const byName = new Map<string, EndpointMetrics>()

  const addEndpoint = (compiled: CompiledEndpoint | undefined): EndpointMetrics => {
    const isOwn = compiled === undefined || byName.size < mostEndpoints
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
      for (const [endpoint, metrics] of byName) for (const entry of durationsOf(metrics)) yield { endpoint, ...entry }
    },
    *calls() {
      for (const [endpoint, metrics] of byName) for (const entry of callsOf(metrics)) yield { endpoint, ...entry }
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
