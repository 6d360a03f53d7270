/** Brings the tables of a database up to what this version knows, or refuses to touch them. */
import { type Compilable, type Kysely, sql } from 'kysely'
import pg from 'pg'
import type { Migration } from '../sql/migrations.ts'
import { SchemaTooNew } from '../sql/schema-too-new.ts'
import type { Tables } from '../sql/tables.ts'
import { CONNECT_TIMEOUT_MS } from './connections.ts'
import { TABLE_OPTIONS } from './dialect.ts'

export type MigrateOptions = Readonly<{
  url: string
  queries: Kysely<Tables>
  /** All that this version knows, oldest first; the version of the schema is their number. */
  migrations: readonly Migration[]
}>

/** Any number that every instance agrees on. */
const LOCK = 3_003_3004

/**
 * Runs the migrations that have not run yet, all in one transaction. Of instances that start at once, one does and the
 * others wait for it. Gives their names. Throws SchemaTooNew, or what the driver throws.
 */
export async function migrate({ url, queries, migrations }: MigrateOptions): Promise<readonly string[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'crosswalk migrations',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  // A break is told by the query that it interrupts.
  client.on('error', () => undefined)
  await client.connect()
  const run = async (query: Compilable) => {
    const { sql: text, parameters } = query.compile()
    return (await client.query(text, [...parameters])).rows as Record<string, unknown>[]
  }
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [LOCK])
    await run(
      queries.schema
        .createTable('schema_version')
        .ifNotExists()
        .addColumn('version', 'integer', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull()),
    )
    const [row] = await run(queries.selectFrom('schema_version').select(sql`coalesce(max(version), 0)`.as('version')))
    const version = Number(row?.version)
    if (version > migrations.length) throw new SchemaTooNew(version, migrations.length)
    const due = migrations.slice(version)
    for (const [index, { name, statements }] of due.entries()) {
      for (const statement of statements(queries.schema, TABLE_OPTIONS)) await run(statement)
      await run(queries.insertInto('schema_version').values({ version: version + index + 1, name }))
    }
    await client.query('commit')
    return due.map(({ name }) => name)
  } finally {
    // What was not committed ends with the connection.
    await client.end()
  }
}
