/** Work on the write-ahead log of a file that must not block the thread of the messages. */
import { closeSync, fdatasync, openSync, readSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { storeUnavailable } from '../sql/database.ts'
import type { StoreUnavailable } from '../store-access.ts'

/** Resolves when all transactions committed before the call are on the disk; rejects with StoreUnavailable. */
export type FlushLog = () => Promise<void>

export type LogFile = Readonly<{
  /** The path of the database. */
  database: string
  /** Node.js flushes on a thread of its pool. Calls during a flush share the next one. */
  flush: FlushLog
  /**
   * Overwrites the log with its own content, so that the next flush writes all of it to the disk: after a failed flush the
   * system may take the lost pages for written (https://lwn.net/Articles/752063/). A checkpoint would not do: it relies on
   * the log being on the disk, and waits for readers. No other connection may write the log meanwhile: call it within a
   * transaction that writes. Throws StoreUnavailable.
   */
  rewrite(): void
  /** To be called when no flush is running, before the database is closed. */
  close(): void
}>

const flushFile = promisify(fdatasync)

const REWRITTEN_AT_ONCE_BYTES = 1 << 20

const notWritten = (cause: unknown): StoreUnavailable =>
  storeUnavailable('writing its file to the disk failed; check the disk', { cause })

/**
 * `path`: of a database that is open in WAL mode, with links resolved. Its log stays one file until the last connection
 * closes.
 */
export function compileLogFile(path: string): LogFile {
  let file: number | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function open(): number {
    file ??= openSync(`${path}-wal`, 'r+')
    return file
  }

  async function flushNow(): Promise<void> {
    try {
      await flushFile(open())
    } catch (cause) {
      throw notWritten(cause)
    }
  }

  function start(): Promise<void> {
    running = flushNow().finally(() => {
      running = undefined
    })
    return running
  }

  async function startAfter(before: Promise<void>): Promise<void> {
    await before.catch(() => undefined)
    next = undefined
    await start()
  }

  return {
    database: path,
    flush: () => {
      if (next !== undefined) return next
      if (running === undefined) return start()
      next = startAfter(running)
      return next
    },
    rewrite: () => {
      try {
        const log = open()
        const part = Buffer.allocUnsafe(REWRITTEN_AT_ONCE_BYTES)
        for (let at = 0; ; ) {
          const read = readSync(log, part, 0, part.length, at)
          if (read === 0) return
          at += writeSync(log, part, 0, read, at)
        }
      } catch (cause) {
        throw notWritten(cause)
      }
    },
    close: () => {
      // SQLite's locks are on other files, so that closing this one releases none (https://www.sqlite.org/walformat.html).
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** How long a checkpoint waits for writers and readers: no process can write meanwhile. */
const CHECKPOINT_TIMEOUT_MS = 20

/**
 * Copies the log into the database, so that the log restarts; blocks this thread until the disk has it. The first step
 * lets writers go on. The second one holds the write lock and copies what was written meanwhile: while others write, the
 * first step alone would never reach the end of the log.
 */
export function checkpoint(path: string): void {
  const db = new DatabaseSync(path, { timeout: CHECKPOINT_TIMEOUT_MS })
  try {
    db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA wal_checkpoint(RESTART)')
  } finally {
    db.close()
  }
}
