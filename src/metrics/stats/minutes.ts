/**
 * Counts messages in memory: the minute under way as plain numbers, so that a message pays next to nothing, and what
 * the store does not have yet.
 */
import type { MinuteCount } from '../../domain/ports/stats-store-port.ts'
import type { CompletedMessage } from '../../intake/completed-message.ts'
import { BUCKETS, bucketOf } from './histogram.ts'

export const MINUTE_MS = 60_000

/** Where the store is away for long: counts of so many minutes and endpoints wait for it, the newest. */
const MOST_UNSAVED = 50_000

export interface Minutes {
  /** On the path of every message. */
  count(finished: Pick<CompletedMessage, 'compiled' | 'outcome' | 'startedAt' | 'ms' | 'trace'>): void
  /** What has changed since it was taken last, up to that minute: all of each minute, as it takes the place of what was. */
  take(minute: number): readonly MinuteCount[]
  /** What was taken and could not be stored. */
  putBack(counts: readonly MinuteCount[]): void
}

/** In minutes. A clock that is set back must not open one again that was let go. */
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
  const begin = (endpointId: string, minute: number): Current => {
    const begun = { minute, count: 0, failures: 0, buckets: new Uint32Array(BUCKETS), changed: false }
    current.set(endpointId, begun)
    return begun
  }
  const change = (endpointId: string, before: Current, minute: number): Current => {
    if (before.changed) keep(countOf(endpointId, before))
    return begin(endpointId, minute)
  }

  return {
    count: ({ compiled, outcome, startedAt, ms, trace }) => {
      if (compiled === undefined) return
      const endpointId = compiled.document._id
      const minute = Math.floor((startedAt + ms) / MINUTE_MS)
      let now = current.get(endpointId)
      if (now === undefined) now = begin(endpointId, minute)
      // A clock that goes back must not open a minute twice.
      else if (minute > now.minute) now = change(endpointId, now, minute)
      now.count += 1
      if (outcome !== 'done') now.failures += 1
      if (trace !== undefined) (now.buckets[bucketOf(ms)] as number) += 1
      now.changed = true
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

function countOf(endpointId: string, { minute, count, failures, buckets }: Current): MinuteCount {
  const filled = new Map<number, number>()
  for (const [bucket, messages] of buckets.entries()) if (messages > 0) filled.set(bucket, messages)
  return { endpointId, minute, count, failures, buckets: filled }
}
