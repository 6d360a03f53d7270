/** Migrations of the message log. Its tables are in the shared database, or with SQLite in a file of their own. */
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

const messages: Migration = {
  name: 'messages',
  statements: (schema, { table, counter, shared }) => {
    // Texts sort by their bytes, whatever the collation of the database.
    const text = shared ? sql`text collate "C"` : sql`text`
    return [
      schema
        .createTable('messages')
        .addColumn('id', text, (column) => column.primaryKey().notNull())
        .addColumn('endpoint_id', text, (column) => column.notNull())
        .addColumn('source', text, (column) => column.notNull())
        .addColumn('outcome', text, (column) => column.notNull())
        .addColumn('status', 'integer', (column) => column.notNull())
        .addColumn('code', text, (column) => column.notNull())
        .addColumn('stage', text, (column) => column.notNull())
        .addColumn('replay_of', text, (column) => column.notNull())
        .addColumn('bytes', 'integer', (column) => column.notNull())
        .addColumn('detail', text, (column) => column.notNull())
        .modifyEnd(table),
      // Most messages are done and are searched for by time only; searches by another column want the others.
      schema
        .createIndex('messages_not_done')
        .on('messages')
        .column('id')
        .where(sql.ref('outcome'), '<>', sql.lit('done')),
      schema
        .createIndex('messages_replayed')
        .on('messages')
        .columns(['replay_of', 'id'])
        .where(sql.ref('replay_of'), '<>', sql.lit('')),
      schema
        .createTable('message_bodies')
        .addColumn('message_id', text, (column) => column.notNull())
        .addColumn('which', text, (column) => column.notNull())
        .addColumn('content', shared ? 'bytea' : 'blob', (column) => column.notNull())
        .addPrimaryKeyConstraint('message_bodies_key', ['message_id', 'which'])
        .modifyEnd(table),
      schema
        .createTable('message_keys')
        .addColumn('value', text, (column) => column.notNull())
        .addColumn('name', text, (column) => column.notNull())
        .addColumn('message_id', text, (column) => column.notNull())
        .addPrimaryKeyConstraint('message_keys_key', ['value', 'name', 'message_id'])
        .modifyEnd(table),
      schema.createIndex('message_keys_of_message').on('message_keys').column('message_id'),
      ...(shared
        ? [
            schema
              .createTable('message_sizes')
              .addColumn('slot', 'integer', (column) => column.primaryKey().notNull())
              .addColumn('bytes', counter, (column) => column.notNull()),
          ]
        : []),
    ]
  },
}

/**
 * Only for SQLite, where one process writes all records: many records of done messages in one row, with the bounds of
 * their ids.
 */
const doneMessages: Migration = {
  name: 'done messages',
  statements: (schema, { table }) => [
    schema
      .createTable('done_messages')
      .addColumn('last_id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('first_id', 'text', (column) => column.notNull())
      .addColumn('records', 'integer', (column) => column.notNull())
      .addColumn('lines', 'blob', (column) => column.notNull())
      .modifyEnd(table),
    schema.createIndex('done_messages_first').on('done_messages').column('first_id'),
  ],
}

/** By what failures are searched for and grouped. The columns of records that exist stay empty. */
const failures: Migration = {
  name: 'searchable failures',
  statements: (schema, { shared }) => {
    const text = shared ? sql`text collate "C"` : sql`text`
    const notDone = [sql.ref('outcome'), '<>', sql.lit('done')] as const
    return [
      schema.alterTable('messages').addColumn('path', text, (column) => column.notNull().defaultTo(sql.lit(''))),
      schema.alterTable('messages').addColumn('version', 'integer', (column) => column.notNull().defaultTo(sql.lit(0))),
      schema.alterTable('messages').addColumn('error', text, (column) => column.notNull().defaultTo(sql.lit(''))),
      // Has all that groups of failures read.
      schema
        .createIndex('messages_alike')
        .on('messages')
        .columns(['endpoint_id', 'stage', 'code', 'path', 'version', 'id'])
        .where(...notDone),
      schema
        .createIndex('messages_failed_at')
        .on('messages')
        .columns(['path', 'id'])
        .where(...notDone)
        .where('path', '<>', sql.lit('')),
    ]
  },
}

/** The messages that a capture recorded, few among all. */
const captured: Migration = {
  name: 'captured messages',
  statements: (schema) => [
    schema.alterTable('messages').addColumn('captured', 'integer', (column) => column.notNull().defaultTo(sql.lit(0))),
    schema.createIndex('messages_captured').on('messages').column('id').where(sql.ref('captured'), '=', sql.lit(1)),
  ],
}

/** By what a purge finds the endpoints that take most, and the messages that it leaves to replay plans. */
const shares: Migration = {
  name: 'shares of endpoints',
  statements: (schema, { table, shared }) => {
    const text = shared ? sql`text collate "C"` : sql`text`
    return [
      schema.createIndex('messages_of_endpoint').on('messages').columns(['endpoint_id', 'id', 'bytes']),
      schema
        .createTable('held_messages')
        .addColumn('message_id', text, (column) => column.notNull())
        .addColumn('plan_id', text, (column) => column.notNull())
        .addPrimaryKeyConstraint('held_messages_key', ['message_id', 'plan_id'])
        .modifyEnd(table),
      schema.createIndex('held_messages_of_plan').on('held_messages').column('plan_id'),
    ]
  },
}

/** Only for SQLite: a row holds the lines of one endpoint, or of several that have few. */
const doneShares: Migration = {
  name: 'done messages by endpoint',
  statements: (schema) => [
    schema
      .alterTable('done_messages')
      .addColumn('endpoint_id', 'text', (column) => column.notNull().defaultTo(sql.lit('*'))),
    schema
      .createIndex('done_messages_of_endpoint')
      .on('done_messages')
      .columns(['endpoint_id', 'first_id'])
      .expression(sql`length(lines)`),
  ],
}

/** Of the file of the message log. */
export const MESSAGE_MIGRATIONS: readonly Migration[] = [messages, doneMessages, failures, captured, shares, doneShares]

/** For the shared database; no statements for SQLite, where the message log has its own file. */
const sharedOnly = ({ name, statements }: Migration): Migration => ({
  name,
  statements: (schema, options) => (options.shared ? statements(schema, options) : []),
})

export const SHARED_MESSAGES = sharedOnly(messages)
export const SHARED_FAILURES = sharedOnly(failures)
export const SHARED_CAPTURED = sharedOnly(captured)
export const SHARED_SHARES = sharedOnly(shares)
