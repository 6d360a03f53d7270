/** What a reader of committed records finds of an endpoint with `exactlyOnce`, and what an endpoint reads of the transactions of others. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { Producer } from '@platformatic/kafka'
import type { JsonObject } from '../../../src/core/json.ts'
import { body, committedUntil, consumerUntil, startBench, until } from '../../support/broker/broker.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { readCommitted } from '../../support/services/committed-records.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { countDeliveries, numbered, readMade, tracing } from './numbered.ts'

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
    await committedUntil(topics, _id, topic, [1_000, 1_000, 1_000])
    const made = readMade(await readCommitted(kafka.brokers, out))
    assert.deepEqual(countDeliveries(made, 3_000), { lost: 0, duplicates: 0, outOfOrder: 0 })
    await consumerUntil(service, _id, (status) => status.lag === 0 && status.inFlight === 0)
  })

  test('poison in the middle goes to the dead letters once, in the same way, and the rest keeps its order', async () => {
    const [topic, out] = [await topics.create(1), await topics.create(1)]
    const records = numbered(0, 300, 1)
    for (const at of [0, 150, 151, 299]) records[at] = { ...body('{'), partition: 0, value: Buffer.from('{') }
    await topics.produce(topic, records)
    const { _id } = await register(topic, out)
    await committedUntil(topics, _id, topic, [300])
    const made = readMade(await readCommitted(kafka.brokers, out))
    assert.deepEqual(countDeliveries(made, 300), { lost: 4, duplicates: 0, outOfOrder: 0 })
    const dead = await readCommitted(kafka.brokers, `${topic}.dlq`)
    assert.deepEqual(
      dead.map(({ value }) => String(value)),
      ['{', '{', '{', '{'],
    )
  })
  test('a record that the target does not take fails alone', async () => {
    const [topic, out] = [await topics.create(1), await topics.create(1, undefined, { 'max.message.bytes': '20000' })]
    const records = Array.from({ length: 200 }, (_, n) => ({
      ...body({ n, filler: n === 77 ? 'x'.repeat(30_000) : '' }),
      partition: 0,
    }))
    await topics.produce(topic, records)
    const { _id } = await register(topic, out, {
      inputMapping: { 'requestBody.n': 'n', 'requestBody.filler': 'filler' },
      requests: { response: { id: 'out', kafkaProducerTopic: out } },
    })
    await committedUntil(topics, _id, topic, [200])
    const numbers = (await readCommitted(kafka.brokers, out)).map(({ value }) => JSON.parse(String(value)).n as number)
    assert.deepEqual(
      numbers,
      records.map((_, n) => n).filter((n) => n !== 77),
    )
    const dead = await readCommitted(kafka.brokers, `${topic}.dlq`)
    assert.deepEqual(
      dead.map(({ value }) => JSON.parse(String(value)).n as number),
      [77],
    )
  })

  test('what several topics get of a record is committed together', async () => {
    const [topic, one, other] = [await topics.create(2), await topics.create(2), await topics.create(1)]
    await topics.produce(topic, numbered(0, 500, 2))
    const { _id } = await register(topic, one, {
      requests: {
        response: [
          { id: 'one', kafkaProducerTopic: one },
          { id: 'other', kafkaProducerTopic: other },
        ],
      },
    })
    await committedUntil(topics, _id, topic, [250, 250])
    for (const target of [one, other]) {
      const { lost, duplicates } = countDeliveries(readMade(await readCommitted(kafka.brokers, target)), 500)
      assert.deepEqual({ target, lost, duplicates }, { target, lost: 0, duplicates: 0 })
    }
  })

  test('without the field, and with it again: the consumer starts anew where the other one stopped', async () => {
    const [topic, out] = [await topics.create(1), await topics.create(1)]
    const { _id } = await register(topic, out)
    for (const [round, kafkaFields] of [{ exactlyOnce: true }, {}, { exactlyOnce: true }].entries()) {
      const fields = {
        endpoint: { pattern: `/${out}` },
        kafkaConsumerTopic: topic,
        kafka: kafkaFields,
        ...tracing(out),
      }
      const { status } = await service.fetch(`/endpoints/${_id}`, json('PUT', endpointDocument(fields)))
      assert.equal(status, 200)
      await topics.produce(topic, numbered(round * 50, (round + 1) * 50, 1))
      await committedUntil(topics, _id, topic, [(round + 1) * 50])
    }
    const made = readMade(await readCommitted(kafka.brokers, out))
    assert.deepEqual(countDeliveries(made, 150), { lost: 0, duplicates: 0, outOfOrder: 0 })
  })
  test('one behind the other: the marks of transactions are passed and committed, and nothing comes twice', async () => {
    const [topic, between, out] = [await topics.create(2), await topics.create(2), await topics.create(2)]
    await topics.produce(topic, numbered(0, 400, 2))
    await register(topic, between)
    const { _id } = await register(between, out, {
      inputMapping: Object.fromEntries(['n', 'partition', 'offset'].map((name) => [`requestBody.${name}`, name])),
    })
    const seen = async () => countDeliveries(readMade(await readCommitted(kafka.brokers, out)), 400)
    assert.deepEqual(await until(seen, ({ lost }) => lost === 0), { lost: 0, duplicates: 0, outOfOrder: 0 })
    await until(
      () => topics.remaining(groupOf(_id), between, 2),
      (remaining) => remaining.every((count) => count === 0),
    )
    await consumerUntil(service, _id, (status) => status.lag === 0)
  })
})

describe('transactions', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)
  const producer = new Producer({
    clientId: 'tests',
    bootstrapBrokers: [kafka.brokers],
    transactionalId: randomUUID(),
    idempotent: true,
    // The first transaction waits until the broker has made its topic of transactions.
    retries: 100,
    retryDelay: 200,
  })
  after(() => producer.close())
  const startTransaction = async (topic: string, numbers: readonly number[], filler = '') => {
    const transaction = await producer.beginTransaction()
    for (const n of numbers) await transaction.send({ messages: [{ topic, partition: 0, ...body({ n, filler }) }] })
    return transaction
  }

  test('of several in a row by one producer, only the committed ones are processed, and everything is passed', async () => {
    const [topic, out] = [await topics.create(), await topics.create()]
    // Aborted ones of the size of several fetches, so that the mark of their end comes in a later one.
    const filler = 'x'.repeat(90_000)
    await (await startTransaction(topic, [-1, -2])).abort()
    await (await startTransaction(topic, [1, 2])).commit()
    await (await startTransaction(topic, [-3, -4, -5, -6, -7, -8, -9], filler)).abort()
    await (await startTransaction(topic, [3])).commit()
    await (await startTransaction(topic, [-10])).abort()
    const { _id } = await service.register({
      endpoint: { pattern: '/transactions' },
      kafkaConsumerTopic: topic,
      inputMapping: { 'requestBody.n': 'n' },
      requests: { response: { id: 'out', kafkaProducerTopic: out } },
    })
    await until(
      () => topics.remaining(`mapping-mediator.${_id}`, topic, 1),
      ([remaining]) => remaining === 0,
    )
    const made = async () => (await topics.read(out)).map(({ value }) => String(value))
    assert.deepEqual(await made(), ['{"n":1}', '{"n":2}', '{"n":3}'])

    const open = await startTransaction(topic, [4])
    const behind = await consumerUntil(service, _id, (status) => status.lag === 1)
    assert.equal(behind?.state, 'running')
    assert.equal((await made()).length, 3)
    await open.commit()
    await until(made, (found) => found.at(-1) === '{"n":4}')
    await consumerUntil(service, _id, (status) => status.lag === 0)
  })
  test('a committed one between an aborted one and an aborted one without records is processed', async () => {
    const [topic, out] = [await topics.create(), await topics.create()]
    await (await startTransaction(topic, [-1])).abort()
    await (await startTransaction(topic, [1, 2])).commit()
    const empty = await producer.beginTransaction()
    const metadata = await producer.metadata({ topics: [topic] })
    await empty.addPartitions(metadata, [{ topic, partition: 0, key: Buffer.alloc(0), value: Buffer.alloc(0) }])
    await empty.abort()
    await (await startTransaction(topic, [3])).commit()
    await service.register({
      endpoint: { pattern: '/transactions-without-records' },
      kafkaConsumerTopic: topic,
      inputMapping: { 'requestBody.n': 'n' },
      requests: { response: { id: 'out', kafkaProducerTopic: out } },
    })
    const made = async () => (await topics.read(out)).map(({ value }) => String(value))
    await until(made, (found) => found.at(-1) === '{"n":3}')
    assert.deepEqual(await made(), ['{"n":1}', '{"n":2}', '{"n":3}'])
  })
})
