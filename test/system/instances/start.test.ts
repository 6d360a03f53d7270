/** A start that cannot go on: it is aborted in time, and blocks no other instance. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { freshDatabase, type TestDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { freshFolder, startProgram } from '../../support/spawned-service.ts'
import { needsPostgres, startInstance, until } from './instances.ts'

/** Starts the service by a way to the database that stalls when it sends `text`. */
async function startStalled(test: TestContext, database: TestDatabase, text: string, env: Record<string, string>) {
  const proxy = await startTcpProxy(database.url)
  database.uses(proxy.stop)
  proxy.stallAt(text)
  return startProgram(freshFolder(test), { env: { DATABASE_URL: proxy.url, ...env } })
}

describe('a start that cannot go on', { concurrency: true }, () => {
  for (const text of ['select exists', 'pg_try_advisory_xact_lock']) {
    test(`the start is given up in time where the server stalls at ${text}`, needsPostgres, async (test) => {
      const database = await freshDatabase(test)
      const { output, ended } = await startStalled(test, database, text, { DATABASE_START_TIMEOUT_MS: '1' })
      assert.deepEqual(await ended, { code: 1, signal: null })
      assert.match(output.stderr, /^crosswalk: The database of DATABASE_URL cannot be used: .* too slow; .*\n$/)
    })
  }

  test(
    'the start is aborted in time while another process keeps the lock of migrations',
    needsPostgres,
    async (test) => {
      const database = await freshDatabase(test)
      const other = new pg.Client({ connectionString: database.url })
      await other.connect()
      database.uses(() => other.end())
      await other.query('select pg_advisory_lock(30033004)')
      const starting = startInstance(test, database, { DATABASE_START_TIMEOUT_MS: '1' })
      await assert.rejects(starting, /another instance has been bringing its tables up to date for too long/)
    },
  )

  test('an instance that stalls while it makes the tables does not hold up the others', needsPostgres, async (test) => {
    const database = await freshDatabase(test)
    const { child, ended } = await startStalled(test, database, 'create table "endpoints"', {})
    const locks = `select 1 from pg_locks where locktype = 'advisory' and database =
      (select oid from pg_database where datname = current_database())`
    await until('the lock', 60_000, async () => (await database.query(locks)).length > 0)
    const other = await startInstance(test, database)
    assert.equal((await other.ready()).status, 200)
    child.kill('SIGKILL')
    await ended
  })
})
