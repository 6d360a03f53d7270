/** Records that wait, while endpoints change: only a change of their own endpoint lets them be tried again. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { body, consumerUntil, countUntil, startBench, until } from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

describe('a record that waits for its next attempt', { skip: kafka.skip }, () => {
  test('is not tried because others change; a change of its endpoint gives it all of its attempts again', async () => {
    const { service, topics, stop } = await startBench(kafka.brokers, { KAFKA_RETRY_PAUSES_MS: '600000' })
    after(stop)
    const upstream = await startUpstream((_text, _earlier, response) => response.writeHead(503).end('down'))
    after(upstream.close)
    const topic = await topics.create()
    await topics.produce(topic, [body({})])
    const { _id } = await service.register({
      endpoint: { pattern: '/waits' },
      kafkaConsumerTopic: topic,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    const waits = () => consumerUntil(service, _id, (status) => status.state === 'waiting')
    await waits()
    for (let n = 0; n < 4; n += 1) await service.register({ endpoint: { pattern: `/unrelated-${n}` } })
    for (let times = 0; times < 10; times += 1) assert.equal(await topics.count(`${topic}.dlq`), 0)
    await waits()
    assert.equal(upstream.bodies.length, 1)
    for (const attempts of [2, 3]) {
      await service.fetch(`/endpoints/${_id}`, json('PATCH', { description: `changed for attempt ${attempts}` }))
      await until(
        () => upstream.bodies.length,
        (count) => count === attempts,
      )
      await waits()
    }
    for (let times = 0; times < 10; times += 1) assert.equal(await topics.count(`${topic}.dlq`), 0)
    assert.equal(upstream.bodies.length, 3)
  })
})

describe('records and requests, where as many messages run as may', { skip: kafka.skip }, () => {
  test('records of a slow endpoint turn away no request, and hold up no other endpoint', async () => {
    const { service, topics, stop } = await startBench(kafka.brokers, { MAX_MESSAGES_IN_FLIGHT: '2' })
    after(stop)
    const held: (() => void)[] = []
    const slow = await startUpstream((_text, _earlier, response) => void held.push(() => response.end('{}')))
    after(slow.close)
    const [full, other, out] = [await topics.create(4), await topics.create(), await topics.create()]
    await topics.produce(
      full,
      Array.from({ length: 4 }, (_, partition) => ({ ...body({ partition }), partition })),
    )
    await topics.produce(other, [body({ n: 1 })])
    await service.register({
      endpoint: { pattern: '/slow' },
      kafkaConsumerTopic: full,
      requests: { response: { id: 'out', config: { url: slow.url } } },
    })
    await until(
      () => held.length,
      (count) => count === 4,
    )
    await service.register({ endpoint: { pattern: '/request' } })
    assert.equal((await service.fetch('/request', json('POST', {}))).status, 200)
    await service.register({
      endpoint: { pattern: '/other' },
      kafkaConsumerTopic: other,
      requests: { response: { id: 'out', kafkaProducerTopic: out } },
    })
    await countUntil(topics, out, 1)
    for (const release of held) release()
  })
})

describe('a dead-letter topic that an endpoint consumes', { skip: kafka.skip }, () => {
  test('gets none of its own records back: they stop visibly', async () => {
    const dead = `dead-${Date.now()}`
    const { service, topics, stop } = await startBench(kafka.brokers, { KAFKA_DLQ: dead })
    after(stop)
    await topics.create(1, dead)
    await topics.produce(dead, [{ value: Buffer.from('{') }])
    const { _id } = await service.register({ endpoint: { pattern: '/dead' }, kafkaConsumerTopic: dead })
    const status = await consumerUntil(service, _id, (one) => one.state === 'stopped', 10_000)
    assert.equal(status?.partitions[0]?.committed, 0)
    assert.equal(await topics.count(dead), 1)
    assert.ok(service.log.some(({ message }) => message.includes('is the topic that is consumed')))
  })
})
