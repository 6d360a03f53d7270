/**
 * Joins the broker's adapter to its ports. Its client is loaded only when it is used, because it would cost every start
 * memory and time.
 */
import type { RecordConsumer } from '../domain/ports/record-consumer.ts'
import type { ClosableRecordProducer } from '../domain/ports/record-producer.ts'
import type { RecordSettings } from '../intake/records/endpoint-consumer.ts'
import type { Settings } from '../settings/settings.ts'

export type Broker = Readonly<{
  producer: ClosableRecordProducer
  consumer: RecordConsumer
  recordSettings: RecordSettings
}>

/** What a broker's adapter supplies. Nothing connects before the first record or session. */
type BrokerAdapter = Readonly<{
  loadProducer(settings: Settings): Promise<ClosableRecordProducer>
  loadConsumer(settings: Settings): Promise<RecordConsumer>
}>

const KAFKA: BrokerAdapter = {
  loadProducer: async (settings) =>
    (await import('../adapters/kafka/producer/kafka-producer.ts')).createKafkaProducer(settings),
  loadConsumer: async (settings) =>
    (await import('../adapters/kafka/consumer/kafka-consumer.ts')).createKafkaConsumer(settings),
}

/** The ports of the broker. A second broker is chosen here, by a setting. */
export function openBroker(settings: Settings): Broker {
  const { loadProducer, loadConsumer } = KAFKA
  let producer: Promise<ClosableRecordProducer> | undefined
  return {
    producer: {
      produce: async (record, timeoutMs, turn) => {
        producer ??= loadProducer(settings)
        return (await producer).produce(record, timeoutMs, turn)
      },
      close: async () => (await producer)?.close(),
    },
    consumer: {
      open: async (subscription, listener) => (await loadConsumer(settings)).open(subscription, listener),
    },
    recordSettings: {
      groupId: settings.kafkaGroupId,
      maxInFlight: settings.kafkaMaxInFlight,
      maxBufferedBytes: settings.kafkaInFlightMaxBytes,
      retryPausesMs: settings.kafkaRetryPausesMs,
      deadLetterTopic: settings.kafkaDeadLetterTopic,
      produceTimeoutMs: settings.kafkaRequestTimeoutMs,
      parserLimitBytes: settings.parserLimitBytes,
      validationAcceptNullValues: settings.validationAcceptNullValues,
    },
  }
}
