/** Replaying what came from a topic: it runs as a record, and leaves the topic alone. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { MessageRecord } from '../../../src/core/records/message-record.ts'
import type { ListedMessage } from '../../../src/records/message-log/message-search.ts'
import type { PlanView } from '../../../src/records/replay/replay-plans.ts'
import { body, consumerOf, startBench, until } from '../../support/broker/broker.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { json, startUpstream } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

describe('replaying a record', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)
  const ask = async <T>(method: string, path: string, text?: string): Promise<T> => {
    const headers = { 'content-type': 'application/json' }
    const reply = await call(service.adminUrl, method, path, { headers, ...(text === undefined ? {} : { body: text }) })
    assert.ok(reply.status < 300, reply.text)
    return JSON.parse(reply.text) as T
  }
  const recordsOf = (query: string, count: number) =>
    until(
      async () => (await ask<{ messages: ListedMessage[] }>('GET', `/messages?${query}`)).messages,
      ({ length }) => length >= count,
    )

  test('runs once what was dead-lettered after several attempts, and commits nothing', async (t) => {
    let away = true
    const upstream = await startUpstream(({ body: text }, response) => {
      if (!away) return JSON.parse(text)
      response.destroy()
      return undefined
    })
    t.after(() => upstream.stop())
    const topic = await topics.create(1)
    const { _id } = await service.register({
      endpoint: { pattern: '/replayed' },
      kafkaConsumerTopic: topic,
      inputMapping: {
        'requestBody.n': 'n',
        'requestHeaders.kafka-offset': 'offset',
        'requestHeaders.kafka-key': 'key',
      },
      requests: { response: { id: 'out', config: { method: 'POST', url: upstream.url } } },
    })
    await topics.produce(topic, [{ ...body({ n: 1 }), key: Buffer.from('a') }])
    const committed = async () => (await consumerOf(service, _id))?.partitions.map((one) => one.committed)
    await until(committed, (offsets) => offsets?.[0] === 1)

    const attempts = await recordsOf(`endpoint=${_id}`, 5)
    assert.deepEqual(
      attempts.map(({ source, outcome, triedAgain }) => [source, outcome, triedAgain]),
      [undefined, true, true, true, true].map((again) => ['broker', 'failed', again]),
    )
    const plan = await ask<PlanView>('POST', '/messages/replay', JSON.stringify({ endpoint: _id }))
    assert.deepEqual([plan.count, plan.cannot.map(({ reason, count }) => [reason, count])], [1, [['tried-again', 4]]])
    upstream.received.length = 0
    away = false
    await ask('POST', `/messages/replay/${plan.id}/run`)
    const { done } = await until(
      () => ask<PlanView>('GET', `/messages/replay/${plan.id}`),
      ({ state }) => state === 'finished',
    )
    assert.equal(done, 1)
    assert.deepEqual(
      upstream.received.map((one) => JSON.parse(one.body)),
      [{ n: 1, offset: '0', key: 'a' }],
    )
    const [replay] = await recordsOf(`endpoint=${_id}&source=replay`, 1)
    assert.deepEqual([replay?.replayOf, replay?.outcome], [attempts[0]?.id, 'done'])
    assert.deepEqual(await committed(), [1])
    assert.equal((await topics.read(`${topic}.dlq`)).length, 1)
  })

  test('fails where one of several responses fails, as a record does, and a replay of it too', async (t) => {
    const upstream = await startUpstream(({ url }, response) => {
      if (url === '/refuse') response.statusCode = 422
      return {}
    })
    t.after(() => upstream.stop())
    const topic = await topics.create(1)
    const { _id } = await service.register({
      endpoint: { pattern: '/several' },
      kafkaConsumerTopic: topic,
      requests: {
        response: ['/take', '/refuse'].map((path) => ({ id: path.slice(1), config: { url: upstream.url + path } })),
      },
    })
    await topics.produce(topic, [body({ n: 1 })])
    const [record] = await recordsOf(`endpoint=${_id}`, 1)
    assert.deepEqual([record?.outcome, record?.code], ['refused', 'RESPONSE_REFUSED'])
    const first = await ask<MessageRecord>('POST', `/messages/${record?.id}/replay`)
    await recordsOf(`replayOf=${record?.id}`, 1)
    const second = await ask<MessageRecord>('POST', `/messages/${first.id}/replay`)
    for (const { outcome, code } of [first, second]) {
      assert.deepEqual([outcome, code], ['refused', 'RESPONSE_REFUSED'])
    }
  })

  test('is refused for a tombstone that the consumer refused', async () => {
    const topic = await topics.create(1)
    const { _id } = await service.register({
      endpoint: { pattern: '/tombstone' },
      kafkaConsumerTopic: topic,
      inputValidation: { required: ['n'] },
    })
    await topics.produce(topic, [{ key: Buffer.from('a') }])
    const [record] = await recordsOf(`endpoint=${_id}`, 1)
    assert.equal(record?.code, 'VALIDATION_FAILED')
    const reply = await call(service.adminUrl, 'POST', `/messages/${record?.id}/replay`, {
      headers: { 'content-type': 'application/json' },
    })
    assert.deepEqual([reply.status, reply.json().code], [409, 'REPLAY_REFUSED'])
    assert.match(reply.json<{ error: string }>().error, /without a value/)
  })

  test('is refused where the endpoint consumes no topic any more', async () => {
    const topic = await topics.create(1)
    const { _id } = await service.register({ endpoint: { pattern: '/left' }, kafkaConsumerTopic: topic })
    await topics.produce(topic, [{ value: Buffer.from('broken') }])
    const [record] = await recordsOf(`endpoint=${_id}`, 1)
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { kafkaConsumerTopic: null }))
    const reply = await call(service.adminUrl, 'POST', `/messages/${record?.id}/replay`, {
      headers: { 'content-type': 'application/json' },
    })
    assert.deepEqual([reply.status, reply.json().code], [409, 'REPLAY_REFUSED'])
    assert.match(reply.json<{ error: string }>().error, /consumes no topic any more/)
  })
})
