/** Records that cannot be processed: which they are, what the dead-letter topic gets, and what happens where it cannot. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'
import type { JsonObject } from '../../../src/core/json.ts'
import {
  body,
  committedUntil,
  consumerUntil,
  countUntil,
  readSome,
  startBench,
  until,
} from '../../support/broker/broker.ts'
import { json } from '../../support/service.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'
import { startUpstream } from './upstream.ts'

const kafka = await kafkaForTests()

const needsName: JsonObject = { type: 'object', required: ['name'] }

/** Other kinds of them are below, many among many good ones. */
const cases = [
  { name: 'an empty value', value: Buffer.alloc(0), document: {}, code: 'BODY_UNREADABLE', stage: 'parse' },
  {
    name: 'a transform that fails',
    value: Buffer.from('{}'),
    document: { inputTransforms: { a: '$error("no")' } },
    code: 'TRANSFORM_FAILED',
    stage: 'transform',
  },
]

describe('a record that can never succeed', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)

  for (const { name, value, document, code, stage } of cases) {
    test(`${name}: goes to the dead-letter topic as it was, and consuming goes on`, async () => {
      const topic = await topics.create()
      const headers = new Map([[Buffer.from('Own'), Buffer.from([0xff, 0x00])]])
      await topics.produce(topic, [{ key: Buffer.from('the key'), value, headers, timestamp: 1_700_000_000_123n }])
      const endpoint = await service.register({
        endpoint: { pattern: `/bad-${topic}` },
        kafkaConsumerTopic: topic,
        ...document,
      })
      const [letter] = await readSome(topics, `${topic}.dlq`)
      assert.ok(letter)
      assert.deepEqual([letter.key, letter.value], ['the key', value])
      const [own, ...added] = letter.headers
      assert.deepEqual(own, ['Own', '\ufffd\u0000'])
      const { 'crosswalk.error': error, ...rest } = Object.fromEntries(added)
      assert.ok(error)
      assert.deepEqual(rest, {
        'crosswalk.endpoint': endpoint.name,
        'crosswalk.endpoint-id': endpoint._id,
        'crosswalk.stage': stage,
        'crosswalk.code': code,
        'crosswalk.topic': topic,
        'crosswalk.partition': '0',
        'crosswalk.offset': '0',
        'crosswalk.timestamp': '2023-11-14T22:13:20.123Z',
        'crosswalk.attempts': '1',
      })
      await committedUntil(topics, endpoint._id, topic, [1])
      assert.equal(await topics.count(`${topic}.dlq`), 1)
    })
  }

  test('a tombstone is null where JSON is expected, and may succeed', async () => {
    const [topic, out] = [await topics.create(), await topics.create()]
    await topics.produce(topic, [{ key: Buffer.from('k') }])
    await service.register({
      endpoint: { pattern: '/tombstone' },
      kafkaConsumerTopic: topic,
      inputTransforms: { isNull: 'requestBody = null' },
      inputMapping: { 'transforms.isNull': 'isNull' },
      requests: { response: { id: 'out', kafkaProducerTopic: out } },
    })
    const [made] = await readSome(topics, out)
    assert.equal(String(made?.value), '{"isNull":true}')
  })

  test('refused by one of several responses: dead-lettered without another attempt', async () => {
    const good = await startUpstream((_body, _earlier, response) => response.end('{}'))
    const bad = await startUpstream((_body, _earlier, response) => response.writeHead(404).end('no'))
    after(() => Promise.all([good.close(), bad.close()]))
    const topic = await topics.create()
    await topics.produce(topic, [body({ n: 1 })])
    await service.register({
      endpoint: { pattern: '/refused' },
      kafkaConsumerTopic: topic,
      requests: {
        response: [
          { id: 'good', config: { url: good.url, primary: true } },
          { id: 'bad', config: { url: bad.url } },
        ],
      },
    })
    const [letter] = await readSome(topics, `${topic}.dlq`)
    const headers = Object.fromEntries(letter?.headers ?? [])
    assert.deepEqual(
      [headers['crosswalk.code'], headers['crosswalk.stage'], headers['crosswalk.attempts']],
      ['RESPONSE_REFUSED', 'respond', '1'],
    )
    assert.deepEqual([good.bodies.length, bad.bodies.length], [1, 1])
  })

  test('a response that was answered 200 with an unreadable body is done: sent once and dead-lettered never', async () => {
    const upstream = await startUpstream((_body, _earlier, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":'),
    )
    after(upstream.close)
    const topic = await topics.create()
    await topics.produce(topic, [body({ n: 1 }), body({ n: 2 })])
    const endpoint = await service.register({
      endpoint: { pattern: '/taken' },
      kafkaConsumerTopic: topic,
      requests: {
        response: [
          { id: 'one', config: { url: upstream.url } },
          { id: 'two', config: { url: upstream.url } },
        ],
      },
    })
    await committedUntil(topics, endpoint._id, topic, [2])
    assert.deepEqual(upstream.bodies.toSorted(), ['{"n":1}', '{"n":1}', '{"n":2}', '{"n":2}'])
    const listed = await fetch(`${service.adminUrl}/messages?endpoint=${endpoint._id}`)
    const { messages } = (await listed.json()) as { messages: { outcome: string }[] }
    assert.deepEqual(
      messages.map(({ outcome }) => outcome),
      ['done', 'done'],
    )
  })
})

describe('a record that may succeed later', { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers)
  after(stop)

  test('is tried again until it succeeds, before those behind it, while other partitions go on', async () => {
    let isUp = false
    const upstream = await startUpstream((text, _earlier, response) =>
      response.writeHead(text.includes('slow') && !isUp ? 503 : 200).end('{}'),
    )
    after(upstream.close)
    const { service: patient, stop: stopPatient } = await startBench(kafka.brokers, {
      KAFKA_RETRY_PAUSES_MS: Array(20).fill('50').join(),
      CIRCUIT_BREAKER_FAILURES: '0',
    })
    after(stopPatient)
    const topic = await topics.create(2)
    await topics.produce(topic, [
      { ...body('slow'), partition: 0 },
      { ...body('behind'), partition: 0 },
      { ...body('beside'), partition: 1 },
      { ...body('beside too'), partition: 1 },
    ])
    const endpoint = await patient.register({
      endpoint: { pattern: '/later' },
      kafkaConsumerTopic: topic,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    await until(
      () => upstream.bodies,
      (bodies) => bodies.includes('"beside too"') && bodies.filter((one) => one === '"slow"').length >= 2,
    )
    assert.ok(!upstream.bodies.includes('"behind"'))
    const committed = () => topics.committed(`mapping-mediator.${endpoint._id}`, topic, 2)
    await until(committed, (offsets) => offsets[1] === 2)
    assert.ok(((await committed())[0] ?? 0) <= 0)
    const waiting = await consumerUntil(patient, endpoint._id, (status) => status.state === 'waiting')
    assert.match(waiting?.lastError?.message ?? '', /answered 503 to /)
    isUp = true
    await until(committed, (offsets) => offsets[0] === 2)
    assert.ok(upstream.bodies.lastIndexOf('"slow"') < upstream.bodies.indexOf('"behind"'))
    assert.equal(await topics.count(`${topic}.dlq`), 0)
  })

  test('one of several responses is a topic that refuses it: it is not done, but dead-lettered', async () => {
    const [topic, taken] = [await topics.create(), await topics.create()]
    const compacted = await topics.create(1, undefined, { 'cleanup.policy': 'compact' })
    await topics.produce(topic, [body({ n: 1 })])
    const endpoint = await service.register({
      endpoint: { pattern: '/topics' },
      kafkaConsumerTopic: topic,
      requests: {
        response: [
          { id: 'taken', kafkaProducerTopic: taken },
          { id: 'refused', kafkaProducerTopic: compacted },
        ],
      },
    })
    await committedUntil(topics, endpoint._id, topic, [1])
    const [letter] = await topics.read(`${topic}.dlq`)
    const headers = Object.fromEntries(letter?.headers ?? [])
    assert.deepEqual([headers['crosswalk.attempts'], headers['crosswalk.code']], ['1', 'RESPONSE_REFUSED'])
    assert.equal(await topics.count(taken), 1)
  })

  test('is dead-lettered after the last pause, with its attempts', async () => {
    const upstream = await startUpstream((_text, _earlier, response) => response.writeHead(500).end('down'))
    after(upstream.close)
    const topic = await topics.create()
    await topics.produce(topic, [body({ n: 1 })])
    await service.register({
      endpoint: { pattern: '/never' },
      kafkaConsumerTopic: topic,
      requests: { response: { id: 'out', config: { url: upstream.url } } },
    })
    const [letter] = await readSome(topics, `${topic}.dlq`)
    const headers = Object.fromEntries(letter?.headers ?? [])
    assert.deepEqual([headers['crosswalk.attempts'], headers['crosswalk.code']], ['5', 'RESPONSE_REFUSED'])
    assert.equal(upstream.bodies.length, 5)
  })
})

describe('where there is no dead-letter topic to write to', { skip: kafka.skip }, async () => {
  test('KAFKA_DLQ=off: the partition stops visibly, the others go on, and a change of the endpoint lets it go on', async () => {
    const { service, topics, stop } = await startBench(kafka.brokers, { KAFKA_DLQ: 'off' })
    after(stop)
    const [topic, out] = [await topics.create(2), await topics.create()]
    await topics.produce(topic, [
      { ...body({ bad: true }), partition: 0 },
      { ...body({ name: 'behind' }), partition: 0 },
      { ...body({ name: 'beside' }), partition: 1 },
    ])
    const document = {
      endpoint: { pattern: '/off' },
      kafkaConsumerTopic: topic,
      requests: { response: { id: 'out', kafkaProducerTopic: out } },
    }
    const endpoint = await service.register({ ...document, inputValidation: needsName })
    const stopped = await consumerUntil(
      service,
      endpoint._id,
      (status) => status.state === 'stopped' && status.partitions[1]?.committed === 1,
    )
    assert.deepEqual(
      stopped?.partitions.map(({ state, committed, lag }) => [state, committed, lag]),
      [
        ['stopped', 0, 2],
        ['running', 1, 0],
      ],
    )
    assert.match(stopped?.lastError?.message ?? '', /Validation failed/)
    const ready = await fetch(`${service.adminUrl}/health/ready`)
    assert.equal(ready.status, 200)
    assert.deepEqual(
      ((await ready.json()) as { consumers: { state: string }[] }).consumers.map(({ state }) => state),
      ['stopped'],
    )
    const changed = await service.fetch(`/endpoints/${endpoint._id}`, json('PATCH', { inputValidation: null }))
    assert.equal(changed.status, 200)
    await countUntil(topics, out, 3)
    assert.equal(await topics.count(`${topic}.dlq`), 0)
  })

  test('a dead-letter topic that refuses: nothing is skipped, and it goes on when the topic takes records', async () => {
    const { service, topics, stop } = await startBench(kafka.brokers)
    after(stop)
    const admin = new Admin({ clientId: 'tests', bootstrapBrokers: [kafka.brokers] })
    after(() => admin.close())
    const topic = await topics.create()
    // A compacted topic takes records with a key only.
    await topics.create(1, `${topic}.dlq`, { 'cleanup.policy': 'compact' })
    await topics.produce(topic, [{ value: Buffer.from('{') }, body({ fine: true })])
    const endpoint = await service.register({ endpoint: { pattern: '/compacted' }, kafkaConsumerTopic: topic })
    const stopped = await consumerUntil(service, endpoint._id, (status) => status.state === 'stopped')
    assert.match(stopped?.lastError?.message ?? '', /dead-letter topic cannot be written to/)
    const committed = () => topics.committed(`mapping-mediator.${endpoint._id}`, topic, 1)
    assert.ok(((await committed())[0] ?? 0) <= 0)
    await admin.incrementalAlterConfigs({
      resources: [
        {
          resourceType: ConfigResourceTypes.TOPIC,
          resourceName: `${topic}.dlq`,
          configs: [
            {
              name: 'cleanup.policy',
              configOperation: IncrementalAlterConfigOperationTypes.SET,
              value: 'delete',
            },
          ],
        },
      ],
      validateOnly: false,
    })
    await until(committed, ([offset]) => offset === 2)
    assert.equal(await topics.count(`${topic}.dlq`), 1)
  })
})

const PARTITIONS = 6
const RECORDS = 1_500
const BAD = 60

type Bad = Readonly<{ value: Buffer | undefined; stage: string; code: string; error: RegExp }>

const unreadable = { stage: 'parse', code: 'BODY_UNREADABLE', error: /./ }
const invalid = { stage: 'validate', code: 'VALIDATION_FAILED', error: /^Validation failed: / }

/** What a record holds that the JSON endpoint, or the XML endpoint, cannot take, and what is said of it. */
const BAD_JSON: readonly Bad[] = [
  { ...unreadable, value: Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]), error: /UTF-8/ },
  { ...unreadable, value: Buffer.from('{"n": 1'), error: /JSON/ },
  { ...invalid, value: Buffer.from('{"n":"not a number"}') },
  { ...invalid, value: undefined },
  {
    value: Buffer.from(JSON.stringify({ n: 1, text: 'x'.repeat(20_000) })),
    stage: 'receive',
    code: 'BODY_TOO_LARGE',
    error: /PARSER_LIMIT is 16384/,
  },
]
const BAD_XML: readonly Bad[] = [
  { ...unreadable, value: Buffer.from('<a><n>1</a>'), error: /XML/ },
  { ...unreadable, value: Buffer.from([0x3c, 0x61, 0xff, 0x3e]) },
  { ...unreadable, value: undefined },
]

type Written = Readonly<{ key: Buffer; value?: Buffer; partition: number; timestamp: bigint }>
/** A record with its offset, and what is bad about it. */
type Known = Readonly<{ message: Written; offset: number; bad: Bad | undefined }>

const FIRST_TIMESTAMP = 1_700_000_000_000

/** Every 25th record is bad; each has a key and a time of its own. */
function write(kind: 'json' | 'xml', from: number, to: number): Known[] {
  const ends = new Map<number, number>()
  return Array.from({ length: to - from }, (_, index) => {
    const n = from + index
    const [key, partition, timestamp] = [Buffer.from(`k${n}`), n % PARTITIONS, BigInt(FIRST_TIMESTAMP + n)]
    const kinds = kind === 'json' ? BAD_JSON : BAD_XML
    const bad = n % (RECORDS / BAD) === 0 ? kinds[(n / 25) % kinds.length] : undefined
    const good = Buffer.from(kind === 'json' ? JSON.stringify({ n }) : `<a><n>${n}</n></a>`)
    const value = bad === undefined ? good : bad.value
    const offset = ends.get(partition) ?? 0
    ends.set(partition, offset + 1)
    const message = { key, partition, timestamp }
    return { message: value === undefined ? message : { ...message, value }, offset, bad }
  })
}

describe(`${BAD} bad records among ${RECORDS}`, { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers, { PARSER_LIMIT: '16kb' })
  after(stop)

  test('are dead-lettered with their bytes and complete headers, the others done, without a stall', async () => {
    const out = await topics.create(PARTITIONS)
    const written = { json: write('json', 0, 1_000), xml: write('xml', 1_000, RECORDS) }
    const sources: string[] = []
    const endpoints = new Map<string, { name: string; _id: string }>()
    for (const kind of ['json', 'xml'] as const) {
      const topic = await topics.create(PARTITIONS)
      sources.push(topic)
      await topics.produce(
        topic,
        written[kind].map(({ message }) => message),
      )
      const endpoint = await service.register({
        endpoint: { pattern: `/bad-${kind}` },
        transformation: { input: kind === 'json' ? 'JSON' : 'XML', output: 'JSON' },
        kafkaConsumerTopic: topic,
        ...(kind === 'json' ? { inputValidation: { required: ['n'], properties: { n: { type: 'number' } } } } : {}),
        inputMapping: { 'requestHeaders.kafka-key': 'key' },
        requests: { response: { id: 'out', kafkaProducerTopic: out } },
      })
      endpoints.set(topic, endpoint)
    }
    let longestStallMs = 0
    let last = { at: Date.now(), count: 0 }
    const progress = async () => {
      const letters = await Promise.all(sources.map((topic) => topics.count(`${topic}.dlq`)))
      const count = letters.reduce((sum, one) => sum + one, await topics.count(out))
      const now = Date.now()
      longestStallMs = Math.max(longestStallMs, now - last.at)
      if (count > last.count) last = { at: now, count }
      return count
    }
    await until(progress, (count) => count >= RECORDS, 60_000)
    assert.ok(longestStallMs < 5_000, `stalled for ${longestStallMs} ms`)

    const all = [...written.json, ...written.xml]
    const done = (await topics.read(out)).map(({ value }) => (JSON.parse(String(value)) as { key: string }).key)
    assert.deepEqual(
      done.toSorted(),
      all
        .filter(({ bad }) => bad === undefined)
        .map(({ message }) => String(message.key))
        .toSorted(),
    )

    const byKey = new Map(all.map((record) => [String(record.message.key), record]))
    const letters = (
      await Promise.all(
        sources.map(async (topic) => (await topics.read(`${topic}.dlq`)).map((letter) => ({ ...letter, topic }))),
      )
    ).flat()
    assert.equal(letters.length, BAD)
    for (const { key, value, headers, topic } of letters) {
      const { message, offset, bad } = byKey.get(key ?? '') ?? {}
      assert.ok(message !== undefined && bad !== undefined, `${key} is no bad record`)
      assert.deepEqual(value, message.value ?? null)
      const { 'crosswalk.error': error = '', ...rest } = Object.fromEntries(headers)
      assert.match(error, bad.error)
      const { name, _id } = endpoints.get(topic) ?? {}
      assert.deepEqual(rest, {
        'crosswalk.endpoint': name,
        'crosswalk.endpoint-id': _id,
        'crosswalk.stage': bad.stage,
        'crosswalk.code': bad.code,
        'crosswalk.topic': topic,
        'crosswalk.partition': String(message.partition),
        'crosswalk.offset': String(offset),
        'crosswalk.timestamp': new Date(Number(message.timestamp)).toISOString(),
        'crosswalk.attempts': '1',
      })
    }
    assert.equal(new Set(letters.map(({ key }) => key)).size, BAD)
  })
})
