/** Drift of an endpoint with a topic: its records count as messages. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startBench, until } from '../../support/broker/broker.ts'
import type { DriftAnswer } from '../../support/records/drift/samples.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

describe('drift of a topic', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers, { DRIFT_SAMPLE: '1' })
  after(() => stop())

  test('has the records that were consumed', async () => {
    const topic = await topics.create()
    await service.register({
      endpoint: { pattern: '/in' },
      requests: { response: { id: 'out', kafkaProducerTopic: topic } },
    })
    const { _id } = await service.register({
      endpoint: { pattern: '/unused' },
      kafkaConsumerTopic: topic,
      inputMapping: { 'requestBody.a': 'a', 'requestBody.gone': 'x' },
    })
    const reply = await service.fetch('/in', json('POST', { a: 1, b: 2 }))
    assert.equal(reply.status, 200, reply.text)
    const read = async () => (await service.fetch(`/endpoints/${_id}/drift`)).json<DriftAnswer>()
    const { sampled, unread, missing } = await until(read, (answer) => answer.sampled > 0)
    assert.deepEqual(
      [sampled, unread.map(({ path }) => path), missing.map(({ path }) => path)],
      [1, ['requestBody.b'], ['requestBody.gone']],
    )
  })
})
