/** A service and the tools for topics, on the broker of this test run. */
import type { ConsumerStatus } from '../../../src/inbound/kafka/endpoint-consumers.ts'
import { type Service, startService } from '../service.ts'
import { openTopics, type Topics } from '../services/topics.ts'

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

export { until } from '../until.ts'

export async function consumers({ adminUrl }: Service): Promise<ConsumerStatus[]> {
  return (await (await fetch(`${adminUrl}/consumers`)).json()) as ConsumerStatus[]
}

export const consumerOf = async (service: Service, endpointId: string): Promise<ConsumerStatus | undefined> =>
  (await consumers(service)).find((one) => one.endpointId === endpointId)

export const body = (value: unknown): { value: Buffer } => ({ value: Buffer.from(JSON.stringify(value)) })
