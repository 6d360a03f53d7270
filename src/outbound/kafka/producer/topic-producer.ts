/**
 * Produces the records of one topic, in order, with an idempotent client of its own: a topic that is missing or has
 * too few replicas delays no other topic.
 *
 * Only one batch is under way at a time. The client keeps the sequence numbers that make it idempotent in one place
 * and clears them when a batch fails; with a second batch under way, a broker could take a record for a repetition
 * of another and acknowledge a record that it never wrote. Records that arrive meanwhile go together in the next batch,
 * so the batches grow with the load. After an error the client, and with it its producer id, is replaced.
 */
import { type MessageToProduce, Producer } from '@platformatic/kafka'
import type { BrokerRecord, ProduceTurn, RecordOffset } from '../../../core/ports/record-producer.ts'
import { clientOptions, ignoreErrors, type KafkaSettings, within } from '../kafka-client.ts'
import { notAcknowledged, produceError, refusalOf } from '../kafka-errors.ts'
import { createPartitioner, QueuedRecord, takeBatch, toMessage } from './produce-batch.ts'
import { createProduceDeadlines } from './produce-deadlines.ts'
import { readVerdicts } from './produce-verdicts.ts'

const CLOSE_MS = 2_000
/** A topic without records for this long holds no connection. */
const IDLE_MS = 60_000

export interface TopicProducer {
  produce(record: BrokerRecord, timeoutMs: number, turn?: ProduceTurn): Promise<RecordOffset>
  close(): Promise<void>
}

/** A record with its partition, and its index among the records of the batch for that partition. */
type PartitionedRecord = Readonly<{ entry: QueuedRecord; message: MessageToProduce; partition: number; index: number }>

/** Connects when the first record is produced. */
export function openTopicProducer(settings: KafkaSettings, topic: string): TopicProducer {
  let queued: QueuedRecord[] = []
  let underWay: readonly QueuedRecord[] = []
  let client: Producer | undefined
  let sending: Promise<void> | undefined
  let idle: NodeJS.Timeout | undefined
  const partitionOf = createPartitioner()
  const deadlines = createProduceDeadlines(
    () => [...underWay, ...queued],
    (entry) => entry.reject(notAcknowledged('timeout', topic, `nothing came back within ${entry.timeoutMs} ms`)),
  )

  const open = (): Producer => {
    if (client !== undefined) return client
    client = new Producer({
      ...clientOptions(settings),
      idempotent: true,
      autocreateTopics: true,
      retries: 3,
      retryDelay: 200,
    })
    // Calls reject with their own errors.
    ignoreErrors(client)
    return client
  }
  const discard = async (): Promise<void> => {
    const old = client
    client = undefined
    if (old !== undefined) await within(CLOSE_MS, old.close(true))
  }

  const partition = async (batch: readonly QueuedRecord[]): Promise<PartitionedRecord[]> => {
    const metadata = await open().metadata({ topics: [topic], autocreateTopics: true })
    const partitions = metadata.topics.get(topic)?.partitionsCount ?? 1
    const counts = new Map<number, number>()
    return batch.map((entry) => {
      const message = toMessage(entry.record)
      const number = partitionOf(message, partitions)
      const index = counts.get(number) ?? 0
      counts.set(number, index + 1)
      message.partition = number
      return { entry, message, partition: number, index }
    })
  }
  const acknowledge = ({ entry, partition, index }: PartitionedRecord, base: bigint) =>
    entry.resolve({ topic, partition, offset: Number(base) + index })

  const sendBatch = async (entries: readonly QueuedRecord[]): Promise<void> => {
    for (const entry of entries) {
      if (entry.turn?.isVoid === true)
        entry.reject(notAcknowledged('unreachable', topic, 'a record that must precede it has failed'))
    }
    const batch = entries.filter((entry) => !entry.isSettled)
    if (batch.length === 0) return
    let records: PartitionedRecord[] = []
    try {
      records = await partition(batch)
      const { offsets = [] } = await open().send({ messages: records.map(({ message }) => message) })
      const bases = new Map(offsets.map((written) => [written.partition, written.offset]))
      for (const one of records) {
        const base = bases.get(one.partition)
        if (base !== undefined) acknowledge(one, base)
        else one.entry.reject(notAcknowledged('unreachable', topic, 'it said nothing about this record'))
      }
    } catch (error) {
      void discard()
      if (records.length === 0) for (const entry of batch) entry.reject(produceError(topic, error))
      else await settleEach(records, error)
    }
  }
  /** Resolves or rejects each record of a failed batch by the verdict on its own partition. */
  const settleEach = async (records: readonly PartitionedRecord[], error: unknown): Promise<void> => {
    const { offsets, errors } = readVerdicts(error)
    const isRefused = ({ partition }: PartitionedRecord) => refusalOf(errors.get(partition)) !== undefined
    const unwritten: PartitionedRecord[] = []
    for (const one of records) {
      const base = offsets.get(one.partition)
      if (base === undefined) unwritten.push(one)
      else acknowledge(one, base)
    }
    if (!unwritten.some(isRefused)) {
      for (const { entry, partition } of unwritten) entry.reject(produceError(topic, errors.get(partition) ?? error))
      return
    }
    // A refused record must not fail the others of its batch: the broker takes all records of a partition or none, and
    // after a refusal the client does not retry the other partitions.
    const refused = unwritten.filter(isRefused)
    const others = unwritten.filter((one) => !isRefused(one))
    if (others.length > 0) await sendBatch(others.map(({ entry }) => entry))
    for (const one of refused) {
      if (refused.some((other) => isBeside(one, other))) await sendBatch([one.entry])
      else one.entry.reject(produceError(topic, errors.get(one.partition)))
    }
  }

  const sendAll = async (): Promise<void> => {
    while (queued.length > 0) {
      const { batch, rest } = takeBatch(queued)
      queued = rest
      underWay = batch
      await sendBatch(batch)
    }
    underWay = []
    deadlines.stop()
    sending = undefined
    idle = setTimeout(discard, IDLE_MS).unref()
  }

  return {
    produce: (record, timeoutMs, turn) =>
      new Promise<RecordOffset>((resolve, reject) => {
        const entry = new QueuedRecord(record, timeoutMs, turn, resolve, reject)
        queued.push(entry)
        deadlines.watch(entry)
        turn?.handed()
        clearTimeout(idle)
        // In the next turn of the event loop, so that all records of this turn share a batch.
        sending ??= new Promise<void>((next) => setImmediate(next)).then(sendAll)
      }),
    close: async () => {
      await within(CLOSE_MS, sending ?? Promise.resolve())
      clearTimeout(idle)
      await discard()
    },
  }
}

const isBeside = (one: PartitionedRecord, other: PartitionedRecord): boolean =>
  one !== other && one.partition === other.partition
