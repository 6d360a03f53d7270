/** A server that takes no writes for a while, or answers nothing: calls are refused together, and it is left as it was met. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { freshDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { needsPostgres, startInstance, until } from './instances.ts'

test('sessions that cannot write are reported by readiness and given up', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const one = await startInstance(test, database)
  await one.register({
    endpoint: { pattern: '/kept' },
    state: { extract: { requestBody: { n: 'n' } } },
    inputMapping: { 'state.requestBody.n': 'previous' },
  })
  const send = async () => (await one.ask('POST', '/kept', { n: 1 })).status
  assert.equal(await send(), 200)

  // One that may write all the time.
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  database.uses(() => admin.end())
  const name = pg.escapeIdentifier(new URL(database.url).pathname.slice(1))
  await admin.query(`alter database ${name} set default_transaction_read_only = on`)
  await admin.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)
  await until('messages to be refused', 60_000, async () => (await send()) === 503)
  await until('readiness to report', 60_000, async () => (await one.ready()).body.store === 'unavailable')
  const sendMany = () => Promise.all(Array.from({ length: 20 }, send))
  assert.deepEqual(new Set(await sendMany()), new Set([503]))

  // Sessions of now stay as they are.
  await admin.query(`alter database ${name} reset default_transaction_read_only`)
  const [now] = (await admin.query<{ at: string }>('select clock_timestamp()::text as at')).rows
  await until('messages to be answered', 60_000, async () => (await sendMany()).every((status) => status === 200))
  await until('readiness', 60_000, async () => (await one.ready()).status === 200)
  await until('the sessions of then to be gone', 60_000, async () => {
    await sendMany()
    const { rowCount } = await admin.query(
      `select 1 from pg_stat_activity
      where datname = current_database() and application_name = 'crosswalk' and backend_start < $1`,
      [now?.at],
    )
    return rowCount === 0
  })
  assert.deepEqual(new Set(await sendMany()), new Set([200]))
})

const CHANGES = 25

test(`${CHANGES} changes at once while PostgreSQL stalls are refused together`, needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const proxy = await startTcpProxy(database.url)
  database.uses(proxy.stop)
  const one = await startInstance(test, database, { DATABASE_URL: proxy.url, DATABASE_TIMEOUT_MS: '2500' })
  const { _id } = await one.register({ endpoint: { pattern: '/stalled' } })
  proxy.stall()
  const startedAt = performance.now()
  const answers = await Promise.all(
    Array.from({ length: CHANGES }, (_, n) => one.ask('PATCH', `/endpoints/${_id}`, { description: `${n}` })),
  )
  const tookMs = performance.now() - startedAt
  for (const { status, headers } of answers) assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
  // One after the other they take two and a half seconds each at least.
  assert.ok(tookMs < 15_000, `all were refused after ${tookMs.toFixed(0)} ms`)
  await proxy.heal()
  await until('a change to be taken', 60_000, async () => {
    return (await one.ask('PATCH', `/endpoints/${_id}`, { description: 'healed' })).status === 200
  })
})
