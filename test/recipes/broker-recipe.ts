/** The recipe "Add a broker": one whose topics are lists in memory with a single partition. */
import type { Recipe } from './recipe.ts'

export const addBroker: Recipe = {
  edits: [
    {
      folder: 'src',
      anchor: 'const KAFKA: BrokerAdapter = {\n',
      insert: `const MEMORY: BrokerAdapter = {
  loadProducer: async () => createMemoryProducer(),
  loadConsumer: async () => createMemoryConsumer(),
}

`,
      where: 'before',
      imports: ['createMemoryConsumer', 'createMemoryProducer'],
    },
    {
      folder: 'src',
      anchor: '  const { loadProducer, loadConsumer } = ',
      insert: "settings.messageBroker === 'memory' ? MEMORY : ",
      where: 'after',
    },
    {
      folder: 'src',
      anchor: 'export const kafka = {\n',
      insert: `  messageBroker: {
    name: 'MESSAGE_BROKER',
    kind: choice('kafka', 'memory'),
    default: 'kafka',
    means: 'Which broker has the topics.',
  },
`,
      where: 'after',
    },
    {
      folder: 'test',
      anchor: 'const DEFAULTS: Settings = {\n',
      insert: "  messageBroker: 'kafka',\n",
      where: 'after',
    },
    {
      folder: 'test',
      anchor: "  'adapters/otel': ['domain'],\n",
      insert: "  'adapters/memory': ['domain'],\n",
      where: 'before',
    },
  ],
  files: [
    {
      folder: 'src',
      beside: 'export function createLogger(',
      name: '../memory/memory-producer.ts',
      text: (from) => `import type { BrokerRecord, ClosableRecordProducer } from '${from('BrokerRecord')}'

const topics = new Map<string, BrokerRecord[]>()

export function recordsOf(topic: string): BrokerRecord[] {
  const records = topics.get(topic) ?? []
  topics.set(topic, records)
  return records
}

export function createMemoryProducer(): ClosableRecordProducer {
  return {
    produce: async (record) => {
      const { topic } = record
      return { topic, partition: 0, offset: recordsOf(topic).push(record) - 1 }
    },
    close: async () => {},
  }
}
`,
    },
    {
      folder: 'src',
      beside: 'export function createMemoryProducer(',
      name: 'memory-consumer.ts',
      text: (from) => `import type { ConsumerListener, RecordConsumer } from '${from('RecordConsumer')}'
import { recordsOf } from '${from('createMemoryProducer')}'

const POLL_MS = 10

export function createMemoryConsumer(): RecordConsumer {
  return {
    open: async ({ topic }, listener) => {
      const deliver = deliverer(topic, listener)
      const timer = setInterval(deliver, POLL_MS)
      return {
        commit: async () => 'committed',
        transactionsOf: () => undefined,
        demandChanged: deliver,
        close: async () => clearInterval(timer),
      }
    },
  }
}

function deliverer(topic: string, listener: ConsumerListener): () => void {
  let next = -1
  return () => {
    if (next < 0) {
      next = 0
      listener.onRebalance()
      listener.onRevoked([])
      listener.onAssigned({ partitions: [0], added: new Map([[0, undefined]]) })
    }
    const first = next
    const records = recordsOf(topic).slice(first)
    if (records.length === 0 || !listener.demand().partitionBytes.has(0)) return
    next += records.length
    const consumed = records.map(({ key, value }, index) => ({
      topic,
      partition: 0,
      offset: BigInt(first + index),
      timestamp: Date.now(),
      key: bytesOf(key),
      value: bytesOf(value),
      headers: [],
    }))
    listener.onEndOffset(0, BigInt(next))
    listener.onRecords(0, consumed, BigInt(next))
  }
}

function bytesOf(content: string | Uint8Array | null): Buffer | null {
  if (content === null) return null
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(content)
}
`,
    },
    {
      folder: 'test',
      beside: 'export function endpointWith(',
      name: '../../adapters/memory/memory-broker.test.ts',
      text: (from) => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '${from('createMemoryProducer')}'
import { startEndpointConsumers } from '${from('startEndpointConsumers')}'
import { openBroker } from '${from('openBroker')}'
import { endpointWith, openIntake, outcomeOf, TOPIC } from '../../intake/records/record-fixtures.ts'
import { loggerInto, readTestSettings } from '../../service.ts'
import { until } from '../../until.ts'

test('records pass the policy, which commits them and writes dead letters', async () => {
  const { producer, consumer, recordSettings } = openBroker(readTestSettings({ MESSAGE_BROKER: 'memory' }))
  const bodies: string[] = []
  const compiled = endpointWith((_message, { body }) => {
    bodies.push(String(body))
    return outcomeOf(bodies.length === 1 ? 'ok' : 'BODY_UNREADABLE')
  })
  const logger = loggerInto([])
  const registry = { get: () => compiled, consuming: () => [compiled], watch: () => {} }
  const intake = openIntake(logger)
  const consumers = startEndpointConsumers({ registry, consumer, settings: recordSettings, intake, producer, logger })
  for (const value of ['{"a":1}', '{"a":2}']) await producer.produce({ topic: TOPIC, key: 'k', value, headers: [] }, 1_000)
  await until(() => consumers.status()[0]?.partitions[0]?.committed, (committed) => committed === 2)
  assert.deepEqual(bodies, ['{"a":1}', '{"a":2}'])
  assert.deepEqual(recordsOf(\`\${TOPIC}.dlq\`).map(({ value }) => String(value)), ['{"a":2}'])
  await consumers.stop()
  await producer.close()
})
`,
    },
  ],
  generated: ['docs/settings.md', '.env.example'],
  shownBy: { file: 'memory-broker.test.ts', name: 'records pass the policy' },
}
