/**
 * Kysely as the builder of SQLite's queries. It never runs one: its driver interface is asynchronous, node:sqlite is
 * not, and a state must be read without a promise on the path of a message.
 */
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import type { TableOptions } from '../sql/migrations.ts'
import type { Tables } from '../sql/tables.ts'

export const compileQueryBuilder = <All = Tables>(): Kysely<All> =>
  new Kysely<All>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })

/** SQLite checks the types of columns in strict tables only. */
export const TABLE_OPTIONS: TableOptions = { table: sql`strict`, counter: 'integer', shared: false }
