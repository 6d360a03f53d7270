/** What is done with a file's write-ahead log away from the thread of the messages. */
import { closeSync, fdatasync, openSync, readSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { StoreUnavailable } from '../../domain/ports.ts'

/** Resolves when all that was committed before the call is on the disk; rejects with StoreUnavailable. */
export type FlushLog = () => Promise<void>

export type LogFile = Readonly<{
  /** The path of the database. */
  database: string
  /** Node.js flushes on a thread of its pool. Calls during a flush share the next one. */
  flush: FlushLog
  /**
   * Writes over the log what it holds, so that the next flush takes all of it to the disk: of what a flush could not, the
   * system may think that it is there (https://lwn.net/Articles/752063/). Not by a checkpoint, which relies on the log
   * being on the disk, and waits for who reads. Nobody else may write the log meanwhile: call it within a transaction
   * that writes. Throws StoreUnavailable.
   */
  rewrite(): void
  /** Once no flush is under way, and before the database is closed. */
  close(): void
}>

const flushFile = promisify(fdatasync)

const REWRITTEN_AT_ONCE_BYTES = 1 << 20

const notWritten = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('The store did not answer: writing its file to the disk failed; check the disk.', { cause })

/** Of the database at `path`, no link, which must be open in WAL mode: its log stays the same file until the last one closes it. */
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
      // SQLite's locks are on other files: closing this one gives up none (https://www.sqlite.org/walformat.html).
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** How long a checkpoint may wait for others to end what they write or read: for so long nobody can write. */
const CHECKPOINT_TIMEOUT_MS = 20

/**
 * Brings what the log holds into the database, so that the log begins anew; waits for the disk, on this thread. First
 * without keeping anybody from writing, then, under the lock of writers, what was written meanwhile: while others write,
 * the first alone would never come to the end.
 */
export function checkpoint(path: string): void {
  const db = new DatabaseSync(path, { timeout: CHECKPOINT_TIMEOUT_MS })
  try {
    db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA wal_checkpoint(RESTART)')
  } finally {
    db.close()
  }
}
