/** Instances that start together, or stop in the midst of a rebalance. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { Consumer } from '@platformatic/kafka'
import type { ConsumerListener, ConsumerSession, GroupStart } from '../../../src/inbound/kafka/record-consumer.ts'
import { body, consumerUntil, startBench, until } from '../../support/broker/broker.ts'
import { idleListener, openConsumer } from '../../support/broker/consumer.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

const PARTITIONS = 6
const ROUNDS = 3
const MEMBERS = 3

describe('members of a new group', { skip: kafka.skip }, () => {
  const { topics, consumer } = openConsumer(kafka.brokers)

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
      ...idleListener,
      onRevoked: (partitions) => {
        assigned.partitions = assigned.partitions.filter((partition) => !partitions.includes(partition))
      },
      onAssigned: ({ partitions, added }) => {
        assigned.partitions = partitions
        for (const [partition, start] of added) starts.push([partition, start?.offset])
      },
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

const BEFORE = 40
const MEANWHILE = 100

describe('a stop in the midst of a rebalance', { skip: kafka.skip }, () => {
  test('commits no record that was not done, whatever is fetched meanwhile', async (t) => {
    const { service, topics } = await startBench(kafka.brokers)
    after(topics.close)
    const delivered = new Set<number>()
    const upstream = await startUpstream((text, _earlier, response) => {
      delivered.add((JSON.parse(text) as { n: number }).n)
      response.end('{}')
    })
    after(upstream.close)
    const topic = await topics.create(2)
    const { _id } = await service.register({
      endpoint: { pattern: '/stop' },
      kafkaConsumerTopic: topic,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    const groupId = `mapping-mediator.${_id}`
    const shareOfSize = (count: number) =>
      consumerUntil(service, _id, (status) => status.state === 'running' && status.partitions.length === count)
    await shareOfSize(2)
    const other = new Consumer({ clientId: 'other', groupId, bootstrapBrokers: kafka.brokers.split(',') })
    const emitter: NodeJS.EventEmitter = other
    emitter.on('error', () => undefined)
    other.topics.track(topic)
    await other.joinGroup({})
    const mine = (await shareOfSize(1))?.partitions[0]?.partition as number

    // The real answer of the broker, only late.
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ask = Consumer.prototype.listCommittedOffsets as (this: Consumer, options: unknown) => Promise<unknown>
    const late = t.mock.method(
      Consumer.prototype,
      'listCommittedOffsets',
      async function (this: Consumer, options: unknown) {
        asked.resolve()
        await answered.promise
        return ask.call(this, options)
      },
    )
    const feed = (from: number, to: number) =>
      topics.produce(
        topic,
        Array.from({ length: to - from }, (_, index) => ({ ...body({ n: from + index }), partition: mine })),
      )
    await other.close(true)
    await asked.promise
    await feed(0, BEFORE)
    const stopped = service.stop()
    await feed(BEFORE, BEFORE + MEANWHILE)
    // A fetch that is under way answers at once where there is something.
    for (let times = 0; times < 10; times += 1) assert.equal((await topics.read(topic)).length, BEFORE + MEANWHILE)
    answered.resolve()
    await stopped
    late.mock.restore()
    const committed = (await topics.committed(groupId, topic, 2))[mine] as number
    const skipped = Array.from({ length: Math.max(committed, 0) }, (_, n) => n).filter((n) => !delivered.has(n))
    assert.deepEqual(skipped, [])
  })
})
