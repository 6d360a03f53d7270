/** Counts of messages in SQLite: written in the transactions that states and endpoints are written in. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { MinuteCount, StatsStore } from '../../domain/stats.ts'
import { compileMinuteStatements, minuteCountOf, minuteValues } from '../sql/minute-rows.ts'
import type { Tables } from '../sql/tables.ts'
import type { GroupCommit } from './group-commit.ts'
import { prepare } from './prepare.ts'

export type StatsStoreOptions = Readonly<{ db: DatabaseSync; queries: Kysely<Tables>; writer: GroupCommit }>

/** Rows of one turn on the thread: about a millisecond. */
const CHUNK = 100

/** Builds the store over a connection whose tables are in place. */
export function compileStatsStore({ db, queries, writer }: StatsStoreOptions): StatsStore {
  const statements = compileMinuteStatements(queries)
  const write = prepare(db, statements.write)
  const read = prepare(db, statements.read)
  const purge = prepare(db, statements.purge)

  return {
    write: async (instance, counts) => {
      for (let start = 0; start < counts.length; start += CHUNK) {
        const chunk = counts.slice(start, start + CHUNK)
        // Each row stands for itself, and is written again where a later one fails.
        await writer.write(() => {
          for (const count of chunk) write.run(minuteValues(instance, count))
        })
      }
    },
    read: async (endpointId, fromMinute): Promise<readonly MinuteCount[]> =>
      read.all({ endpointId, fromMinute }).map(minuteCountOf),
    purge: async (before) => {
      await writer.write(() => purge.run({ before }))
    },
  }
}
