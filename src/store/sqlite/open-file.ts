/** Opening a file of SQLite: makes it and its folder, readable by its owner only, and describes what is wrong with it. */
import { closeSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { makeFolder } from '../../core/files/files.ts'
import { UnknownSchema } from '../sql/schema.ts'
import { StoreUnavailable } from '../store-access.ts'
import { isBusy, unavailableReason } from './error-codes.ts'

export type FileOptions = Readonly<{
  /** Of the file, which is created with its folder if absent; or `:memory:`. */
  path: string
  /** How long to wait for a lock that another process holds. */
  busyTimeoutMs: number
  /** Run first, on every connection. */
  pragmas: string
  /** Brings the tables up to date. */
  prepareTables(db: DatabaseSync): void
}>

/** Rejects with StoreUnavailable, whose message is one sentence for the operator. */
export async function openFile(options: FileOptions): Promise<DatabaseSync> {
  const giveUpAt = performance.now() + options.busyTimeoutMs
  for (;;) {
    try {
      return connect(options)
    } catch (thrown) {
      // SQLite does not wait for the lock of the change to WAL mode, which two starting processes may both want.
      if (!isBusy(thrown) || performance.now() > giveUpAt) throw openFault(options.path, thrown)
      await pause(20)
    }
  }
}

function connect({ path, busyTimeoutMs, pragmas, prepareTables }: FileOptions): DatabaseSync {
  const db = new DatabaseSync(path === ':memory:' ? path : makeFile(path), { timeout: busyTimeoutMs })
  try {
    db.exec(pragmas)
    prepareTables(db)
    return db
  } catch (thrown) {
    db.close()
    throw thrown
  }
}

/** Why a file could not be opened, as one sentence for the operator. */
export function openFault(path: string, thrown: unknown): StoreUnavailable {
  const elsewhere = 'or name another file in DATABASE_URL.'
  if (thrown instanceof UnknownSchema)
    return new StoreUnavailable(`The database ${path} ${thrown.message}; start that version, ${elsewhere}`)
  const text = unavailableReason(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown))
  return new StoreUnavailable(`The database ${path} cannot be opened: ${text}; fix that, ${elsewhere}`, {
    cause: thrown,
  })
}

/** Creates the file if absent, readable by its owner only, as documents may hold credentials. Gives its absolute path. */
export function makeFile(path: string): string {
  // Absolute, so that SQLite cannot read a path as a URI.
  const file = resolve(path)
  makeFolder(dirname(file))
  const found = statSync(file, { throwIfNoEntry: false })
  // Opening a pipe would wait for a writer. A folder is refused by the operating system.
  if (found !== undefined && !found.isFile() && !found.isDirectory()) throw new Error('it is no regular file')
  closeSync(openSync(file, 'a', 0o600))
  return file
}
