/**
 * Only one service works on a file, as two would not notice each other's changes. Two locks of the operating system, which
 * releases them however the process ends: one on a file beside the database, which commands find by its name, and one on
 * the database itself, which holds for all of its names. Neither keeps backups and queries of people out.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../store-access.ts'
import { isBusy, makeFile, openFault } from './sqlite-file.ts'

/** Of several processes that ask at once one must get the lock: each releases what it holds and retries. */
const WAIT_MS = 500

export type ServiceLock = Readonly<{ release(): void }>

/** Takes the lock of a database. Throws StoreUnavailable, whose message is one sentence for the operator. */
export function takeServiceLock(path: string): ServiceLock {
  const taken = tryServiceLock(path)
  if (taken !== undefined) return taken
  throw inUse(path)
}

/**
 * As `takeServiceLock`; undefined if a running service holds the lock and knows the file by this name, so that others may
 * open it beside that service.
 */
export function tryServiceLock(path: string): ServiceLock | undefined {
  if (path === ':memory:') return { release() {} }
  let named: ServiceLock
  let file: string
  try {
    file = realpathSync(makeFile(path))
    named = lock(`${file}.lock`)
  } catch (thrown) {
    if (isBusy(thrown)) return undefined
    throw openFault(path, thrown)
  }
  const whole = lockFile(file)
  if (whole === undefined) {
    named.release()
    // A hard link, a mount, or someone removed the first lock. SQLite would keep a second log of changes for another name.
    throw inUse(path, 'use the name that it uses, ')
  }
  return {
    release: () => {
      whole.release()
      named.release()
    },
  }
}

const inUse = (path: string, hint = ''): StoreUnavailable =>
  new StoreUnavailable(
    `The database ${path} is in use by a running service; stop that one first, ${hint}or let several share a PostgreSQL.`,
  )

/**
 * Locks the file by flock(2), which belongs to the file whatever its name and does not touch the locks of SQLite (fcntl).
 * Node.js has no call for it, so flock(1) of util-linux or BusyBox takes the lock on a descriptor of this process, which
 * keeps it. Undefined if another process has it. On a system without that program, or a file system without such locks, the
 * lock by name must do.
 */
function lockFile(file: string): ServiceLock | undefined {
  const descriptor = openSync(file, 'r')
  const { status } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
  let isOpen = true
  const release = () => {
    if (isOpen) closeSync(descriptor)
    isOpen = false
  }
  if (status !== HELD_ELSEWHERE) return { release }
  release()
  return undefined
}

/** The exit code of flock(1). */
const HELD_ELSEWHERE = 1

/** Uses SQLite, which locks the same way on every system. Nothing is ever written to the file. */
function lock(file: string): ServiceLock {
  for (;;) {
    makeEmpty(file)
    const before = readInode(file)
    const db = new DatabaseSync(file, { timeout: WAIT_MS })
    try {
      db.exec('BEGIN EXCLUSIVE')
    } catch (thrown) {
      db.close()
      throw thrown
    }
    // The former holder has removed the file: a lock on a removed file would exclude no other process.
    if (before !== undefined && before === readInode(file)) return { release: () => release(db, file) }
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

const readInode = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino
