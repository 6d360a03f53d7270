/** The notes that are committed with offsets, on a real broker: they come back, unless they are of a former topic. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { NOTE_CHARACTERS } from '../../../src/inbound/kafka/offset-commits.ts'
import type { CommittedOffset, ConsumerListener } from '../../../src/inbound/kafka/record-consumer.ts'
import { body, until } from '../../support/broker/broker.ts'
import { idleListener, openConsumer } from '../../support/broker/consumer.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

describe('the note of a commit', { skip: kafka.skip }, () => {
  const { topics, consumer } = openConsumer(kafka.brokers)
  /** Joins, commits the offsets, and leaves. Resolves to what was committed before. */
  const visit = async (
    groupId: string,
    topic: string,
    offsets: ReadonlyMap<number, CommittedOffset>,
  ): Promise<ReadonlyMap<number, CommittedOffset | undefined>> => {
    let found: ReadonlyMap<number, CommittedOffset | undefined> = new Map()
    const listener: ConsumerListener = {
      ...idleListener,
      onAssigned: ({ added }) => {
        found = added
      },
    }
    const subscription = { groupId, topic, startAt: 'committed', groupStart: 'earliest', exactlyOnce: false } as const
    const session = await consumer.open(subscription, listener)
    await until(
      () => found.size,
      (size) => size === 2,
    )
    if (offsets.size > 0) assert.equal(await session.commit(offsets), 'committed')
    await session.close()
    return found
  }

  test('comes back with its offset, is left out where the broker refuses it, and does not pass to another topic', async () => {
    const [topic, groupId] = [await topics.create(2), randomUUID()]
    await topics.produce(
      topic,
      [0, 1].flatMap((partition) => [1, 2, 3].map((n) => ({ ...body({ n }), partition }))),
    )
    const longest = 'x'.repeat(NOTE_CHARACTERS)
    const first = new Map([
      [0, { offset: 1n, note: longest }],
      [1, { offset: 2n, note: '' }],
    ])
    const before = await visit(groupId, topic, first)
    assert.deepEqual([...before.values()], [undefined, undefined])
    const second = new Map([[1, { offset: 3n, note: 'y'.repeat(5_000) }]])
    assert.deepEqual(await visit(groupId, topic, second), first)
    const third = new Map([
      [0, { offset: 1n, note: longest }],
      [1, { offset: 3n, note: '' }],
    ])
    assert.deepEqual(await visit(groupId, topic, new Map()), third)
    await topics.remove(topic)
    await topics.create(2, topic)
    const former = [...(await visit(groupId, topic, new Map())).values()].filter((one) => (one?.note ?? '') !== '')
    assert.deepEqual(former, [])
  })
})
