/** Counts of messages as rows, and the queries on them that all stores share. */
import type { Kysely } from 'kysely'
import type { Buckets, MinuteCount } from '../../domain/stats.ts'
import { compileStatement } from './statement.ts'
import type { Tables } from './tables.ts'

type Row = Tables['endpoint_minutes']
export type MinuteValues = Readonly<{
  endpointId: string
  minute: number
  instance: string
  count: number
  failures: number
  buckets: string
}>

export function compileMinuteStatements(db: Kysely<Tables>) {
  return {
    write: compileStatement<MinuteValues>((value) =>
      db
        .insertInto('endpoint_minutes')
        .values({
          endpoint_id: value('endpointId'),
          minute: value('minute'),
          instance: value('instance'),
          count: value('count'),
          failures: value('failures'),
          buckets: value('buckets'),
        })
        .onConflict((conflict) =>
          conflict.columns(['endpoint_id', 'minute', 'instance']).doUpdateSet((row) => ({
            count: row.ref('excluded.count'),
            failures: row.ref('excluded.failures'),
            buckets: row.ref('excluded.buckets'),
          })),
        ),
    ),
    read: compileStatement<Readonly<{ endpointId: string; fromMinute: number }>, Omit<Row, 'instance'>>((value) =>
      db
        .selectFrom('endpoint_minutes')
        .select(['endpoint_id', 'minute', 'count', 'failures', 'buckets'])
        .where('endpoint_id', '=', value('endpointId'))
        .where('minute', '>=', value('fromMinute')),
    ),
    purge: compileStatement<Readonly<{ before: number }>>((value) =>
      db.deleteFrom('endpoint_minutes').where('minute', '<', value('before')),
    ),
  }
}

export const minuteValues = (instance: string, count: MinuteCount): MinuteValues => ({
  ...count,
  instance,
  buckets: textOf(count.buckets),
})

export const minuteCountOf = (row: Omit<Row, 'instance'>): MinuteCount => ({
  endpointId: row.endpoint_id,
  minute: row.minute,
  count: row.count,
  failures: row.failures,
  buckets: bucketsOf(row.buckets),
})

/** `12:3 14:1`: three in the bucket 12, one in 14. */
const textOf = (buckets: Buckets): string => [...buckets].map(([bucket, count]) => `${bucket}:${count}`).join(' ')

const bucketsOf = (text: string): Buckets =>
  new Map(
    text.split(' ').flatMap((pair) => {
      const [bucket = '', count = ''] = pair.split(':')
      return bucket === '' ? [] : [[Number(bucket), Number(count)] as const]
    }),
  )
