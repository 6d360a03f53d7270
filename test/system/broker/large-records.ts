/** Endpoints that consume records of 1 MB, while their upstream takes each call and never answers. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConsumerStatus } from '../../../src/inbound/kafka/endpoint-consumers.ts'
import type { RecordOrder } from '../../../src/inbound/kafka/record-order.ts'
import { until } from '../../support/broker/broker.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { openTopics } from '../../support/services/topics.ts'
import { spawnService } from '../../support/spawned-service.ts'
import { residentMb } from '../load/process-memory.ts'

export type LargeRecordOptions = Readonly<{
  brokers: string
  /** Of the service's database. */
  folder: string
  /** An endpoint for each; all of them consume the same topic. */
  orders: readonly RecordOrder[]
  partitions: number
  records: number
  /** How many calls are awaited while the memory is watched; each endpoint starts at least one record. */
  calls: number
  waitMs: number
}>

export type LargeRecordReport = Readonly<{
  /** The most that the service had in memory, in MiB. */
  maxMb: number
  /** The most records that were started and not done at a time, by endpoint. */
  started: readonly number[]
  /** The most of all endpoints together, in bytes. */
  startedBytes: number
}>

const FIELDS = 15_200

/** About 1 MB of many small fields, as messages have them. */
const largeRecord = (n: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      n,
      list: Array.from({ length: FIELDS }, (_, id) => ({
        id,
        name: `the name of ${id}`,
        isRead: false,
        code: id % 97,
      })),
    }),
  )

export async function consumeLargeRecords(options: LargeRecordOptions): Promise<LargeRecordReport> {
  const { brokers, folder, orders, partitions, records, calls, waitMs } = options
  let called = 0
  // The bodies are never read, so that they stay with the service.
  const upstream = createServer(() => {
    called += 1
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`
  const topics = openTopics(brokers)
  const env = {
    KAFKA_BROKERS: brokers,
    // Each record is tried again until it succeeds.
    KAFKA_DLQ: 'off',
    KAFKA_RETRY_PAUSES_MS: '10',
    CIRCUIT_BREAKER_FAILURES: '0',
    // As the launcher sets it.
    MALLOC_ARENA_MAX: '1',
  }
  const service = await spawnService(folder, { env, lifetimeMs: 600_000 })
  try {
    const topic = await topics.create(partitions)
    for (let first = 0; first < records; first += partitions) {
      const numbers = Array.from({ length: Math.min(partitions, records - first) }, (_, index) => first + index)
      const batch = numbers.map((n) => ({
        key: Buffer.from(`key ${n}`),
        value: largeRecord(n),
        partition: n % partitions,
      }))
      await topics.produce(topic, batch)
    }
    for (const [index, order] of orders.entries()) {
      const document = {
        name: `large ${index}`,
        endpoint: { pattern: `/large/${index}` },
        kafkaConsumerTopic: topic,
        kafka: { order },
        inputMapping: { 'requestBody.n': 'n', 'requestBody.list': 'list' },
        requests: { response: { id: 'out', timeoutMs: 1_000, config: { url } } },
      }
      const reply = await fetch(`${service.adminUrl}/endpoints`, json('POST', endpointDocument(document)))
      if (reply.status !== 201) throw new Error(await reply.text())
    }
    let [maxMb, mostStarted] = [0, 0]
    const started = new Map<string, number>()
    const look = async () => {
      maxMb = Math.max(maxMb, residentMb(service.child.pid ?? 0))
      const consumers = (await (await fetch(`${service.adminUrl}/consumers`)).json()) as ConsumerStatus[]
      let sum = 0
      for (const { endpoint, underWay, retrying } of consumers) {
        started.set(endpoint, Math.max(underWay + retrying, started.get(endpoint) ?? 0))
        sum += underWay + retrying
      }
      mostStarted = Math.max(mostStarted, sum)
      return called
    }
    const haveAllStarted = () => orders.every((_, index) => (started.get(`large ${index}`) ?? 0) > 0)
    await until(look, (count) => count >= calls && haveAllStarted(), waitMs)
    return {
      maxMb: Math.round(maxMb),
      started: [...started.values()],
      startedBytes: mostStarted * largeRecord(0).byteLength,
    }
  } finally {
    service.child.kill('SIGKILL')
    await service.ended
    upstream.closeAllConnections()
    await new Promise((resolve) => upstream.close(resolve))
    await topics.close()
  }
}
