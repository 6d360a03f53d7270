/** Many deliveries of one key are retried beside a sender that takes each as soon as it may. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeliveryService } from '../../../src/deliveries/delivery-service.ts'
import { DeliverySender } from '../../../src/deliveries/sender.ts'
import { createEndpointRegistry } from '../../../src/endpoints/endpoint-registry.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { attemptWith, deliveryOf } from '../../support/contracts/deliveries.ts'
import { readTestSettings } from '../../support/service.ts'
import { silent } from '../../support/silent.ts'
import { until } from '../../support/until.ts'

const COUNT = 1_101

for (const [max, retried] of [
  [10_000, COUNT],
  [700, 700],
] as const) {
  test(`${COUNT} of one key, ${max} at most, are sent again in their order`, async (context) => {
    const { deliveries: store, close } = await openSqliteStore({ path: ':memory:', logger: silent })
    const all = Array.from({ length: COUNT }, (_, number) => deliveryOf(number + 1, { orderKey: 'k' }))
    const ids = all.map(({ id }) => id)
    await store.accept(all, 1e9)
    await store.cancel(ids)
    const sent: string[] = []
    const sender = new DeliverySender({
      store,
      attempt: async ({ delivery }) => {
        sent.push(delivery.id)
        return { attempt: attemptWith(200), state: 'delivered', target: 'answers' }
      },
      owner: 'b',
      concurrency: 4,
      logger: silent,
    })
    context.after(async () => {
      await sender.stop(1_000)
      await close()
    })
    sender.start()
    const service = createDeliveryService({
      store: {
        ...store,
        retry: async (...given) => {
          const changed = await store.retry(...given)
          const before = sent.length
          sender.wake()
          await until(
            async () => sent.length,
            (count) => count > before,
          )
          return changed
        },
      },
      registry: createEndpointRegistry(),
      records: { search: { get: () => assert.fail() }, replayByHand: () => assert.fail() },
      clock: Date.now,
      settings: readTestSettings({}),
    })
    const { count, more, ids: shown } = await service.changeAll('retry', { key: 'k', state: 'cancelled' }, max)
    assert.deepEqual([count, more], [retried, retried < COUNT])
    assert.deepEqual(shown, ids.slice(0, Math.min(retried, 1_000)))
    assert.ok(sent.length >= Math.ceil(retried / 500))
    assert.deepEqual(sent, ids.slice(0, sent.length))
    const left = await store.list({ state: 'cancelled' }, COUNT)
    assert.deepEqual(left.map(({ id }) => id).reverse(), ids.slice(retried))
  })
}
