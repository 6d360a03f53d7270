/** Brings the tables of a file up to what this version knows, or refuses to touch them. */
import type { DatabaseSync } from 'node:sqlite'
import { type Compilable, type Kysely, sql } from 'kysely'
import type { Migration } from '../sql/migrations.ts'
import { SchemaTooNew } from '../sql/schema-too-new.ts'
import type { Tables } from '../sql/tables.ts'
import { TABLE_OPTIONS } from './dialect.ts'

export type MigrateOptions = Readonly<{
  db: DatabaseSync
  queries: Kysely<Tables>
  /** All that this version knows, oldest first; the version of the schema is their number. */
  migrations: readonly Migration[]
}>

/**
 * Runs the migrations that have not run yet, all in one transaction: a process that dies on the way leaves the file as
 * it was. Gives their names. Throws SchemaTooNew, or what SQLite throws.
 */
export function migrate({ db, queries, migrations }: MigrateOptions): readonly string[] {
  const run = (query: Compilable) => {
    const { sql: text, parameters } = query.compile()
    return db.prepare(text).all(...(parameters as (string | number)[]))
  }
  // Taken before the version is read: of two processes that start at once, the second finds the work done.
  db.exec('BEGIN IMMEDIATE')
  try {
    run(
      queries.schema
        .createTable('schema_version')
        .ifNotExists()
        .addColumn('version', 'integer', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .modifyEnd(TABLE_OPTIONS.table),
    )
    const [row] = run(queries.selectFrom('schema_version').select(sql`coalesce(max(version), 0)`.as('version')))
    const version = Number(row?.version)
    if (version > migrations.length) throw new SchemaTooNew(version, migrations.length)
    const due = migrations.slice(version)
    for (const [index, { name, statements }] of due.entries()) {
      for (const statement of statements(queries.schema, TABLE_OPTIONS)) run(statement)
      run(queries.insertInto('schema_version').values({ version: version + index + 1, name }))
    }
    db.exec('COMMIT')
    return due.map(({ name }) => name)
  } catch (thrown) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw thrown
  }
}
