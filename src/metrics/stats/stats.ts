/**
 * How the messages of an endpoint went lately. Counted in memory, written behind every few seconds, and read from the
 * store, so that restarts and other instances are part of the picture.
 */
import type { JsonObject } from '../../domain/json.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import type { MinuteCount, StatsStore } from '../../domain/ports/stats-store-port.ts'
import { callStore } from '../../domain/ports/store-unavailable.ts'
import type { Clock } from '../../domain/run.ts'
import { addBuckets, percentile } from './histogram.ts'
import { createMinutes, MINUTE_MS, type Minutes } from './minutes.ts'

export type Stats = Readonly<{
  /** On the path of every message; quick, never throws. */
  count: Minutes['count']
  /** The last hour and day, and each minute of the day in which messages ended. Fails with STORE_UNAVAILABLE. */
  report(endpointId: string): Promise<JsonObject>
  /** Writes what is counted, for others to read. Fails with STORE_UNAVAILABLE. */
  write(): Promise<void>
  /** Writes what is counted and stops. */
  close(): Promise<void>
}>

export type StatsOptions = Readonly<{
  store: StatsStore
  /** Tells the counts of this process from those of others, earlier ones of this machine too. */
  instance: string
  clock: Clock
  logger: Logger
}>

/** The name of the store in failures. */
const ENDPOINTS = 'The store of endpoints'
const WRITE_EVERY_MS = 10_000
const HOUR = 60
const DAY = 24 * HOUR
/** An hour longer than is shown: clocks of instances differ. */
const KEPT = 25 * HOUR

export function createStats({ store, instance, clock, logger }: StatsOptions): Stats {
  const minutes = createMinutes()
  const minuteNow = () => Math.floor(clock() / MINUTE_MS)
  let writing: Promise<void> = Promise.resolve()
  let purgedAt = 0
  let told = false

  const write = async (): Promise<void> => {
    const counts = minutes.take(minuteNow())
    try {
      if (counts.length > 0) await store.write(instance, counts)
      const minute = minuteNow()
      if (minute > purgedAt) await store.purge(minute - KEPT)
      purgedAt = minute
      told = false
    } catch (thrown) {
      minutes.putBack(counts)
      throw thrown
    }
  }
  /** One after the other, so that no older count takes the place of a newer one. */
  const writeInTurn = (): Promise<void> => {
    const next = writing.then(write)
    writing = next.catch(() => undefined)
    return next
  }
  const warn = (err: unknown) => {
    if (!told) logger.warn({ err }, 'How messages went could not be stored; trying again')
    told = true
  }
  const timer = setInterval(() => void writeInTurn().catch(warn), WRITE_EVERY_MS)
  timer.unref()

  return {
    count: minutes.count,
    write: () => callStore(ENDPOINTS, writeInTurn),
    report: async (endpointId) => {
      const minute = minuteNow()
      const counts = await callStore(ENDPOINTS, async () => {
        await writeInTurn()
        return store.read(endpointId, minute - DAY + 1)
      })
      const byMinute = Map.groupBy(counts, (count) => count.minute)
      return {
        endpointId,
        hour: summaryOf(counts.filter((count) => count.minute > minute - HOUR)),
        day: summaryOf(counts),
        minutes: [...byMinute]
          .sort(([one], [other]) => one - other)
          .map(([at, some]) => ({ at: new Date(at * MINUTE_MS).toISOString(), ...summaryOf(some) })),
      }
    },
    close: async () => {
      clearInterval(timer)
      await writeInTurn().catch(warn)
    },
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
