/** Captures of messages with several instances: each records by them, and their places count once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capturesOf } from '../../support/records/message-log/captures.ts'
import { type Instance, needsPostgres, startInstances, until } from './instances.ts'

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
