/** A service and the tools for topics, on the broker of this test run. */
import type { ConsumerStatus } from '../../../src/inbound/kafka/endpoint-consumers.ts'
import { type Service, startService } from '../service.ts'
import { openTopics, type StoredRecord, type Topics } from '../services/topics.ts'
import { until } from '../until.ts'

export type Bench = Readonly<{ service: Service; topics: Topics; stop(): Promise<void> }>

/** Short pauses, so that tests need not wait for what users would. */
export async function startBench(brokers: string, env: Record<string, string> = {}): Promise<Bench> {
  const service = await startService({
    KAFKA_BROKERS: brokers,
    KAFKA_RETRY_PAUSES_MS: '10,20,30,40',
    KAFKA_SESSION_TIMEOUT_MS: '3000',
    KAFKA_REQUEST_TIMEOUT_MS: '5000',
    ...env,
  })
  const topics = openTopics(brokers)
  return {
    service,
    topics,
    stop: async () => {
      await service.stop()
      await topics.close()
    },
  }
}

export { until }

export async function consumers({ adminUrl }: Service): Promise<ConsumerStatus[]> {
  return (await (await fetch(`${adminUrl}/consumers`)).json()) as ConsumerStatus[]
}

export const consumerOf = async (service: Service, endpointId: string): Promise<ConsumerStatus | undefined> =>
  (await consumers(service)).find((one) => one.endpointId === endpointId)

/** The status of the consumer of an endpoint, once it is so. */
export const consumerUntil = async (
  service: Service,
  endpointId: string,
  isSo: (status: ConsumerStatus) => boolean,
  limitMs?: number,
): Promise<ConsumerStatus> => {
  const holds = (one: ConsumerStatus | undefined) => one !== undefined && isSo(one)
  return (await until(() => consumerOf(service, endpointId), holds, limitMs)) as ConsumerStatus
}

/** Resolves when the group of an endpoint has committed these offsets of the partitions of a topic. */
export const committedUntil = (
  topics: Topics,
  endpointId: string,
  topic: string,
  offsets: readonly number[],
  limitMs?: number,
): Promise<number[]> =>
  until(
    () => topics.committed(`mapping-mediator.${endpointId}`, topic, offsets.length),
    (found) => found.every((one, partition) => one === offsets[partition]),
    limitMs,
  )

/** Resolves when so many records were ever written to a topic. */
export const countUntil = (topics: Topics, topic: string, count: number): Promise<number> =>
  until(
    () => topics.count(topic),
    (found) => found === count,
  )

/** What a topic holds, once it holds something. */
export const readSome = (topics: Topics, topic: string): Promise<StoredRecord[]> =>
  until(
    () => topics.read(topic),
    (records) => records.length > 0,
  )

export const body = (value: unknown): { value: Buffer } => ({ value: Buffer.from(JSON.stringify(value)) })

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index)

/** Records with the numbers from..to-1. */
export const bodies = (from: number, to: number) => range(from, to).map((n) => body({ n }))
