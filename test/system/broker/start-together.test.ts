/** Members of a new group that join it at the same time: all partitions start at offsets that one of them committed, once. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { createKafkaConsumer } from '../../../src/inbound/kafka/kafka-consumer.ts'
import type { ConsumerListener, ConsumerSession, GroupStart } from '../../../src/inbound/kafka/record-consumer.ts'
import { body, until } from '../../support/broker/broker.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { kafkaSettings } from '../../support/services/kafka-settings.ts'
import { openTopics } from '../../support/services/topics.ts'

const kafka = await kafkaForTests()

const PARTITIONS = 6
const ROUNDS = 3
const MEMBERS = 3

describe('members of a new group', { skip: kafka.skip }, () => {
  const topics = openTopics(kafka.brokers)
  after(topics.close)
  const consumer = createKafkaConsumer(kafkaSettings(kafka.brokers))

  /** A member that fetches nothing and commits nothing; `starts` gets each partition with the offset that it starts at. */
  const join = async (
    groupId: string,
    topic: string,
    groupStart: GroupStart,
    starts: [number, bigint | undefined][],
  ) => {
    const assigned = { partitions: [] as readonly number[] }
    const ended = Promise.withResolvers<Error>()
    const listener: ConsumerListener = {
      onRebalance: () => {},
      onRevoked: (partitions) => {
        assigned.partitions = assigned.partitions.filter((partition) => !partitions.includes(partition))
      },
      onAssigned: ({ partitions, added }) => {
        assigned.partitions = partitions
        for (const [partition, start] of added) starts.push([partition, start?.offset])
      },
      demand: () => ({ maxBytes: 1_000, partitionBytes: new Map() }),
      onRecords: () => {},
      onEndOffset: () => {},
      onOffsetReset: () => true,
      onTrouble: () => {},
      onRecovered: () => {},
      onReplaced: ended.resolve,
      onEnd: ended.resolve,
    }
    const session: ConsumerSession = await consumer.open(
      { groupId, topic, startAt: 'committed', groupStart, exactlyOnce: false },
      listener,
    )
    return { session, assigned, ended: ended.promise }
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    test(`latest, while records are produced and a member leaves (${round + 1})`, async () => {
      const [topic, groupId] = [await topics.create(PARTITIONS), randomUUID()]
      let isFed = true
      const feed = async () => {
        while (isFed) {
          await topics.produce(
            topic,
            Array.from({ length: PARTITIONS }, (_, partition) => ({ ...body({}), partition })),
          )
        }
      }
      const fed = feed()
      await until(
        () => topics.ends(topic),
        (ends) => ends.every((end) => end > 0),
      )
      const starts: [number, bigint | undefined][] = []
      const members = await Promise.all(Array.from({ length: MEMBERS }, () => join(groupId, topic, 'latest', starts)))
      const held = () => members.flatMap(({ assigned }) => assigned.partitions).toSorted()
      const all = Array.from({ length: PARTITIONS }, (_, partition) => partition)
      await until(
        () => members.some(({ assigned }) => assigned.partitions.length > 0),
        (some) => some,
      )
      const [first, ...others] = members
      await first?.session.close()
      members.shift()
      await until(held, (found) => JSON.stringify(found) === JSON.stringify(all))
      isFed = false
      await fed
      await Promise.all(others.map(({ session }) => session.close()))
      const committed = await topics.committed(groupId, topic, PARTITIONS)
      const wrong = starts.filter(([partition, offset]) => Number(offset) !== committed[partition])
      assert.deepEqual(wrong, [])
      assert.ok(
        committed.every((offset) => offset > 0),
        String(committed),
      )
    })
  }

  test('a group without offsets: no member gets a partition, and the one that reads them ends with the sentence', async () => {
    const [topic, groupId, former] = [await topics.create(PARTITIONS), randomUUID(), randomUUID()]
    const starts: [number, bigint | undefined][] = []
    const members = await Promise.all([1, 2].map(() => join(groupId, topic, { group: former }, starts)))
    const error = await Promise.race(members.map(({ ended }) => ended))
    await Promise.all(members.map(({ session }) => session.close()))
    assert.match(
      error.message,
      /^the consumer group "[0-9a-f-]+" has no offsets of the topic "[^"]+"; correct the name/,
    )
    assert.deepEqual(starts, [])
    assert.deepEqual(await topics.committed(groupId, topic, PARTITIONS), Array(PARTITIONS).fill(-1))
  })
})
