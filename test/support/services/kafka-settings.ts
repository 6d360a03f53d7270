/** The settings of a client of a broker, without credentials. */
import type { KafkaSettings } from '../../../src/outbound/kafka/kafka-client.ts'

/** `brokers`: as KAFKA_BROKERS takes them. `timeoutMs`: for connecting, and for each request. */
export const kafkaSettings = (brokers: string, timeoutMs = 5_000): KafkaSettings => ({
  kafkaBrokers: [brokers],
  kafkaClientId: 'tests',
  kafkaConnectTimeoutMs: timeoutMs,
  kafkaRequestTimeoutMs: timeoutMs,
  kafkaSessionTimeoutMs: 3_000,
  kafkaTls: false,
  kafkaTlsCa: undefined,
  kafkaTlsCert: undefined,
  kafkaTlsKey: undefined,
  kafkaSaslMechanism: undefined,
  kafkaSaslUsername: undefined,
  kafkaSaslPassword: undefined,
})
