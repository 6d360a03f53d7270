/** What is done with a file's write-ahead log away from the thread of the messages. */
import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../../domain/ports.ts'

/** Resolves when all that was committed before the call is on the disk; rejects with StoreUnavailable. */
export type FlushLog = () => Promise<void>

/**
 * Of the database at `path`, which must be open in WAL mode until the flush has ended. Node.js flushes on a thread of its
 * pool. Calls during a flush share the next one.
 */
export function compileFlushLog(path: string): FlushLog {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  function start(): Promise<void> {
    const flush = flushFile(`${path}-wal`).finally(() => {
      if (running === flush) running = undefined
    })
    running = flush
    return flush
  }

  async function startAfter(before: Promise<void>): Promise<void> {
    await before.catch(() => undefined)
    next = undefined
    await start()
  }

  return () => {
    if (running === undefined) return start()
    next ??= startAfter(running)
    return next
  }
}

async function flushFile(path: string): Promise<void> {
  try {
    // The locks of SQLite are on other files: closing this one gives up none (https://www.sqlite.org/walformat.html).
    await using file = await open(path, 'r+')
    await file.datasync()
  } catch (cause) {
    throw new StoreUnavailable('The store did not answer: writing its file to the disk failed; check the disk.', {
      cause,
    })
  }
}

/** How long a checkpoint may wait for others to end what they write or read. */
const CHECKPOINT_TIMEOUT_MS = 1_000

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
