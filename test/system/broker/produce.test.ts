/** Response requests that produce to a topic: what is written, what is answered, and what is never called a success. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { startBench } from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

/** Kafka's own murmur2 of the text, from the tests of its Java client (UtilsTest). */
const MURMUR2 = { '21': -973_932_308, foobar: -790_332_482, 'a-little-bit-long-string': -985_981_536 }

const compact = (xml: string): string => xml.replace(/\n */g, '')

describe('producing', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)
  let serial = 0
  const endpointWith = async (response: JsonObject | JsonObject[], changes: JsonObject = {}) => {
    serial += 1
    const pattern = `/produce-${serial}`
    await service.register({ endpoint: { pattern }, requests: { response }, ...changes })
    return (body: unknown) => service.fetch(pattern, json('POST', body as JsonObject))
  }

  test('the answer is the place of the record, which holds the output, its type and the id of the message', async () => {
    const topic = await topics.create()
    const send = await endpointWith(
      { id: 'out', kafkaProducerTopic: topic },
      { transformation: { input: 'JSON', output: 'FHIR+JSON' }, inputMapping: { 'requestBody.a': 'b' } },
    )
    const replies = [await send({ a: 1 }), await send({ a: 2 })]
    assert.deepEqual(
      replies.map((reply) => [reply.status, reply.headers.get('content-type'), reply.json()]),
      [0, 1].map((offset) => [200, 'application/fhir+json', { topic, partition: 0, offset }]),
    )
    const [first, second] = await topics.read(topic)
    assert.deepEqual([String(first?.value), first?.key, String(second?.value)], ['{"b":1}', null, '{"b":2}'])
    const headers = Object.fromEntries(first?.headers ?? [])
    assert.equal(headers['content-type'], 'application/fhir+json')
    assert.match(headers['crosswalk.message-id'] ?? '', /^[0-9a-f]{24}$/)
  })

  test('XML is produced as XML, and answered so', async () => {
    const topic = await topics.create()
    const send = await endpointWith(
      { id: 'out', kafkaProducerTopic: topic, config: { headers: { 'X-Ward': '7' } } },
      { transformation: { input: 'JSON', output: 'XML' } },
    )
    const reply = await send({ a: { b: 1 } })
    assert.match(
      compact(reply.text),
      new RegExp(`<root><topic>${topic}</topic><partition>0</partition><offset>0</offset></root>`),
    )
    const [record] = await topics.read(topic)
    assert.match(compact(String(record?.value)), /<a><b>1<\/b><\/a>$/)
    assert.deepEqual(record?.headers.slice(0, 2), [
      ['x-ward', '7'],
      ['content-type', 'application/xml'],
    ])
  })

  test('a key decides the partition as the Java client would; a path that finds nothing gives no key', async () => {
    const topic = await topics.create(7)
    const send = await endpointWith({
      id: 'out',
      kafkaProducerTopic: topic,
      key: { path: 'payload.key', prefix: 'foo', postfix: '' },
    })
    await send({ key: 'bar' })
    await send({})
    const plain = await endpointWith({ id: 'out', kafkaProducerTopic: topic, key: { path: 'payload.key' } })
    for (const key of Object.keys(MURMUR2)) await plain({ key })
    const records = await topics.read(topic)
    const places = records.flatMap(({ key, partition }) => (key === null ? [] : [[key, partition] as const]))
    const expected = [['foobar', MURMUR2.foobar] as const, ...Object.entries(MURMUR2)].map(
      ([key, hash]) => [key, (hash & 0x7fffffff) % 7] as const,
    )
    assert.deepEqual(places.toSorted(), expected.toSorted())
    assert.equal(records.filter(({ key }) => key === null).length, 1)
    const odd = await plain({ key: { a: 1 } })
    assert.deepEqual(
      [odd.status, odd.json().code, odd.json().path],
      [400, 'PARAMETER_INVALID', 'requests.response[0].key'],
    )
  })

  test('forEach: one record an item, their places in the order of the items', async () => {
    const topic = await topics.create()
    const send = await endpointWith({
      id: 'out',
      kafkaProducerTopic: topic,
      key: { path: 'item.id' },
      forEach: { items: 'payload.items', concurrency: 10 },
    })
    const ids = Array.from({ length: 40 }, (_, index) => `i${index}`)
    const reply = await send({ items: ids.map((id) => ({ id })) })
    const { out } = reply.json<{ out: { offset: number }[] }>()
    const records = await topics.read(topic)
    assert.deepEqual(
      out.map(({ offset }) => records.find((record) => record.offset === offset)?.key),
      ids,
    )
    assert.equal(records.length, 40)
  })

  test('beside other responses: its place under its id', async () => {
    const upstream = await startUpstream((_body, _earlier, response) => response.end('{"stored":true}'))
    after(upstream.close)
    const topic = await topics.create()
    const send = await endpointWith([
      { id: 'log', kafkaProducerTopic: topic },
      { id: 'store', config: { url: upstream.url } },
    ])
    const whole = await send({ a: 1 })
    assert.deepEqual(whole.json(), { log: { topic, partition: 0, offset: 0 }, store: { stored: true } })
    assert.equal(whole.headers.get('x-crosswalk-status'), null)
  })

  test('a record that the topic refuses fails the message, whatever stands beside it', async () => {
    const upstream = await startUpstream((_body, _earlier, response) => response.end('{"stored":true}'))
    after(upstream.close)
    const [topic, compacted] = [
      await topics.create(),
      await topics.create(1, undefined, { 'cleanup.policy': 'compact' }),
    ]
    const log = { id: 'log', kafkaProducerTopic: compacted, key: { path: 'payload.key' } }
    const items = {
      id: 'items',
      kafkaProducerTopic: compacted,
      key: { path: 'item.key' },
      forEach: { items: 'payload.items' },
    }
    const primary = { id: 'store', primary: true, config: { url: upstream.url } }
    const beside = [
      { id: 'store', config: { url: upstream.url } },
      { id: 'taken', kafkaProducerTopic: topic },
    ]
    const cases: [name: string, responses: JsonObject[], good: JsonObject, bad: JsonObject][] = [
      ['beside a primary one', [primary, log], { key: 'a' }, {}],
      ['beside others, none of them primary', [...beside, log], { key: 'a' }, {}],
      [
        'one of its items, beside a primary one',
        [primary, items],
        { items: [{ key: 'a' }] },
        { items: [{ key: 'a' }, { n: 1 }] },
      ],
      ['one of its items, alone', [items], { items: [{ key: 'a' }] }, { items: [{ key: 'a' }, { n: 1 }] }],
    ]
    for (const [name, responses, good, bad] of cases) {
      const send = await endpointWith(responses)
      const whole = await send(good)
      assert.deepEqual([whole.status, whole.headers.get('x-crosswalk-status')], [200, null], name)
      const refused = await send(bad)
      assert.deepEqual([refused.status, refused.json().code], [502, 'RESPONSE_REFUSED'], name)
      assert.equal(refused.json().path, `requests.response[${responses.length - 1}]`, name)
    }
    // Those that a topic has taken stay there: the answer says that not all have.
    assert.equal(await topics.count(topic), 2)
  })

  test('a record that the topic refuses: 502, and those that travel with it are taken, once each', async () => {
    const compacted = await topics.create(1, undefined, { 'cleanup.policy': 'compact' })
    const alone = await endpointWith({ id: 'out', kafkaProducerTopic: compacted, key: { path: 'payload.key' } })
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => alone(n % 2 === 0 ? { key: `k${n}` } : { n })),
    )
    assert.deepEqual(
      replies.map(({ status }) => status),
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 200 : 502)),
    )
    assert.equal(replies[1]?.json().code, 'RESPONSE_REFUSED')
    const keys = (await topics.read(compacted)).map(({ key }) => key)
    assert.deepEqual(keys.toSorted(), Array.from({ length: 10 }, (_, n) => `k${n * 2}`).toSorted())
  })

  test('a record that the topic refuses does not have those of other partitions written twice', async () => {
    const compacted = await topics.create(6, undefined, { 'cleanup.policy': 'compact' })
    const send = await endpointWith({
      id: 'out',
      kafkaProducerTopic: compacted,
      key: { path: 'item.key' },
      forEach: { items: 'payload.items', concurrency: 40 },
    })
    // All at once, so that they travel together.
    const items = Array.from({ length: 40 }, (_, n) => (n === 20 ? { n } : { key: `k${n}` }))
    const reply = await send({ items })
    assert.deepEqual([reply.status, reply.json().code], [502, 'RESPONSE_REFUSED'])
    const keys = (await topics.read(compacted)).map(({ key }) => key)
    assert.deepEqual(keys.toSorted(), items.flatMap(({ key }) => key ?? []).toSorted())
  })

  test('a topic that is not there does not hold up another', async () => {
    const good = await topics.create()
    const toGood = await endpointWith({ id: 'out', kafkaProducerTopic: good })
    // Kafka makes no topic whose name differs from another's by a dot for an underscore only.
    const missing = (await topics.create(1, `not.there-${Date.now()}`)).replace('.', '_')
    const toMissing = await endpointWith({ id: 'out', kafkaProducerTopic: missing })
    assert.equal((await toGood({ n: 0 })).status, 200)
    const answered: string[] = []
    const first = toMissing({ n: 1 }).then(({ status }) => answered.push(`missing ${status}`))
    const second = toMissing({ n: 2 }).then(({ status }) => answered.push(`missing ${status}`))
    await toGood({ n: 3 }).then(({ status }) => answered.push(`good ${status}`))
    await Promise.all([first, second])
    assert.deepEqual(answered, ['good 200', 'missing 502', 'missing 502'])
  })
})
