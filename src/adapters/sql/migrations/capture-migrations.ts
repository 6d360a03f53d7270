/** Migrations of captures. Names of migrations and tables never change. */
import { CompiledQuery } from 'kysely'
import type { Migration } from './migration.ts'

export const CAPTURES: Migration = {
  name: 'captures of messages',
  statements: (schema, { table, counter, shared }) => [
    schema
      .createTable('captures')
      .addColumn('endpoint_id', 'text', (column) =>
        column.primaryKey().notNull().references('endpoints.id').onDelete('cascade'),
      )
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('remaining', 'integer', (column) => column.notNull())
      .addColumn('until', counter, (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .modifyEnd(table),
    ...(shared ? NOTIFY : []),
  ],
}

/** Instances learn of a capture as they learn of a change of an endpoint. A claim updates a row, which sends no notification. */
const NOTIFY = [
  `create function captures_changed() returns trigger language plpgsql as $$
    declare next_version bigint;
    begin
      update configuration set version = version + 1 returning version into next_version;
      perform pg_notify('crosswalk_configuration', next_version::text);
      return null;
    end $$`,
  `create trigger captures_changed after insert or delete on captures
    for each row execute function captures_changed()`,
].map((text) => ({ compile: () => CompiledQuery.raw(text) }))
