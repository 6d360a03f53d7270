/**
 * Joins the broker's adapter to its ports. Its client is loaded only when it is used, because it would cost every start
 * memory and time.
 */
import type { RecordConsumer } from '../domain/ports/record-consumer.ts'
import type { ClosableRecordProducer } from '../domain/ports/record-producer.ts'
import type { RecordSettings } from '../intake/records/endpoint-consumer.ts'
import type { Settings } from '../settings/settings.ts'

/** Loads the client with the first record. */
export function openProducer(settings: Settings): ClosableRecordProducer {
  let loaded: Promise<ClosableRecordProducer> | undefined
  const load = async (): Promise<ClosableRecordProducer> => {
    const { createKafkaProducer } = await import('../adapters/kafka/producer/kafka-producer.ts')
    return createKafkaProducer(settings)
  }
  return {
    produce: async (record, timeoutMs) => {
      loaded ??= load()
      return (await loaded).produce(record, timeoutMs)
    },
    close: async () => (await loaded)?.close(),
  }
}

/** Loads the client with the first endpoint that consumes a topic. */
export function openConsumer(settings: Settings): RecordConsumer {
  return {
    open: async (subscription, listener) => {
      const { createKafkaConsumer } = await import('../adapters/kafka/consumer/kafka-consumer.ts')
      return createKafkaConsumer(settings).open(subscription, listener)
    },
  }
}

/** The settings of the policy for records, which holds for any broker. */
export function recordSettings(settings: Settings): RecordSettings {
  return {
    groupId: settings.kafkaGroupId,
    maxInFlight: settings.kafkaMaxInFlight,
    retryPausesMs: settings.kafkaRetryPausesMs,
    deadLetterTopic: settings.kafkaDeadLetterTopic,
    produceTimeoutMs: settings.kafkaRequestTimeoutMs,
    parserLimitBytes: settings.parserLimitBytes,
    validationAcceptNullValues: settings.validationAcceptNullValues,
  }
}
