/** Many bad records among many good ones: all of the former dead-lettered as they were, all of the latter done. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { kafkaForTests } from '../services/kafka.ts'
import { startBench, until } from './broker.ts'

const kafka = await kafkaForTests()

const PARTITIONS = 6
const RECORDS = 5_000
const BAD = 200

/** What a record holds that the JSON endpoint, or the XML endpoint, cannot take. */
const BAD_JSON: readonly (Buffer | undefined)[] = [
  Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from('{"n": 1'),
  Buffer.from('{"n":"not a number"}'),
  undefined,
  Buffer.from(JSON.stringify({ n: 1, text: 'x'.repeat(20_000) })),
]
const BAD_XML: readonly (Buffer | undefined)[] = [
  Buffer.from('<a><n>1</a>'),
  Buffer.from([0x3c, 0x61, 0xff, 0x3e]),
  undefined,
]

type Written = Readonly<{ key: Buffer; value?: Buffer; partition: number; isBad: boolean }>

/** Every 25th record is bad; each has a key of its own. */
function write(kind: 'json' | 'xml', from: number, to: number): Written[] {
  return Array.from({ length: to - from }, (_, index) => {
    const n = from + index
    const isBad = n % (RECORDS / BAD) === 0
    const bad = kind === 'json' ? BAD_JSON : BAD_XML
    const good = Buffer.from(kind === 'json' ? JSON.stringify({ n }) : `<a><n>${n}</n></a>`)
    const value = isBad ? bad[(n / 25) % bad.length] : good
    const record = { key: Buffer.from(`k${n}`), partition: n % PARTITIONS, isBad }
    return value === undefined ? record : { ...record, value }
  })
}

describe(`${BAD} bad records among ${RECORDS}`, { skip: kafka.skip }, async () => {
  const { service, topics, stop } = await startBench(kafka.brokers, { PARSER_LIMIT: '16kb' })
  after(stop)

  test('are dead-lettered with their bytes and complete headers, the others done, without a stall', async () => {
    const out = await topics.create(PARTITIONS)
    const written = { json: write('json', 0, 4_000), xml: write('xml', 4_000, RECORDS) }
    const sources: string[] = []
    for (const kind of ['json', 'xml'] as const) {
      const topic = await topics.create(PARTITIONS)
      sources.push(topic)
      await topics.produce(
        topic,
        written[kind].map(({ isBad: _, ...message }) => message),
      )
      await service.register({
        endpoint: { pattern: `/bad-${kind}` },
        transformation: { input: kind === 'json' ? 'JSON' : 'XML', output: 'JSON' },
        kafkaConsumerTopic: topic,
        ...(kind === 'json' ? { inputValidation: { required: ['n'], properties: { n: { type: 'number' } } } } : {}),
        inputMapping: { 'requestHeaders.kafka-key': 'key' },
        requests: { response: { id: 'out', kafkaProducerTopic: out } },
      })
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
        .filter(({ isBad }) => !isBad)
        .map(({ key }) => String(key))
        .toSorted(),
    )

    const letters = (await Promise.all(sources.map((topic) => topics.read(`${topic}.dlq`)))).flat()
    assert.equal(letters.length, BAD)
    const byKey = new Map(all.map((record) => [String(record.key), record]))
    const required = ['endpoint', 'stage', 'code', 'error', 'topic', 'partition', 'offset', 'timestamp', 'attempts']
    for (const { key, value, headers } of letters) {
      const source = byKey.get(key ?? '')
      assert.ok(source?.isBad, `${key} is no bad record`)
      assert.deepEqual(value, source.value ?? null)
      const named = Object.fromEntries(headers)
      for (const name of required) assert.ok(named[`crosswalk.${name}`], `${key} has no header ${name}`)
      assert.equal(named['crosswalk.partition'], String(source.partition))
    }
    assert.equal(new Set(letters.map(({ key }) => key)).size, BAD)
  })
})
