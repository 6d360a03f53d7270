/**
 * SQLite's dialect. Kysely only builds queries and runs none: its driver interface is asynchronous, and a state is read
 * without a promise on the path of a message.
 */
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely'
import type { SqlDialect } from '../sql/database.ts'
import type { Migration, TableOptions } from '../sql/migrations/migration.ts'
import type { Tables } from '../sql/tables.ts'
import type { TextMigration } from './migrate.ts'

export const compileQueryBuilder = <All = Tables>(): Kysely<All> =>
  new Kysely<All>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })

export const compileDialect = (): SqlDialect => ({
  queries: compileQueryBuilder(),
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  bytes: sql`blob`,
  textBytes: (text) => sql`cast(${text} as blob)`,
  elements: (json) => sql`json_each(${json})`,
  lockRows: sql``,
  nextStateSequence: (endpointId) =>
    sql`(select coalesce(max(sequence), 0) + 1 from states where endpoint_id = ${endpointId})`,
})

/** SQLite checks the types of columns in strict tables only. */
const TABLE_OPTIONS: TableOptions = { table: sql`strict`, counter: 'integer', shared: false }

/**
 * Migrations as SQL text, so that the thread that runs them need not load Kysely (20 MB). A statement is built when the
 * iterator reaches it.
 */
export function compileMigrations(migrations: readonly Migration[]): readonly TextMigration[] {
  const { schema } = compileQueryBuilder()
  return migrations.map(({ name, statements }) => ({ name, statements: textsOf(statements(schema, TABLE_OPTIONS)) }))
}

function* textsOf(statements: ReturnType<Migration['statements']>): Generator<string> {
  for (const statement of statements) {
    const { sql: text, parameters } = statement.compile()
    if (parameters.length > 0) throw new TypeError(`A migration holds its values in its text: ${text}`)
    yield text
  }
}
