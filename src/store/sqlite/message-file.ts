/** The file of the message log, used on the thread that opened it. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../../core/ports/store-port.ts'
import { columnsOf, lineOf, type Recorded } from '../../core/records/message-record.ts'
import { keyRows, MESSAGE_COLUMNS, type MessageRow, messageRow } from '../sql/message-rows.ts'
import { migrationsOf } from '../sql/schema.ts'
import type { SqlValue } from '../sql/sql.ts'
import { keyText } from '../sql/tables.ts'
import { type DoneMessages, openDoneMessages } from './done-messages.ts'
import { migrate, transaction } from './migrate.ts'
import { openFile } from './open-file.ts'

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
    prepareTables: (opened) => void migrate(opened, migrationsOf('sqlite messages')),
  })
  const append = compileAppendBatch(db)
  const done = openDoneMessages(db)
  const disk = new DiskReserve(path, reserveBytes)
  const first = db.prepare('select 1 from messages limit 1')
  const remove = compileRemove(db)
  const vacuum = db.prepare(`PRAGMA incremental_vacuum(${VACUUMED_PAGES})`)
  /** All free pages, and those that the log of changes holds. */
  const giveBack = { all: () => db.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)') }
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
      if (removed > 0 && disk.missingBytes() > 0) giveBack.all()
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
      for (const columns of columnsOf(messages)) message.run(...columns)
      for (const columns of columnsOf(keys)) key.run(...columns)
      let at = 0
      for (const [id = '', which = '', size] of columnsOf(bodies)) {
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
 * A batch of records as it is sent to the thread that writes it: lines of text and one buffer. Sending thousands of objects
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
    messages += lineOf(COLUMNS.map((column) => row[column]))
    const { record } = recorded
    for (const { message_id, value, name } of keyRows(record)) keys += lineOf([message_id, value, name])
    for (const { summary, content } of recorded.bodies) {
      bodies += lineOf([record.id, keyText(summary.which), content.byteLength])
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
 * The space that the message log leaves to the store, which is on the same disk: endpoints, state and idempotency matter more
 * than records of messages. Below the reserve the oldest records are removed, below half of it no new one is stored.
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
