/** Counts of messages in PostgreSQL: each instance has rows of its own, so none waits for another. */
import type { Kysely } from 'kysely'
import type { MinuteCount, StatsStore } from '../../domain/stats.ts'
import { compileMinuteStatements, type MinuteValues, minuteCountOf, minuteValues } from '../sql/minute-rows.ts'
import type { Tables } from '../sql/tables.ts'
import { type Connections, prepare, prepareText } from './connections.ts'

export type StatsStoreOptions = Readonly<{ connections: Connections; queries: Kysely<Tables> }>

/** Rows of one statement. */
const CHUNK = 1_000

const WRITE = prepareText<readonly MinuteValues[], never>(
  `insert into endpoint_minutes (endpoint_id, minute, instance, count, failures, buckets)
  select * from unnest($1::text[], $2::integer[], $3::text[], $4::integer[], $5::integer[], $6::text[])
  on conflict (endpoint_id, minute, instance) do update
  set count = excluded.count, failures = excluded.failures, buckets = excluded.buckets`,
  (rows) => [
    rows.map((row) => row.endpointId),
    rows.map((row) => row.minute),
    rows.map((row) => row.instance),
    rows.map((row) => row.count),
    rows.map((row) => row.failures),
    rows.map((row) => row.buckets),
  ],
)

/** Builds the store over a database whose tables are in place. */
export function compileStatsStore({ connections, queries }: StatsStoreOptions): StatsStore {
  const statements = compileMinuteStatements(queries)
  const read = prepare(statements.read)
  const purge = prepare(statements.purge)

  return {
    write: async (instance, counts) => {
      for (let start = 0; start < counts.length; start += CHUNK) {
        const chunk = counts.slice(start, start + CHUNK)
        await connections.run(
          WRITE,
          chunk.map((count) => minuteValues(instance, count)),
        )
      }
    },
    read: async (endpointId, fromMinute): Promise<readonly MinuteCount[]> =>
      (await connections.run(read, { endpointId, fromMinute })).map(minuteCountOf),
    purge: async (before) => {
      await connections.run(purge, { before })
    },
  }
}
