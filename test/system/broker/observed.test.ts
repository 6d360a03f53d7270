/** What else is kept of records, as of messages: captures, drift and traces. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { body, readSome, startBench, until } from '../../support/broker/broker.ts'
import { startCollector } from '../../support/observe/traces/collector.ts'
import type { DriftAnswer } from '../../support/records/drift/samples.ts'
import { capturesOf, namesOf } from '../../support/records/message-log/captures.ts'
import { json } from '../../support/service.ts'
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

describe('a trace through a topic', { skip: kafka.skip }, async () => {
  const collector = await startCollector()
  const { service, topics, stop } = await startBench(kafka.brokers, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  after(async () => {
    await stop()
    await collector.stop()
  })

  test('is one from the request that produces to the end of the record that is consumed', async () => {
    const [between, last] = [await topics.create(), await topics.create()]
    const send = (kafkaProducerTopic: string) => ({ response: { id: 'out', kafkaProducerTopic } })
    await service.register({ name: 'producer', endpoint: { pattern: '/in' }, requests: send(between) })
    await service.register({
      name: 'consumer',
      endpoint: { pattern: '/unused' },
      kafkaConsumerTopic: between,
      requests: send(last),
    })
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const reply = await service.fetch(
      '/in',
      json('POST', { a: 1 }, { traceparent: `00-${traceId}-b7ad6b7169203331-01` }),
    )
    assert.equal(reply.status, 200, reply.text)
    const [record] = await readSome(topics, last)
    const spans = await until(
      () => collector.spans.filter((span) => span.traceId === traceId),
      (found) => found.filter(({ kind }) => kind === 'producer').length === 2,
    )
    const find = (kind: string, name: string) => spans.find((span) => span.kind === kind && span.name === name)
    const [first, second] = [find('producer', `send ${between}`), find('producer', `send ${last}`)]
    const consumed = find('consumer', `process ${between}`)
    assert.equal(consumed?.parentSpanId, first?.spanId)
    assert.deepEqual(
      [consumed?.attributes['crosswalk.source'], consumed?.attributes['messaging.destination.name']],
      ['broker', between],
    )
    assert.equal(Object.fromEntries(record?.headers ?? []).traceparent, `00-${traceId}-${second?.spanId}-01`)
  })
})
