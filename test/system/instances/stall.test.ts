/** Changes that wait for each other while PostgreSQL stalls: what the first finds out, the others need not find out anew. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { needsPostgres, startInstance, until } from './instances.ts'

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
