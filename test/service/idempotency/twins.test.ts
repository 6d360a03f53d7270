/** Messages with one `Idempotency-Key` at the same time: one is worked on, the others wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeDatabases } from '../../support/databases.ts'
import { type Held, keyed, passingOn, REPLAYED, startHeld } from '../../support/idempotency/keys.ts'
import { type Reply, type Service, startService } from '../../support/service.ts'

describeDatabases('twins', ({ withDatabase }) => {
  /** A service with `/orders`, whose target is held. */
  const staged = (
    work: (service: Service, target: Held) => Promise<void>,
    { env = {}, readStatus: statusOf }: { env?: Record<string, string>; readStatus?: (call: number) => number } = {},
  ) =>
    withDatabase(async ({ url }) => {
      const target = await startHeld(statusOf)
      const service = await startService({ DATABASE_URL: url, ...env })
      try {
        await service.register(passingOn(target.url))
        await work(service, target)
      } finally {
        target.letGo()
        await service.stop()
        await target.stop()
      }
    })
  const send = (service: Service, count: number, body = { a: 1 }): Promise<Reply>[] =>
    Array.from({ length: count }, () => service.fetch('/orders', keyed('one', body)))
  const textsOf = (replies: readonly Reply[]) => [...new Set(replies.map(({ status, text }) => `${status} ${text}`))]
  const repeatedAmong = (replies: readonly Reply[]) => replies.filter(({ headers }) => headers.has(REPLAYED)).length

  test(
    'of 100 one is worked on, and all of them get its answer',
    staged(async (service, target) => {
      const replies = send(service, 100)
      await target.called(1)
      target.letGo()
      assert.deepEqual(textsOf(await Promise.all(replies)), ['200 {"call":1}'])
      assert.equal(repeatedAmong(await Promise.all(replies)), 99)
      assert.equal(target.received.length, 1)
    }),
  )

  test(
    'another message with the key of one that is under way is refused at once',
    staged(async (service, target) => {
      const first = send(service, 1)
      await target.called(1)
      for (const reply of await Promise.all(send(service, 5, { a: 2 }))) {
        assert.deepEqual([reply.status, reply.json().code], [422, 'IDEMPOTENCY_KEY_REUSED'])
      }
      target.letGo()
      assert.deepEqual(textsOf(await Promise.all(first)), ['200 {"call":1}'])
    }),
  )

  test(
    'where the first fails with what may succeed later, the next one is worked on',
    staged(
      async (service, target) => {
        const replies = send(service, 20)
        await target.called(1)
        target.letGo()
        const statuses = (await Promise.all(replies)).map(({ status }) => status).sort()
        assert.deepEqual(statuses, [...Array(19).fill(200), 503])
        assert.equal(target.received.length, 2)
        assert.equal(repeatedAmong(await Promise.all(replies)), 18)
      },
      { readStatus: (call) => (call === 1 ? 503 : 200) },
    ),
  )

  test(
    'no caller waits longer than a message may take',
    staged(
      async (service, target) => {
        const first = service.fetch('/orders', keyed('one', { a: 1 }))
        await target.called(1)
        const twin = await service.fetch('/orders', keyed('one', { a: 1 }))
        // The first one has the same time, and started before: either it had ended, or it was under way still.
        if (twin.status === 409) {
          assert.equal(twin.json().code, 'IDEMPOTENCY_KEY_IN_USE')
          assert.equal(twin.headers.get('retry-after'), '1')
        } else assert.equal(twin.status, 504)
        assert.equal((await first).status, 504)
        target.letGo()
        assert.equal((await service.fetch('/orders', keyed('one', { a: 1 }))).status, 200)
      },
      { env: { MESSAGE_TIMEOUT_MS: '1500' } },
    ),
  )

  test(
    'keys that are many are worked on each for itself',
    staged(async (service, target) => {
      target.letGo()
      const replies = await Promise.all(
        Array.from({ length: 200 }, (_, n) => service.fetch('/orders', keyed(`key ${n % 50}`, { n: n % 50 }))),
      )
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
      assert.equal(target.received.length, 50)
      assert.equal(repeatedAmong(replies), 150)
    }),
  )
})
