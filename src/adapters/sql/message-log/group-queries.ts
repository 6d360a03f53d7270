/** The queries on failures that are alike. */
import { type CompiledQuery, type Kysely, sql } from 'kysely'
import { idFrom, timeOfId } from '../../../domain/id.ts'
import type { MessageFilter, MessageGroup, MinuteSpan } from '../../../domain/ports/message-store-port.ts'
import { conditions, notDone } from './message-queries.ts'
import { recordOf } from './message-rows.ts'
import type { MessageRow, MessageTables } from './message-tables.ts'

type Queries = Kysely<MessageTables>

/** More kinds of failure than a user reads. */
const MOST_GROUPS = 1_000

const ALIKE = ['endpoint_id', 'stage', 'code', 'path'] as const

type AlikeRow = Pick<MessageRow, (typeof ALIKE)[number]>

export type GroupRow = AlikeRow &
  Pick<MessageRow, 'detail'> &
  Readonly<{ count: number | string; first: string; last: string }>

export const compileGroups = (db: Queries, filter: MessageFilter): CompiledQuery<GroupRow> =>
  db
    .with('alike', (query) =>
      query
        .selectFrom('messages')
        .select(ALIKE)
        .select([
          sql<number | string>`count(*)`.as('count'),
          sql<string>`min(id)`.as('first'),
          sql<string>`max(id)`.as('last'),
        ])
        .where((where) => where.and([notDone(where), ...conditions(where, filter)]))
        .groupBy(ALIKE),
    )
    .selectFrom('alike')
    .innerJoin('messages', 'messages.id', 'alike.last')
    .select([
      'alike.endpoint_id',
      'alike.stage',
      'alike.code',
      'alike.path',
      'alike.count',
      'alike.first',
      'alike.last',
    ])
    .select('messages.detail')
    .orderBy('alike.count', 'desc')
    .orderBy('alike.last', 'desc')
    .limit(MOST_GROUPS)
    .compile()

export type MinuteRow = AlikeRow & Readonly<{ minute: number; count: number | string }>

/** An id starts with the time in hexadecimal digits, which the databases cannot divide: each minute is a range of ids. */
export const compileMinutes = (db: Queries, filter: MessageFilter, minutes: MinuteSpan): CompiledQuery<MinuteRow> => {
  const starts = Array.from({ length: minutes.count }, (_, minute) => minutes.from + minute * MINUTE_MS)
  const ranges = starts.map((ms, minute) => sql`(${sql.lit(minute)}, ${idFrom(ms)}, ${idFrom(ms + MINUTE_MS)})`)
  const span = sql<{ minute: number; first_id: string; end_id: string }>`(
    with span (minute, first_id, end_id) as (values ${sql.join(ranges)}) select minute, first_id, end_id from span
  )`.as('span')
  return (
    db
      .selectFrom(span)
      // With this join SQLite keeps the order of the tables, and reads each minute by an index.
      .crossJoin('messages')
      .whereRef('messages.id', '>=', 'span.first_id')
      .whereRef('messages.id', '<', 'span.end_id')
      .select([...ALIKE, 'span.minute'])
      .select(sql<number | string>`count(*)`.as('count'))
      .where((where) => where.and([notDone(where), ...conditions(where, filter)]))
      // Follows from the minutes; without it, PostgreSQL compares every failure with every minute.
      .where('messages.id', '>=', idFrom(minutes.from))
      .where('messages.id', '<', idFrom(minutes.from + minutes.count * MINUTE_MS))
      .groupBy([...ALIKE, 'span.minute'])
      .limit(MOST_GROUPS * minutes.count)
      .compile()
  )
}

const MINUTE_MS = 60_000

/** Puts the counts of the minutes beside the groups that they belong to. */
export function groupsOf(
  rows: readonly GroupRow[],
  minuteRows: readonly MinuteRow[],
  { count }: MinuteSpan,
): readonly MessageGroup[] {
  const counts = new Map<string, number[]>()
  for (const row of minuteRows) {
    const key = keyOf(row)
    const minutes = counts.get(key) ?? new Array<number>(count).fill(0)
    minutes[row.minute] = Number(row.count)
    counts.set(key, minutes)
  }
  const none = new Array<number>(count).fill(0)
  return rows.map((row) => ({ ...groupOf(row), minutes: counts.get(keyOf(row)) ?? none }))
}

const keyOf = (row: AlikeRow): string => JSON.stringify(ALIKE.map((column) => row[column]))

function groupOf(row: GroupRow): Omit<MessageGroup, 'minutes'> {
  const rest = { source: '', outcome: '', status: 0, replay_of: '', bytes: 0, version: 0, error: '', captured: 0 }
  const sample = recordOf({ ...row, ...rest, id: row.last })
  return {
    endpointId: sample.endpointId,
    endpoint: sample.endpoint,
    stage: sample.stage,
    code: sample.code,
    // The group of records without a path in its column may have one in their detail.
    path: row.path === '' ? undefined : sample.path,
    count: Number(row.count),
    firstSeen: new Date(timeOfId(row.first)).toISOString(),
    lastSeen: sample.startedAt,
    sampleId: row.last,
  }
}
