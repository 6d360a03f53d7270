/**
 * Records a second through an endpoint that maps them, beside a bare loop of the same client that only parses and
 * counts, each in a process of its own and in turn: `node bin/node.js bench/costs/broker-throughput.ts [records] [rounds]`.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from '../../test/support/broker/broker.ts'
import { endpointDocument, json } from '../../test/support/service.ts'
import { startServices } from '../../test/support/services/all.ts'
import { openTopics, type Topics } from '../../test/support/services/topics.ts'
import { startCrosswalk } from '../processes/crosswalk.ts'

const PARTITIONS = 6
const [records = 100_000, rounds = 3, maxInFlight = 64] = process.argv.slice(2).map(Number)

const services = await startServices((line) => console.log(line))
const brokers = process.env.KAFKA_BROKERS ?? ''
const topics = openTopics(brokers)
try {
  const topic = await topics.create(PARTITIONS)
  await topics.produce(
    topic,
    Array.from({ length: records }, (_, n) => ({ value: patient(n), partition: n % PARTITIONS })),
  )
  const bare: number[] = []
  const mapped: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await runBare(topic))
    mapped.push(await runEndpoint(topics, topic))
    console.log(`round ${round + 1}: bare ${bare.at(-1)} records/s, endpoint ${mapped.at(-1)} records/s`)
  }
  const ratio = (median(mapped) / median(bare)).toFixed(2)
  console.log(`medians: bare ${median(bare)} records/s, endpoint ${median(mapped)} records/s, ratio ${ratio}`)
} finally {
  await topics.close()
  await services.stop()
}

function patient(n: number): Buffer {
  const name = { family: `Family ${n}`, given: ['First', 'Second'] }
  return Buffer.from(
    JSON.stringify({ id: `p${n}`, name, birthDate: '1980-02-29', phone: '+27 21 555 0100', active: true }),
  )
}

/** The loop says when its first record came and when its last did: neither counts its start. */
async function runBare(topic: string): Promise<number> {
  const program = fileURLToPath(new URL('bare-consumer.ts', import.meta.url))
  const child = spawn(process.execPath, [program, brokers, topic, String(records)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer)
  return Math.round(records / (Number(String(Buffer.concat(chunks))) / 1000))
}

/** Records a second from the first observed commit to the last. */
async function runEndpoint(topics: Topics, topic: string): Promise<number> {
  const service = await startCrosswalk('both', {
    KAFKA_BROKERS: brokers,
    KAFKA_MAX_IN_FLIGHT: String(maxInFlight),
  })
  try {
    const document = endpointDocument({
      endpoint: { pattern: '/patients' },
      transformation: { input: 'JSON', output: 'FHIR+JSON' },
      kafkaConsumerTopic: topic,
      constants: { resourceType: 'Patient' },
      inputMapping: {
        'constants.resourceType': 'resourceType',
        'requestBody.id': 'id',
        'requestBody.name.family': 'name[0].family',
        'requestBody.name.given': 'name[0].given',
        'requestBody.birthDate': 'birthDate',
        'requestBody.phone': 'telecom[0].value',
        'requestBody.active': 'active',
      },
    })
    const reply = await fetch(`${service.origin}/endpoints`, json('POST', document))
    const { _id } = (await reply.json()) as { _id: string }
    const group = `mapping-mediator.${_id}`
    const committed = async () =>
      (await topics.committed(group, topic, PARTITIONS)).reduce((sum, offset) => sum + Math.max(offset, 0), 0)
    const first = await until(committed, (count) => count > 0)
    const startedAt = performance.now()
    await until(committed, (count) => count >= records, 300_000)
    return Math.round((records - first) / ((performance.now() - startedAt) / 1000))
  } finally {
    await service.stop()
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
