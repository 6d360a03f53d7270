/** Migrations of the tests of endpoints. Names of migrations and tables never change. */
import type { Migration } from './migration.ts'

/** The tests live as long as their endpoint: they are deleted with it, and stay when its document is replaced. */
export const ENDPOINT_TESTS: Migration = {
  name: 'tests of endpoints',
  statements: (schema, { table }) => [
    schema
      .createTable('endpoint_tests')
      .addColumn('endpoint_id', 'text', (column) =>
        column.primaryKey().notNull().references('endpoints.id').onDelete('cascade'),
      )
      .addColumn('tests', 'text', (column) => column.notNull())
      .modifyEnd(table),
  ],
}
