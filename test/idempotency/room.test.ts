/** The room that kept answers take: what has lapsed goes, and where there is none left, new keys are refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSqliteStore } from '../../src/adapters/sqlite/open-sqlite-store.ts'
import { startUpkeep } from '../../src/pipeline/answer-upkeep.ts'
import { endpointOf, idOf } from '../contracts/records.ts'
import { silent } from '../contracts/stores.ts'
import { startService } from '../service.ts'
import { keyed, passingOn, REPLAYED, startHeld } from './keys.ts'

test('without room a message with a new key is refused, and known ones are answered', async (test) => {
  const target = await startHeld()
  target.letGo()
  const service = await startService({ IDEMPOTENCY_MAX_MB: '1' })
  test.after(async () => {
    await service.stop()
    await target.stop()
  })
  const large = 'x'.repeat(400_000)
  await service.register({ ...passingOn(target.url, { endpoint: { pattern: '/small' } }) })
  await service.register({ endpoint: { pattern: '/large' }, idempotency: {} })
  const send = (n: number) => service.fetch('/large', keyed(`large ${n}`, { large, n }))
  let last = await send(0)
  let sent = 1
  for (; last.status === 200; sent += 1) {
    assert.ok(sent < 100, 'it fills up')
    last = await send(sent)
  }
  assert.deepEqual([last.status, last.json().code], [503, 'IDEMPOTENCY_UNAVAILABLE'])
  assert.match(last.text, /was not begun/)
  assert.equal((await service.fetch('/small', keyed('new'))).status, 503)
  assert.equal(target.received.length, 0)
  const again = await send(0)
  assert.deepEqual([again.status, again.headers.get(REPLAYED)], [200, 'true'])
  assert.equal(
    (await service.fetch('/small', { ...keyed('new'), headers: { 'content-type': 'application/json' } })).status,
    200,
  )
  assert.ok(service.log.some(({ level, message }) => level === 'warn' && /IDEMPOTENCY_MAX_MB is reached/.test(message)))
})

test('what has lapsed is removed, by the process that is to', async (test) => {
  const { endpoints, answers, close } = await openSqliteStore({ path: ':memory:', logger: silent })
  test.after(close)
  await endpoints.insert(endpointOf(1))
  const answer = { messageId: 'm', status: 200, headers: {}, body: Buffer.from('{}') }
  for (let n = 0; n < 450; n += 1) {
    await answers.keep({ endpointId: idOf(1), key: `${n}`, fingerprint: '' }, 'm', answer, n < 400 ? 1 : 60_000)
  }
  const full = await answers.bytes()
  for (const purges of [false, true]) {
    const looked = Promise.withResolvers<void>()
    const store = {
      purge: answers.purge,
      bytes: async () => {
        looked.resolve()
        return answers.bytes()
      },
    }
    const upkeep = startUpkeep({ store, logger: silent, maxBytes: Number.POSITIVE_INFINITY, purges })
    await looked.promise
    await upkeep.stop()
    assert.equal(await answers.bytes(), purges ? full / 9 : full)
  }
})
