/** Brings the tables of a file up to the schema of this version, or refuses to change them. */
import type { DatabaseSync } from 'node:sqlite'
import { dueMigrations, RAN_MIGRATIONS, type RanMigration, type TextMigration } from '../sql/schema.ts'

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
