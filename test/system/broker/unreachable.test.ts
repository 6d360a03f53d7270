/** A consumer whose broker cannot be reached, or whose client refuses its settings. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { createKafkaConsumer } from '../../../src/inbound/kafka/kafka-consumer.ts'
import type { ConsumerListener } from '../../../src/inbound/kafka/record-consumer.ts'
import { TopicReader } from '../../../src/inbound/kafka/topic-reader.ts'
import { kafkaSettings } from '../../support/services/kafka-settings.ts'

/** No server listens there. */
const NOWHERE = { port: 1, host: '127.0.0.1' }
const settings = kafkaSettings(`${NOWHERE.host}:${NOWHERE.port}`, 1_000)

const listener = {
  onRebalance: () => {},
  onRevoked: () => {},
  onAssigned: () => {},
  demand: () => ({ maxBytes: 1_000, partitionBytes: new Map([[0, 1_000]]) }),
  onRecords: () => {},
  onEndOffset: () => {},
  onOffsetReset: () => true,
  onTrouble: () => {},
  onRecovered: () => {},
  onReplaced: () => {},
  onEnd: () => {},
} satisfies ConsumerListener

describe('where no broker can be read from', () => {
  test('a reader gives up once, and then tries nothing until it is closed', async () => {
    const ended = Promise.withResolvers<void>()
    let [ends, tries] = [0, 0]
    const reader = new TopicReader(settings, 'tests', 't', {
      ...listener,
      onTrouble: () => {
        tries += 1
      },
      onEnd: () => {
        ends += 1
        ended.resolve()
      },
    })
    reader.assign([{ partition: 0, offset: 5n }])
    await ended.promise
    for (let times = 0; times < 100; times += 1) {
      const socket = connect(NOWHERE)
      await new Promise((resolve) => socket.once('error', resolve))
    }
    await reader.close()
    assert.deepEqual([ends, tries], [1, 20])
  })

  test('a session ends with one sentence, and can be closed', async () => {
    const ended = Promise.withResolvers<Error>()
    const subscription = {
      groupId: 'tests',
      topic: 't',
      startAt: 'committed',
      groupStart: 'earliest',
      exactlyOnce: false,
    } as const
    const session = await createKafkaConsumer(settings).open(subscription, { ...listener, onEnd: ended.resolve })
    assert.match((await ended.promise).message, /^[^\n]*ECONNREFUSED[^\n]*$/)
    await session.close()
  })

  test('a client that refuses its settings rejects with one sentence', async () => {
    const consumer = createKafkaConsumer({ ...settings, kafkaSessionTimeoutMs: -1 })
    await assert.rejects(
      consumer.open(
        { groupId: 'tests', topic: 't', startAt: 'committed', groupStart: 'earliest', exactlyOnce: false },
        listener,
      ),
      /^Error: [^\n]*sessionTimeout/,
    )
  })
})
