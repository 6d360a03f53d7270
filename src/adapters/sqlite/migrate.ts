/** Brings the tables of a file up to what this version knows, or refuses to touch them. */
import type { DatabaseSync } from 'node:sqlite'
import { SchemaTooNew } from '../sql/schema-too-new.ts'

/** A migration whose statements are texts; see `compileMigrations`. */
export type TextMigration = Readonly<{ name: string; statements: Iterable<string> }>

/** Throws where the tables are not those of this version. */
export function demandVersion(db: DatabaseSync, version: number): void {
  const row = db.prepare('select coalesce(max(version), 0) as version from schema_version').get()
  if (Number(row?.version) === version) return
  throw new Error('the service that runs on it is of another version; use the commands of that version')
}

/**
 * Runs the migrations that have not run yet, all in one transaction: a process that dies on the way leaves the file as
 * it was. In: all that this version knows, oldest first; the version of the schema is their number. Gives the names of
 * those that ran. Throws SchemaTooNew, or what SQLite throws.
 */
export function migrate(db: DatabaseSync, migrations: readonly TextMigration[]): readonly string[] {
  // Taken before the version is read: of two processes that start at once, the second finds the work done.
  db.exec('BEGIN IMMEDIATE')
  try {
    db.exec(
      'create table if not exists schema_version (version integer not null primary key, name text not null) strict',
    )
    const row = db.prepare('select coalesce(max(version), 0) as version from schema_version').get()
    const version = Number(row?.version)
    if (version > migrations.length) throw new SchemaTooNew(version, migrations.length)
    const due = migrations.slice(version)
    const note = db.prepare('insert into schema_version (version, name) values (?, ?)')
    for (const [index, { name, statements }] of due.entries()) {
      for (const statement of statements) db.exec(statement)
      note.run(version + index + 1, name)
    }
    db.exec('COMMIT')
    return due.map(({ name }) => name)
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}
