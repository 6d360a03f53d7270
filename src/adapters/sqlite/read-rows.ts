/** Reads all of a database as it is at one moment, a row at a time; a service may go on working on it. */
import { DatabaseSync } from 'node:sqlite'
import type { Row, Snapshot } from '../sql/rows.ts'
import { storeFault } from './faults.ts'

/** Of the moment of the call. The tables must be up to date. Throws StoreUnavailable, or what SQLite throws. */
export function openSnapshot(path: string): Snapshot {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    // A transaction sees the moment of its first look.
    db.exec('begin; select 1 from schema_version')
  } catch (thrown) {
    db.close()
    throw storeFault(thrown)
  }
  return {
    rows: function* ({ table, columns, key, only = 'true' }) {
      const names = Object.keys(columns).join(', ')
      try {
        const query = db.prepare(`select ${names} from ${table} where ${only} order by ${key.join(', ')}`)
        for (const row of query.iterate()) yield row as Row
      } catch (thrown) {
        throw storeFault(thrown)
      }
    },
    close: () => db.close(),
  }
}

/** Whether it is the file of a service, of whatever version. Throws what SQLite throws. */
export function holdsStore(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    return db.prepare(`select 1 from sqlite_master where name = 'schema_version'`).get() !== undefined
  } finally {
    db.close()
  }
}
