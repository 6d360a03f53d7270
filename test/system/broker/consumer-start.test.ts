/** Where an endpoint starts to consume: `kafkaConsumerStart`. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Admin } from '@platformatic/kafka'
import type { JsonObject } from '../../../src/core/json.ts'
import { body, committedUntil, consumerUntil, range, startBench, until } from '../../support/broker/broker.ts'
import { json, type Service } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b)

describe('where consuming starts', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)
  const admin = new Admin({ clientId: 'tests', bootstrapBrokers: [kafka.brokers], retries: 20, retryDelay: 100 })
  after(() => admin.close())
  let serial = 0

  const produce = (topic: string, numbers: readonly number[], partition = 0) =>
    topics.produce(
      topic,
      numbers.map((n) => ({ ...body({ n }), partition })),
    )
  /** Commits offsets of a group that has no members; -1 for none. */
  const commitAs = async (groupId: string, topic: string, offsets: readonly number[]) => {
    const partitionOffsets = offsets.flatMap((offset, partition) =>
      offset < 0 ? [] : [{ partition, offset: BigInt(offset) }],
    )
    await admin.alterConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionOffsets }] })
  }
  /** An upstream that answers from `held` on. */
  const receiver = async (held?: Promise<void>) => {
    const upstream = await startUpstream(async (_text, _earlier, response) => {
      await held
      response.end('{}')
    })
    after(upstream.close)
    return { url: upstream.url, numbers: () => upstream.bodies.map((text) => (JSON.parse(text) as { n: number }).n) }
  }
  const consume = (url: string, fields: JsonObject, on: Service = service) =>
    on.register({
      endpoint: { pattern: `/start-${++serial}` },
      inputMapping: { 'requestBody.n': 'n' },
      requests: { response: { id: 'out', config: { url } } },
      ...fields,
    })
  /** Tries until what depends on a new partition or topic succeeds. */
  const succeeds = (work: () => Promise<unknown>) =>
    until(
      () =>
        work().then(
          () => true,
          () => false,
        ),
      (done) => done,
    )
  const committed = (id: string, topic: string, partitions = 1) =>
    topics.committed(`mapping-mediator.${id}`, topic, partitions)
  const running = (id: string, on: Service = service) => consumerUntil(on, id, (status) => status.state === 'running')

  /** `group`: what the group that `start` names has committed; -1 for nothing. */
  type Case = readonly [
    name: string,
    starts: readonly [number, number],
    committedAtOnce: readonly number[],
    start?: string,
    group?: readonly number[],
  ]
  const cases: readonly Case[] = [
    ['without the field', [0, 0], [-1, -1]],
    ['earliest', [0, 0], [-1, -1], 'earliest'],
    ['latest', [6, 4], [6, 4], 'latest'],
    ['a group', [5, 1], [5, 1], 'group:former', [5, 1]],
    ['a group without an offset of one partition', [0, 3], [0, 3], 'group:partly', [-1, 3]],
    ['a group whose name has spaces', [6, 4], [6, 4], 'group:Übergabe, alt ', [6, 4]],
  ]
  for (const [name, starts, committedAtOnce, start, group] of cases) {
    test(`${name}: from there, and what comes later`, async () => {
      const topic = await topics.create(2)
      await produce(topic, range(0, 6), 0)
      await produce(topic, range(100, 104), 1)
      if (start !== undefined && group !== undefined) await commitAs(start.slice('group:'.length), topic, group)
      const held = Promise.withResolvers<void>()
      const { url, numbers } = await receiver(held.promise)
      const { _id } = await consume(url, {
        kafkaConsumerTopic: topic,
        ...(start === undefined ? {} : { kafkaConsumerStart: start }),
      })
      await running(_id)
      // No record is done yet.
      assert.deepEqual(await committed(_id, topic, 2), committedAtOnce)
      held.resolve()
      await produce(topic, [6], 0)
      await produce(topic, [104], 1)
      await committedUntil(topics, _id, topic, [7, 5])
      assert.deepEqual(sorted(numbers()), [...range(starts[0], 7), ...range(100 + starts[1], 105)])
    })
  }

  test('latest: a restart before the first record skips nothing, also of a partition that the topic got meanwhile', async () => {
    const home = mkdtempSync(join(tmpdir(), 'crosswalk-broker-'))
    after(() => rmSync(home, { recursive: true }))
    const env = { DATABASE_URL: `sqlite:${join(home, 'a.db')}` }
    const [topic, { url, numbers }] = [await topics.create(2), await receiver()]
    const first = await startBench(kafka.brokers, env)
    const { _id } = await consume(url, { kafkaConsumerTopic: topic, kafkaConsumerStart: 'latest' }, first.service)
    await running(_id, first.service)
    await first.stop()
    await topics.grow(topic, 3)
    for (const partition of [0, 1, 2]) {
      await succeeds(() => produce(topic, [partition * 100, partition * 100 + 1], partition))
    }
    const second = await startBench(kafka.brokers, env)
    after(second.stop)
    await committedUntil(topics, _id, topic, [2, 2, 2])
    assert.deepEqual(sorted(numbers()), [0, 1, 100, 101, 200, 201])
  })

  test('latest: of records that are produced during the start, none is missing after the first', async () => {
    const [topic, { url, numbers }] = [await topics.create(2), await receiver()]
    let produced = 0
    let isStarted = false
    const feed = async () => {
      for (; !isStarted; produced += 1) {
        await produce(topic, [produced], 0)
        await produce(topic, [produced + 1_000_000], 1)
      }
    }
    const fed = feed()
    await until(
      () => produced,
      (count) => count > 10,
    )
    const { _id } = await consume(url, { kafkaConsumerTopic: topic, kafkaConsumerStart: 'latest' })
    await running(_id)
    const whenRunning = produced
    await until(
      () => produced,
      (count) => count > whenRunning + 20,
    )
    isStarted = true
    await fed
    await committedUntil(topics, _id, topic, [produced, produced])
    for (const base of [0, 1_000_000]) {
      const found = numbers().filter((n) => n >= base && n < base + 1_000_000)
      const from = found[0] as number
      assert.deepEqual(found, range(from, base + produced))
      assert.ok(from > base && from <= base + whenRunning, `${from} of ${whenRunning}`)
    }
  })

  const waitsFor = async (url: string, topic: string, group: string) => {
    const { _id } = await consume(url, { kafkaConsumerTopic: topic, kafkaConsumerStart: `group:${group}` })
    const status = await consumerUntil(service, _id, (one) => one.lastError !== undefined)
    assert.deepEqual(
      [status?.state, status?.lastError?.message],
      [
        'connecting',
        `the consumer group "${group}" has no offsets of the topic "${topic}"; correct the name in "kafkaConsumerStart", or set it to "earliest" or "latest"`,
      ],
    )
    return _id
  }

  test('a group without offsets of the topic: consumes nothing until the group has some', async () => {
    const [topic, elsewhere, { url, numbers }] = [await topics.create(), await topics.create(), await receiver()]
    const group = `${topic}-later`
    await produce(topic, range(0, 5))
    // The group exists, but for another topic.
    await commitAs(group, elsewhere, [0])
    const id = await waitsFor(url, topic, group)
    assert.deepEqual(await committed(id, topic), [-1])
    await commitAs(group, topic, [3])
    await committedUntil(topics, id, topic, [5], 30_000)
    assert.deepEqual(numbers(), [3, 4])
    assert.equal((await running(id))?.lag, 0)
  })

  test('a group without offsets of the topic: a change of the document starts the consumer', async () => {
    const [topic, { url, numbers }] = [await topics.create(), await receiver()]
    await produce(topic, range(0, 2))
    const id = await waitsFor(url, topic, `${topic}-nowhere`)
    await service.fetch(`/endpoints/${id}`, json('PATCH', { kafkaConsumerStart: 'earliest' }))
    await committedUntil(topics, id, topic, [2])
    assert.deepEqual(numbers(), [0, 1])
  })

  test('another start has no effect once the endpoint has committed', async () => {
    const [topic, elsewhere, { url, numbers }] = [await topics.create(), await topics.create(), await receiver()]
    await produce(topic, range(0, 3))
    await commitAs(`${topic}-former`, topic, [1])
    const { _id } = await consume(url, { kafkaConsumerTopic: topic, kafkaConsumerStart: `group:${topic}-former` })
    await committedUntil(topics, _id, topic, [3])
    const change = async (fields: JsonObject) => {
      const reply = await service.fetch(`/endpoints/${_id}`, json('PATCH', fields))
      assert.equal(reply.status, 200)
    }
    // Away and back: a consumer of its own, which asks again where to start.
    await change({ kafkaConsumerTopic: elsewhere, kafkaConsumerStart: 'latest' })
    await consumerUntil(service, _id, (status) => status.topic === elsewhere && status.state === 'running')
    await produce(topic, [3])
    await change({ kafkaConsumerTopic: topic })
    await committedUntil(topics, _id, topic, [4])
    assert.deepEqual(numbers(), [1, 2, 3])
  })

  for (const isMissed of [false, true]) {
    const when = isMissed ? 'after the consumer has missed it' : 'at once'
    test(`a topic that is deleted and created again ${when} is consumed from its start`, async () => {
      const [topic, { url, numbers }] = [await topics.create(), await receiver()]
      await produce(topic, [0])
      const { _id } = await consume(url, { kafkaConsumerTopic: topic, kafkaConsumerStart: 'latest' })
      await running(_id)
      await produce(topic, [1])
      await until(numbers, (found) => found.length === 1)
      await topics.remove(topic)
      if (isMissed) {
        await consumerUntil(
          service,
          _id,
          (status) => status.lastError?.message === 'the topic does not exist' && status.partitions.length === 0,
        )
      }
      await topics.create(1, topic)
      await succeeds(() => produce(topic, [100, 101]))
      await until(numbers, (found) => found.includes(101))
      assert.deepEqual(numbers(), [1, 100, 101])
    })
  }
})
