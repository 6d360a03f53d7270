/** How the endpoints share the bytes of records that are fetched and not done. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FetchBudget } from '../../../../src/inbound/kafka/consumer-session.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const KIB = 1024
const MIB = 1024 * KIB
const LIMIT = 16 * MIB

/** An endpoint of `partitions` whose records never start to run but stay where they are. */
function openEndpoint(budget: FetchBudget, partitions = 6) {
  const queues = new Map<number, { bufferedBytes: number; waitingBytes: number }>()
  for (let partition = 0; partition < partitions; partition += 1) {
    queues.set(partition, { bufferedBytes: 0, waitingBytes: 0 })
  }
  let calls = 0
  const share = budget.open(() => {
    calls += 1
  })
  const demand = () => share.demand(queues)
  return {
    demand,
    close: share.close,
    /** How often it was notified of room. */
    calls: () => calls,
    held: () => [...queues.values()].reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0),
    /** Takes what one fetch gives of a topic with endless records; returns its bytes. */
    fetch: () => {
      const { maxBytes, partitionBytes } = demand()
      let fetched = 0
      for (const [partition, bytes] of partitionBytes) {
        const got = Math.min(bytes, maxBytes - fetched)
        const queue = queues.get(partition)
        if (queue !== undefined) queue.bufferedBytes += got
        fetched += got
      }
      // The adapter asks again once a fetch is delivered.
      demand()
      return fetched
    },
    release: () => {
      for (const queue of queues.values()) queue.bufferedBytes = 0
    },
  }
}
type Endpoint = ReturnType<typeof openEndpoint>

const fill = (endpoint: Endpoint) => {
  while (endpoint.fetch() > 0);
  return endpoint.held()
}
const totalOf = (endpoints: readonly Endpoint[]) => endpoints.reduce((sum, { held }) => sum + held(), 0)

describe('the bytes of records that are fetched and not done', () => {
  test('one endpoint alone has all of them, and no more', () => {
    const held = fill(openEndpoint(new FetchBudget(LIMIT)))
    assert.ok(held > 0.9 * LIMIT && held <= LIMIT + 2 * MIB, `${held}`)
  })

  test('an endpoint that fetches all it can leaves as much to one that comes later', () => {
    const budget = new FetchBudget(LIMIT)
    const [stalled, later] = [openEndpoint(budget), openEndpoint(budget)]
    const first = fill(stalled)
    const second = fill(later)
    assert.ok(first <= LIMIT / 2 + 2 * MIB, `${first}`)
    assert.ok(second >= LIMIT / 8, `${second}`)
    assert.ok(totalOf([stalled, later]) <= LIMIT)
  })

  test('endpoints that fetch at the same time do not pass the limit together', () => {
    const budget = new FetchBudget(LIMIT)
    const endpoints = Array.from({ length: 50 }, () => openEndpoint(budget))
    const demands = endpoints.map(({ demand }) => demand())
    assert.ok(demands.reduce((sum, { maxBytes }) => sum + maxBytes, 0) <= LIMIT)
  })

  test('an endpoint without a record may fetch, however many others have stalled', () => {
    const budget = new FetchBudget(MIB)
    const stalled = Array.from({ length: 100 }, () => openEndpoint(budget))
    for (const one of stalled) fill(one)
    assert.ok(openEndpoint(budget).fetch() > 0)
  })

  test('an endpoint that was refused room hears of it when another one leaves some, or closes', () => {
    for (const leave of [
      (one: Endpoint) => {
        one.release()
        one.demand()
      },
      (one: Endpoint) => one.close(),
    ]) {
      const budget = new FetchBudget(LIMIT)
      const [one, other] = [openEndpoint(budget), openEndpoint(budget)]
      fill(one)
      const before = fill(other)
      assert.equal(other.calls(), 0)
      leave(one)
      assert.equal(other.calls(), 1)
      assert.ok(fill(other) > before)
    }
  })

  test('whatever the endpoints do, they hold at most the limit and a small fetch each', () => {
    const step = fc.record({ endpoint: fc.nat(4), what: fc.constantFrom('fetch', 'fetch', 'fetch', 'release') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: KIB, max: LIMIT }), (steps, limit) => {
        const budget = new FetchBudget(limit)
        const endpoints = Array.from({ length: 5 }, () => openEndpoint(budget, 3))
        for (const { endpoint, what } of steps) {
          const one = endpoints[endpoint] as Endpoint
          const wasEmpty = one.held() === 0
          if (what === 'release') one.release()
          else if (one.fetch() === 0) assert.ok(!wasEmpty, 'an endpoint without a record may fetch')
          assert.ok(totalOf(endpoints) <= limit + endpoints.length * 3 * 32 * KIB)
        }
      }),
      { numRuns: LONG ? 300 : 100 },
    )
  })
})
