/** Records that are gone before they were read: consuming goes on with what there is, and says what it missed. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Admin } from '@platformatic/kafka'
import {
  bodies,
  body,
  committedUntil,
  consumerOf,
  consumerUntil,
  range,
  startBench,
  until,
} from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

describe('where the record to be read next is not there any more', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)
  let serial = 0
  const upstreamFor = async (isHeld: (n: number) => Promise<unknown> | undefined = () => undefined) => {
    const upstream = await startUpstream(async (text, _earlier, response) => {
      await isHeld((JSON.parse(text) as { n: number }).n)
      response.end('{}')
    })
    after(upstream.close)
    return { ...upstream, numbers: () => upstream.bodies.map((text) => (JSON.parse(text) as { n: number }).n) }
  }
  const consume = (topic: string, url: string) =>
    service.register({
      endpoint: { pattern: `/retention-${++serial}` },
      kafkaConsumerTopic: topic,
      inputMapping: { 'requestBody.n': 'n' },
      requests: { response: { id: 'out', config: { url } } },
    })
  const reported = (topic: string) =>
    service.log.filter(({ level, fields }) => level === 'error' && fields.topic === topic).map(({ message }) => message)

  test('deleted while the consumer is behind: it goes on at the earliest record, and reports which it missed', async () => {
    const topic = await topics.create()
    const filler = 'x'.repeat(50_000)
    const records = (from: number, to: number) => range(from, to).map((n) => body({ n, filler }))
    for (let n = 0; n < 100; n += 20) await topics.produce(topic, records(n, n + 20))
    const release = Promise.withResolvers<void>()
    const upstream = await upstreamFor((n) => (n === 0 ? release.promise : undefined))
    const { _id } = await consume(topic, upstream.url)
    await until(upstream.numbers, (numbers) => numbers.length === 1)
    await topics.trim(topic, 0, 90)
    release.resolve()
    await committedUntil(topics, _id, topic, [100])
    const numbers = upstream.numbers()
    // What was in memory by then is done; nothing that is still there is missing, and nothing comes twice.
    const missed = range(0, 100).filter((n) => !numbers.includes(n))
    assert.deepEqual(
      numbers,
      range(0, 100).filter((n) => !missed.includes(n)),
    )
    assert.ok(missed.length > 0 && missed.at(-1) === 89, `missed: ${missed}`)
    const message = `The records ${missed[0]} to 89 of partition 0 were deleted before they were read; consuming continues at 90`
    assert.deepEqual(reported(topic), [message])
    const status = await consumerUntil(service, _id, (one) => one.lag === 0)
    assert.deepEqual([status?.state, status?.lastError?.message], ['running', message])
  })

  test('deleted while the consumer is stopped: it starts at the earliest record, and reports which it missed', async () => {
    const [topic, elsewhere] = [await topics.create(), await topics.create()]
    const upstream = await upstreamFor()
    await topics.produce(topic, bodies(0, 5))
    const { _id } = await consume(topic, upstream.url)
    await committedUntil(topics, _id, topic, [5])
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: elsewhere }))
    await consumerUntil(service, _id, (one) => one.topic === elsewhere)
    await topics.produce(topic, bodies(5, 15))
    await topics.trim(topic, 0, 12)
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: topic }))
    await committedUntil(topics, _id, topic, [15])
    assert.deepEqual(upstream.numbers(), [...range(0, 5), ...range(12, 15)])
    const message = 'The records 5 to 11 of partition 0 were deleted before they were read; consuming continues at 12'
    assert.deepEqual(reported(topic), [message])
    assert.equal((await consumerOf(service, _id))?.lastError?.message, message)
  })

  test('all of a topic deleted, and nothing new: that is reported as well, and the lag is none', async () => {
    const [topic, elsewhere] = [await topics.create(), await topics.create()]
    const upstream = await upstreamFor()
    await topics.produce(topic, [body({ n: 0 })])
    const { _id } = await consume(topic, upstream.url)
    await committedUntil(topics, _id, topic, [1])
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: elsewhere }))
    await consumerUntil(service, _id, (one) => one.topic === elsewhere)
    await topics.produce(topic, [body({ n: 1 }), body({ n: 2 })])
    await topics.trim(topic, 0, 3)
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: topic }))
    await committedUntil(topics, _id, topic, [3])
    assert.match(reported(topic).join(), /^The records 1 to 2 of partition 0 were deleted/)
    await consumerUntil(service, _id, (one) => one.state === 'running' && one.lag === 0)
  })

  test('a new consumer of a topic whose first records are gone starts at the earliest, and has missed nothing', async () => {
    const topic = await topics.create()
    const upstream = await upstreamFor()
    await topics.produce(topic, bodies(0, 10))
    await topics.trim(topic, 0, 7)
    const { _id } = await consume(topic, upstream.url)
    await committedUntil(topics, _id, topic, [10])
    assert.deepEqual(upstream.numbers(), [7, 8, 9])
    assert.deepEqual([reported(topic), (await consumerOf(service, _id))?.lastError], [[], undefined])
  })

  test('committed beyond the end of the topic: it starts anew, and reports it', async () => {
    const [topic, elsewhere] = [await topics.create(), await topics.create()]
    const upstream = await upstreamFor()
    await topics.produce(topic, bodies(0, 3))
    const { _id } = await consume(elsewhere, upstream.url)
    const admin = new Admin({ clientId: 'tests', bootstrapBrokers: [kafka.brokers] })
    after(() => admin.close())
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: `${elsewhere}-later` }))
    const partitionOffsets = [{ partition: 0, offset: 100n }]
    // A group that has members takes no offsets from outside.
    await until(
      () =>
        admin
          .alterConsumerGroupOffsets({
            groupId: `mapping-mediator.${_id}`,
            topics: [{ name: topic, partitionOffsets }],
          })
          .then(() => true)
          .catch(() => false),
      (altered) => altered,
    )
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: topic }))
    await committedUntil(topics, _id, topic, [3])
    assert.deepEqual(upstream.numbers(), [0, 1, 2])
    assert.match(reported(topic).join(), /^Partition 0 has no record 100 any more: .* restarts at 0$/)
  })

  test('a topic that is deleted and made anew while it is consumed is consumed from its start', async () => {
    const topic = await topics.create()
    const held = Promise.withResolvers<void>()
    const upstream = await upstreamFor((n) => (n === 9 ? held.promise : undefined))
    await topics.produce(topic, bodies(0, 10))
    const { _id } = await consume(topic, upstream.url)
    await until(upstream.numbers, (numbers) => numbers.includes(9))
    await topics.remove(topic)
    await topics.create(1, topic)
    const fresh = range(100, 120).map((n) => body({ n }))
    // Until the one who produces knows the new topic.
    await until(
      () =>
        topics
          .produce(topic, fresh)
          .then(() => true)
          .catch(() => false),
      (produced) => produced,
    )
    // Done only now, and of no meaning to the new topic.
    held.resolve()
    await until(upstream.numbers, (numbers) => numbers.includes(119), 60_000)
    assert.deepEqual(
      upstream.numbers().filter((n) => n >= 100),
      range(100, 120),
    )
    await committedUntil(topics, _id, topic, [20])
  })
})
