/**
 * Only one service works on a file, as two would not notice each other's changes. The lock is one of the operating system,
 * which releases it however the process ends. It is on a file beside the database, so that backups and queries of people
 * can still read the database itself.
 */
import { realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../../domain/ports/store-port.ts'
import { isBusy } from './error-codes.ts'
import { makeFile, openFault } from './open-file.ts'

/** Of several processes that ask at once one must get the lock: each releases what it holds and retries. */
const WAIT_MS = 500

export type ServiceLock = Readonly<{ release(): void }>

/** Takes the lock of a database. Throws StoreUnavailable, whose message is one sentence for the operator. */
export function takeServiceLock(path: string): ServiceLock {
  const taken = tryServiceLock(path)
  if (taken !== undefined) return taken
  throw new StoreUnavailable(
    `The database ${path} is in use by a running service; stop that one first, or let several share a PostgreSQL.`,
  )
}

/** As `takeServiceLock`; undefined if a running service holds the lock. */
export function tryServiceLock(path: string): ServiceLock | undefined {
  if (path === ':memory:') return { release() {} }
  try {
    return lock(`${realpathSync(makeFile(path))}.lock`)
  } catch (thrown) {
    if (isBusy(thrown)) return undefined
    throw openFault(path, thrown)
  }
}

/** Uses SQLite, which locks the same way on every system. Nothing is ever written to the file. */
function lock(file: string): ServiceLock {
  for (;;) {
    makeEmpty(file)
    const before = inodeOf(file)
    const db = new DatabaseSync(file, { timeout: WAIT_MS })
    try {
      db.exec('BEGIN EXCLUSIVE')
    } catch (thrown) {
      db.close()
      throw thrown
    }
    // The former holder has removed the file: a lock on a removed file would exclude no other process.
    if (before !== undefined && before === inodeOf(file)) return { release: () => release(db, file) }
    db.close()
  }
}

function release(db: DatabaseSync, file: string): void {
  if (!db.isOpen) return
  rmSync(file, { force: true })
  db.close()
}

/** Never opens an existing file: closing it would release a lock that this process holds on it. */
function makeEmpty(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino
