/** Counts of messages since the process started: plain numbers, so that counting costs a message next to nothing. */

import type { Compiled } from './compiled.ts'
import type { Finished, OutcomeName } from './finished.ts'
import {
  type CallCount,
  callsOf,
  countOutcome,
  countTrace,
  createMeter,
  type DurationEntry,
  dropRequests,
  durationsOf,
  type Meter,
} from './meter.ts'

/** `endpoint` is a name, empty where no endpoint was found; `code` is empty where nothing failed. */
export type TallyEntry = Readonly<{ endpoint: string; outcome: OutcomeName; code: string; count: number }>

export type Counted = Pick<Finished, 'compiled' | 'outcome' | 'code'> & Partial<Pick<Finished, 'trace' | 'ms'>>

export interface Tally {
  count(finished: Counted): void
  entries(): readonly TallyEntry[]
  durations(): Iterable<DurationEntry & Readonly<{ endpoint: string }>>
  calls(): Iterable<CallCount & Readonly<{ endpoint: string }>>
  /** Forgets endpoints and requests that are not in force any more; `get` finds what is, by id. */
  keep(get: (id: string) => Compiled | undefined): void
}

/** Stands for all endpoints that came when so many others were counted already. */
export const OTHERS = '(others)'

/** At most `mostEndpoints` are counted one by one, so that neither memory nor what reads the counts is drowned. */
export function createTally(mostEndpoints = 1_000): Tally {
  const meters = new Map<string, Meter>()

  const addMeter = (compiled: Compiled | undefined): Meter => {
    const isOwn = compiled === undefined || meters.size < mostEndpoints
    const name = isOwn ? (compiled?.document.name ?? '') : OTHERS
    const known = meters.get(name)
    if (known !== undefined) return known
    const meter = createMeter(isOwn ? compiled : undefined)
    meters.set(name, meter)
    return meter
  }
  return {
    count: ({ compiled, outcome, code, trace, ms }) => {
      const meter = meters.get(compiled?.document.name ?? '') ?? addMeter(compiled)
      countOutcome(meter, outcome, code)
      if (trace !== undefined) countTrace(meter, trace, ms ?? 0)
    },
    entries: () =>
      [...meters].flatMap(([endpoint, { done, rest }]) => [
        ...(done === 0 ? [] : [{ endpoint, outcome: 'done' as const, code: '', count: done }]),
        ...[...rest.values()].map((entry) => ({ endpoint, ...entry })),
      ]),
    *durations() {
      for (const [endpoint, meter] of meters) for (const entry of durationsOf(meter)) yield { endpoint, ...entry }
    },
    *calls() {
      for (const [endpoint, meter] of meters) for (const entry of callsOf(meter)) yield { endpoint, ...entry }
    },
    keep: (get) => {
      for (const [name, meter] of meters) {
        if (meter.compiled === undefined) continue
        const now = get(meter.compiled.document._id)
        if (now?.document.name !== name) meters.delete(name)
        else if (now !== meter.compiled) {
          dropRequests(meter, now)
          meter.compiled = now
        }
      }
    },
  }
}
