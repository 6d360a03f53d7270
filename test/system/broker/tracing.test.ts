/** Traces through topics: a record carries one in and out. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startBench, until } from '../../support/broker/broker.ts'
import { startCollector } from '../../support/observe/traces/collector.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

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
    const [record] = await until(
      () => topics.read(last),
      ({ length }) => length > 0,
    )
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
