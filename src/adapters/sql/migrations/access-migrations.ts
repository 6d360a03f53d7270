/** Migrations of the API keys and the audit log. */
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const ACCESS: Migration = {
  name: 'API keys and audit log',
  statements: (schema, { table, shared }) => {
    // Ids sort by their bytes, whatever the collation of the database.
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

/** Keys that exist do not expire. */
export const KEY_EXPIRY: Migration = {
  name: 'API keys that expire',
  statements: (schema) => [
    schema.alterTable('api_keys').addColumn('expires_at', 'text', (column) => column.notNull().defaultTo(sql.lit(''))),
  ],
}
