/** Kysely as the builder of PostgreSQL's queries, for the same statements that SQLite runs. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import type { TableOptions } from '../sql/migrations.ts'
import type { Tables } from '../sql/tables.ts'

export const compileQueryBuilder = <All = Tables>(): Kysely<All> =>
  new Kysely<All>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })

/** An instance counts up millions of states a day: 32 bits would last for weeks. */
export const TABLE_OPTIONS: TableOptions = { table: sql``, counter: 'bigint', shared: true }
