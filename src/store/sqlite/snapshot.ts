/** Reads a whole database as of one moment, row by row, while a service may go on writing to it. */
import { DatabaseSync } from 'node:sqlite'
import type { Columns, CopiedRow, Snapshot } from '../sql/copied-tables.ts'
import { storeFault } from './error-codes.ts'

/** The snapshot of the moment of the call. The tables must be up to date. Throws StoreUnavailable, or what SQLite throws. */
export function openSnapshot(path: string): Snapshot {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    // A transaction sees the database as of its first read.
    db.exec('begin; select 1 from schema_version')
  } catch (thrown) {
    db.close()
    throw storeFault(thrown)
  }
  return {
    columns: ({ table }) =>
      Object.fromEntries(
        db
          .prepare('select name, type from pragma_table_info(?)')
          .all(table)
          .map(({ name, type }) => [name, kindOf(`${type}`)]),
      ),
    rows: function* ({ table, key, only = 'true' }) {
      try {
        const query = db.prepare(`select * from ${table} where ${only} order by ${key.join(', ')}`)
        for (const row of query.iterate()) yield row as CopiedRow
      } catch (thrown) {
        throw storeFault(thrown)
      }
    },
    close: () => db.close(),
  }
}

const kindOf = (type: string): Columns[string] => {
  const name = type.toLowerCase()
  return name === 'blob' ? 'bytes' : name === 'integer' ? 'integer' : 'text'
}

/** Whether the file holds a store of any version of the service. Throws what SQLite throws. */
export function holdsStore(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    return db.prepare(`select 1 from sqlite_master where name = 'schema_version'`).get() !== undefined
  } finally {
    db.close()
  }
}
