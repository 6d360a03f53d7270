import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addCall, newCpuQuota } from '../../../src/sandbox/cpu-quota.ts'
import { FRAME_LIMIT, frame, unframe } from '../../../src/sandbox/isolation-protocol.ts'
import { QuotaQueue } from '../../../src/sandbox/process-pool.ts'
import fc from '../../support/fast-check.ts'

describe('frames', () => {
  test('give what was sent, however the bytes are cut', () => {
    const cut = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), cut, (values, sizes) => {
        const bytes = Buffer.concat(values.map(frame))
        const taken: unknown[] = []
        const take = unframe((value) => taken.push(value))
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] as number
          take(bytes.subarray(at, at + size))
          at += size
        }
        assert.deepEqual(taken, JSON.parse(JSON.stringify(values)))
      }),
    )
  })

  test('that are too long are refused before they are kept', () => {
    const head = Buffer.alloc(4)
    head.writeUInt32LE(FRAME_LIMIT + 1)
    assert.throws(() => unframe(() => {})(head), RangeError)
  })
})

describe('a quota', () => {
  type Call = readonly [cpuMs: number, at: number]
  const after = (...calls: readonly Call[]) => {
    const quota = newCpuQuota()
    for (const [cpuMs, at] of calls) addCall(quota, cpuMs, at)
    return quota.quick
  }
  const cases: readonly (readonly [name: string, quick: boolean, ...calls: Call[]])[] = [
    ['is earned by a quick call', true, [1, 0]],
    ['is not earned by a slow one', false, [900, 0]],
    ['outlives one hiccup', true, [1, 0], [100, 10]],
    ['does not outlive a call that is slow', false, [1, 0], [900, 10]],
    ['is not earned again at once', false, [1, 0], [900, 10], [1, 500]],
    ['is earned again after a second', true, [1, 0], [900, 10], [1, 1_100]],
    ['takes twice as long the next time', false, [1, 0], [900, 10], [1, 1_100], [900, 1_200], [1, 2_500]],
  ]
  for (const [name, quick, ...calls] of cases) test(name, () => assert.equal(after(...calls), quick))
})

describe('what waits', () => {
  test('is served by what it asked for, and in turn among equals', () => {
    const waiting = new QuotaQueue<string>(3, 6)
    const of = (cpuMs: number | undefined) => ({ ...newCpuQuota(), cpuMs })
    const added = [waiting.add(1, of(900), 'slow'), waiting.add(2, of(5), 'a1'), waiting.add(2, of(5), 'a2')]
    added.push(waiting.add(3, of(5), 'b1'), waiting.add(4, of(undefined), 'new'))
    assert.deepEqual(added, [true, true, true, true, true])
    assert.deepEqual(
      Array.from({ length: 6 }, () => waiting.next()),
      ['new', 'a1', 'b1', 'a2', 'slow', undefined],
    )
    assert.equal(waiting.size, 0)
  })

  test('is bounded, of each program and in all', () => {
    const waiting = new QuotaQueue<number>(2, 3)
    const quota = newCpuQuota()
    const added = [1, 1, 1, 2, 3].map((key, call) => waiting.add(key, quota, call))
    assert.deepEqual(added, [true, true, false, true, false])
    assert.deepEqual(waiting.takeAll(1), [0, 1])
    assert.equal(waiting.size, 1)
  })
})
