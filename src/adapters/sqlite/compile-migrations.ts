/** Migrations as texts of SQLite: what runs them needs no builder of queries, which would cost a thread 20 MB. */
import type { Migration } from '../sql/migrations.ts'
import { compileQueryBuilder, TABLE_OPTIONS } from './dialect.ts'
import type { TextMigration } from './migrate.ts'

/** A statement is written when it is asked for, and not before. */
export function compileMigrations(migrations: readonly Migration[]): readonly TextMigration[] {
  const { schema } = compileQueryBuilder()
  return migrations.map(({ name, statements }) => ({ name, statements: textsOf(statements(schema, TABLE_OPTIONS)) }))
}

function* textsOf(statements: ReturnType<Migration['statements']>): Generator<string> {
  for (const statement of statements) {
    const { sql, parameters } = statement.compile()
    if (parameters.length > 0) throw new TypeError(`A migration holds its values in its text: ${sql}`)
    yield sql
  }
}
