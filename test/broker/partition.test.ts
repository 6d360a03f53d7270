/** What counts as done where running ends before the records, and what goes on where nothing can be read. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import type { KafkaSettings } from '../../src/adapters/kafka/client-options.ts'
import { startConsumer } from '../../src/adapters/kafka/consumer.ts'
import { openPartition } from '../../src/adapters/kafka/partition.ts'
import { openReader } from '../../src/adapters/kafka/reader.ts'
import type { ConsumedRecord } from '../../src/adapters/kafka/record.ts'
import type { SettleOptions } from '../../src/adapters/kafka/settle.ts'
import { createSlots } from '../../src/adapters/kafka/slots.ts'
import { createIntake } from '../../src/registry/intake.ts'
import { silent } from '../contracts/stores.ts'

const recordAt = (offset: bigint): ConsumedRecord => ({
  topic: 't',
  partition: 0,
  offset,
  timestamp: 0,
  key: null,
  value: Buffer.from('{}'),
  headers: [],
})

const logger = silent

const intake = createIntake({
  clock: Date.now,
  newId: () => 'id',
  logger,
  messageTimeoutMs: 1_000,
  maxMessagesInFlight: 10,
  messageWaitMs: 1_000,
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
      producer,
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

const producer = { produce: () => assert.fail('nothing is to be produced') }
/** Nobody listens there. */
const NOWHERE = { port: 1, host: '127.0.0.1' }
const settings: KafkaSettings = {
  kafkaBrokers: [`${NOWHERE.host}:${NOWHERE.port}`],
  kafkaClientId: 'tests',
  kafkaGroupId: 'tests',
  kafkaMaxInFlight: 10,
  kafkaRetryPausesMs: [],
  kafkaDeadLetterTopic: 'off',
  kafkaConnectTimeoutMs: 1_000,
  kafkaRequestTimeoutMs: 1_000,
  kafkaSessionTimeoutMs: 3_000,
  kafkaTls: false,
  kafkaTlsCa: undefined,
  kafkaTlsCert: undefined,
  kafkaTlsKey: undefined,
  kafkaSaslMechanism: undefined,
  kafkaSaslUsername: undefined,
  kafkaSaslPassword: undefined,
  parserLimitBytes: 1_000,
  validationAcceptNullValues: false,
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

describe('where no broker can be read from', () => {
  test('a reader gives up once, and then tries nothing until it is closed', async () => {
    const ended = Promise.withResolvers<void>()
    let [ends, tries] = [0, 0]
    const ignore = () => {}
    const reader = openReader(settings, 'tests', 't', {
      onTrouble: () => {
        tries += 1
      },
      onSound: ignore,
      onMoved: ignore,
      onReplaced: ignore,
      onEnd: () => {
        ends += 1
        ended.resolve()
      },
    })
    reader.assign([open(() => undefined).partition])
    await ended.promise
    for (let times = 0; times < 100; times += 1) {
      const socket = connect(NOWHERE)
      await new Promise((resolve) => socket.once('error', resolve))
    }
    await reader.close()
    assert.deepEqual([ends, tries], [1, 20])
  })

  test('a consumer whose client refuses its settings says so, and can be stopped', async () => {
    const consumer = startConsumer({
      settings: { ...settings, kafkaSessionTimeoutMs: -1 },
      endpointId: 'a',
      topic: 't',
      get: () => undefined,
      intake,
      producer,
      logger,
    })
    await Promise.resolve()
    await consumer.stop()
    assert.match(consumer.status().lastError?.message ?? '', /sessionTimeout/)
  })
})
