/** The store of message counts per endpoint and minute, of both databases. Every instance has rows of its own. */
import { sql } from 'kysely'
import type { Buckets, CountTotals, MinuteCount, StatsStore } from '../../../domain/ports/stats-store-port.ts'
import type { SqlDatabase, SqlDialect } from '../database.ts'
import { compileStatement, rawQuery } from '../statement.ts'
import type { Tables } from '../tables.ts'

type Row = Tables['endpoint_minutes']
type CountRow = Omit<Row, 'instance'>

function compileStatements({ queries, elements }: SqlDialect) {
  return {
    /** `rows`: the columns of many rows, as `rowsText` writes them. */
    write: compileStatement<Readonly<{ rows: string }>>((value) =>
      rawQuery(queries)(
        // SQLite needs the condition to distinguish `on conflict` from the constraint of a join.
        sql`insert into endpoint_minutes (endpoint_id, minute, instance, count, failures, buckets)
          select element.value ->> 0, cast(element.value ->> 1 as integer), element.value ->> 2,
            cast(element.value ->> 3 as integer), cast(element.value ->> 4 as integer), element.value ->> 5
          from ${elements(value('rows'))} as element where true
          on conflict (endpoint_id, minute, instance) do update
          set count = excluded.count, failures = excluded.failures, buckets = excluded.buckets`,
      ),
    ),
    read: compileStatement<Readonly<{ endpointId: string; fromMinute: number }>, CountRow>((value) =>
      queries
        .selectFrom('endpoint_minutes')
        .select(['endpoint_id', 'minute', 'count', 'failures', 'buckets'])
        .where('endpoint_id', '=', value('endpointId'))
        .where('minute', '>=', value('fromMinute')),
    ),
    /** `ids`: an array of arrays, each with one id, as JSON. The store adds up: rows of many minutes take long to read. */
    totals: compileStatement<
      Readonly<{ ids: string; fromMinute: number; recentFrom: number; recentTo: number }>,
      CountTotals
    >((value) =>
      queries
        .selectFrom('endpoint_minutes')
        .select([
          'endpoint_id as endpointId',
          sql<number>`cast(sum(count) as double precision)`.as('count'),
          sql<number>`cast(sum(failures) as double precision)`.as('failures'),
          sql<number>`cast(sum(case when minute between ${value('recentFrom')} and ${value('recentTo')} then count else 0 end)
            as double precision)`.as('recent'),
        ])
        .where('endpoint_id', 'in', sql<string>`(select element.value ->> 0 from ${elements(value('ids'))} as element)`)
        .where('minute', '>=', value('fromMinute'))
        .groupBy('endpoint_id'),
    ),
    purge: compileStatement<Readonly<{ before: number }>>((value) =>
      queries.deleteFrom('endpoint_minutes').where('minute', '<', value('before')),
    ),
  }
}

/** Builds the store over a database whose tables are up to date. */
export function compileStatsStore(database: SqlDatabase): StatsStore {
  const statements = compileStatements(database.dialect)
  const { rowsPerWrite } = database
  return {
    write: async (instance, counts) => {
      for (let start = 0; start < counts.length; start += rowsPerWrite) {
        const rows = rowsText(instance, counts.slice(start, start + rowsPerWrite))
        await database.write(statements.write, { rows })
      }
    },
    read: async (endpointId, fromMinute) =>
      (await database.read(statements.read, { endpointId, fromMinute })).map(countOf),
    totals: async (endpointIds, fromMinute, { from: recentFrom, to: recentTo }) => {
      const ids = JSON.stringify(endpointIds.map((id) => [id]))
      const rows = await database.read(statements.totals, { ids, fromMinute, recentFrom, recentTo })
      return rows.map(({ endpointId, count, failures, recent }) => ({ endpointId, count, failures, recent }))
    },
    purge: async (before) => {
      await database.write(statements.purge, { before })
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

const countOf = (row: CountRow): MinuteCount => ({
  endpointId: row.endpoint_id,
  minute: row.minute,
  count: row.count,
  failures: row.failures,
  buckets: bucketsOf(row.buckets),
})

/** `12:3 14:1`: three in the bucket 12, one in 14. */
const bucketsText = (buckets: Buckets): string => [...buckets].map(([bucket, count]) => `${bucket}:${count}`).join(' ')

const bucketsOf = (text: string): Buckets =>
  new Map(
    text.split(' ').flatMap((pair) => {
      const [bucket = '', count = ''] = pair.split(':')
      return bucket === '' ? [] : [[Number(bucket), Number(count)] as const]
    }),
  )
