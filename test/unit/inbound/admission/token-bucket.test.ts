/** The rate of an endpoint, and the time after which a refused caller may try again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPermits } from '../../../../src/inbound/admission/concurrency-limiter.ts'
import { createRetryAfterEstimator } from '../../../../src/inbound/admission/retry-after-estimator.ts'
import { createTokenBucket } from '../../../../src/inbound/admission/token-bucket.ts'
import fc from '../../../support/fast-check.ts'

const limit = fc.record({
  messages: fc.integer({ min: 1, max: 50 }),
  seconds: fc.integer({ min: 1, max: 60 }),
  burst: fc.integer({ min: 1, max: 60 }),
})
/** Milliseconds between one message and the next. */
const pauses = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 3_000 })), { minLength: 1, maxLength: 200 })

describe('a rate', () => {
  test('takes no more than a burst and what has become free since, over any time', () => {
    fc.assert(
      fc.property(limit, pauses, (given, gaps) => {
        const rate = createTokenBucket(given)
        let nowMs = 0
        const taken: number[] = []
        for (const gap of gaps) {
          nowMs += gap
          if (rate.take(nowMs) === 0) taken.push(nowMs)
        }
        const perMs = given.messages / (given.seconds * 1_000)
        for (let first = 0; first < taken.length; first += 1) {
          for (let last = first; last < taken.length; last += 1) {
            const most = given.burst + ((taken[last] as number) - (taken[first] as number)) * perMs
            assert.ok(last - first + 1 <= most + 1e-6)
          }
        }
      }),
    )
  })

  test('takes a message again after the time that it reported, and not before', () => {
    fc.assert(
      fc.property(limit, pauses, (given, gaps) => {
        const rate = createTokenBucket(given)
        let nowMs = 0
        for (const gap of gaps) {
          nowMs += gap
          const waitMs = rate.take(nowMs)
          if (waitMs < 1) continue
          assert.ok(rate.take(nowMs + waitMs - 0.5) > 0)
          nowMs += waitMs
          assert.equal(rate.take(nowMs), 0)
        }
      }),
    )
  })

  const sizes = [
    { limit: { messages: 5, seconds: 1 }, workers: 1, atOnce: 5, thenMs: 200 },
    { limit: { messages: 60, seconds: 60 }, workers: 1, atOnce: 60, thenMs: 1_000 },
    { limit: { messages: 60, seconds: 60, burst: 1 }, workers: 1, atOnce: 1, thenMs: 1_000 },
    { limit: { messages: 10, seconds: 1, burst: 8 }, workers: 2, atOnce: 4, thenMs: 200 },
    { limit: { messages: 1, seconds: 1 }, workers: 4, atOnce: 1, thenMs: 4_000 },
  ]
  for (const { limit: given, workers, atOnce, thenMs } of sizes) {
    test(`${JSON.stringify(given)} among ${workers}: ${atOnce} at once, then one each ${thenMs} ms`, () => {
      const rate = createTokenBucket(given, workers)
      for (let count = 0; count < atOnce; count += 1) assert.equal(rate.take(1_000_000), 0)
      assert.ok(Math.abs(rate.take(1_000_000) - thenMs) < 1e-6)
      assert.equal(rate.take(1_000_000 + thenMs), 0)
      assert.ok(rate.take(1_000_000 + thenMs) > 0)
    })
  }

  test('that is changed holds at once, and gives nothing that was taken', () => {
    const rate = createTokenBucket({ messages: 1, seconds: 3_600 })
    assert.equal(rate.take(0), 0)
    rate.change({ messages: 10, seconds: 1 })
    assert.ok(rate.take(0) <= 100)
    rate.change({ messages: 1, seconds: 1 })
    assert.ok(rate.take(0) > 0)
  })
})

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

describe('the time until there is room', () => {
  const cases = [
    { what: 'is a second where nothing is known', ended: [], seconds: [1] },
    { what: 'follows how fast messages end', ended: [2, 2, 2], seconds: [1, 5, 5] },
    { what: 'stays as it was while little ends', ended: [0, 1, 0], seconds: [1, 10, 10] },
    { what: 'grows while nothing ends', ended: [0, 0, 0, 0, 0], seconds: [1, 1, 2, 3, 4] },
    {
      what: 'is no longer than half a minute',
      ended: new Array(40).fill(0),
      seconds: [1, 1, ...range(2, 30), ...new Array(9).fill(30)],
    },
  ]
  for (const { what, ended, seconds } of cases) {
    test(what, () => {
      const pool = createPermits({ permits: 1, queue: 1 })
      const retryAfter = createRetryAfterEstimator(pool)
      const reported = (ended.length === 0 ? [0] : ended).map((count, at) => {
        pool.released += count
        return retryAfter(10, at * 1_000)
      })
      assert.deepEqual(reported, seconds)
    })
  }
  test('is not decided by a time long ago', () => {
    const pool = createPermits({ permits: 1, queue: 1 })
    const retryAfter = createRetryAfterEstimator(pool)
    retryAfter(1, 0)
    pool.released = 1
    assert.equal(retryAfter(1, 3_600_000), 1)
  })
})
