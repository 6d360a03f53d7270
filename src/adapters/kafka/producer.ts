/** The port RecordProducer: one for the whole service, idempotent, with a lane for each topic. */
import type { RecordProducer } from '../../domain/ports.ts'
import type { KafkaSettings } from './client-options.ts'
import { notAcknowledged } from './faults.ts'
import { type Lane, openLane } from './lane.ts'

export type KafkaProducer = RecordProducer & Readonly<{ close(): Promise<void> }>

/** Connects when the first record is produced. */
export function createKafkaProducer(settings: KafkaSettings): KafkaProducer {
  const lanes = new Map<string, Lane>()
  let closed = false
  const laneTo = (topic: string): Lane => {
    const known = lanes.get(topic)
    if (known !== undefined) return known
    const lane = openLane(settings, topic)
    lanes.set(topic, lane)
    return lane
  }
  return {
    produce: (record, timeoutMs) => {
      const { topic } = record
      if (closed) return Promise.reject(notAcknowledged('unreachable', topic, 'the service is shutting down'))
      return laneTo(topic).produce(record, timeoutMs)
    },
    close: async () => {
      closed = true
      await Promise.all([...lanes.values()].map((lane) => lane.close()))
    },
  }
}
