/** What is done with a file's write-ahead log away from the thread of the messages. */
import { closeSync, fdatasync, openSync } from 'node:fs'
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
  /** Once no flush is under way, and before the database is closed. */
  close(): void
}>

const flushFile = promisify(fdatasync)

/** Of the database at `path`, no link, which must be open in WAL mode: its log stays the same file until the last one closes it. */
export function compileLogFile(path: string): LogFile {
  let file: number | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function flushNow(): Promise<void> {
    try {
      file ??= openSync(`${path}-wal`, 'r+')
      await flushFile(file)
    } catch (cause) {
      const message = 'The store did not answer: writing its file to the disk failed; check the disk.'
      throw new StoreUnavailable(message, { cause })
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
