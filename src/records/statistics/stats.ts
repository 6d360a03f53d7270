/**
 * Statistics of the messages of an endpoint. They are counted in memory, written every few seconds, and read from the store,
 * so that they include other instances and the time before a restart.
 */
import type { JsonObject } from '../../core/json.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import { createPause } from '../../core/slice.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { type Buckets, type MinuteCount, SLOT_MINUTES, type StatsStore } from '../../store/sql/stats-store.ts'
import { callStore } from '../../store/store-access.ts'

type Stats = Readonly<{
  /** On the path of every message; never throws. */
  count: Minutes['count']
  /** The last hour, the last day, and each minute of that day with completed messages. Fails with STORE_UNAVAILABLE. */
  report(endpointId: string): Promise<JsonObject>
  /** The same of all endpoints together, and the present rate. Fails with STORE_UNAVAILABLE. */
  reportAll(): Promise<JsonObject>
  /**
   * The messages and failures of the last hour for each of several endpoints, and messages a minute in the last minutes.
   * Fails with STORE_UNAVAILABLE.
   */
  summaries(endpointIds: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>
  /**
   * The same, and of the endpoints with messages in the last hour its `p95` and the messages and failures of each slot.
   * Fails with STORE_UNAVAILABLE.
   */
  hours(endpointIds: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>
  /** Writes the counts, so that other processes can read them. Fails with STORE_UNAVAILABLE. */
  write(): Promise<void>
  /** Writes the counts and stops. */
  close(): Promise<void>
}>

type StatsOptions = Readonly<{
  store: StatsStore
  /** Identifies the counts of this process among those of all processes, also of earlier ones on this machine. */
  instance: string
  clock: Clock
  logger: Logger
}>

/** The name of the store in failures. */
const ENDPOINTS = 'The store of endpoints'
/** SQLite answers a read at once, and messages wait for it: a page of 200 busy endpoints is read in parts, with messages in between. */
const ENDPOINTS_A_READ = 20
const WRITE_EVERY_MS = 10_000
const HOUR = 60
/** The minutes that the present rate is the mean of: the current one, which is not over, is left out. */
const RATE_MINUTES = 5
const DAY = 24 * HOUR
/** An hour longer than reports need, since the clocks of instances differ. */
const KEPT = 25 * HOUR

export function createStats({ store, instance, clock, logger }: StatsOptions): Stats {
  const minutes = createMinutes()
  const minuteNow = () => Math.floor(clock() / MINUTE_MS)
  let writing: Promise<void> = Promise.resolve()
  let purgedAt = 0
  let isReported = false

  const write = async (): Promise<void> => {
    const counts = minutes.take(minuteNow())
    try {
      if (counts.length > 0) await store.write(instance, counts)
      const minute = minuteNow()
      if (minute > purgedAt) await store.purge(minute - KEPT)
      purgedAt = minute
      isReported = false
    } catch (thrown) {
      minutes.putBack(counts)
      throw thrown
    }
  }
  /** Writes one after the other, so that no older count replaces a newer one. */
  const writeInSequence = (): Promise<void> => {
    const next = writing.then(write)
    writing = next.catch(() => undefined)
    return next
  }
  const warn = (err: unknown) => {
    if (!isReported) logger.warn({ err }, 'Statistics could not be stored; trying again')
    isReported = true
  }
  const timer = setInterval(() => void writeInSequence().catch(warn), WRITE_EVERY_MS)
  timer.unref()

  const readDay = (endpointId: string, minute: number) =>
    callStore(ENDPOINTS, async () => {
      await writeInSequence()
      return store.read(endpointId, minute - DAY + 1)
    })

  const summaries = async (endpointIds: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> => {
    const minute = minuteNow()
    const recent = { from: minute - RATE_MINUTES, to: minute - 1 }
    const totals = await callStore(ENDPOINTS, async () => {
      await writeInSequence()
      return store.totals(endpointIds, minute - HOUR + 1, recent)
    })
    const byEndpoint = new Map(totals.map((one) => [one.endpointId, one]))
    return new Map(
      endpointIds.map((id) => {
        const { count = 0, failures = 0, recent: messages = 0 } = byEndpoint.get(id) ?? {}
        return [id, { count, failures, perMinute: messages / RATE_MINUTES }]
      }),
    )
  }

  return {
    count: minutes.count,
    write: () => callStore(ENDPOINTS, writeInSequence),
    report: async (endpointId) => {
      const minute = minuteNow()
      return { endpointId, ...summarizePeriods(await readDay(endpointId, minute), minute) }
    },
    reportAll: async () => {
      const minute = minuteNow()
      const counts = await readDay(ALL_ENDPOINTS, minute)
      const recent = counts.filter((count) => count.minute >= minute - RATE_MINUTES && count.minute < minute)
      const messages = recent.reduce((sum, { count }) => sum + count, 0)
      return { perMinute: messages / RATE_MINUTES, ...summarizePeriods(counts, minute) }
    },
    summaries,
    hours: async (endpointIds) => {
      const totals = await summaries(endpointIds)
      const active = endpointIds.filter((id) => Number(totals.get(id)?.count ?? 0) > 0)
      if (active.length === 0) return totals
      const slot = Math.floor(minuteNow() / SLOT_MINUTES)
      const firstSlot = slot - HOUR / SLOT_MINUTES + 1
      const counts: MinuteCount[] = []
      const pause = createPause()
      for (let at = 0; at < active.length; at += ENDPOINTS_A_READ) {
        const some = active.slice(at, at + ENDPOINTS_A_READ)
        counts.push(...(await callStore(ENDPOINTS, () => store.slots(some, firstSlot * SLOT_MINUTES))))
        await pause()
      }
      const byEndpoint = Map.groupBy(counts, ({ endpointId }) => endpointId)
      return new Map(
        [...totals].map(([id, total]) => [id, { ...total, ...describeHour(byEndpoint.get(id), firstSlot) }]),
      )
    },
    close: async () => {
      clearInterval(timer)
      await writeInSequence().catch(warn)
    },
  }
}

/** In: the counts of a day, and the minute that it ends with. */
function summarizePeriods(counts: readonly MinuteCount[], minute: number): JsonObject {
  const byMinute = Map.groupBy(counts, (count) => count.minute)
  return {
    hour: summarize(counts.filter((count) => count.minute > minute - HOUR)),
    day: summarize(counts),
    minutes: [...byMinute]
      .sort(([one], [other]) => one - other)
      .map(([at, some]) => ({ at: new Date(at * MINUTE_MS).toISOString(), ...summarize(some) })),
  }
}

function describeHour(counts: readonly MinuteCount[] | undefined, firstSlot: number): JsonObject {
  if (counts === undefined) return {}
  const numbers = {
    counts: new Array<number>(HOUR / SLOT_MINUTES).fill(0),
    failed: new Array<number>(HOUR / SLOT_MINUTES).fill(0),
  }
  for (const { minute, count, failures } of counts) {
    const at = minute / SLOT_MINUTES - firstSlot
    // The clock of another instance may be ahead.
    if (at >= numbers.counts.length) continue
    numbers.counts[at] = count
    numbers.failed[at] = failures
  }
  return { p95: percentile(addBuckets(counts.map(({ buckets }) => buckets)), 0.95), ...numbers }
}

function summarize(counts: readonly MinuteCount[]) {
  const buckets = addBuckets(counts.map((one) => one.buckets))
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    failures: counts.reduce((sum, one) => sum + one.failures, 0),
    p50: percentile(buckets, 0.5),
    p95: percentile(buckets, 0.95),
    p99: percentile(buckets, 0.99),
  }
}

// Counts messages in memory: the current minute as plain numbers, which is cheap for each message, and unsaved minutes.

const MINUTE_MS = 60_000

/** While the store is unavailable, so many counts wait in memory, one for each minute and endpoint; the newest stay. */
const MAX_UNSAVED = 50_000

interface Minutes {
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
    if (unsaved.size > MAX_UNSAVED) for (const oldest of unsaved.keys()) return void unsaved.delete(oldest)
  }
  const startMinute = (endpointId: string, minute: number): Current => {
    const started = { minute, count: 0, failures: 0, buckets: new Uint32Array(BUCKETS), changed: false }
    current.set(endpointId, started)
    return started
  }

  const findCurrent = (endpointId: string, minute: number): Current => {
    const now = current.get(endpointId)
    // Not for a lower minute: a clock that is set back must not start a minute twice.
    if (now !== undefined && minute <= now.minute) return now
    if (now?.changed) keep(toMinuteCount(endpointId, now))
    return startMinute(endpointId, minute)
  }

  return {
    count: ({ compiled, outcome, startedAt, ms, trace }) => {
      if (compiled === undefined) return
      const minute = Math.floor((startedAt + ms) / MINUTE_MS)
      const bucket = trace === undefined ? undefined : bucketFor(ms)
      addTo(findCurrent(compiled.document._id, minute), outcome !== 'done', bucket)
      addTo(findCurrent(ALL_ENDPOINTS, minute), outcome !== 'done', bucket)
    },
    take: (minute) => {
      for (const [endpointId, now] of current) {
        if (now.changed) keep(toMinuteCount(endpointId, now))
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

function toMinuteCount(endpointId: string, { minute, count, failures, buckets }: Current): MinuteCount {
  const filled = new Map<number, number>()
  for (const [bucket, messages] of buckets.entries()) if (messages > 0) filled.set(bucket, messages)
  return { endpointId, minute, count, failures, buckets: filled }
}

// Durations in buckets that grow with the duration: percentiles are within 10 %, and a minute takes a few hundred bytes.

/** With four buckets for each doubling, the middle of a bucket is at most 2^(1/8) - 1 = 9.1 % away from its bounds. */
const BUCKETS_A_DOUBLING = 4
const MIN_MS = 0.01
/** The last bucket starts at about 11 minutes. */
const BUCKETS = 105

export function bucketFor(ms: number): number {
  if (ms <= MIN_MS) return 0
  return Math.min(Math.floor(Math.log2(ms / MIN_MS) * BUCKETS_A_DOUBLING), BUCKETS - 1)
}

const bucketMiddle = (bucket: number): number => MIN_MS * 2 ** ((bucket + 0.5) / BUCKETS_A_DOUBLING)

/** The duration in milliseconds, to three digits, that this share of the messages did not exceed; null without messages. */
export function percentile(buckets: Buckets, share: number): number | null {
  const inOrder = [...buckets].sort(([one], [other]) => one - other)
  const all = inOrder.reduce((sum, [, count]) => sum + count, 0)
  const rank = Math.max(Math.ceil(all * share), 1)
  let seen = 0
  for (const [bucket, count] of inOrder) {
    seen += count
    if (seen >= rank) return Number(bucketMiddle(bucket).toPrecision(3))
  }
  return null
}

function addBuckets(many: readonly Buckets[]): Buckets {
  const sum = new Map<number, number>()
  for (const buckets of many) for (const [bucket, count] of buckets) sum.set(bucket, (sum.get(bucket) ?? 0) + count)
  return sum
}
