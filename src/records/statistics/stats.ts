/**
 * Statistics of the messages of an endpoint. They are counted in memory, written every few seconds, and read from the store,
 * so that they include other instances and the time before a restart.
 */
import type { JsonObject } from '../../core/json.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import type { MinuteCount, StatsStore } from '../../store/sql/stats-store.ts'
import { callStore } from '../../store/store-access.ts'
import { addBuckets, percentile } from './histogram.ts'
import { ALL_ENDPOINTS, createMinutes, MINUTE_MS, type Minutes } from './minutes.ts'

export type Stats = Readonly<{
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
  /** Writes the counts, so that other processes can read them. Fails with STORE_UNAVAILABLE. */
  write(): Promise<void>
  /** Writes the counts and stops. */
  close(): Promise<void>
}>

export type StatsOptions = Readonly<{
  store: StatsStore
  /** Identifies the counts of this process among those of all processes, also of earlier ones on this machine. */
  instance: string
  clock: Clock
  logger: Logger
}>

/** The name of the store in failures. */
const ENDPOINTS = 'The store of endpoints'
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
  const writeInTurn = (): Promise<void> => {
    const next = writing.then(write)
    writing = next.catch(() => undefined)
    return next
  }
  const warn = (err: unknown) => {
    if (!isReported) logger.warn({ err }, 'Statistics could not be stored; trying again')
    isReported = true
  }
  const timer = setInterval(() => void writeInTurn().catch(warn), WRITE_EVERY_MS)
  timer.unref()

  const dayOf = (endpointId: string, minute: number) =>
    callStore(ENDPOINTS, async () => {
      await writeInTurn()
      return store.read(endpointId, minute - DAY + 1)
    })

  return {
    count: minutes.count,
    write: () => callStore(ENDPOINTS, writeInTurn),
    report: async (endpointId) => {
      const minute = minuteNow()
      return { endpointId, ...periodsOf(await dayOf(endpointId, minute), minute) }
    },
    reportAll: async () => {
      const minute = minuteNow()
      const counts = await dayOf(ALL_ENDPOINTS, minute)
      const recent = counts.filter((count) => count.minute >= minute - RATE_MINUTES && count.minute < minute)
      const messages = recent.reduce((sum, { count }) => sum + count, 0)
      return { perMinute: messages / RATE_MINUTES, ...periodsOf(counts, minute) }
    },
    summaries: async (endpointIds) => {
      const minute = minuteNow()
      const recent = { from: minute - RATE_MINUTES, to: minute - 1 }
      const totals = await callStore(ENDPOINTS, async () => {
        await writeInTurn()
        return store.totals(endpointIds, minute - HOUR + 1, recent)
      })
      const byEndpoint = new Map(totals.map((one) => [one.endpointId, one]))
      return new Map(
        endpointIds.map((id) => {
          const { count = 0, failures = 0, recent: messages = 0 } = byEndpoint.get(id) ?? {}
          return [id, { count, failures, perMinute: messages / RATE_MINUTES }]
        }),
      )
    },
    close: async () => {
      clearInterval(timer)
      await writeInTurn().catch(warn)
    },
  }
}

/** In: the counts of a day, and the minute that it ends with. */
function periodsOf(counts: readonly MinuteCount[], minute: number): JsonObject {
  const byMinute = Map.groupBy(counts, (count) => count.minute)
  return {
    hour: summaryOf(counts.filter((count) => count.minute > minute - HOUR)),
    day: summaryOf(counts),
    minutes: [...byMinute]
      .sort(([one], [other]) => one - other)
      .map(([at, some]) => ({ at: new Date(at * MINUTE_MS).toISOString(), ...summaryOf(some) })),
  }
}

function summaryOf(counts: readonly MinuteCount[]) {
  const buckets = addBuckets(counts.map((one) => one.buckets))
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    failures: counts.reduce((sum, one) => sum + one.failures, 0),
    p50: percentile(buckets, 0.5),
    p95: percentile(buckets, 0.95),
    p99: percentile(buckets, 0.99),
  }
}
