/**
 * Joins the broker's adapter to its ports. Its client is loaded only when it is used, because it would cost every start
 * memory and time.
 */

import type { ClosableRecordProducer } from '../core/ports/record-producer.ts'
import type { RecordSettings } from '../inbound/kafka/endpoint-consumers.ts'
import type { RecordConsumer } from '../inbound/kafka/record-consumer.ts'
import type { Settings } from '../settings/settings.ts'

type Broker = Readonly<{
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
  loadProducer: async (settings) => (await import('../outbound/kafka/kafka-producer.ts')).createKafkaProducer(settings),
  loadConsumer: async (settings) => (await import('../inbound/kafka/kafka-consumer.ts')).createKafkaConsumer(settings),
}

/** The ports of the broker. A second broker is chosen here, by a setting. */
export function openBroker(settings: Settings): Broker {
  const { loadProducer, loadConsumer } = KAFKA
  return {
    producer: openWhenUsed(() => loadProducer(settings)),
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
      validationAcceptNullValues: settings.validationAcceptNullValues,
    },
  }
}

/** Each record but the first ones goes to the producer at once: it must not wait for a promise that is settled. */
function openWhenUsed(load: () => Promise<ClosableRecordProducer>): ClosableRecordProducer {
  let loading: Promise<ClosableRecordProducer> | undefined
  let producer: ClosableRecordProducer | undefined
  return {
    produce: (record, timeoutMs, slot) => {
      if (producer !== undefined) return producer.produce(record, timeoutMs, slot)
      loading ??= load()
      return loading.then((opened) => {
        producer = opened
        return opened.produce(record, timeoutMs, slot)
      })
    },
    close: async () => (await loading)?.close(),
  }
}
