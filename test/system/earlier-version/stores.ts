/** Stores as SQL text: dumped from a database that a version of the service has made, and restored into an empty one. */
import { DatabaseSync } from 'node:sqlite'
import type { TestDatabase } from '../../support/services/postgres.ts'

/** Cached responses expire after hours; in the dump they last until 2100. */
const LASTING = `update kept_answers set until = ${Date.parse('2100-01-01T00:00:00Z')} where until > 0`

/** `file`: of a service that has stopped; it is changed. */
export function dumpSqlite(file: string): string {
  const db = new DatabaseSync(file)
  try {
    const objects = db
      .prepare(`select name, type, sql from sqlite_master where sql is not null order by type = 'table' desc, rootpage`)
      .all() as { name: string; type: string; sql: string }[]
    if (objects.some(({ name }) => name === 'kept_answers')) db.exec(LASTING)
    const statements = objects.map(({ sql }) => `${sql};`)
    for (const { name, type } of objects) {
      if (type !== 'table') continue
      const columns = db
        .prepare(`pragma table_info(${name})`)
        .all()
        .map((column) => String(column.name))
      const values = columns.map((column) => `quote(${column})`).join(` || ', ' || `)
      const rows = db.prepare(`select ${values} as row from ${name}`).all()
      for (const { row } of rows) statements.push(`insert into ${name} (${columns.join(', ')}) values (${row});`)
    }
    return `${statements.join('\n')}\n`
  } finally {
    db.close()
  }
}

export function restoreSqlite(file: string, dump: string): void {
  const db = new DatabaseSync(file)
  try {
    db.exec(`pragma foreign_keys = off; begin; ${dump} commit`)
  } finally {
    db.close()
  }
}

/** To be called before a service makes its tables: records the statements that make them. Needs a superuser. */
export async function recordTables({ query }: TestDatabase): Promise<void> {
  await query(`create schema recorded;
    create table recorded.statements (n serial, text text);
    create function recorded.record() returns event_trigger language plpgsql as $$
      begin insert into recorded.statements (text) values (current_query()); end $$;
    create event trigger record on ddl_command_end execute function recorded.record()`)
}

/** Of a database that no service works on; it is changed. */
export async function dumpPostgres({ query }: TestDatabase): Promise<string> {
  await query('drop event trigger record')
  await query(LASTING)
  const made = await query<{ text: string }>('select text from recorded.statements order by n')
  const statements = made.map(({ text }) => `${text};`)
  const tables = await query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text order by ordinal_position) as columns
    from information_schema.columns where table_schema = 'public' group by table_name
    order by table_name <> 'endpoints', table_name`,
  )
  // The trigger would count the rows as changes.
  statements.push('alter table endpoints disable trigger user;')
  for (const { name, columns } of tables) {
    const values = columns.map((column) => `quote_nullable(${column}::text)`).join(` || ', ' || `)
    const rows = await query<{ row: string }>(`select ${values} as row from ${name}`)
    for (const { row } of rows) statements.push(`insert into ${name} (${columns.join(', ')}) values (${row});`)
  }
  const [sequence] = await query<{ last_value: string }>('select last_value from states_sequence')
  statements.push(`select setval('states_sequence', ${sequence?.last_value});`)
  statements.push('alter table endpoints enable trigger user;')
  return `${statements.join('\n')}\n`
}

/** Into an empty database. */
export async function restorePostgres({ query }: TestDatabase, dump: string): Promise<void> {
  await query(dump)
}
