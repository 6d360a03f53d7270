/** Settings of consuming: how much is under way at once, and when an instance counts as gone. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { body, committedUntil, startBench, until } from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

describe('consuming', { skip: kafka.skip }, async () => {
  test('never more than KAFKA_MAX_IN_FLIGHT at once, also where every partition tries a record again', async () => {
    const [partitions, limit] = [12, 3]
    const { service, topics, stop } = await startBench(kafka.brokers, {
      KAFKA_MAX_IN_FLIGHT: String(limit),
      KAFKA_RETRY_PAUSES_MS: '50,50,50',
      CIRCUIT_BREAKER_FAILURES: '0',
    })
    after(stop)
    const upstream = await startUpstream((_body, earlier, response) => {
      setTimeout(() => response.writeHead(earlier < 2 ? 503 : 200).end('{}'), 10)
    })
    after(upstream.close)
    const topic = await topics.create(partitions)
    const records = Array.from({ length: partitions * 4 }, (_, n) => ({ ...body({ n }), partition: n % partitions }))
    await topics.produce(topic, records)
    await service.register({
      endpoint: { pattern: '/narrow' },
      kafkaConsumerTopic: topic,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    await until(
      () => upstream.bodies.length,
      (count) => count === records.length * 3,
    )
    assert.equal(upstream.most(), limit)
  })
})

// The client refuses some combinations of this setting with others.
describe('KAFKA_SESSION_TIMEOUT_MS', { skip: kafka.skip }, () => {
  for (const timeoutMs of [1_000, 60_000, 60_001, 300_000]) {
    test(`${timeoutMs}: topics are consumed`, async () => {
      const { service, topics, stop } = await startBench(kafka.brokers, {
        KAFKA_SESSION_TIMEOUT_MS: String(timeoutMs),
      })
      after(stop)
      const topic = await topics.create()
      await topics.produce(topic, [body({})])
      const { _id } = await service.register({ endpoint: { pattern: '/session' }, kafkaConsumerTopic: topic })
      await committedUntil(topics, _id, topic, [1])
      assert.equal((await service.fetch('/session', json('POST', {}))).status, 200)
    })
  }
})
