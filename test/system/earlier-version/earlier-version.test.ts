/**
 * A store that an earlier version has written opens with everything in it. test/data/earlier-version has such stores, as
 * make-fixture.ts has made them with that version, and what that version said of them.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startService } from '../../support/service.ts'
import { freshDatabase, postgresMissing } from '../../support/services/postgres.ts'
import { freshFolder } from '../../support/spawned-service.ts'
import { type Filled, type Observed, observe } from './fill.ts'
import { restorePostgres, restoreSqlite } from './stores.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../../data/earlier-version/${name}`, import.meta.url), 'utf8')

/** The records and the audit log of the fixture must not be too old to show. */
const KEEP = { MESSAGE_LOG_DAYS: '3650', AUDIT_DAYS: '36500' }

async function assertSame(test: TestContext, name: string, databaseUrl: string): Promise<void> {
  const service = await startService({ ...KEEP, DATABASE_URL: databaseUrl })
  test.after(service.stop)
  const { filled, observed }: { filled: Filled; observed: Observed } = JSON.parse(read(`${name}.json`))
  const now = await observe(service, filled)
  for (const path of filled.paths) assert.partialDeepStrictEqual(now.views[path], observed.views[path], path)
  // A default that a later version added would change the ETag of an unchanged document.
  assert.equal(JSON.stringify(now.views['/endpoints']), JSON.stringify(observed.views['/endpoints']))
  assert.deepEqual(now.replayed, observed.replayed)
  assert.deepEqual(now.state, observed.state)
  // The sentence may have been reworded, and the message has another id.
  assert.equal(now.reused.status, observed.reused.status)
  assert.match(now.reused.body, /IDEMPOTENCY_KEY_REUSED/)
}

test('a file of an earlier version opens with all that was in it', async (test) => {
  const folder = freshFolder(test)
  restoreSqlite(join(folder, 'store.db'), read('sqlite.sql'))
  restoreSqlite(join(folder, 'store-messages.db'), read('sqlite-messages.sql'))
  await assertSame(test, 'sqlite', `sqlite:${join(folder, 'store.db')}`)
})

test('a PostgreSQL of an earlier version opens with all that was in it', {
  skip: postgresMissing() ?? false,
}, async (test) => {
  const database = await freshDatabase(test)
  await restorePostgres(database, read('postgres.sql'))
  await assertSame(test, 'postgres', database.url)
})
