/** What instances share beside endpoints and states: events of changes, and captures of messages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEvents } from '../../support/observe/events/event-reader.ts'
import { capturesOf } from '../../support/records/message-log/captures.ts'
import { type Instance, needsPostgres, startInstances, until } from './instances.ts'

test('changes of endpoints on one instance are events and rows of the other', needsPostgres, async (t) => {
  const [one, other] = (await startInstances(t, 2)) as [Instance, Instance]
  const reader = await readEvents(`${other.adminUrl}/events?types=endpoints`)
  await reader.first(({ type }) => type === 'open')
  const { _id: id } = await one.register({ name: 'shared', endpoint: { pattern: '/shared' } })
  const created = await reader.first(({ type }) => type === 'endpoints')
  assert.deepEqual(created.data.changes, [{ change: 'created', id, version: 1, name: 'shared' }])
  const { body } = await other.ask('GET', '/endpoints?view=summary')
  assert.deepEqual([body.total, (body.endpoints as { id: string }[])[0]?.id], [1, id])
  await one.ask('DELETE', `/endpoints/${id}`)
  const deleted = await reader.first((event) => event.type === 'endpoints' && event !== created)
  assert.deepEqual(deleted.data.changes, [{ change: 'deleted', id, name: 'shared' }])
  reader.close()
})

test('a capture that one instance starts holds for the messages of all, and ends on all', needsPostgres, async (t) => {
  const [one, other] = (await startInstances(t, 2)) as [Instance, Instance]
  const { _id } = await one.register({
    endpoint: { pattern: '/captured' },
    inputMapping: { 'requestBody.n': 'n' },
    messageLog: 'off',
  })
  await until('the other instance has the endpoint', 10_000, async () => {
    return (await other.ask('POST', '/captured', { n: 0 })).status === 200
  })
  const { start, get, captured, call } = capturesOf(one.adminUrl).on(_id)
  const there = capturesOf(other.adminUrl).on(_id)
  await start({ messages: 1_000 })
  // Its messages count as soon as the notification of the store has reached it.
  await until('the other instance captures', 10_000, async () => {
    await other.ask('POST', '/captured', { n: 0 })
    return (await there.captured()).length > 0
  })
  await start({ messages: 50 })
  const before = (await there.captured()).length
  await Promise.all(Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : other).ask('POST', '/captured', { n })))
  // Each instance has written its records when it answers this.
  await there.captured()
  assert.equal((await captured()).length, before + 50)
  assert.equal((await there.get()).remaining, 0)
  await there.start({ messages: 5 })
  assert.equal((await call('DELETE')).status, 200)
  assert.deepEqual([await there.get(), await get()], [null, null])
})
