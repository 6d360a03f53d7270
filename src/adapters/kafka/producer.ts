/**
 * The port RecordProducer: one idempotent producer for the whole service.
 *
 * Only one batch is on its way at a time. The client keeps the sequence numbers that make it idempotent in one place
 * and clears them when a batch fails; with a second batch under way, a broker could take a record for the repetition
 * of another and acknowledge what it never wrote. Records that arrive meanwhile go together in the next batch, so
 * the pace comes from their number. After a fault the producer is replaced, and with it its identity.
 */
import { compatibilityPartitioner, type MessageToProduce, Producer } from '@platformatic/kafka'
import type { BrokerRecord, RecordPlace, RecordProducer } from '../../domain/ports.ts'
import { clientOptions, type KafkaSettings } from './client-options.ts'
import { notAcknowledged, produceError, refusalOf } from './faults.ts'

type Waiting = Readonly<{
  record: BrokerRecord
  sizeBytes: number
  resolve(place: RecordPlace): void
  reject(error: unknown): void
  isSettled(): boolean
}>

const BATCH_RECORDS = 500
const BATCH_BYTES = 512 * 1024
const CLOSE_MS = 2_000

export type KafkaProducer = RecordProducer & Readonly<{ close(): Promise<void> }>

/** Connects when the first record is produced. */
export function createKafkaProducer(settings: KafkaSettings): KafkaProducer {
  let waiting: Waiting[] = []
  let producer: Producer | undefined
  let pumping: Promise<void> | undefined
  let closed = false
  let roundRobin = 0

  const open = (): Producer => {
    if (producer !== undefined) return producer
    producer = new Producer({
      ...clientOptions(settings),
      idempotent: true,
      autocreateTopics: true,
      retries: 3,
      retryDelay: 200,
    })
    // Calls report their own faults; without a listener the event would end the process.
    ignoreErrors(producer)
    return producer
  }
  const discard = () => {
    const old = producer
    producer = undefined
    old?.close(true).catch(() => undefined)
  }

  const send = async (topic: string, batch: readonly Waiting[]): Promise<void> => {
    const client = open()
    const metadata = await client.metadata({ topics: [topic], autocreateTopics: true })
    const partitions = metadata.topics.get(topic)?.partitionsCount ?? 1
    const counts = new Map<number, number>()
    const placed = batch.map((entry) => {
      const message = toMessage(entry.record)
      const partition = message.key === undefined ? roundRobin++ : compatibilityPartitioner(message, message.key)
      message.partition = partition % partitions
      const index = counts.get(message.partition) ?? 0
      counts.set(message.partition, index + 1)
      return { entry, message, index }
    })
    const { offsets = [] } = await client.send({ messages: placed.map(({ message }) => message) })
    for (const { entry, message, index } of placed) {
      const base = offsets.find((place) => place.topic === topic && place.partition === message.partition)
      if (base === undefined) entry.reject(notAcknowledged('unreachable', topic, 'it said nothing about this record'))
      else entry.resolve({ topic, partition: base.partition, offset: Number(base.offset) + index })
    }
  }

  const deliver = async (topic: string, batch: readonly Waiting[]): Promise<void> => {
    try {
      await send(topic, batch)
    } catch (error) {
      discard()
      // One record that is refused must not fail those that happened to travel with it.
      if (batch.length > 1 && refusalOf(error) !== undefined) {
        for (const entry of batch) if (!entry.isSettled()) await deliver(topic, [entry])
        return
      }
      for (const { reject } of batch) reject(produceError(topic, error))
    }
  }

  const pump = async (): Promise<void> => {
    while (waiting.length > 0) {
      const { topic, batch, rest } = takeBatch(waiting)
      waiting = rest
      if (batch.length > 0) await deliver(topic, batch)
    }
    pumping = undefined
  }

  return {
    produce: (record, timeoutMs) => {
      const { topic } = record
      if (closed) return Promise.reject(notAcknowledged('unreachable', topic, 'the service is shutting down'))
      return new Promise<RecordPlace>((resolve, reject) => {
        let settled = false
        const settle =
          <T>(done: (value: T) => void) =>
          (value: T) => {
            if (settled) return
            settled = true
            clearTimeout(timer)
            done(value)
          }
        const entry: Waiting = {
          record,
          sizeBytes: sizeOf(record),
          resolve: settle(resolve),
          reject: settle(reject),
          isSettled: () => settled,
        }
        const timer = setTimeout(
          () => entry.reject(notAcknowledged('timeout', topic, `nothing came back within ${timeoutMs} ms`)),
          timeoutMs,
        )
        waiting.push(entry)
        // In the next turn, so that what arrives in this one travels together.
        pumping ??= new Promise<void>((next) => setImmediate(next)).then(pump)
      })
    },
    close: async () => {
      closed = true
      await within(CLOSE_MS, pumping ?? Promise.resolve())
      const old = producer
      producer = undefined
      if (old !== undefined) await within(CLOSE_MS, old.close(true))
    },
  }
}

/** The first topic that waits, with as many of its records as go together, in order; those given up are left out. */
function takeBatch(waiting: readonly Waiting[]): { topic: string; batch: Waiting[]; rest: Waiting[] } {
  const alive = waiting.filter((entry) => !entry.isSettled())
  const topic = alive[0]?.record.topic ?? ''
  const ofTopic = alive.filter(({ record }) => record.topic === topic).slice(0, BATCH_RECORDS)
  let bytes = 0
  const end = ofTopic.findIndex(({ sizeBytes }, index) => {
    bytes += sizeBytes
    return index > 0 && bytes > BATCH_BYTES
  })
  const batch = end === -1 ? ofTopic : ofTopic.slice(0, end)
  const taken = new Set(batch)
  return { topic, batch, rest: alive.filter((entry) => !taken.has(entry)) }
}

const bytesOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength)

const sizeOf = ({ key, value }: BrokerRecord): number => (key?.length ?? 0) + (value?.length ?? 0)

function toMessage({ topic, key, value, headers }: BrokerRecord): MessageToProduce {
  const message: MessageToProduce = { topic }
  if (key !== null) message.key = bytesOf(key)
  if (value !== null) message.value = bytesOf(value)
  // By identity of the names, so that one which stands several times stays so. The client writes null as no value.
  message.headers = new Map(
    headers.map(([name, text]) => [bytesOf(name), text === null ? null : bytesOf(text)] as [Buffer, Buffer]),
  )
  return message
}

/** Resolves when the work is done or failed, or the time is up. */
export async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work.catch(() => undefined), timeUp])
  clearTimeout(timer)
}

/** Listens to a client's `error`, which without a listener ends the process. */
export function ignoreErrors(client: NodeJS.EventEmitter): void {
  client.on('error', () => undefined)
}
