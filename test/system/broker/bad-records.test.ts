/** Many bad records among many good ones: all of the former dead-lettered as they were, all of the latter done. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startBench, until } from '../../support/broker/broker.ts'
import { kafkaForTests } from '../../support/services/kafka.ts'

const kafka = await kafkaForTests()

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
/** A record with where it stands, and what is bad about it. */
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
