/** Opening a file of SQLite: with its folder, for its owner alone, and with what is wrong said in a sentence. */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from '../../domain/ports.ts'
import { SchemaTooNew } from '../sql/schema-too-new.ts'
import { makeFile } from './database-file.ts'
import { isBusy, unavailableReason } from './faults.ts'

export type FileOptions = Readonly<{
  /** Of the file, which is made with its folder where it is not there; or `:memory:`. */
  path: string
  /** How long to wait for a lock that another process holds. */
  busyTimeoutMs: number
  /** Run first, on every connection. */
  pragmas: string
  /** Brings the tables up to date. */
  prepareTables(db: DatabaseSync): void
}>

/** Rejects with StoreUnavailable, in one sentence fit for the operator. */
export async function openFile(options: FileOptions): Promise<DatabaseSync> {
  const giveUpAt = performance.now() + options.busyTimeoutMs
  for (;;) {
    try {
      return connect(options)
    } catch (thrown) {
      // SQLite does not wait for the lock that a change to WAL takes, as when two processes start at once.
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

/** What kept a file from being opened, in one sentence fit for the operator. */
export function openFault(path: string, thrown: unknown): StoreUnavailable {
  const elsewhere = 'or name another file in DATABASE_URL.'
  if (thrown instanceof SchemaTooNew)
    return new StoreUnavailable(
      `The database ${path} was written by a newer version: ${thrown.message}; start that version, ${elsewhere}`,
    )
  const text = unavailableReason(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown))
  return new StoreUnavailable(`The database ${path} cannot be opened: ${text}; mend that, ${elsewhere}`, {
    cause: thrown,
  })
}
