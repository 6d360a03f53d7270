/** What a reader of committed records finds of an endpoint with `exactlyOnce`, counted at the topics. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { JsonObject } from '../../src/domain/json.ts'
import { readCommitted } from '../services/committed-records.ts'
import { kafkaForTests } from '../services/kafka.ts'
import { body, consumerOf, startBench, until } from './broker.ts'
import { account, numbered, readMade, tracing } from './numbered.ts'

const kafka = await kafkaForTests()

describe('an endpoint with exactlyOnce', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)
  const register = async (topic: string, out: string, fields: JsonObject = {}) =>
    service.register({
      endpoint: { pattern: `/${out}` },
      kafkaConsumerTopic: topic,
      kafka: { exactlyOnce: true, inFlight: 500 },
      ...tracing(out),
      ...fields,
    })
  const groupOf = (id: string) => `mapping-mediator.${id}`

  test('each record is committed once, in order, with its offset', async () => {
    const [topic, out] = [await topics.create(3), await topics.create(3)]
    await topics.produce(topic, numbered(0, 3_000, 3))
    const { _id } = await register(topic, out)
    await until(
      () => topics.committed(groupOf(_id), topic, 3),
      (offsets) => offsets.every((offset) => offset === 1_000),
    )
    const made = readMade(await readCommitted(kafka.brokers, out))
    assert.deepEqual(account(made, 3_000), { lost: 0, duplicates: 0, outOfOrder: 0 })
    await until(
      () => consumerOf(service, _id),
      (status) => status?.lag === 0 && status.inFlight === 0,
    )
  })

  test('poison in the middle goes to the dead letters once, in the same way, and the rest keeps its order', async () => {
    const [topic, out] = [await topics.create(1), await topics.create(1)]
    const records = numbered(0, 300, 1)
    for (const at of [0, 150, 151, 299]) records[at] = { ...body('{'), partition: 0, value: Buffer.from('{') }
    await topics.produce(topic, records)
    const { _id } = await register(topic, out)
    await until(
      () => topics.committed(groupOf(_id), topic, 1),
      ([offset]) => offset === 300,
    )
    const made = readMade(await readCommitted(kafka.brokers, out))
    assert.deepEqual(account(made, 300), { lost: 4, duplicates: 0, outOfOrder: 0 })
    const dead = await readCommitted(kafka.brokers, `${topic}.dlq`)
    assert.deepEqual(
      dead.map(({ value }) => String(value)),
      ['{', '{', '{', '{'],
    )
  })
})
