/**
 * A file of SQLite: it is made with its folder, readable by its owner only; its tables are brought up to date; and its
 * faults are reasons why the store is unavailable.
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { makeFolder } from '../../core/files/files.ts'
import type { Columns, CopiedRow, Snapshot } from '../sql/copied-tables.ts'
import { compileStoreFault } from '../sql/database.ts'
import {
  dueMigrations,
  RAN_MIGRATIONS,
  type RanMigration,
  type TextMigration,
  UnknownSchema,
} from '../sql/migrations.ts'
import { StoreUnavailable } from '../store-access.ts'

type FileOptions = Readonly<{
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
  if (found !== undefined && !found.isFile() && !found.isDirectory()) throw new Error('it is not a regular file')
  closeSync(openSync(file, 'a', 0o600))
  return file
}

const ranMigrations = (db: DatabaseSync) => db.prepare(RAN_MIGRATIONS).all() as RanMigration[]

/** Throws if the schema is not that of this version. */
export function demandVersion(db: DatabaseSync, migrations: readonly TextMigration[]): void {
  const ran = ranMigrations(db)
  if (ran.length === migrations.length && ran.every(({ name }, index) => name === migrations[index]?.name)) return
  throw new Error('the service that runs on it is of another version; use the commands of that version')
}

/**
 * Runs the migrations that are due, all in one transaction: a process that crashes meanwhile leaves the file unchanged.
 * In: all migrations of this version, oldest first. Gives the names of those that ran. Throws UnknownSchema, or what SQLite
 * throws.
 */
export function migrate(db: DatabaseSync, migrations: readonly TextMigration[]): readonly string[] {
  // Locks before the version is read: of two processes that start at once, the second finds the migrations done.
  return transaction(db, () => {
    db.exec(
      'create table if not exists schema_version (version integer not null primary key, name text not null) strict',
    )
    const due = dueMigrations(ranMigrations(db), migrations)
    const note = db.prepare('insert into schema_version (version, name) values (?, ?)')
    for (const [index, { name, statements }] of due.entries()) {
      for (const statement of statements) db.exec(statement)
      note.run(migrations.length - due.length + index + 1, name)
    }
    return due.map(({ name }) => name)
  })
}

/** Commits all that `work` writes, or nothing if it throws. Takes the write lock first. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}

/**
 * The snapshot of the moment of the call. The tables must be up to date. Throws StoreUnavailable, or what SQLite throws.
 */
export function openSnapshot(path: string): Snapshot {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    // A transaction sees the database as of its first read.
    db.exec('begin; select 1 from schema_version')
  } catch (thrown) {
    db.close()
    throw storeFault(thrown)
  }
  return {
    columns: ({ table }) =>
      Object.fromEntries(
        db
          .prepare('select name, type from pragma_table_info(?)')
          .all(table)
          .map(({ name, type }) => [name, toColumnKind(`${type}`)]),
      ),
    rows: function* ({ table, key, only = 'true' }) {
      try {
        const query = db.prepare(`select * from ${table} where ${only} order by ${key.join(', ')}`)
        for (const row of query.iterate()) yield row as CopiedRow
      } catch (thrown) {
        throw storeFault(thrown)
      }
    },
    close: () => db.close(),
  }
}

const toColumnKind = (type: string): Columns[string] => {
  const name = type.toLowerCase()
  return name === 'blob' ? 'bytes' : name === 'integer' ? 'integer' : 'text'
}

/** True if the file holds a store of any version of the service. Throws what SQLite throws. */
export function holdsStore(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    return db.prepare(`select 1 from sqlite_master where name = 'schema_version'`).get() !== undefined
  } finally {
    db.close()
  }
}

/**
 * Primary result codes (https://www.sqlite.org/rescode.html) of faults of the file, the disk or another process. The
 * other codes report a wrong query or value, which a retry does not fix.
 */
const UNAVAILABLE: Readonly<Record<number, string>> = {
  3: 'access to its file is not permitted',
  5: 'another process holds its lock',
  6: 'another connection holds its lock',
  7: 'there is not enough memory',
  8: 'its file cannot be written; check the permissions of the file and its folder',
  9: 'the operation was interrupted',
  10: 'reading or writing its file failed; check the disk',
  11: 'its file is damaged; restore it from a backup',
  13: 'the disk is full; free some space',
  14: 'its file cannot be opened',
  15: 'its locks cannot be taken; check that the file is on a local disk',
  26: 'its file is not an SQLite database',
}

const BUSY = 5
const IO_ERROR = 10

/** The primary result code of an error that node:sqlite threw; undefined for any other error. */
function resultCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return undefined
  return thrown.errcode & 0xff
}

export const isBusy = (thrown: unknown): boolean => resultCode(thrown) === BUSY
export const isIoError = (thrown: unknown): boolean => resultCode(thrown) === IO_ERROR

/** The fault of the file, disk or lock, as part of a sentence; undefined for any other error. */
export function unavailableReason(thrown: unknown): string | undefined {
  const code = resultCode(thrown)
  return code === undefined ? undefined : UNAVAILABLE[code]
}

/** Maps what node:sqlite throws to what the ports promise. */
export const storeFault = compileStoreFault(unavailableReason)
