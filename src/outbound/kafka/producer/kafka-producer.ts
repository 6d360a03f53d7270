/** The port RecordProducer: one for the whole service, idempotent, with a topic producer for each topic. */
import type { ClosableRecordProducer } from '../../../core/ports/record-producer.ts'
import type { KafkaSettings } from '../kafka-client.ts'
import { notAcknowledged } from '../kafka-errors.ts'
import { openTopicProducer, type TopicProducer } from './topic-producer.ts'

/** Connects when the first record is produced. */
export function createKafkaProducer(settings: KafkaSettings): ClosableRecordProducer {
  const producers = new Map<string, TopicProducer>()
  let closed = false
  const producerFor = (topic: string): TopicProducer => {
    const producer = producers.get(topic) ?? openTopicProducer(settings, topic)
    producers.set(topic, producer)
    return producer
  }
  return {
    produce: (record, timeoutMs, turn) => {
      const { topic } = record
      if (closed) return Promise.reject(notAcknowledged('unreachable', topic, 'the service is shutting down'))
      return producerFor(topic).produce(record, timeoutMs, turn)
    },
    close: async () => {
      closed = true
      await Promise.all([...producers.values()].map((producer) => producer.close()))
    },
  }
}
