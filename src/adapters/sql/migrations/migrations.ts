/**
 * The migrations of the store, oldest first. A released migration never changes: databases exist that it has made. A
 * further change of the tables is a further entry.
 */
import { type Compilable, CompiledQuery, sql } from 'kysely'
import { ACCESS, KEY_EXPIRY } from './access-migrations.ts'
import { CAPTURES } from './capture-migrations.ts'
import { ENDPOINT_TESTS } from './endpoint-test-migrations.ts'
import { IDEMPOTENCY, IDEMPOTENCY_SHARES } from './idempotency-migrations.ts'
import { SHARED_CAPTURED, SHARED_FAILURES, SHARED_MESSAGES, SHARED_SHARES } from './message-migrations.ts'
import type { Migration } from './migration.ts'
import { REPLAYS } from './replay-migrations.ts'

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
        .addColumn('sequence', options.counter, (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('states_key', ['endpoint_id', 'lookup_status', 'network_error'])
        .modifyEnd(options.table),
      schema.createIndex('states_newest').on('states').columns(['endpoint_id', 'sequence']),
    ],
  },
  {
    name: 'what instances tell each other',
    statements: (schema, options) =>
      options.shared
        ? [
            // One row: the number of changes ever made to endpoints.
            schema.createTable('configuration').addColumn('version', options.counter, (column) => column.notNull()),
            raw('insert into configuration (version) values (1)'),
            schema
              .alterTable('endpoints')
              .addColumn('revision', options.counter, (column) => column.notNull().defaultTo(sql.lit(1))),
            // A trigger, so that every change of an endpoint notifies the instances, also one made in the database.
            raw(`create function configuration_changed() returns trigger language plpgsql as $$
              declare next_version bigint;
              begin
                update configuration set version = version + 1 returning version into next_version;
                perform pg_notify('crosswalk_configuration', next_version::text);
                if tg_op = 'DELETE' then return old; end if;
                new.revision := next_version;
                return new;
              end $$`),
            raw(`create trigger configuration_changed before insert or update or delete on endpoints
              for each row execute function configuration_changed()`),
            raw('create sequence states_sequence'),
          ]
        : [],
  },
  {
    name: 'versions of endpoints',
    statements: (schema, options) => [
      schema
        .createTable('endpoint_versions')
        .addColumn('endpoint_id', 'text', (column) => column.notNull())
        .addColumn('version', 'integer', (column) => column.notNull())
        .addColumn('at', 'text', (column) => column.notNull())
        .addColumn('about', 'text', (column) => column.notNull())
        .addColumn('document', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('endpoint_versions_key', ['endpoint_id', 'version'])
        .modifyEnd(options.table),
      raw(`create index endpoint_versions_deleted on endpoint_versions (endpoint_id, at) where document = ''`),
      // Every document ends with `"updatedAt":"<24 characters>","__v":0}`. The JSON functions of the databases reject
      // some texts that documents may hold.
      raw(`insert into endpoint_versions (endpoint_id, version, at, about, document)
        select id, 1, case when document like '%"updatedAt":"____-__-__T__:__:__.___Z","__v":0}'
            then substr(document, length(document) - 33, 24) else '1970-01-01T00:00:00.000Z' end,
          '{"method":"create","origin":{}}', document from endpoints`),
    ],
  },
  {
    name: 'how messages went, by minute',
    statements: (schema, options) => [
      schema
        .createTable('endpoint_minutes')
        .addColumn('endpoint_id', 'text', (column) => column.notNull())
        .addColumn('minute', 'integer', (column) => column.notNull())
        .addColumn('instance', 'text', (column) => column.notNull())
        .addColumn('count', 'integer', (column) => column.notNull())
        .addColumn('failures', 'integer', (column) => column.notNull())
        .addColumn('buckets', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('endpoint_minutes_key', ['endpoint_id', 'minute', 'instance'])
        .modifyEnd(options.table),
      schema.createIndex('endpoint_minutes_oldest').on('endpoint_minutes').column('minute'),
    ],
  },
  SHARED_MESSAGES,
  ACCESS,
  IDEMPOTENCY,
  ENDPOINT_TESTS,
  SHARED_FAILURES,
  REPLAYS,
  CAPTURES,
  SHARED_CAPTURED,
  KEY_EXPIRY,
  SHARED_SHARES,
  IDEMPOTENCY_SHARES,
]

/** A statement that Kysely has no builder for. */
const raw = (text: string): Compilable => ({ compile: () => CompiledQuery.raw(text) })
