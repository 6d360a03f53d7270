/** What a partition counts as done where the one that runs its records ends before them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openPartition } from '../../src/adapters/kafka/partition.ts'
import type { ConsumedRecord } from '../../src/adapters/kafka/record.ts'
import type { SettleOptions } from '../../src/adapters/kafka/settle.ts'
import { createSlots } from '../../src/adapters/kafka/slots.ts'
import { createIntake } from '../../src/registry/intake.ts'

const recordAt = (offset: bigint): ConsumedRecord => ({
  topic: 't',
  partition: 0,
  offset,
  timestamp: 0,
  key: null,
  value: Buffer.from('{}'),
  headers: [],
})

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const intake = createIntake({
  clock: Date.now,
  newId: () => 'id',
  logger,
  messageTimeoutMs: 1_000,
  maxMessagesInFlight: 10,
  observe: () => {},
})

/** `current`: what the endpoint is when the first record asks for it. */
function open(current: SettleOptions['current']) {
  const slots = createSlots(10)
  const faults: unknown[] = []
  const partition = openPartition({
    number: 0,
    offset: 5n,
    slots,
    settle: {
      current,
      intake,
      producer: { produce: () => assert.fail('nothing is to be produced') },
      logger,
      deadLetterTopic: undefined,
      retryPausesMs: [],
      parserLimitBytes: 1_000,
      validationAcceptNullValues: false,
      produceTimeoutMs: 1_000,
    },
    onProgress: () => {},
    onRoom: () => {},
    onReport: () => {},
    onFault: (error) => faults.push(error),
  })
  return { slots, faults, partition }
}

const records = [5n, 6n, 7n].map(recordAt)

describe('a partition whose records are not run', () => {
  test('no slot is given any more: none of them is done', () => {
    const { slots, partition } = open(() => undefined)
    slots.end()
    partition.offer(records, 8n)
    assert.equal(partition.doneOffset, 5n)
    // What is fetched behind them changes nothing, and neither does a move.
    partition.offer([recordAt(8n)], 9n)
    assert.equal(partition.moveTo(20n), true)
    assert.equal(partition.doneOffset, 5n)
    assert.equal(partition.moveTo(1n), false)
  })

  test('the first of them meets a bug at once: none of them is done, and the bug is told', () => {
    const bug = new Error('a bug')
    const { faults, partition } = open(() => {
      throw bug
    })
    partition.offer(records, 8n)
    assert.deepEqual([partition.doneOffset, faults], [5n, [bug]])
  })

  test('the endpoint is gone: none of them is done', async () => {
    const { partition } = open(() => undefined)
    partition.offer(records, 8n)
    await partition.close()
    assert.equal(partition.doneOffset, 5n)
  })

  test('a fetch without records, only marks of transactions: all of it is done', () => {
    const { partition } = open(() => undefined)
    partition.offer([], 8n)
    assert.equal(partition.doneOffset, 8n)
    assert.equal(partition.moveTo(12n), true)
    assert.equal(partition.doneOffset, 12n)
  })
})
