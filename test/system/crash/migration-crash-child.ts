/**
 * Starts migrations that never end: `migration-crash-child.ts <file>`. The second one says `half` when the first has run
 * and half of its own statements, and then goes on writing until the process is killed.
 */
import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Migration } from '../../../src/adapters/sql/migrations/migration.ts'
import { MIGRATIONS } from '../../../src/adapters/sql/migrations/migrations.ts'
import { compileMigrations } from '../../../src/adapters/sqlite/dialect.ts'
import { migrate } from '../../../src/adapters/sqlite/migrate.ts'

const endless: Migration = {
  name: 'endless',
  *statements(schema) {
    yield schema.alterTable('endpoints').addColumn('half', 'text')
    for (let table = 0; ; table++) {
      if (table === 100) writeSync(1, 'half\n')
      yield schema.createTable(`table_${table}`).addColumn('id', 'text')
    }
  },
}

const db = new DatabaseSync(process.argv[2] ?? '')
// A small cache, so that pages of the open transaction reach the file.
db.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = 5')
migrate(db, compileMigrations([...MIGRATIONS, endless]))
