/** The message log of both databases: what it can be asked, its rows, and the queries of its records. */

import { idFrom, timeFromId } from '../../core/id.ts'
import type { Source } from '../../core/origin.ts'
import {
  type BodyName,
  detailStart,
  type MessageRecord,
  microseconds,
  type Recorded,
  type RecordedBody,
  type RecordedOutcome,
  type RecordedStage,
  type RecordRest,
  restText,
  stageText,
} from '../../core/records/message-record.ts'
import { keyText } from './schema.ts'
import { among, anyCondition, type Fragment, join, raw, type Sql, type SqlValue, sql, where } from './sql.ts'

/** A record must match all fields; several values of one field are alternatives. */
export type MessageFilter = Readonly<{
  id?: readonly string[]
  endpointId?: readonly string[]
  outcome?: readonly RecordedOutcome[]
  code?: readonly string[]
  stage?: readonly string[]
  /** Where the failure happened, exactly. Selects only messages whose outcome is not done, as `error`. */
  path?: readonly string[]
  /** A part of the sentence of the failure; the case of the letters a to z does not count. */
  error?: readonly string[]
  /** Of the endpoint. */
  version?: readonly number[]
  source?: readonly Source[]
  status?: readonly number[]
  /** A business key with exactly this value; without a name, any key. */
  key?: readonly Readonly<{ name?: string; value: string }>[]
  /** The range of `startedAt`, in milliseconds since the epoch: from, inclusive; to, exclusive. */
  from?: number
  to?: number
  replayOf?: readonly string[]
  /**
   * A replay, or a replay of a replay, has the outcome done. Both values select only messages whose outcome is not
   * done and that are not replays.
   */
  replayed?: boolean
  /** A capture recorded the message. */
  captured?: boolean
  /** A table had nothing for this code of the message, or of a replay of it; without a code, for any. */
  missed?: readonly TableMiss[]
}>

export type TableMiss = Readonly<{ table: string; code?: string }>

/** What the failures of a group have in common. Records of earlier versions have no path here. */
export type GroupKey = Readonly<{
  endpointId: string | undefined
  stage: string | undefined
  code: string | undefined
  path: string | undefined
}>

export type MessageGroup = GroupKey &
  Readonly<{
    endpoint: string | undefined
    count: number
    /** ISO 8601. */
    firstSeen: string
    lastSeen: string
    /** The id of the newest message. */
    sampleId: string
    /** Messages of each minute that was asked for. */
    minutes: readonly number[]
  }>

/** `count` whole minutes; the first one starts at `from`, in milliseconds since the epoch. */
export type MinuteSpan = Readonly<{ from: number; count: number }>

/** Rejects with StoreUnavailable if the store does not answer. */
export interface MessageStore {
  /** Resolves when all records are stored. Records whose id is stored already stay as they are. */
  append(batch: readonly Recorded[]): Promise<void>
  /** The same for records whose outcome is done, as lines (core/records/message-record.ts) in UTF-8. */
  appendDone(lines: Uint8Array): Promise<void>
  /** Newest first, at most `limit`, all older than the id `before` if it is given. */
  find(filter: MessageFilter, limit: number, before?: string): Promise<readonly MessageRecord[]>
  get(id: string): Promise<MessageRecord | undefined>
  body(id: string, which: BodyName): Promise<RecordedBody | undefined>
  count(filter: MessageFilter): Promise<number>
  /** Groups of messages whose outcome is not done, the largest first, with their counts in these minutes. */
  groups(filter: MessageFilter, minutes: MinuteSpan): Promise<readonly MessageGroup[]>
  /**
   * Keeps these messages from every purge until the plan is released. Resolves to false, and keeps none of them, if all
   * messages that plans need would take more than `maxBytes`.
   */
  hold(planId: string, ids: readonly string[], maxBytes: number): Promise<boolean>
  /** Releases the plans whose ids are less than `before`, except for `planIds`. */
  release(planIds: readonly string[], before: string): Promise<void>
  /**
   * Removes a small batch of records: those older than `before` (milliseconds since the epoch), then, if all records take
   * more than `maxBytes`, the oldest of the endpoints that take more than their share. An endpoint below its share loses
   * none to the others. Resolves to their number; 0 if there is nothing left to remove.
   */
  purge(before: number, maxBytes: number): Promise<number>
  /** Rejects with StoreUnavailable also if records can be read and no new one can be stored. */
  ping(): Promise<void>
  close(): Promise<void>
}

export type MessageTables = {
  messages: {
    /** Starts with the time of the message, so that ids sort by age. */
    id: string
    /** Empty if no endpoint matched. The other texts are empty if there is no value. */
    endpoint_id: string
    source: string
    outcome: string
    status: number
    code: string
    stage: string
    replay_of: string
    /** The estimated size of the message in all tables. */
    bytes: number
    /** The rest of the record (`RecordRest`). */
    detail: string
    /** `keyText` of the path; empty in records that an earlier version wrote. */
    path: string
    /** The version of the endpoint; 0 if there is none. Earlier versions wrote it only in `detail`, and 0 here. */
    version: number
    /** The sentence of the failure, escaped as in JSON. Earlier versions wrote it in `detail`. */
    error: string
    /** 1 if a capture recorded it, else 0. */
    captured: number
  }
  message_bodies: {
    message_id: string
    /** `keyText` of its name. */
    which: string
    content: Uint8Array
  }
  /** Business keys, and the codes that tables missed: `missedValue` of the table, and `keyText` of the code as the name. */
  message_keys: {
    /** `keyText` of both. */
    value: string
    name: string
    message_id: string
  }
  /** Messages that no purge removes, each with a plan that needs it. */
  held_messages: { message_id: string; plan_id: string }
  /** PostgreSQL only: the size of all messages, in several rows, so that writers seldom wait for each other. */
  message_sizes: { slot: number; bytes: number }
}

export type MessageRow = MessageTables['messages']

/** The columns of `messages` in the order in which both databases write them. */
export const MESSAGE_COLUMNS = {
  id: 'text',
  endpoint_id: 'text',
  source: 'text',
  outcome: 'text',
  status: 'integer',
  code: 'text',
  stage: 'text',
  replay_of: 'text',
  bytes: 'integer',
  detail: 'text',
  path: 'text',
  version: 'integer',
  error: 'text',
  captured: 'integer',
} as const satisfies Record<keyof MessageRow, string>

/** Estimated sizes: of a row with its index entries besides its detail, and of a key or a body besides its content. */
const ROW_BYTES = 200
const ENTRY_BYTES = 150

export function messageRow({ record, bodies }: Recorded): MessageRow {
  const detail = detailText(record)
  const error = record.error === undefined ? '' : escaped(record.error)
  let bytes = ROW_BYTES + detail.length + error.length
  for (const { content } of bodies) bytes += ENTRY_BYTES + content.byteLength
  bytes += ENTRY_BYTES * (record.missed?.length ?? 0)
  for (const name in record.keys) bytes += ENTRY_BYTES * listValues(record.keys[name]).length
  return {
    id: record.id,
    endpoint_id: record.endpointId ?? '',
    source: record.source,
    outcome: record.outcome,
    status: record.status,
    code: record.code ?? '',
    stage: record.stage ?? '',
    replay_of: record.replayOf ?? '',
    bytes,
    detail,
    path: record.path === undefined ? '' : keyText(record.path),
    version: record.endpointVersion ?? 0,
    error,
    captured: record.captured ? 1 : 0,
  }
}

const listValues = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === 'object' ? value : [value ?? '']

type Detail = readonly [
  endpoint: string | null,
  version: number | null,
  microseconds: number,
  stages: readonly (readonly [stage: RecordedStage['stage'], microseconds: number])[],
  rest?: Partial<RecordRest>,
]

/** Without the error, which has a column. */
function detailText({ endpoint, endpointVersion, ms, stages, error, ...rest }: MessageRecord): string {
  const durations = stages.map(({ stage, ms }) => stageText(stage, ms)).join()
  return `${detailStart(endpoint, endpointVersion)}${microseconds(ms)},[${durations}]${restText(rest)}]`
}

export function toMessageRecord(row: MessageRow): MessageRecord {
  const [endpoint, version, duration, stages, rest] = JSON.parse(row.detail) as Detail
  const error = row.error === '' ? rest?.error : (JSON.parse(`"${row.error}"`) as string)
  return {
    id: row.id,
    ...(row.endpoint_id === '' ? {} : { endpointId: row.endpoint_id }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(version === null ? {} : { endpointVersion: version }),
    source: row.source as MessageRecord['source'],
    startedAt: new Date(timeFromId(row.id)).toISOString(),
    ms: duration / 1000,
    outcome: row.outcome as MessageRecord['outcome'],
    status: row.status,
    ...(row.code === '' ? {} : { code: row.code }),
    ...(row.stage === '' ? {} : { stage: row.stage }),
    ...(rest?.path === undefined ? {} : { path: rest.path }),
    ...(error === undefined ? {} : { error }),
    ...(rest?.triedAgain === undefined ? {} : { triedAgain: rest.triedAgain }),
    stages: stages.map(([stage, took]) => ({ stage, ms: took / 1000 })),
    calls: rest?.calls ?? [],
    ...(rest?.callsOmitted === undefined ? {} : { callsOmitted: rest.callsOmitted }),
    ...(rest?.notMade === undefined ? {} : { notMade: rest.notMade }),
    ...(rest?.deliveries === undefined ? {} : { deliveries: rest.deliveries }),
    ...(rest?.tables === undefined ? {} : { tables: rest.tables }),
    ...(rest?.missed === undefined ? {} : { missed: rest.missed }),
    keys: rest?.keys ?? {},
    ...(row.replay_of === '' ? {} : { replayOf: row.replay_of }),
    ...(rest?.answerOf === undefined ? {} : { answerOf: rest.answerOf }),
    ...(row.captured === 1 ? { captured: true as const } : {}),
    bodies: rest?.bodies ?? [],
  }
}

/** Some databases reject texts that are not well-formed, such as NUL. */
export const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The row of a line of `doneLine`, from its columns. */
export const doneRow = ([
  id = '',
  endpoint_id = '',
  source = '',
  status,
  detail = '',
]: readonly string[]): MessageRow => ({
  id,
  endpoint_id,
  source,
  outcome: 'done',
  status: Number(status),
  code: '',
  stage: '',
  replay_of: '',
  bytes: ROW_BYTES + detail.length,
  detail,
  path: '',
  version: parseVersion(detail),
  error: '',
  captured: 0,
})

/** A search reads thousands of lines: only the start of the detail is parsed. */
function parseVersion(detail: string): number {
  const [, version] = /^\[(?:null|"(?:[^"\\]|\\.)*"),(\d+),/.exec(detail) ?? []
  return Number(version ?? 0)
}

export type KeyRow = Readonly<{ value: string; name: string; message_id: string }>

/** No `keyText` starts with a quote that is not escaped. */
const missedValue = (table: string): string => `"${table}`

export const keyRows = ({ id, keys, missed = [] }: MessageRecord): KeyRow[] => [
  ...Object.entries(keys).flatMap(([name, given]) =>
    [...new Set(listValues(given))].map((value) => ({ value: keyText(value), name: keyText(name), message_id: id })),
  ),
  ...missed.map(({ table, code }) => ({ value: missedValue(table), name: keyText(code), message_id: id })),
]

/** Resolves to the rows of a statement that is written for its call. */
export type RunOnce = <Row>(statement: Sql<never, Row>) => Promise<readonly Row[]>

/** PostgreSQL's driver gives large numbers as text. */
type Count = number | string

const SELECT = sql`select ${raw(Object.keys(MESSAGE_COLUMNS).join(', '))} from messages`

export function createMessageReads(run: RunOnce): Pick<MessageStore, 'find' | 'get' | 'body' | 'count' | 'groups'> {
  const get: MessageStore['get'] = async (id) => {
    const query: Sql<never, MessageRow> = sql`${SELECT} where id = ${id}`
    return (await run(query)).map(toMessageRecord)[0]
  }
  return {
    find: async (filter, limit, before) => {
      const older = before === undefined ? [] : [sql`id < ${before}`]
      const query: Sql<never, MessageRow> = sql`
        ${SELECT} ${where([...conditions(filter), ...older])} order by id desc limit ${limit}`
      return (await run(query)).map(toMessageRecord)
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
      return groupsFromRows(rows, minuteRows, minutes)
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
  const { key, from, to, replayOf, replayed, captured, missed } = filter
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
  if (error !== undefined) all.push(anyCondition(error.map(mentions)))
  if (replayOf !== undefined) all.push(sql`replay_of <> ''`)
  if (mayOnlyFail(filter)) all.push(NOT_DONE)
  if (from !== undefined) all.push(sql`id >= ${idFrom(from)}`)
  if (to !== undefined) all.push(sql`id < ${idFrom(to)}`)
  if (captured !== undefined) all.push(captured ? sql`captured = 1` : sql`captured = 0`)
  if (key !== undefined)
    all.push(sql`id in (select message_id from message_keys where ${anyCondition(key.map(isKey))})`)
  if (missed !== undefined) all.push(sql`id in ${missing(missed)}`)
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

/** Messages that missed any of these, and those that they replay: the original is what a plan replays again. */
const missing = (missed: readonly TableMiss[]): Fragment => sql`(
  with recursive missing (id) as (
    select message_id from message_keys where ${anyCondition(missed.map(isMissed))}
    union
    select messages.replay_of from missing join messages on messages.id = missing.id where messages.replay_of <> ''
  )
  select id from missing
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

const isMissed = ({ table, code }: TableMiss): Fragment =>
  code === undefined
    ? sql`value = ${missedValue(table)}`
    : sql`(value = ${missedValue(table)} and name = ${keyText(code)})`

const mayOnlyFail = ({ outcome, code, stage, path, error, replayed }: MessageFilter): boolean =>
  replayed !== undefined ||
  error !== undefined ||
  (path !== undefined && !path.includes('')) ||
  (outcome !== undefined && !outcome.includes('done')) ||
  (code !== undefined && !code.includes('')) ||
  (stage !== undefined && !stage.includes(''))

/** More kinds of failure than a user reads. */
const MAX_GROUPS = 1_000

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
  order by alike.count desc, alike.last desc limit ${MAX_GROUPS}`

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
    ${where(all)} group by ${ALIKE_COLUMNS}, span.minute limit ${MAX_GROUPS * count}`
}

/** Puts the counts of the minutes beside the groups that they belong to. */
function groupsFromRows(
  rows: readonly GroupRow[],
  minuteRows: readonly MinuteRow[],
  { count }: MinuteSpan,
): readonly MessageGroup[] {
  const counts = new Map<string, number[]>()
  for (const row of minuteRows) {
    const key = toKey(row)
    const minutes = counts.get(key) ?? new Array<number>(count).fill(0)
    minutes[row.minute] = Number(row.count)
    counts.set(key, minutes)
  }
  const none = new Array<number>(count).fill(0)
  return rows.map((row) => ({ ...groupKeyFor(row), minutes: counts.get(toKey(row)) ?? none }))
}

const toKey = (row: AlikeRow): string => JSON.stringify(ALIKE.map((column) => row[column]))

function groupKeyFor(row: GroupRow): Omit<MessageGroup, 'minutes'> {
  const rest = { source: '', outcome: '', status: 0, replay_of: '', bytes: 0, version: 0, error: '', captured: 0 }
  const sample = toMessageRecord({ ...row, ...rest, id: row.last })
  return {
    endpointId: sample.endpointId,
    endpoint: sample.endpoint,
    stage: sample.stage,
    code: sample.code,
    // The group of records without a path in its column may have one in their detail.
    path: row.path === '' ? undefined : sample.path,
    count: Number(row.count),
    firstSeen: new Date(timeFromId(row.first)).toISOString(),
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
