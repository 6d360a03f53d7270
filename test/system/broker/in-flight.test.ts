/** How many records of a topic are in flight. What happens to each: test/system/smoke/kafka.test.ts. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { body, startBench, until } from '../../support/broker/broker.ts'
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
