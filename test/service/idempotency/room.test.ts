/** The room of cached responses: expired ones are removed, and without room new keys are refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startIdempotencyCleanup } from '../../../src/pipeline/idempotency/idempotency-cleanup.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { endpointOf, idOf, insertEndpoint } from '../../support/contracts/records.ts'
import { keyed, passingOn, REPLAYED, startHeld } from '../../support/idempotency/keys.ts'
import { startService } from '../../support/service.ts'
import { silent } from '../../support/silent.ts'

test('an endpoint without room refuses new keys and answers known ones, and leaves room for the others', async (test) => {
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
  assert.match(last.text, /was not started/)
  assert.ok(sent <= 4, `${sent} of 400 kB take more than half of 1 MiB`)
  const other = await service.fetch('/small', keyed('new'))
  assert.deepEqual([other.status, target.received.length], [200, 1])
  const again = await send(0)
  assert.deepEqual([again.status, again.headers.get(REPLAYED)], [200, 'true'])
  assert.equal(
    (await service.fetch('/small', { ...keyed('new'), headers: { 'content-type': 'application/json' } })).status,
    200,
  )
  assert.ok(
    service.log.some(({ level, message }) => level === 'warn' && /take as much of IDEMPOTENCY_MAX_MB/.test(message)),
  )
})

test('expired responses are removed, by the process that purges', async (test) => {
  const { endpoints, idempotency, close } = await openSqliteStore({ path: ':memory:', logger: silent })
  test.after(close)
  await insertEndpoint(endpoints, endpointOf(1))
  const response = { messageId: 'm', status: 200, headers: {}, body: Buffer.from('{}') }
  for (let n = 0; n < 450; n += 1) {
    await idempotency.complete(
      { endpointId: idOf(1), key: `${n}`, fingerprint: '' },
      'm',
      response,
      n < 400 ? 1 : 60_000,
    )
  }
  const bytesOf = async () => (await idempotency.bytes()).get(idOf(1)) ?? 0
  const full = await bytesOf()
  for (const purges of [false, true]) {
    const checked = Promise.withResolvers<void>()
    const store = {
      purge: idempotency.purge,
      bytes: async () => {
        checked.resolve()
        return idempotency.bytes()
      },
    }
    const cleanup = startIdempotencyCleanup({ store, logger: silent, maxBytes: Number.POSITIVE_INFINITY, purges })
    await checked.promise
    await cleanup.stop()
    assert.equal(await bytesOf(), purges ? full / 9 : full)
  }
})
