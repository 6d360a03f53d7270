/**
 * Starts migrations that never end: `migration-crash-child.ts <file>`. The second one says `half` when the first has run
 * and half of its own statements, and then goes on writing until the process is killed.
 */
import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { renderMigrations } from '../../../src/store/sql/migrations.ts'
import { migrate } from '../../../src/store/sqlite/sqlite-file.ts'

function* endless(): Generator<string> {
  yield 'alter table endpoints add column half text'
  for (let table = 0; ; table++) {
    if (table === 100) writeSync(1, 'half\n')
    yield `create table table_${table} (id text)`
  }
}

const db = new DatabaseSync(process.argv[2] ?? '')
// A small cache, so that pages of the open transaction reach the file.
db.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = 5')
migrate(db, [...renderMigrations('sqlite'), { name: 'endless', statements: endless() }])
