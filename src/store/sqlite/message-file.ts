/** The file of the message log, used on the thread that opened it. */
import type { DatabaseSync } from 'node:sqlite'
import { columnsOf } from '../../domain/records/done-line.ts'
import { migrationsOf } from '../sql/schema.ts'
import type { SqlValue } from '../sql/sql.ts'
import { watchDisk } from './disk-reserve.ts'
import { type DoneMessages, openDoneMessages } from './done-messages.ts'
import { COLUMNS, type EncodedBatch } from './message-batch.ts'
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
  const disk = watchDisk(path, reserveBytes)
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
    missingBytes: disk.missingBytes,
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
