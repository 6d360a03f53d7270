/**
 * How the tables came to be, oldest first. A migration that was released is never changed: what it made is out there.
 * Another change of the tables is another entry.
 */

import type { SchemaModule } from 'kysely'
import { type Compilable, type RawBuilder, sql } from 'kysely'

/** What a dialect adds to every table. */
export type TableOptions = Readonly<{ table: RawBuilder<unknown> }>

export type Migration = Readonly<{
  name: string
  /** The statements in their order; run in one transaction with the other migrations that are due. */
  statements(schema: SchemaModule, options: TableOptions): Iterable<Compilable>
}>

export const MIGRATIONS: readonly Migration[] = [
  {
    name: 'endpoints and states',
    statements: (schema, options) => [
      schema
        .createTable('endpoints')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('route_key', 'text', (column) => column.notNull())
        .addColumn('document', 'text', (column) => column.notNull())
        .modifyEnd(options.table),
      schema.createIndex('endpoints_name').on('endpoints').column('name').unique(),
      schema.createIndex('endpoints_route_key').on('endpoints').column('route_key').unique(),
      schema
        .createTable('states')
        .addColumn('endpoint_id', 'text', (column) => column.notNull().references('endpoints.id').onDelete('cascade'))
        .addColumn('lookup_status', 'integer', (column) => column.notNull())
        .addColumn('network_error', 'integer', (column) => column.notNull().check(sql`network_error in (0, 1)`))
        .addColumn('sequence', 'integer', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('states_key', ['endpoint_id', 'lookup_status', 'network_error'])
        .modifyEnd(options.table),
      schema.createIndex('states_newest').on('states').columns(['endpoint_id', 'sequence']),
    ],
  },
]
