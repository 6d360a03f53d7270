/** How the tables of API keys and of the audit log came to be. */
import { sql } from 'kysely'
import type { Migration } from './migrations.ts'

export const ACCESS: Migration = {
  name: 'API keys and audit log',
  statements: (schema, { table, shared }) => {
    // Ids in the order of their bytes, whatever language the database sorts for.
    const id = shared ? sql`text collate "C"` : sql`text`
    return [
      schema
        .createTable('api_keys')
        .addColumn('id', id, (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('roles', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('created_at', 'text', (column) => column.notNull())
        .addColumn('revoked_at', 'text', (column) => column.notNull())
        .modifyEnd(table),
      schema
        .createTable('audit')
        .addColumn('id', id, (column) => column.primaryKey().notNull())
        .addColumn('who', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('what', 'text', (column) => column.notNull())
        .addColumn('target', 'text', (column) => column.notNull())
        .addColumn('refused', 'integer', (column) => column.notNull())
        .addColumn('detail', 'text', (column) => column.notNull())
        .modifyEnd(table),
      schema.createIndex('audit_refused').on('audit').column('id').where(sql.ref('refused'), '=', sql.lit(1)),
    ]
  },
}
