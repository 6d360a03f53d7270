/** What counts as done where processing ends before the records. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { PartitionQueue } from '../../../../src/inbound/kafka/partition-queue.ts'
import type { ProcessRecordOptions } from '../../../../src/inbound/kafka/process-record.ts'
import { type RecordOrder, RecordSemaphore } from '../../../../src/inbound/kafka/record-order.ts'
import { until } from '../../../support/until.ts'
import { endpointWith, outcomeOf, processingOf, recordAt } from './record-fixtures.ts'

/** `current`: what the endpoint is when the first record asks for it. */
function open(current: ProcessRecordOptions['current'], order: RecordOrder = 'partition', permits = 10) {
  const semaphore = new RecordSemaphore(permits)
  const faults: unknown[] = []
  const queue = new PartitionQueue({
    partition: 0,
    committed: { offset: 5n, note: '' },
    order,
    semaphore,
    processing: { ...processingOf(current), producer: { produce: () => assert.fail('nothing is to be produced') } },
    onProgress: () => {},
    onRoom: () => {},
    onReport: () => {},
    onFault: (error) => faults.push(error),
  })
  return { semaphore, faults, queue }
}

const records = [5n, 6n, 7n].map((offset) => recordAt(offset))

describe('a partition whose records are not processed', () => {
  test('no permit is granted any more: none of them is done', () => {
    const { semaphore, queue } = open(() => undefined)
    semaphore.close()
    queue.offer(records, 8n)
    assert.equal(queue.doneOffset, 5n)
    // Neither records behind them nor a reset of the offset change that.
    queue.offer([recordAt(8n)], 9n)
    assert.equal(queue.moveTo(20n), true)
    assert.equal(queue.doneOffset, 5n)
    assert.equal(queue.moveTo(1n), false)
  })

  test('the first of them meets a bug at once: none of them is done, and the bug is reported', () => {
    const bug = new Error('a bug')
    const { faults, queue } = open(() => {
      throw bug
    })
    queue.offer(records, 8n)
    assert.deepEqual([queue.doneOffset, faults], [5n, [bug]])
  })

  test('the endpoint is gone: none of them is done', async () => {
    const { queue } = open(() => undefined)
    queue.offer(records, 8n)
    await queue.close()
    assert.equal(queue.doneOffset, 5n)
  })

  test('a fetch without records, only marks of transactions: all of it is done', () => {
    const { queue } = open(() => undefined)
    queue.offer([], 8n)
    assert.equal(queue.doneOffset, 8n)
    assert.equal(queue.moveTo(12n), true)
    assert.equal(queue.doneOffset, 12n)
  })
})

describe('a record that is tried again', () => {
  test('it counts as one that waits in the pause, and as one under way in the attempt', async () => {
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof outcomeOf>>()
    let attempts = 0
    const endpoint = endpointWith(async () => {
      attempts += 1
      return attempts === 1 ? outcomeOf('RESPONSE_UNREACHABLE') : promise
    })
    const { queue } = open(() => endpoint)
    queue.offer([recordAt(5n)], 6n)
    await until(
      () => queue.figures,
      ({ underWay, retrying }) => underWay === 0 && retrying === 1,
    )
    queue.wake()
    await until(
      () => queue.figures,
      ({ underWay, retrying }) => attempts === 2 && underWay === 1 && retrying === 0,
    )
    resolve(outcomeOf('ok'))
    await until(
      () => queue.doneOffset,
      (offset) => offset === 6n,
    )
    assert.deepEqual([queue.figures.underWay, queue.figures.retrying], [0, 0])
  })

  test('it waits for the permit of a record that is done and not committed: its partition closes all the same', async () => {
    const endpoint = endpointWith(async ({ requestHeaders }) =>
      outcomeOf(requestHeaders['kafka-offset'] === '5' ? 'RESPONSE_UNREACHABLE' : 'ok'),
    )
    const { queue, semaphore } = open(() => endpoint, 'none', 1)
    queue.offer([recordAt(5n), recordAt(6n)], 7n)
    await until(
      () => queue.figures,
      ({ underWay, retrying, holes }) => underWay === 0 && retrying === 1 && holes === 1,
    )
    queue.wake()
    await setImmediate()
    await queue.close()
    assert.deepEqual([queue.doneOffset, semaphore.held], [5n, 0])
  })
})
