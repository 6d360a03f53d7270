/** PostgreSQL's dialect. Kysely only builds queries; connection-pool.ts runs them. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import type { SqlDialect } from '../sql/database.ts'
import type { TableOptions } from '../sql/migrations/migration.ts'
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

export const compileDialect = (): SqlDialect => ({
  queries: compileQueryBuilder(),
  now: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
  bytes: sql`bytea`,
  textBytes: (text) => text,
  elements: (json) => sql`jsonb_array_elements(cast(${json} as jsonb))`,
  lockRows: sql`for update`,
  nextStateSequence: () => sql`nextval('states_sequence')`,
})

/** The service counts up by millions of states a day: 32 bits would last for weeks. */
export const TABLE_OPTIONS: TableOptions = { table: sql``, counter: 'bigint', shared: true }
