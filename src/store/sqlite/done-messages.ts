/**
 * The records of done messages: many of them, one line each, in one row. Most records are of this kind, few of them are
 * ever read, and a row for each record would be most of their cost.
 */
import type { DatabaseSync } from 'node:sqlite'
import { idFrom } from '../../core/id.ts'
import type { MessageFilter } from '../../core/ports/message-store-port.ts'
import { columnsOf } from '../../core/records/message-record.ts'
import type { OldRecord, Used } from '../sql/message-purge.ts'
import { doneRow, type MessageRow } from '../sql/message-rows.ts'
import { type NoValues, type Sql, sql } from '../sql/sql.ts'
import { transaction } from './migrate.ts'

export type DoneMessages = Readonly<{
  /** Lines of `doneLine`, in any order, as rows by endpoint. A row that exists stays unchanged. */
  append(lines: Uint8Array): void
  /** Newest first, at most `limit`, only ids less than `before` if it is given. */
  find(filter: MessageFilter, limit: number, before?: string): MessageRow[]
  get(id: string): MessageRow | undefined
  count(filter: MessageFilter): number
  /** Removes the rows with these last ids; gives the number of their records. */
  remove(lastIds: readonly string[]): number
}>

/** Rows that one purge removes: each may have 256 KiB. */
const PURGED_ROWS = 16

/** The queries of a purge, by rows; a row leaves as a whole. */
export const DONE_USED = sql<NoValues, Used>`
  select endpoint_id, sum(length(lines)) as bytes, 0 as held from done_messages group by endpoint_id`

type OldLines = OldRecord & Readonly<{ last_id: string }>

export const doneOlder = (beforeId: string): Sql<never, OldLines> => sql`
  select last_id, first_id as id, length(lines) as bytes from done_messages
  where last_id < ${beforeId} order by last_id limit ${PURGED_ROWS}`

export const doneOldestOf = (endpointId: string): Sql<never, OldLines> => sql`
  select last_id, first_id as id, length(lines) as bytes from done_messages
  where endpoint_id = ${endpointId} order by first_id limit ${PURGED_ROWS}`

type LinesRow = Readonly<{ last_id: string; lines: Uint8Array }>

/** Sorts after every id, as ids are hexadecimal. */
const AFTER_ALL = 'g'
const LINE_END = 0x0a
const ID_LENGTH = 24

export function openDoneMessages(db: DatabaseSync): DoneMessages {
  const insert = db.prepare(
    `insert into done_messages (last_id, first_id, records, lines, endpoint_id) values (?, ?, ?, ?, ?)
    on conflict do nothing`,
  )
  const between = db.prepare(
    'select last_id, lines from done_messages where last_id >= ? and first_id < ? order by last_id desc',
  )
  const holding = db.prepare('select lines from done_messages where last_id >= ? and first_id <= ? order by last_id')
  const remove = db.prepare('delete from done_messages where last_id = ? returning records')
  const rowsBetween = (filter: MessageFilter, before = AFTER_ALL): Iterable<LinesRow> => {
    const { first, end } = idBounds(filter)
    return between.iterate(first, before < end ? before : end) as Iterable<LinesRow>
  }

  return {
    append: (lines) => {
      if (lines.byteLength === 0) return
      transaction(db, () => {
        for (const { endpointId, parts } of byEndpoint(lines)) {
          const { first, last, records } = describe(parts)
          insert.run(last, first, records, parts, endpointId)
        }
      })
    },
    find: (filter, limit, before = AFTER_ALL) => {
      let found: MessageRow[] = []
      if (!mayPassDone(filter)) return found
      for (const row of rowsBetween(filter, before)) {
        const least = found[limit - 1]
        if (least !== undefined && least.id > row.last_id) break
        for (const message of messagesOf(row, filter)) if (message.id < before) found.push(message)
        found = found.sort(newestFirst).slice(0, limit)
      }
      return found
    },
    get: (id) => {
      for (const { lines } of holding.iterate(id, id) as Iterable<LinesRow>) {
        if (!bytesOf(lines).includes(id)) continue
        for (const message of messagesIn(lines)) if (message.id === id) return message
      }
      return undefined
    },
    count: (filter) => {
      let count = 0
      if (mayPassDone(filter)) for (const row of rowsBetween(filter)) count += messagesOf(row, filter).length
      return count
    },
    remove: (lastIds) =>
      lastIds.reduce((sum, id) => sum + Number((remove.get(id) as { records: number } | undefined)?.records ?? 0), 0),
  }
}

export const newestFirst = (one: Pick<MessageRow, 'id'>, other: Pick<MessageRow, 'id'>): number =>
  one.id < other.id ? 1 : -1

/** Between the least and the greatest of the ids, if the filter names some. */
function idBounds({ id, from, to }: MessageFilter): Readonly<{ first: string; end: string }> {
  const first = from === undefined ? '' : idFrom(from)
  const end = to === undefined ? AFTER_ALL : idFrom(to)
  if (id === undefined) return { first, end }
  const [least = AFTER_ALL, ...others] = id.toSorted()
  // No id lies between one and the same with a further digit.
  const afterGreatest = `${others.at(-1) ?? least}0`
  return { first: first > least ? first : least, end: end < afterGreatest ? end : afterGreatest }
}

const bytesOf = (lines: Uint8Array): Buffer => Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength)

/** Each line starts with an id. The lines are in the order in which the messages ended, not that of their ids. */
function describe(lines: Uint8Array): Readonly<{ first: string; last: string; records: number }> {
  const bytes = bytesOf(lines)
  let first = AFTER_ALL
  let last = ''
  let records = 0
  for (let start = 0; start < bytes.length; start = bytes.indexOf(LINE_END, start) + 1) {
    const id = bytes.toString('latin1', start, start + ID_LENGTH)
    if (id < first) first = id
    if (id > last) last = id
    records += 1
  }
  return { first, last, records }
}

/** An endpoint that has less of a batch shares a row with others: a row for each would cost more than the lines in it. */
const OWN_ROW_PART = 1 / 8
const SEVERAL = '*'

type Part = { bytes: number; lines: Buffer[] }

/** The lines by the endpoint that they name behind their id. */
function byEndpoint(lines: Uint8Array): readonly Readonly<{ endpointId: string; parts: Buffer }>[] {
  const bytes = bytesOf(lines)
  const parts = new Map<string, Part>()
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = bytes.indexOf(LINE_END, start) + 1
    const at = start + ID_LENGTH + 1
    addLine(parts, bytes.toString('latin1', at, at + ID_LENGTH), bytes.subarray(start, end))
  }
  const rows = new Map<string, Part>()
  for (const [endpointId, part] of parts) {
    const row = part.bytes < bytes.length * OWN_ROW_PART ? SEVERAL : endpointId
    for (const line of part.lines) addLine(rows, row, line)
  }
  return [...rows].map(([endpointId, row]) => ({
    endpointId,
    parts: row.bytes === bytes.length ? bytes : Buffer.concat(row.lines),
  }))
}

function addLine(parts: Map<string, Part>, key: string, line: Buffer): void {
  const part = parts.get(key)
  if (part === undefined) parts.set(key, { bytes: line.length, lines: [line] })
  else {
    part.bytes += line.length
    part.lines.push(line)
  }
}

function* messagesIn(lines: Uint8Array): Generator<MessageRow> {
  for (const columns of columnsOf(bytesOf(lines).toString())) yield doneRow(columns)
}

function messagesOf({ lines }: LinesRow, filter: MessageFilter): MessageRow[] {
  const bytes = bytesOf(lines)
  // A search for a few endpoints or messages skips most rows.
  for (const ids of [filter.endpointId, filter.id]) {
    if (ids !== undefined && !ids.some((id) => bytes.includes(id))) return []
  }
  return [...messagesIn(lines)].filter((message) => isAmong(message, filter))
}

/** Whether a done record can pass the filter: it has no failure, no replay, no business key and no capture. */
const mayPassDone = ({
  outcome,
  code,
  stage,
  path,
  error,
  key,
  replayOf,
  replayed,
  captured,
}: MessageFilter): boolean =>
  key === undefined &&
  error === undefined &&
  replayed === undefined &&
  captured !== true &&
  (outcome === undefined || outcome.includes('done')) &&
  [code, stage, path, replayOf].every((values) => values === undefined || values.includes(''))

function isAmong({ id, endpoint_id, version, source, status }: MessageRow, filter: MessageFilter): boolean {
  const { endpointId, from, to } = filter
  return (
    (filter.id === undefined || filter.id.includes(id)) &&
    (filter.version === undefined || filter.version.includes(version)) &&
    (endpointId === undefined || endpointId.includes(endpoint_id)) &&
    (filter.source === undefined || filter.source.some((one) => one === source)) &&
    (filter.status === undefined || filter.status.includes(status)) &&
    (from === undefined || id >= idFrom(from)) &&
    (to === undefined || id < idFrom(to))
  )
}
