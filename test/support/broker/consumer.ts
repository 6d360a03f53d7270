/** A consumer without the service around it, and the tools for topics, on the broker of this test run. */
import { after } from 'node:test'
import { createKafkaConsumer } from '../../../src/inbound/kafka/kafka-consumer.ts'
import type { ConsumerListener } from '../../../src/inbound/kafka/record-consumer.ts'
import { kafkaSettings } from '../services/kafka-settings.ts'
import { openTopics } from '../services/topics.ts'

/** Closes its tools after the tests of the suite that calls this. */
export function openConsumer(brokers: string) {
  const topics = openTopics(brokers)
  after(topics.close)
  return { topics, consumer: createKafkaConsumer(kafkaSettings(brokers)) }
}

/** Fetches nothing, and does nothing with what is reported. */
export const idleListener = {
  onRebalance: () => {},
  onRevoked: () => {},
  onAssigned: () => {},
  demand: () => ({ maxBytes: 1_000, partitionBytes: new Map() }),
  onRecords: () => {},
  onEndOffset: () => {},
  onOffsetReset: () => true,
  onTrouble: () => {},
  onRecovered: () => {},
  onReplaced: () => {},
  onEnd: () => {},
} satisfies ConsumerListener
