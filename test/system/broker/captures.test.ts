/** Captures of what comes from a topic. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { body, startBench, until } from '../../support/broker/broker.ts'
import { capturesOf, namesOf } from '../../support/records/message-log/captures.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

describe('captures of records', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)

  test('hold for as many records as were asked for', async () => {
    const topic = await topics.create(2)
    const { _id } = await service.register({
      endpoint: { pattern: '/captured' },
      kafkaConsumerTopic: topic,
      messageLog: 'metadata',
      inputMapping: { 'requestBody.n': 'n' },
    })
    const { start, captured, recorded, get } = capturesOf(service.adminUrl).on(_id)
    await start({ messages: 3 })
    await topics.produce(
      topic,
      Array.from({ length: 10 }, (_, n) => ({ ...body({ n }), partition: n % 2 })),
    )
    await until(recorded, ({ length }) => length === 10)
    const found = await captured()
    assert.deepEqual(found.map(namesOf), Array(3).fill(['request', 'incoming', 'mapped', 'answer']))
    assert.deepEqual(new Set(found.map(({ source }) => source)), new Set(['broker']))
    assert.equal((await get()).remaining, 0)
  })
})
