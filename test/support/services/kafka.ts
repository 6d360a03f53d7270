/**
 * The Kafka broker that tests run against: the one that KAFKA_BROKERS names (`npm test` starts one for the whole run),
 * else one that this test file starts for itself, with Java and Maven or with Docker.
 */
import { after } from 'node:test'
import { whyNoJava } from './java-class-path.ts'
import { hasDocker, startKafkaInDocker } from './kafka-docker.ts'
import { servicesRequired } from './service-process.ts'
import { type Kafka, startKafka } from './start-kafka.ts'

export type KafkaForTests = Readonly<{
  /** As KAFKA_BROKERS takes it; empty where there is no broker. */
  brokers: string
  /** Why the tests that need a broker cannot run; false where they can. */
  skip: string | false
}>

/** Gives a running broker, stopped after the tests of this file where they started it. */
export async function kafkaForTests(): Promise<KafkaForTests> {
  const given = process.env.KAFKA_BROKERS
  if (given !== undefined && given !== '') return { brokers: given, skip: false }
  const started = await tryStartKafka()
  if (typeof started === 'string') return { brokers: '', skip: started }
  after(() => started.stop())
  return { brokers: started.brokers, skip: false }
}

/** A broker of our own, or in one sentence why there is none. Rejects where there must be one. */
export async function tryStartKafka(): Promise<Kafka | string> {
  const noJava = await whyNoJava()
  if (noJava === undefined) return startKafka()
  if (await hasDocker()) return startKafkaInDocker()
  const reason = `no Kafka broker: KAFKA_BROKERS is not set, ${noJava}, and it has no Docker`
  if (servicesRequired()) throw new Error(`Services are required here (CI or REQUIRE_SERVICES), but there is ${reason}`)
  return reason
}
