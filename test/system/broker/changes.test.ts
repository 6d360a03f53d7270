/** Endpoints that come, change and go while topics are consumed. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import {
  bodies,
  body,
  consumerOf,
  consumers,
  consumerUntil,
  countUntil,
  range,
  startBench,
  until,
} from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

describe('a change of an endpoint', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)
  let serial = 0
  const pattern = () => `/changes-${++serial}`
  const producesTo = (topic: string) => ({ response: { id: 'out', kafkaProducerTopic: topic } })
  const numbersIn = async (topic: string) =>
    (await topics.read(topic)).map(({ value }) => (JSON.parse(String(value)) as { n: number }).n)

  test('several endpoints on one topic get every record each', async () => {
    const [topic, one, other] = [await topics.create(3), await topics.create(), await topics.create()]
    await topics.produce(topic, bodies(0, 30))
    await service.register({ endpoint: { pattern: pattern() }, kafkaConsumerTopic: topic, requests: producesTo(one) })
    await service.register({ endpoint: { pattern: pattern() }, kafkaConsumerTopic: topic, requests: producesTo(other) })
    for (const out of [one, other]) {
      const numbers = await until(
        () => numbersIn(out),
        (found) => found.length >= 30,
      )
      assert.deepEqual(
        numbers.toSorted((a, b) => a - b),
        range(0, 30),
      )
    }
  })

  test('a topic that comes into being later is consumed from its start', async () => {
    const [name, out] = [`later-${Date.now()}`, await topics.create()]
    const endpoint = await service.register({
      endpoint: { pattern: pattern() },
      kafkaConsumerTopic: name,
      requests: producesTo(out),
    })
    const status = await consumerUntil(service, endpoint._id, (one) => one.lastError !== undefined)
    assert.deepEqual([status?.state, status?.lastError?.message], ['connecting', 'the topic does not exist'])
    await topics.create(1, name)
    await topics.produce(name, [body({ n: 7 })])
    await until(
      () => numbersIn(out),
      (numbers) => numbers.length === 1,
    )
  })

  test('partitions that a topic gets while it is consumed are consumed as well', async () => {
    const [topic, out] = [await topics.create(1), await topics.create()]
    const { _id } = await service.register({
      endpoint: { pattern: pattern() },
      kafkaConsumerTopic: topic,
      requests: producesTo(out),
    })
    await consumerUntil(service, _id, (status) => status.state === 'running')
    await topics.grow(topic, 3)
    await topics.produce(
      topic,
      range(0, 3).map((n) => ({ ...body({ n }), partition: n })),
    )
    const numbers = await until(
      () => numbersIn(out),
      (found) => found.length === 3,
    )
    assert.deepEqual(numbers.toSorted(), range(0, 3))
  })

  test('a new mapping holds for the next record, without starting anew', async () => {
    const [topic, out] = [await topics.create(), await topics.create()]
    const endpoint = await service.register({
      endpoint: { pattern: pattern() },
      kafkaConsumerTopic: topic,
      inputMapping: { 'requestBody.n': 'n', 'constants.version': 'version' },
      constants: { version: 1 },
      requests: producesTo(out),
    })
    await topics.produce(topic, [body({ n: 1 })])
    await countUntil(topics, out, 1)
    await service.fetch(`/endpoints/${endpoint._id}`, json('PATCH', { constants: { version: 2 } }))
    await topics.produce(topic, [body({ n: 2 })])
    await countUntil(topics, out, 2)
    const made = (await topics.read(out)).map(({ value }) => String(value))
    assert.deepEqual(made, ['{"n":1,"version":1}', '{"n":2,"version":2}'])
    assert.equal(
      service.log.filter(({ fields, message }) => fields.topic === topic && /^Consuming/.test(message)).length,
      1,
    )
  })

  test('another topic: consumed instead of the former; deleted: consumed no longer', async () => {
    const [before, behind, out] = [await topics.create(), await topics.create(), await topics.create()]
    const endpoint = await service.register({
      endpoint: { pattern: pattern() },
      kafkaConsumerTopic: before,
      requests: producesTo(out),
    })
    const url = `/endpoints/${endpoint._id}`
    await topics.produce(before, [body({ n: 1 })])
    await countUntil(topics, out, 1)
    await service.fetch(url, json('PATCH', { kafkaConsumerTopic: behind }))
    await topics.produce(before, [body({ n: 2 })])
    await topics.produce(behind, [body({ n: 3 })])
    await countUntil(topics, out, 2)
    assert.deepEqual(await numbersIn(out), [1, 3])
    assert.equal((await consumerOf(service, endpoint._id))?.topic, behind)
    // Back again: it goes on where it was.
    await service.fetch(url, json('PATCH', { kafkaConsumerTopic: before }))
    await countUntil(topics, out, 3)
    assert.deepEqual(await numbersIn(out), [1, 3, 2])
    await service.fetch(url, { method: 'DELETE' })
    assert.equal(await consumerOf(service, endpoint._id), undefined)
  })

  test('after an orderly stop, the next start goes on where the last ended, with nothing twice', async () => {
    const home = mkdtempSync(join(tmpdir(), 'crosswalk-broker-'))
    after(() => rmSync(home, { recursive: true }))
    const [topic, out] = [await topics.create(2), await topics.create()]
    const first = await startBench(kafka.brokers, { DATABASE_URL: `sqlite:${join(home, 'a.db')}` })
    await first.service.register({
      endpoint: { pattern: '/stop' },
      kafkaConsumerTopic: topic,
      requests: producesTo(out),
    })
    await topics.produce(topic, bodies(0, 2_000))
    await until(
      () => topics.count(out),
      (count) => count >= 100,
    )
    await first.stop()
    const second = await startBench(kafka.brokers, { DATABASE_URL: `sqlite:${join(home, 'a.db')}` })
    after(second.stop)
    const numbers = await until(
      () => numbersIn(out),
      (found) => new Set(found).size === 2_000,
    )
    await until(
      () => consumers(second.service),
      ([status]) => status?.lag === 0,
    )
    assert.equal(numbers.length, 2_000)
  })
})
