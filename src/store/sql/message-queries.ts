/**
 * Searches and reads of the message log, its groups of failures, and the messages that replay plans keep, over any database
 * that runs a query. Each query is written for its call, as every filter is another text.
 */
import { idFrom, timeOfId } from '../../core/id.ts'
import type { MessageFilter, MessageGroup, MessageStore, MinuteSpan } from '../../core/ports/message-store-port.ts'
import { escaped, MESSAGE_COLUMNS, type MessageRow, type MessageTables, recordOf } from './message-rows.ts'
import { among, anyOf, type Fragment, join, raw, type Sql, type SqlValue, sql, where } from './sql.ts'
import { keyText } from './tables.ts'

/** Resolves to the rows of a statement that is written for its call. */
export type RunOnce = <Row>(statement: Sql<never, Row>) => Promise<readonly Row[]>

/** PostgreSQL's driver gives large numbers as text. */
type Count = number | string

const SELECT = sql`select ${raw(Object.keys(MESSAGE_COLUMNS).join(', '))} from messages`

export function createMessageReads(run: RunOnce): Pick<MessageStore, 'find' | 'get' | 'body' | 'count' | 'groups'> {
  const get: MessageStore['get'] = async (id) => {
    const query: Sql<never, MessageRow> = sql`${SELECT} where id = ${id}`
    return (await run(query)).map(recordOf)[0]
  }
  return {
    find: async (filter, limit, before) => {
      const older = before === undefined ? [] : [sql`id < ${before}`]
      const query: Sql<never, MessageRow> = sql`
        ${SELECT} ${where([...conditions(filter), ...older])} order by id desc limit ${limit}`
      return (await run(query)).map(recordOf)
    },
    get,
    body: async (id, which) => {
      const summary = (await get(id))?.bodies.find((body) => body.which === which)
      if (summary === undefined) return undefined
      const query: Sql<never, Pick<MessageTables['message_bodies'], 'content'>> = sql`
        select content from message_bodies where message_id = ${id} and which = ${keyText(which)}`
      const [body] = await run(query)
      return body && { summary, content: new Uint8Array(body.content) }
    },
    count: async (filter) => {
      const query: Sql<never, { count: Count }> =
        sql`select count(*) as count from messages ${where(conditions(filter))}`
      return Number((await run(query))[0]?.count)
    },
    groups: async (filter, minutes) => {
      const [rows, minuteRows] = await Promise.all([
        run(groupsQuery(filter)),
        minutes.count === 0 ? [] : run(minutesQuery(filter, minutes)),
      ])
      return groupsOf(rows, minuteRows, minutes)
    },
  }
}

const NOT_DONE = sql`outcome <> 'done'`

/**
 * All that a message must fulfil to match. Some conditions follow from others: with these, which are texts without values,
 * the databases use the partial indexes.
 */
function conditions(filter: MessageFilter): Fragment[] {
  const { id, endpointId, outcome, code, stage, path, error, version, source, status } = filter
  const { key, from, to, replayOf, replayed, captured } = filter
  const all: Fragment[] = []
  const demand = (column: keyof MessageRow, values: readonly SqlValue[] | undefined) => {
    if (values !== undefined) all.push(among(column, values))
  }
  demand('id', id)
  demand('endpoint_id', endpointId)
  demand('outcome', outcome)
  demand('code', code)
  demand('stage', stage)
  demand('path', path?.map(keyText))
  demand('version', version)
  demand('source', source)
  demand('status', status)
  demand('replay_of', replayOf)
  if (path !== undefined && !path.includes('')) all.push(sql`path <> ''`)
  if (error !== undefined) all.push(anyOf(error.map(mentions)))
  if (replayOf !== undefined) all.push(sql`replay_of <> ''`)
  if (mayOnlyFail(filter)) all.push(NOT_DONE)
  if (from !== undefined) all.push(sql`id >= ${idFrom(from)}`)
  if (to !== undefined) all.push(sql`id < ${idFrom(to)}`)
  if (captured !== undefined) all.push(captured ? sql`captured = 1` : sql`captured = 0`)
  if (key !== undefined) all.push(sql`id in (select message_id from message_keys where ${anyOf(key.map(isKey))})`)
  if (replayed !== undefined) all.push(sql`replay_of = ''`, sql`id ${raw(replayed ? 'in' : 'not in')} ${REPEATED}`)
  return all
}

/** Messages that were replayed until done: found from the successful replays back, as those are few. */
const REPEATED = sql`(
  with recursive repeated (id) as (
    select replay_of from messages where replay_of <> '' and outcome = 'done'
    union
    select messages.replay_of from repeated join messages on messages.id = repeated.id where messages.replay_of <> ''
  )
  select id from repeated
)`

/**
 * The pattern matches the text as the column has it, escaped; `!` is its escape character, as no text is escaped with it. The
 * database changes the case of both: it leaves letters outside of ASCII as they are.
 */
function mentions(part: string): Fragment {
  const pattern = `%${escaped(part).replace(/[!%_]/g, '!$&')}%`
  return sql`lower(error) like lower(${pattern}) escape '!'`
}

const isKey = ({ name, value }: Readonly<{ name?: string; value: string }>): Fragment =>
  name === undefined ? sql`value = ${keyText(value)}` : sql`(value = ${keyText(value)} and name = ${keyText(name)})`

const mayOnlyFail = ({ outcome, code, stage, path, error, replayed }: MessageFilter): boolean =>
  replayed !== undefined ||
  error !== undefined ||
  (path !== undefined && !path.includes('')) ||
  (outcome !== undefined && !outcome.includes('done')) ||
  (code !== undefined && !code.includes('')) ||
  (stage !== undefined && !stage.includes(''))

/** More kinds of failure than a user reads. */
const MOST_GROUPS = 1_000

const ALIKE = ['endpoint_id', 'stage', 'code', 'path'] as const
const ALIKE_COLUMNS = raw(ALIKE.join(', '))

type AlikeRow = Pick<MessageRow, (typeof ALIKE)[number]>
type GroupRow = AlikeRow & Pick<MessageRow, 'detail'> & Readonly<{ count: Count; first: string; last: string }>
type MinuteRow = AlikeRow & Readonly<{ minute: number; count: Count }>

const groupsQuery = (filter: MessageFilter): Sql<never, GroupRow> => sql`
  with alike as (
    select ${ALIKE_COLUMNS}, count(*) as count, min(id) as first, max(id) as last from messages
    ${where([NOT_DONE, ...conditions(filter)])} group by ${ALIKE_COLUMNS}
  )
  select alike.endpoint_id, alike.stage, alike.code, alike.path, alike.count, alike.first, alike.last, messages.detail
  from alike join messages on messages.id = alike.last
  order by alike.count desc, alike.last desc limit ${MOST_GROUPS}`

const MINUTE_MS = 60_000

/**
 * An id starts with the time in hexadecimal digits, which the databases cannot divide: each minute is a range of ids. With
 * a cross join, SQLite keeps the order of the tables, and reads each minute by an index.
 */
function minutesQuery(filter: MessageFilter, { from, count }: MinuteSpan): Sql<never, MinuteRow> {
  const starts = Array.from({ length: count }, (_, minute) => from + minute * MINUTE_MS)
  const ranges = starts.map((ms, minute) => sql`(${raw(`${minute}`)}, ${idFrom(ms)}, ${idFrom(ms + MINUTE_MS)})`)
  const all = [
    sql`messages.id >= span.first_id`,
    sql`messages.id < span.end_id`,
    NOT_DONE,
    ...conditions(filter),
    // Follows from the minutes; without it, PostgreSQL compares every failure with every minute.
    sql`messages.id >= ${idFrom(from)}`,
    sql`messages.id < ${idFrom(from + count * MINUTE_MS)}`,
  ]
  return sql`
    select ${ALIKE_COLUMNS}, span.minute, count(*) as count
    from (
      with span (minute, first_id, end_id) as (values ${join(ranges)}) select minute, first_id, end_id from span
    ) as span cross join messages
    ${where(all)} group by ${ALIKE_COLUMNS}, span.minute limit ${MOST_GROUPS * count}`
}

/** Puts the counts of the minutes beside the groups that they belong to. */
function groupsOf(
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

/** Ids of one statement. */
const PART = 1_000

/** The messages that replay plans need: no purge removes them. */
export function createMessageHolds(run: RunOnce): Pick<MessageStore, 'hold' | 'release'> {
  const releasePlan = (planId: string) => run(sql`delete from held_messages where plan_id = ${planId}`)

  return {
    hold: async (planId, ids, maxBytes) => {
      for (let start = 0; start < ids.length; start += PART) {
        await run(sql`
          insert into held_messages (message_id, plan_id)
          select id, cast(${planId} as text) from messages where ${among('id', ids.slice(start, start + PART))}
          on conflict do nothing`)
      }
      const used: Sql<never, { bytes: Count }> = sql`
        select coalesce(sum(bytes), 0) as bytes from messages where id in (select message_id from held_messages)`
      const [held] = await run(used)
      if (Number(held?.bytes) <= maxBytes) return true
      await releasePlan(planId)
      return false
    },
    release: async (planIds, before) => {
      let last = ''
      for (;;) {
        const next: Sql<never, { id: string | null }> = sql`
          select min(plan_id) as id from held_messages where plan_id > ${last} and plan_id < ${before}`
        const [plan] = await run(next)
        if (plan === undefined || plan.id === null) return
        last = plan.id
        if (!planIds.includes(last)) await releasePlan(last)
      }
    },
  }
}
