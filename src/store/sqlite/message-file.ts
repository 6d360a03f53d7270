/** The file of the message log, used on the thread that opened it. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { idFrom } from '../../core/id.ts'
import { formatLine, parseLines, type Recorded } from '../../core/records/message-record.ts'
import type { OldRecord, Used } from '../sql/message-purge.ts'
import { doneRow, keyRows, MESSAGE_COLUMNS, type MessageFilter, type MessageRow, messageRow } from '../sql/messages.ts'
import { renderMigrations } from '../sql/migrations.ts'
import { keyText } from '../sql/schema.ts'
import { type NoValues, type Sql, type SqlValue, sql } from '../sql/sql.ts'
import { StoreUnavailable } from '../store-access.ts'
import { migrate, openFile, transaction } from './sqlite-file.ts'

export type TextQuery = Readonly<{ text: string; values: readonly SqlValue[] }>

export type MessageFile = Readonly<{
  /** Throws StoreUnavailable if the disk has too little space; so does `done.append`. */
  append(batch: EncodedBatch): void
  done: Pick<DoneMessages, 'append' | 'find' | 'get' | 'count'>
  /** Throws if records cannot be read or stored. */
  ping(): void
  /** How many bytes the disk lacks of its reserve. */
  missingBytes(): number
  all(query: TextQuery): unknown[]
  /** The size of the pages in use; free pages are reused before the file grows. */
  usedBytes(): number
  /** Removes the records with these ids, and the rows of lines with these last ids. Gives the number of records. */
  remove(ids: readonly string[], lines: readonly string[]): number
  close(): void
}>

const BUSY_TIMEOUT_MS = 5_000

/** Pages returned to the file system after a purge; new records reuse the others. */
const VACUUMED_PAGES = 16

/**
 * With synchronous NORMAL a power failure may cost the last records, never the file (https://www.sqlite.org/pragma.html).
 * Rows hold many records each; large pages make a fourth of the system calls.
 */
const PRAGMAS = `PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 250; PRAGMA journal_size_limit = 8388608`

/** Rejects with StoreUnavailable, whose message is one sentence for the operator. */
export async function openMessageFile(path: string, reserveBytes?: number): Promise<MessageFile> {
  const db = await openFile({
    path,
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    pragmas: PRAGMAS,
    prepareTables: (opened) => void migrate(opened, renderMigrations('sqlite messages')),
  })
  const append = compileAppendBatch(db)
  const done = openDoneMessages(db)
  const disk = new DiskReserve(path, reserveBytes)
  const first = db.prepare('select 1 from messages limit 1')
  const remove = compileRemove(db)
  const vacuum = db.prepare(`PRAGMA incremental_vacuum(${VACUUMED_PAGES})`)
  const all = ({ text, values }: TextQuery) => db.prepare(text).all(...values)
  return {
    append: (batch) => {
      disk.demandSpace()
      append(batch)
    },
    done: {
      ...done,
      append: (lines) => {
        disk.demandSpace()
        done.append(lines)
      },
    },
    ping: () => {
      first.get()
      disk.demandSpace()
    },
    missingBytes: () => disk.missingBytes(),
    all,
    usedBytes: () => usedBytes(db),
    remove: (ids, lines) => {
      const removed = transaction(db, () => {
        remove(ids)
        return ids.length + done.remove(lines)
      })
      // All free pages, and those that the log of changes holds.
      if (removed > 0 && disk.missingBytes() > 0) db.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)')
      else if (removed > 0) vacuum.all()
      return removed
    },
    close: () => db.close(),
  }
}

function compileAppendBatch(db: DatabaseSync): (batch: EncodedBatch) => void {
  const marks = COLUMNS.map(() => '?').join(', ')
  const message = db.prepare(`insert into messages (${COLUMNS.join(', ')}) values (${marks}) on conflict do nothing`)
  const key = db.prepare('insert into message_keys (message_id, value, name) values (?, ?, ?) on conflict do nothing')
  const body = db.prepare(
    'insert into message_bodies (message_id, which, content) values (?, ?, ?) on conflict do nothing',
  )
  return ({ messages, keys, bodies, contents }) =>
    transaction(db, () => {
      for (const columns of parseLines(messages)) message.run(...columns)
      for (const columns of parseLines(keys)) key.run(...columns)
      let at = 0
      for (const [id = '', which = '', size] of parseLines(bodies)) {
        body.run(id, which, new Uint8Array(contents, at, Number(size)))
        at += Number(size)
      }
    })
}

function compileRemove(db: DatabaseSync): (ids: readonly string[]) => void {
  const statements = [
    'delete from message_keys where message_id = ?',
    'delete from message_bodies where message_id = ?',
    'delete from messages where id = ?',
  ].map((text) => db.prepare(text))
  return (ids) => {
    for (const id of ids) for (const statement of statements) statement.run(id)
  }
}

function usedBytes(db: DatabaseSync): number {
  const pragma = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
}

/** The columns of a line of `messages`. */
const COLUMNS = Object.keys(MESSAGE_COLUMNS) as (keyof MessageRow)[]

/**
 * A batch of records as sent to the thread that writes it: lines of text and one buffer. Sending thousands of objects
 * would cost the thread of the messages more than writing them.
 */
export type EncodedBatch = Readonly<{
  messages: string
  /** Id of the message, value, name. */
  keys: string
  /** Id of the message, name, size in bytes; the contents are concatenated in `contents`. */
  bodies: string
  contents: ArrayBuffer
}>

export function encodeBatch(batch: readonly Recorded[]): EncodedBatch {
  let messages = ''
  let keys = ''
  let bodies = ''
  let size = 0
  for (const recorded of batch) {
    const row = messageRow(recorded)
    messages += formatLine(COLUMNS.map((column) => row[column]))
    const { record } = recorded
    for (const { message_id, value, name } of keyRows(record)) keys += formatLine([message_id, value, name])
    for (const { summary, content } of recorded.bodies) {
      bodies += formatLine([record.id, keyText(summary.which), content.byteLength])
      size += content.byteLength
    }
  }
  return { messages, keys, bodies, contents: joined(batch, size) }
}

function joined(batch: readonly Recorded[], size: number): ArrayBuffer {
  const contents = new Uint8Array(size)
  let at = 0
  for (const { bodies } of batch) {
    for (const { content } of bodies) {
      contents.set(content, at)
      at += content.byteLength
    }
  }
  return contents.buffer
}

const DEFAULT_BYTES = 256 * 1024 * 1024
/** Of the file system, if that is less. */
const DEFAULT_SHARE = 1 / 10

/** A look takes some microseconds, and a batch is written some ten times in a second. */
const LOOK_EVERY_MS = 250

/**
 * The space that the message log leaves to the store, which is on the same disk: endpoints, state and idempotency matter
 * more than records of messages. Below the reserve the oldest records are removed, below half of it no new one is stored.
 */
class DiskReserve {
  readonly #path: string
  readonly #givenBytes: number | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #missingBytes = 0
  #reserveBytes = 0

  constructor(path: string, reserveBytes: number | undefined) {
    this.#path = path
    this.#givenBytes = reserveBytes
  }

  /** How many bytes are missing of the reserve; 0 or less if none is. */
  missingBytes(): number {
    this.#look()
    return this.#missingBytes
  }

  /** Throws StoreUnavailable if half of the reserve is used. */
  demandSpace(): void {
    this.#look()
    if (this.#missingBytes <= this.#reserveBytes / 2) return
    throw new StoreUnavailable(
      'The disk has less free space than the message log leaves to the store (MESSAGE_LOG_DISK_RESERVE_MB); free some space.',
    )
  }

  #look(): void {
    if (this.#path === ':memory:' || performance.now() - this.#lookedAt < LOOK_EVERY_MS) return
    this.#lookedAt = performance.now()
    const { bavail, blocks, bsize } = statfsSync(dirname(this.#path))
    this.#reserveBytes = this.#givenBytes ?? Math.min(DEFAULT_BYTES, blocks * bsize * DEFAULT_SHARE)
    this.#missingBytes = this.#reserveBytes - bavail * bsize
  }
}

/**
 * The records of done messages: many of them, one line each, in one row. Most records are of this kind, few of them are
 * ever read, and a row for each record would be most of their cost.
 */
type DoneMessages = Readonly<{
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

export const selectOldestDone = (endpointId: string): Sql<never, OldLines> => sql`
  select last_id, first_id as id, length(lines) as bytes from done_messages
  where endpoint_id = ${endpointId} order by first_id limit ${PURGED_ROWS}`

type LinesRow = Readonly<{ last_id: string; lines: Uint8Array }>

/** Sorts after every id, as ids are hexadecimal. */
const AFTER_ALL = 'g'
const LINE_END = 0x0a
const ID_LENGTH = 24

function openDoneMessages(db: DatabaseSync): DoneMessages {
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
        const min = found[limit - 1]
        if (min !== undefined && min.id > row.last_id) break
        for (const message of messagesFromLines(row, filter)) if (message.id < before) found.push(message)
        found = found.sort(newestFirst).slice(0, limit)
      }
      return found
    },
    get: (id) => {
      for (const { lines } of holding.iterate(id, id) as Iterable<LinesRow>) {
        if (!toBuffer(lines).includes(id)) continue
        for (const message of messagesIn(lines)) if (message.id === id) return message
      }
      return undefined
    },
    count: (filter) => {
      let count = 0
      if (mayPassDone(filter)) for (const row of rowsBetween(filter)) count += messagesFromLines(row, filter).length
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
  const [min = AFTER_ALL, ...others] = id.toSorted()
  // No id lies between one and the same with a further digit.
  const afterGreatest = `${others.at(-1) ?? min}0`
  return { first: first > min ? first : min, end: end < afterGreatest ? end : afterGreatest }
}

const toBuffer = (lines: Uint8Array): Buffer => Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength)

/** Each line starts with an id. The lines are in the order in which the messages ended, not that of their ids. */
function describe(lines: Uint8Array): Readonly<{ first: string; last: string; records: number }> {
  const bytes = toBuffer(lines)
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
  const bytes = toBuffer(lines)
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
  for (const columns of parseLines(toBuffer(lines).toString())) yield doneRow(columns)
}

function messagesFromLines({ lines }: LinesRow, filter: MessageFilter): MessageRow[] {
  const bytes = toBuffer(lines)
  // A search for a few endpoints or messages skips most rows.
  for (const ids of [filter.endpointId, filter.id]) {
    if (ids !== undefined && !ids.some((id) => bytes.includes(id))) return []
  }
  const { first, end } = idBounds(filter)
  return [...messagesIn(lines)].filter((one) => one.id >= first && one.id < end && isAmong(one, filter))
}

/** True if a done record can pass the filter: it has no failure, no replay, no business key, no missed code and no capture. */
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
  missed,
}: MessageFilter): boolean =>
  key === undefined &&
  missed === undefined &&
  error === undefined &&
  replayed === undefined &&
  captured !== true &&
  (outcome === undefined || outcome.includes('done')) &&
  [code, stage, path, replayOf].every((values) => values === undefined || values.includes(''))

function isAmong({ id, endpoint_id, version, source, status }: MessageRow, filter: MessageFilter): boolean {
  const { endpointId } = filter
  return (
    (filter.id === undefined || filter.id.includes(id)) &&
    (filter.version === undefined || filter.version.includes(version)) &&
    (endpointId === undefined || endpointId.includes(endpoint_id)) &&
    (filter.source === undefined || filter.source.some((one) => one === source)) &&
    (filter.status === undefined || filter.status.includes(status))
  )
}
