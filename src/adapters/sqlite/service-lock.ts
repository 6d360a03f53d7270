/**
 * One service works on a file, since two would not see what the other is told. The lock is one of the operating system,
 * which takes it back however the process ends. It is on a file beside the database, so that backups, and people with a
 * query, can still look into the database itself.
 */
import { realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../../domain/ports.ts'
import { makeFile } from './database-file.ts'
import { isBusy } from './faults.ts'
import { openFault } from './open-file.ts'

/** Of several that ask at the same moment one must get it: each lets go of what it has and asks again. */
const WAIT_MS = 500

export type ServiceLock = Readonly<{ release(): void }>

/** Takes the lock of a database, or throws StoreUnavailable in one sentence fit for the operator. */
export function takeServiceLock(path: string): ServiceLock {
  const taken = tryServiceLock(path)
  if (taken !== undefined) return taken
  throw new StoreUnavailable(
    `The database ${path} is in use by a running service; stop that one first, or let several share a PostgreSQL.`,
  )
}

/** The same; undefined where a running service has it. */
export function tryServiceLock(path: string): ServiceLock | undefined {
  if (path === ':memory:') return { release() {} }
  try {
    return lock(`${realpathSync(makeFile(path))}.lock`)
  } catch (thrown) {
    if (isBusy(thrown)) return undefined
    throw openFault(path, thrown)
  }
}

/** SQLite takes and gives back the lock the same way on every system. Nothing is ever written to the file. */
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
    // Who had the lock until now has removed its file: a lock on that would keep nobody out.
    if (before !== undefined && before === inodeOf(file)) return { release: () => release(db, file) }
    db.close()
  }
}

function release(db: DatabaseSync, file: string): void {
  if (!db.isOpen) return
  rmSync(file, { force: true })
  db.close()
}

/** Never opens a file that is there: closing it again would give back a lock that this process holds on it. */
function makeEmpty(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino
