/** The store of message counts per endpoint and minute, of both databases. Every instance has rows of its own. */
import type { Database } from './database.ts'
import type { Tables } from './schema.ts'
import { elements, named, raw, sql } from './sql.ts'

/** Numbers of messages by the index of the bucket of their duration histogram. */
export type Buckets = ReadonlyMap<number, number>

export type MinuteCount = Readonly<{
  endpointId: string
  /** Minutes since the epoch. */
  minute: number
  /** Messages that were completed in it. */
  count: number
  /** Those of them whose outcome is not `done`. */
  failures: number
  /** The durations of those that reached the pipeline. */
  buckets: Buckets
}>

export type CountTotals = Readonly<{ endpointId: string; count: number; failures: number; recent: number }>

/** The minutes that `slots` adds up. */
export const SLOT_MINUTES = 5

type Row = Tables['endpoint_minutes']
type CountRow = Omit<Row, 'instance'>
type SlotRow = Omit<CountRow, 'minute'> & Readonly<{ slot: number }>
type TotalsRow = Pick<Row, 'endpoint_id' | 'count' | 'failures'> & Readonly<{ recent: number }>

/**
 * `rows`: the columns of many rows, as `rowsText` writes them. SQLite needs the condition to distinguish `on conflict` from
 * the constraint of a join.
 */
const WRITE = sql<{ rows: string }>`
  insert into endpoint_minutes (endpoint_id, minute, instance, count, failures, buckets)
  select element.value ->> 0, cast(element.value ->> 1 as integer), element.value ->> 2,
    cast(element.value ->> 3 as integer), cast(element.value ->> 4 as integer), element.value ->> 5
  from ${elements(named('rows'))} as element where true
  on conflict (endpoint_id, minute, instance) do update
  set count = excluded.count, failures = excluded.failures, buckets = excluded.buckets`
const READ = sql<{ endpointId: string; fromMinute: number }, CountRow>`
  select endpoint_id, minute, count, failures, buckets from endpoint_minutes
  where endpoint_id = :endpointId and minute >= :fromMinute`
/** `ids`: an array of arrays, each with one id, as JSON. The store adds up: rows of many minutes take long to read. */
const TOTALS = sql<{ ids: string; fromMinute: number; recentFrom: number; recentTo: number }, TotalsRow>`
  select endpoint_id, cast(sum(count) as double precision) as count,
    cast(sum(failures) as double precision) as failures,
    cast(sum(case when minute between :recentFrom and :recentTo then count else 0 end) as double precision) as recent
  from endpoint_minutes
  where endpoint_id in (select element.value ->> 0 from ${elements(named('ids'))} as element) and minute >= :fromMinute
  group by endpoint_id`
/** A slot is a number of whole minutes since the epoch. The texts of its buckets follow each other. */
const SLOTS = sql<{ ids: string; fromMinute: number }, SlotRow>`
  select endpoint_id, minute / ${raw(String(SLOT_MINUTES))} as slot, cast(sum(count) as double precision) as count,
    cast(sum(failures) as double precision) as failures, string_agg(buckets, ' ') as buckets
  from endpoint_minutes
  where endpoint_id in (select element.value ->> 0 from ${elements(named('ids'))} as element) and minute >= :fromMinute
  group by endpoint_id, slot`
const PURGE = sql<{ before: number }>`delete from endpoint_minutes where minute < :before`

export type StatsStore = ReturnType<typeof compileStatsStore>

/** Builds the store over a database whose tables are up to date. Rejects with StoreUnavailable if it does not answer. */
export function compileStatsStore(database: Database) {
  const { rowsPerWrite } = database
  return {
    /** Each count replaces the one that this instance wrote before for the same endpoint and minute. */
    write: async (instance: string, counts: readonly MinuteCount[]): Promise<void> => {
      for (let start = 0; start < counts.length; start += rowsPerWrite) {
        const rows = rowsText(instance, counts.slice(start, start + rowsPerWrite))
        await database.write(WRITE, { rows })
      }
    },
    /** The counts of every instance from that minute on; a minute occurs once for each instance that wrote it. */
    read: async (endpointId: string, fromMinute: number): Promise<readonly MinuteCount[]> =>
      (await database.read(READ, { endpointId, fromMinute })).map(countFromRow),
    /**
     * The sums over all instances, of the endpoints that have counts from `fromMinute` on. `recent`: the messages of the
     * minutes from `recent.from` to `recent.to`, both included.
     */
    totals: async (
      endpointIds: readonly string[],
      fromMinute: number,
      { from: recentFrom, to: recentTo }: Readonly<{ from: number; to: number }>,
    ): Promise<readonly CountTotals[]> => {
      const ids = JSON.stringify(endpointIds.map((id) => [id]))
      const rows = await database.read(TOTALS, { ids, fromMinute, recentFrom, recentTo })
      return rows.map(({ endpoint_id: endpointId, ...counts }): CountTotals => ({ endpointId, ...counts }))
    },
    /** The sums over all instances in slots of SLOT_MINUTES, each at the minute that starts it, from the slot of `fromMinute` on. */
    slots: async (endpointIds: readonly string[], fromMinute: number): Promise<readonly MinuteCount[]> => {
      const ids = JSON.stringify(endpointIds.map((id) => [id]))
      const rows = await database.read(SLOTS, { ids, fromMinute })
      return rows.map(({ slot, ...row }) => countFromRow({ ...row, minute: slot * SLOT_MINUTES }))
    },
    /** Removes the counts of older minutes. */
    purge: async (before: number): Promise<void> => {
      await database.write(PURGE, { before })
    },
  }
}

const rowsText = (instance: string, counts: readonly MinuteCount[]): string =>
  JSON.stringify(
    counts.map(({ endpointId, minute, count, failures, buckets }) => [
      endpointId,
      minute,
      instance,
      count,
      failures,
      bucketsText(buckets),
    ]),
  )

const countFromRow = (row: CountRow): MinuteCount => ({
  endpointId: row.endpoint_id,
  minute: row.minute,
  count: row.count,
  failures: row.failures,
  buckets: parseBuckets(row.buckets),
})

/** `12:3 14:1`: three in the bucket 12, one in 14. */
const bucketsText = (buckets: Buckets): string => [...buckets].map(([bucket, count]) => `${bucket}:${count}`).join(' ')

/** A bucket may occur several times. */
function parseBuckets(text: string): Buckets {
  const buckets = new Map<number, number>()
  for (const pair of text.split(' ')) {
    const [bucket = '', count = ''] = pair.split(':')
    if (bucket !== '') buckets.set(Number(bucket), (buckets.get(Number(bucket)) ?? 0) + Number(count))
  }
  return buckets
}
