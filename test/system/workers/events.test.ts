/** Events of a service with workers: one stream reports all of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvents } from '../../support/events/event-reader.ts'
import { until } from '../../support/until.ts'
import { startCrew } from './crew.ts'

test('a stream counts the messages of every worker, and a list their endpoints', async (t) => {
  const crew = await startCrew(t)
  await crew.register({ name: 'All', endpoint: { pattern: '/all' } })
  const callers = await crew.connectToEach('/all')
  const reader = await readEvents(`${crew.adminUrl}/events`)
  await reader.first(({ type }) => type === 'open')
  for (const { call } of callers) for (let n = 0; n < 5; n += 1) await call('POST', '/all', {})
  const counted = () =>
    reader.events.reduce((sum, { type, data }) => (type === 'messages' ? sum + Number(data.done) : sum), 0)
  assert.equal(await until(counted, (sum) => sum >= 10), 10)
  const { _id } = await crew.register({ name: 'New', endpoint: { pattern: '/new' } })
  const changed = await reader.first(({ type }) => type === 'endpoints')
  assert.deepEqual(changed.data.changes, [{ change: 'created', id: _id, version: 1, name: 'New' }])
  for (const { call } of callers) {
    const { body } = await call('GET', '/endpoints?view=summary&q=all')
    const [row] = body.endpoints as { stats: { count: number } }[]
    // The callers have sent one message each to find their workers, at least.
    assert.ok(Number(row?.stats.count) >= 12)
    const { status } = await call('GET', `/endpoints/${_id}/faults`)
    assert.equal(status, 200)
  }
  reader.close()
  for (const caller of callers) caller.end()
})

test('a stream of a worker ends when the service stops', async (t) => {
  const crew = await startCrew(t)
  const reader = await readEvents(`${crew.adminUrl}/events`)
  await reader.first(({ type }) => type === 'open')
  crew.child.kill('SIGTERM')
  await Promise.all([crew.ended, reader.ended])
  assert.equal(reader.events.at(-1)?.data.reason, 'stopping')
})
