/** Counts by minute as the service gives them, which leaves out minutes without messages, as values for every minute. */
import type { CountedMinute } from '../../api/records/record-types.ts'

export type MinuteSeries = Readonly<{
  /** When each minute started, in ms since the epoch. */
  times: readonly number[]
  count: readonly number[]
  failures: readonly number[]
  /** Milliseconds; null in a minute without durations. */
  p50: readonly (number | null)[]
  p95: readonly (number | null)[]
  p99: readonly (number | null)[]
}>

const MINUTE_MS = 60_000

/** The filter of the messages that `failures` counts. */
export const COUNTED_AS_FAILED = { outcome: ['partial', 'refused', 'failed'] } as const

/** In: counts in any order, when they were read, and the length of the period in minutes. Out: the period up to then. */
export function minuteSeries(minutes: readonly CountedMinute[], readAt: number, length: number): MinuteSeries {
  const last = Math.floor(readAt / MINUTE_MS)
  const known = new Map(minutes.map((minute) => [Math.floor(Date.parse(minute.at) / MINUTE_MS), minute]))
  const all = Array.from({ length }, (_, index) => last - length + 1 + index)
  const percentilesFor = (name: 'p50' | 'p95' | 'p99') => all.map((minute) => known.get(minute)?.[name] ?? null)
  return {
    times: all.map((minute) => minute * MINUTE_MS),
    count: all.map((minute) => known.get(minute)?.count ?? 0),
    failures: all.map((minute) => known.get(minute)?.failures ?? 0),
    p50: percentilesFor('p50'),
    p95: percentilesFor('p95'),
    p99: percentilesFor('p99'),
  }
}
