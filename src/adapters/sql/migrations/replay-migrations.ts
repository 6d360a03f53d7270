/** Migrations of the plans of replays and of the marks of failure groups. */
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const REPLAYS: Migration = {
  name: 'replay plans and failure groups',
  statements: (schema, { table, counter, shared }) => {
    // Ids sort by their bytes, whatever the collation of the database.
    const id = shared ? sql`text collate "C"` : sql`text`
    return [
      schema
        .createTable('replay_plans')
        .addColumn('id', id, (column) => column.primaryKey().notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('until', counter, (column) => column.notNull())
        .addColumn('content', 'text', (column) => column.notNull())
        .addColumn('progress', 'text', (column) => column.notNull())
        .modifyEnd(table),
      schema
        .createTable('replay_plan_messages')
        .addColumn('plan_id', id, (column) => column.notNull().references('replay_plans.id').onDelete('cascade'))
        .addColumn('part', 'integer', (column) => column.notNull())
        .addColumn('ids', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('replay_plan_messages_key', ['plan_id', 'part'])
        .modifyEnd(table),
      schema
        .createTable('failure_groups')
        .addColumn('key', id, (column) => column.primaryKey().notNull())
        .addColumn('at', id, (column) => column.notNull())
        .addColumn('detail', 'text', (column) => column.notNull())
        .modifyEnd(table),
      schema.createIndex('failure_groups_newest').on('failure_groups').column('at'),
    ]
  },
}
