/** Which request is next, and how the queue serves an overload, on a clock of the test's own. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAdaptiveLifoQueue } from '../../../../src/inbound/admission/adaptive-lifo-queue.ts'
import fc from '../../../support/fast-check.ts'

/** As many may wait for long. */
const FEW = 32

test('each one is reported once, and none waits beyond the bounds', () => {
  const step = fc.record({ kind: fc.constantFrom('add', 'add', 'next', 'expire'), ms: fc.nat({ max: 100 }) })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.array(step, { maxLength: 300 }), (capacity, steps) => {
      const queue = createAdaptiveLifoQueue<number>({ capacity, waitMs: 100 })
      const cameAt: number[] = []
      const reported = new Set<number>()
      let now = 0
      const report = (one: number | undefined) => {
        if (one === undefined) return
        assert.ok(!reported.has(one))
        reported.add(one)
      }
      for (const { kind, ms } of steps) {
        now += ms
        if (kind === 'add') {
          cameAt.push(now)
          report(queue.add(cameAt.length - 1, now))
        } else if (kind === 'next') {
          const first = cameAt.findIndex((_, one) => !reported.has(one))
          const last = cameAt.findLastIndex((_, one) => !reported.has(one))
          const expected = queue.overloaded ? last : first
          const one = queue.next()
          assert.equal(one ?? -1, expected)
          report(one)
        } else {
          const maxMs = queue.overloaded ? 10 : queue.size <= FEW ? 2_000 : 100
          for (const one of queue.expire(now)) {
            assert.ok(now - (cameAt[one] as number) > maxMs)
            report(one)
          }
        }
        assert.equal(queue.size, cameAt.length - reported.size)
        assert.ok(queue.size <= capacity)
        // Only who is served ends it; a queue that refusals have emptied is overloaded still.
        if (kind === 'next' && queue.size === 0) assert.equal(queue.overloaded, false)
      }
    }),
  )
})

describe('who waits may wait, where a wait is 100 ms, for', () => {
  const waits = [
    { what: '20 of them where few wait', waiting: FEW, capacity: 100, maxMs: 2_000 },
    { what: 'one of them where more wait', waiting: FEW + 1, capacity: 100, maxMs: 100 },
    { what: 'a tenth of one where some were refused', waiting: FEW, capacity: FEW - 1, maxMs: 10 },
  ]
  for (const { what, waiting, capacity, maxMs } of waits) {
    test(what, () => {
      const queue = createAdaptiveLifoQueue<number>({ capacity, waitMs: 100 })
      for (let one = 0; one < waiting; one += 1) queue.add(one, 0)
      assert.deepEqual(queue.expire(maxMs), [])
      assert.equal(queue.expire(maxMs + 0.1).length, Math.min(waiting, capacity))
    })
  }
})

/** A processor that takes `serviceMs` for a message, and a tenth of a millisecond to read or to refuse one. */
function simulate(times: number, serviceMs: number, seconds: number) {
  const queue = createAdaptiveLifoQueue<number>({ capacity: 1_000, waitMs: 250 })
  const everyMs = serviceMs / times
  const done: { at: number; took: number }[] = []
  let [now, came, refused] = [0, 0, 0]
  while (came * everyMs < seconds * 1_000) {
    const until = now
    for (; came * everyMs <= until; came += 1) {
      now += 0.1
      if (queue.add(came * everyMs, until) !== undefined) refused += 1
    }
    const next = queue.next()
    const expired = queue.expire(now).length
    refused += expired
    now += expired * 0.1
    if (next === undefined) now = Math.max(now, came * everyMs)
    else {
      now += serviceMs
      done.push({ at: next, took: now - next })
    }
  }
  const sorted = done.map(({ took }) => took).toSorted((one, other) => one - other)
  return { done, refused, p99: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0, longest: sorted.at(-1) ?? 0 }
}

describe('callers who send one large message after the other, which takes 100 ms', () => {
  for (const [callers, isTooMuch] of [
    [8, false],
    [32, false],
    [200, true],
  ] as const) {
    test(`${callers} of them ${isTooMuch ? 'are too many' : 'are all served in turn'}`, () => {
      const queue = createAdaptiveLifoQueue<number>({ capacity: 1_000, waitMs: 250 })
      let [now, refused] = [0, 0]
      for (let caller = 0; caller < callers; caller += 1) queue.add(caller, now)
      for (let message = 0; message < 200; message += 1) {
        const served = queue.next()
        now += 100
        const expired = queue.expire(now)
        refused += expired.length
        for (const caller of [served ?? [], expired].flat()) queue.add(caller, now)
      }
      assert.equal(refused > 0, isTooMuch)
    })
  }
})

describe('a load of', () => {
  test('nine tenths of the capacity refuse no request', () => {
    const { refused, p99 } = simulate(0.9, 5, 10)
    assert.deepEqual([refused, p99 < 10], [0, true])
  })

  for (const [times, serviceMs] of [
    [10, 5],
    [10, 20],
    [3, 5],
  ] as const) {
    test(`${times} times what can be done, ${serviceMs} ms each, does most of that, and hardly later than without load`, () => {
      const { done, refused, p99, longest } = simulate(times, serviceMs, 60)
      assert.ok(refused > 0)
      assert.ok(p99 < 2 * serviceMs, `p99 ${p99}`)
      assert.ok(longest < 600, `longest ${longest}`)
      assert.ok(done.length > (0.6 * 60_000) / serviceMs, `${done.length} were done`)
    })
  }
})
