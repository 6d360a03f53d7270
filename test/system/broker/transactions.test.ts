/** Records that were produced in transactions: seen once their transaction is committed, and never where it was aborted. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { Producer } from '@platformatic/kafka'
import { body, consumerUntil, startBench, until } from '../../support/broker/broker.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

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
