/** A record of a topic goes through the pipeline to another topic. Everything else of brokers: test/system/broker/. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { body, consumerOf, startBench, until } from '../../support/broker/broker.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

describe('consuming', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)

  test('every record goes through the pipeline, with its headers, in order, and is committed', async () => {
    const [topic, out] = [await topics.create(2), await topics.create(1)]
    await topics.produce(topic, [
      {
        ...body({ n: 1 }),
        key: Buffer.from('a'),
        partition: 0,
        headers: new Map([[Buffer.from('X-Source'), Buffer.from('ward 7')]]),
      },
      { ...body({ n: 2 }), partition: 0 },
      { ...body({ n: 3 }), partition: 1 },
    ])
    const endpoint = await service.register({
      endpoint: { pattern: '/consume' },
      kafkaConsumerTopic: topic,
      inputMapping: {
        'requestBody.n': 'n',
        'requestHeaders.kafka-topic': 'topic',
        'requestHeaders.kafka-partition': 'partition',
        'requestHeaders.kafka-offset': 'offset',
        'requestHeaders.kafka-key': 'key',
        'requestHeaders.x-source': 'source',
      },
      requests: { response: { id: 'out', kafkaProducerTopic: out } },
    })
    const made = await until(
      () => topics.read(out),
      (records) => records.length >= 3,
    )
    const read = made.map(({ value }) => JSON.parse(String(value)))
    assert.deepEqual(
      read.toSorted((a, b) => a.n - b.n),
      [
        { n: 1, topic, partition: '0', offset: '0', key: 'a', source: 'ward 7' },
        { n: 2, topic, partition: '0', offset: '1' },
        { n: 3, topic, partition: '1', offset: '0' },
      ],
    )
    assert.ok(read.findIndex(({ n }) => n === 1) < read.findIndex(({ n }) => n === 2))
    const committed = () => topics.committed(`mapping-mediator.${endpoint._id}`, topic, 2)
    await until(committed, (offsets) => offsets[0] === 2 && offsets[1] === 1)
    const status = await consumerOf(service, endpoint._id)
    assert.deepEqual([status?.state, status?.lag, status?.inFlight], ['running', 0, 0])
  })
})
