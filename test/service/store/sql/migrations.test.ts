/** A database that an earlier version has made is brought up to date, with what it holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate as migratePostgres } from '../../../../src/store/postgres/open-postgres-store.ts'
import { MIGRATIONS, type Migration, renderMigrations } from '../../../../src/store/sql/migrations.ts'
import { sql } from '../../../../src/store/sql/sql.ts'
import { migrate as migrateSqlite } from '../../../../src/store/sqlite/sqlite-file.ts'
import { freshDatabase, postgresMissing } from '../../../support/services/postgres.ts'
import { freshPath, lookInto } from '../../../support/store/folder.ts'

const FILL = `insert into endpoint_minutes (endpoint_id, minute, instance, count, failures, buckets)
  values ('a', 1, 'one', 2, 0, '')`
const READ = 'select count, later from endpoint_minutes'
const VERSIONS = 'select version, name from schema_version order by version'

const addColumn = [sql`alter table endpoint_minutes add column later text not null default 'new'`]
const LATER: readonly Migration[] = [
  ...MIGRATIONS,
  { name: 'a later column', statements: { postgres: addColumn, sqlite: addColumn, 'sqlite messages': [] } },
]

const FILLED = [{ count: 2, later: 'new' }]
const RAN = LATER.map(({ name }, index) => ({ version: index + 1, name }))

test('a file is migrated once', (test) => {
  lookInto(freshPath(test), (db) => {
    migrateSqlite(db, renderMigrations('sqlite'))
    db.exec(FILL)
    assert.deepEqual(migrateSqlite(db, renderMigrations('sqlite', LATER)), ['a later column'])
    assert.deepEqual(migrateSqlite(db, renderMigrations('sqlite', LATER)), [])
    const rowsOf = (text: string) =>
      db
        .prepare(text)
        .all()
        .map((row) => ({ ...row }))
    assert.deepEqual([rowsOf(READ), rowsOf(VERSIONS)], [FILLED, RAN])
  })
})

test('a PostgreSQL is migrated once', { skip: postgresMissing() ?? false }, async (test) => {
  const { url, query } = await freshDatabase(test)
  const migrate = (migrations?: readonly Migration[]) =>
    migratePostgres({ url, migrations: renderMigrations('postgres', migrations), lockTimeoutMs: 5_000 })
  await migrate()
  await query(FILL)
  assert.deepEqual(await migrate(LATER), ['a later column'])
  assert.deepEqual(await migrate(LATER), [])
  assert.deepEqual([await query(READ), await query(VERSIONS)], [FILLED, RAN])
})
