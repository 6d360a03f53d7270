/**
 * Records a second from topic to topic, by order, beside a loop by hand with the same produces; and by key with a lookup of
 * 50 ms: `node bin/node.js bench/costs/topic-to-topic.ts [records] [rounds] [inFlight]`. Counted where the records arrive.
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../src/core/json.ts'
import { until } from '../../test/support/broker/broker.ts'
import { endpointDocument, json } from '../../test/support/service.ts'
import { startServices } from '../../test/support/services/all.ts'
import { openTopics } from '../../test/support/services/topics.ts'
import { startCrosswalk } from '../processes/crosswalk.ts'

const PARTITIONS = 6
const KEYS = 1_000
const LOOKUP_MS = 50
const [records = 50_000, rounds = 3, inFlight = 1_000] = process.argv.slice(2).map(Number)

const services = await startServices((line) => console.log(line))
const brokers = process.env.KAFKA_BROKERS ?? ''
const topics = openTopics(brokers)
const upstream = createServer((_, response) => {
  setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'), LOOKUP_MS)
})
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const lookup = {
  id: 'slow',
  config: { method: 'GET', url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/` },
}
const forms: Readonly<Record<string, (out: string) => JsonObject>> = {
  'order partition': (out) => document(out, { order: 'partition', inFlight }),
  'order partition, KAFKA_MAX_IN_FLIGHT': (out) => document(out, { order: 'partition' }),
  'exactly once': (out) => document(out, { exactlyOnce: true, inFlight }),
  'exactly once, KAFKA_MAX_IN_FLIGHT': (out) => document(out, { exactlyOnce: true }),
  'order key': (out) => document(out, { order: 'key', inFlight }),
  'order none': (out) => document(out, { order: 'none', inFlight }),
  [`order key, lookup of ${LOOKUP_MS} ms`]: (out) => document(out, { order: 'key', inFlight }, [lookup]),
}
try {
  const topic = await topics.create(PARTITIONS)
  for (let from = 0; from < records; from += 10_000) {
    await topics.produce(
      topic,
      Array.from({ length: Math.min(10_000, records - from) }, (_, index) => ({
        key: Buffer.from(`key ${(from + index) % KEYS}`),
        value: Buffer.from(JSON.stringify({ id: from + index, text: 'x'.repeat(100) })),
        partition: ((from + index) % KEYS) % PARTITIONS,
      })),
    )
  }
  const found = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    note('loop by hand', await runLoop(topic))
    for (const [name, form] of Object.entries(forms)) note(name, await runEndpoint(topic, form))
  }
  const byHand = median(found.get('loop by hand') ?? [])
  for (const [name, rates] of found) {
    console.log(`${name}: ${median(rates)} records/s, ${(median(rates) / byHand).toFixed(2)} of the loop`)
  }
  function note(name: string, rate: number) {
    found.set(name, [...(found.get(name) ?? []), rate])
    console.log(`${name}: ${rate} records/s`)
  }
} finally {
  upstream.close()
  upstream.closeAllConnections()
  await topics.close()
  await services.stop()
}

function document(out: string, kafka: JsonObject, lookups: JsonObject[] = []): JsonObject {
  return {
    endpoint: { pattern: '/copies' },
    kafka,
    inputMapping: { 'requestBody.id': 'id', 'requestBody.text': 'text' },
    requests: {
      lookup: lookups,
      response: [{ id: 'out', kafkaProducerTopic: out, key: { path: 'requestHeaders.kafka-key' } }],
    },
  }
}

async function runLoop(topic: string): Promise<number> {
  const program = fileURLToPath(new URL('topic-loop.ts', import.meta.url))
  const out = await topics.create(PARTITIONS)
  const child = spawn(process.execPath, [program, brokers, topic, out, String(records)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer)
  return Math.round(records / (Number(String(Buffer.concat(chunks))) / 1000))
}

/** Records a second from the first that is seen in the target topic to the last; of transactions, by the offsets committed with them. */
async function runEndpoint(topic: string, form: (out: string) => JsonObject): Promise<number> {
  const service = await startCrosswalk('both', {
    KAFKA_BROKERS: brokers,
    MESSAGE_LOG: 'off',
    REQUEST_CONNECTIONS_PER_ORIGIN: String(inFlight),
    EGRESS_ALLOW: '127.0.0.1',
  })
  const out = await topics.create(PARTITIONS)
  try {
    const reply = await fetch(
      `${service.origin}/endpoints`,
      json('POST', endpointDocument({ ...form(out), kafkaConsumerTopic: topic })),
    )
    if (reply.status !== 201) throw new Error(await reply.text())
    const { _id, kafka } = (await reply.json()) as { _id: string; kafka: JsonObject }
    const offsets = () =>
      kafka.exactlyOnce === true ? topics.committed(`mapping-mediator.${_id}`, topic, PARTITIONS) : topics.ends(out)
    const arrived = async () => (await offsets()).reduce((sum, end) => sum + Math.max(end, 0), 0)
    const first = await until(arrived, (count) => count > 0)
    const startedAt = performance.now()
    const last = await until(arrived, (count) => count >= records, 300_000)
    return Math.round((last - first) / ((performance.now() - startedAt) / 1000))
  } finally {
    await service.stop()
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
