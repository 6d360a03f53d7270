import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { MinuteCount } from '../../../src/store/sql/stats-store.ts'
import { idOf } from '../../support/contracts/records.ts'
import { describeStores } from '../../support/contracts/stores.ts'

const countOf = (number: number, minute: number, count: number, buckets: [number, number][] = []): MinuteCount => ({
  endpointId: idOf(number),
  minute,
  count,
  failures: count - 1,
  buckets: new Map(buckets),
})

describeStores('counts of messages', (stage) => {
  const stats = () => stage.store.stats
  const read = async (number: number, from: number) =>
    (await stats().read(idOf(number), from)).toSorted((a, b) => a.minute - b.minute || a.count - b.count)

  it('are none at first', async () => {
    assert.deepEqual(await read(1, 0), [])
    await stats().purge(10)
    await stats().write('a', [])
  })

  it('are read by endpoint, from a minute on', async () => {
    const counts = [
      countOf(1, 29_000_000, 1, [[0, 1]]),
      countOf(1, 29_000_001, 2, [
        [104, 4_294_967],
        [3, 1],
      ]),
      countOf(2, 29_000_001, 3),
    ]
    await stats().write('a', counts)
    assert.deepEqual(await read(1, 0), counts.slice(0, 2))
    assert.deepEqual(await read(1, 29_000_001), counts.slice(1, 2))
    assert.deepEqual(await read(2, 0), counts.slice(2))
    assert.deepEqual(await read(3, 0), [])
  })

  it('are added up for several endpoints at once', async () => {
    await stats().write('a', [countOf(1, 28, 1), countOf(1, 29, 2, [[3, 1]]), countOf(2, 29, 3), countOf(3, 29, 4)])
    await stats().write('b', [countOf(1, 29, 5), countOf(1, 31, 7)])
    const totals = async (numbers: readonly number[], from: number) =>
      (await stats().totals(numbers.map(idOf), from, { from: 29, to: 30 })).toSorted((a, b) => a.count - b.count)
    const two = { endpointId: idOf(2), count: 3, failures: 2, recent: 3 }
    assert.deepEqual(await totals([1, 2, 9], 0), [two, { endpointId: idOf(1), count: 15, failures: 11, recent: 7 }])
    assert.deepEqual(await totals([2, 1], 29), [two, { endpointId: idOf(1), count: 14, failures: 11, recent: 7 }])
    assert.deepEqual(await totals([], 0), [])
  })

  it('are added up in slots of five minutes, with their durations', async () => {
    await stats().write('a', [
      countOf(1, 29, 9),
      countOf(1, 30, 1, [[3, 1]]),
      countOf(1, 34, 2, [[3, 1]]),
      countOf(1, 35, 4),
    ])
    await stats().write('b', [
      countOf(1, 34, 3, [
        [3, 2],
        [5, 1],
      ]),
      countOf(2, 31, 5),
      countOf(3, 31, 6),
    ])
    const slots = await stats().slots([idOf(1), idOf(2), idOf(9)], 30)
    assert.deepEqual(
      slots.toSorted((a, b) => a.endpointId.localeCompare(b.endpointId) || a.minute - b.minute),
      [
        {
          ...countOf(1, 30, 6, [
            [3, 4],
            [5, 1],
          ]),
          failures: 3,
        },
        countOf(1, 35, 4),
        countOf(2, 30, 5),
      ],
    )
    assert.deepEqual(await stats().slots([], 0), [])
  })

  it('take the place of what the instance wrote before, and stand beside those of others', async () => {
    await stats().write('a', [countOf(1, 7, 5, [[1, 5]])])
    await stats().write('b', [countOf(1, 7, 10, [[2, 10]])])
    await stats().write('a', [countOf(1, 7, 6, [[1, 6]]), countOf(1, 8, 1)])
    assert.deepEqual(await read(1, 0), [countOf(1, 7, 6, [[1, 6]]), countOf(1, 7, 10, [[2, 10]]), countOf(1, 8, 1)])
  })

  it('are written in any number, and purged by age', async () => {
    const many = Array.from({ length: 2_345 }, (_, n) => countOf(1, n, n))
    await stats().write('a', many)
    assert.deepEqual(await read(1, 0), many)
    await stats().purge(2_000)
    assert.deepEqual(await read(1, 0), many.slice(2_000))
  })
})
