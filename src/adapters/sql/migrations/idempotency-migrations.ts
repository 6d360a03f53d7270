/** Migrations of the idempotency keys and their cached responses. Names of migrations and tables never change. */
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const IDEMPOTENCY: Migration = {
  name: 'answers that are given again',
  statements: (schema, { table, counter, shared }) => [
    schema
      .createTable('kept_answers')
      .addColumn('endpoint_id', 'text', (column) => column.notNull().references('endpoints.id').onDelete('cascade'))
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('until', counter, (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('body', shared ? 'bytea' : 'blob')
      .addPrimaryKeyConstraint('kept_answers_key', ['endpoint_id', 'key'])
      .modifyEnd(table),
    schema.createIndex('kept_answers_oldest').on('kept_answers').columns(['until', 'size']),
    schema
      .createIndex('kept_answers_claimed')
      .on('kept_answers')
      .column('owner')
      .where(sql.ref('owner'), '<>', sql.lit('')),
  ],
}

/** By what the rooms of endpoints are added up. */
export const IDEMPOTENCY_SHARES: Migration = {
  name: 'answers by endpoint',
  statements: (schema) => [
    schema.createIndex('kept_answers_of_endpoint').on('kept_answers').columns(['endpoint_id', 'size']),
  ],
}
