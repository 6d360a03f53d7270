/** Deliveries, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { AttemptEnd, ClaimedDelivery, NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import { MAX_KEPT_ATTEMPTS } from '../../../src/core/deliveries/delivery.ts'
import { EVERYTHING, endpointOf, idOf, insertEndpoint, stateOf } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import fc from '../../support/fast-check.ts'
import { until } from '../../support/until.ts'

const LEASE_MS = 60_000
const ROOM = 1_000_000

const deliveryOf = (number: number, changes: Partial<NewDelivery> = {}): NewDelivery => ({
  id: idOf(number),
  messageId: idOf(9_000 + number),
  endpointId: idOf(1),
  endpoint: 'Lab',
  requestId: 'sink',
  target: 'http://sink.example',
  request: {
    to: { target: 'http', address: '', options: { retries: 0 } },
    method: 'POST',
    url: `http://sink.example/${number}`,
    headers: { authorization: '${secret:TOKEN}' },
    values: { 'x-value': '${secret:TOKEN}' },
    key: null,
    contentType: 'application/json',
    allowed: { any: false, ranges: [[200, 299]] },
    timeoutMs: 1_000,
    rules: { scheduleMs: [0, 5_000], giveUpAfterMs: 60_000 },
  },
  body: `{"number":${number}}`,
  ...changes,
})

const attempt = (status: number) => ({ at: '2027-01-01T00:00:00.000Z', ms: 3, status })
const ends = (claimed: ClaimedDelivery, state: AttemptEnd['state'], dueInMs?: number): AttemptEnd => ({
  id: claimed.delivery.id,
  lease: claimed.lease,
  attempt: attempt(state === 'delivered' ? 200 : 500),
  state,
  ...(dueInMs === undefined ? {} : { dueInMs }),
})


import { openPostgres } from '../../support/contracts/stores.ts'
void EVERYTHING; void endpointOf; void insertEndpoint; void stateOf; void SHARED_SQLITE; void fc; void until; void MAX_KEPT_ATTEMPTS; void openPostgres
describeStores('probe', (stage) => {
  const store = () => stage.store.deliveries
  it('P1 retry of two with one key and two targets', async () => {
    const a = deliveryOf(1, { orderKey: 'k' }), b = deliveryOf(2, { orderKey: 'k', target: 'http://other.example' })
    await store().accept([a], ROOM); await store().accept([b], ROOM)
    const more = Array.from({ length: 6 }, (_, index) => deliveryOf(index + 3))
    await store().accept(more, ROOM)
    assert.deepEqual((await store().retry([a.id, b.id, ...more.map(({ id }) => id)])).length, 8)
  })
  it('P2 next target after the first of a key ended', async () => {
    const a = deliveryOf(1, { orderKey: 'k' }), b = deliveryOf(2, { orderKey: 'k', target: 'http://other.example' })
    await store().accept([a], ROOM); await store().accept([b], ROOM)
    const [c] = await store().claim('o', a.target, 9, LEASE_MS)
    await store().end([ends(c as ClaimedDelivery, 'delivered')])
    assert.deepEqual((await store().dueTargets(9)).targets, ['http://other.example'])
  })
  it('P3 cancel of a waiting head lets the next go', async () => {
    const a = deliveryOf(1, { orderKey: 'k' }), b = deliveryOf(2, { orderKey: 'k' })
    await store().accept([a, b], ROOM)
    const [c] = await store().claim('o', a.target, 9, LEASE_MS)
    await store().end([ends(c as ClaimedDelivery, 'pending', 600_000)])
    await store().cancel([a.id])
    assert.equal((await store().claim('o', a.target, 9, LEASE_MS)).length, 1)
  })
  it('P4 retries beside purges', async () => {
    const all: string[] = []
    for (let round = 0; round < 60; round += 1) {
      const batch = Array.from({ length: 10 }, (_, index) => deliveryOf(round * 10 + index + 1))
      await store().accept(batch, 1e9)
      const ids = batch.map(({ id }) => id)
      await store().cancel(ids)
      all.push(...ids)
      await Promise.all([store().retry(ids.slice(0, 5)), store().purge(-60_000, 7), store().retry(ids.slice(5))])
    }
    const listed = await store().list({}, 10_000)
    const counts = (await store().totals()).counts
    const shown = ['pending', 'cancelled'].map((state) => [state, listed.filter((one) => one.state === state).length])
    const counted = ['pending', 'cancelled'].map((state) => [state, counts.find((one) => one.state === state)?.count ?? 0])
    assert.deepEqual(counted, shown)
    let left = listed.filter(({ state }) => state === 'pending').length
    while (left > 0) {
      const claimed = await store().claim('z', 'http://sink.example', 100, LEASE_MS)
      assert.ok(claimed.length > 0)
      left -= (await store().end(claimed.map((one) => ends(one, 'delivered')))).length
    }
    assert.deepEqual((await store().dueTargets(9)), { targets: [], nextInMs: undefined })
  })
})
