/** Counts messages in memory: the current minute as plain numbers, which is cheap for each message, and unsaved minutes. */

import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { MinuteCount } from '../../store/sql/stats-store.ts'
import { BUCKETS, bucketOf } from './histogram.ts'

export const MINUTE_MS = 60_000

/** While the store is unavailable, so many counts wait in memory, one for each minute and endpoint; the newest stay. */
const MOST_UNSAVED = 50_000

export interface Minutes {
  /** On the path of every message. */
  count(completed: Pick<CompletedMessage, 'compiled' | 'outcome' | 'startedAt' | 'ms' | 'trace'>): void
  /** The minutes that changed since the last call, each as a whole: the store replaces the earlier count. */
  take(minute: number): readonly MinuteCount[]
  /** Returns counts that could not be stored; the next `take` has them again. */
  putBack(counts: readonly MinuteCount[]): void
}

/** Counts of all endpoints together have no id. Stored by themselves, since the rows of a day are too many to add up. */
export const ALL_ENDPOINTS = ''

/** In minutes. An idle endpoint is removed only after that, so that a clock set back does not start its minute again. */
const OVER_AFTER = 5

type Current = {
  minute: number
  count: number
  failures: number
  readonly buckets: Uint32Array
  changed: boolean
}

export function createMinutes(): Minutes {
  const current = new Map<string, Current>()
  const unsaved = new Map<string, MinuteCount>()

  const keep = (count: MinuteCount) => {
    unsaved.set(`${count.minute} ${count.endpointId}`, count)
    if (unsaved.size > MOST_UNSAVED) for (const oldest of unsaved.keys()) return void unsaved.delete(oldest)
  }
  const startMinute = (endpointId: string, minute: number): Current => {
    const started = { minute, count: 0, failures: 0, buckets: new Uint32Array(BUCKETS), changed: false }
    current.set(endpointId, started)
    return started
  }

  const currentOf = (endpointId: string, minute: number): Current => {
    const now = current.get(endpointId)
    // Not for a lower minute: a clock that is set back must not start a minute twice.
    if (now !== undefined && minute <= now.minute) return now
    if (now?.changed) keep(countOf(endpointId, now))
    return startMinute(endpointId, minute)
  }

  return {
    count: ({ compiled, outcome, startedAt, ms, trace }) => {
      if (compiled === undefined) return
      const minute = Math.floor((startedAt + ms) / MINUTE_MS)
      const bucket = trace === undefined ? undefined : bucketOf(ms)
      addTo(currentOf(compiled.document._id, minute), outcome !== 'done', bucket)
      addTo(currentOf(ALL_ENDPOINTS, minute), outcome !== 'done', bucket)
    },
    take: (minute) => {
      for (const [endpointId, now] of current) {
        if (now.changed) keep(countOf(endpointId, now))
        else if (now.minute + OVER_AFTER <= minute) current.delete(endpointId)
        now.changed = false
      }
      const taken = [...unsaved.values()]
      unsaved.clear()
      return taken
    },
    putBack: (counts) => {
      const newer = [...unsaved.values()]
      for (const count of [...counts, ...newer]) keep(count)
    },
  }
}

function addTo(now: Current, isFailure: boolean, bucket: number | undefined): void {
  now.count += 1
  if (isFailure) now.failures += 1
  if (bucket !== undefined) (now.buckets[bucket] as number) += 1
  now.changed = true
}

function countOf(endpointId: string, { minute, count, failures, buckets }: Current): MinuteCount {
  const filled = new Map<number, number>()
  for (const [bucket, messages] of buckets.entries()) if (messages > 0) filled.set(bucket, messages)
  return { endpointId, minute, count, failures, buckets: filled }
}
