/** The port RecordProducer: one for the whole service, idempotent, with a topic producer for each topic. */
import { compatibilityPartitioner, type MessageToProduce, Producer, ProtocolError } from '@platformatic/kafka'
import type {
  BrokerRecord,
  ClosableRecordProducer,
  ProduceSlot,
  RecordOffset,
} from '../../core/ports/record-producer.ts'
import { within } from '../../core/within.ts'
import { clientOptions, ignoreErrors, type KafkaSettings } from './kafka-client.ts'
import { explainRefusal, notAcknowledged, produceError } from './kafka-errors.ts'

const CLOSE_MS = 2_000
/** A topic without records for this long holds no connection. */
const IDLE_MS = 60_000

/** Connects when the first record is produced. */
export function createKafkaProducer(settings: KafkaSettings): ClosableRecordProducer {
  const producers = new Map<string, TopicProducer>()
  let closed = false
  const producerFor = (topic: string): TopicProducer => {
    const producer = producers.get(topic) ?? new TopicProducer(settings, topic)
    producers.set(topic, producer)
    return producer
  }
  return {
    produce: (record, timeoutMs, slot) => {
      const { topic } = record
      if (closed) return Promise.reject(notAcknowledged('unreachable', topic, 'the service is shutting down'))
      return producerFor(topic).produce(record, timeoutMs, slot)
    },
    close: async () => {
      closed = true
      await Promise.all([...producers.values()].map((producer) => producer.close()))
    },
  }
}

/** A record with its partition, and its index among the records of the batch for that partition. */
type PartitionedRecord = Readonly<{ entry: QueuedRecord; message: MessageToProduce; partition: number; index: number }>

/**
 * Produces the records of one topic, in order, with an idempotent client of its own: a topic that is missing or has
 * too few replicas delays no other topic.
 *
 * Only one batch is in progress at a time. The client keeps the sequence numbers that make it idempotent in one place
 * and clears them when a batch fails; with a second batch in progress, a broker could take a record for a repetition
 * of another and acknowledge a record that it never wrote. Records that arrive meanwhile go together in the next batch,
 * so the batches grow with the load. After an error the client, and with it its producer id, is replaced.
 */
class TopicProducer {
  private readonly settings: KafkaSettings
  private readonly topic: string
  private queued: QueuedRecord[] = []
  private underWay: readonly QueuedRecord[] = []
  private client: Producer | undefined
  private sending: Promise<void> | undefined
  private idle: NodeJS.Timeout | undefined
  private readonly choosePartition = createPartitioner()
  private readonly deadlines: ProduceDeadlines

  constructor(settings: KafkaSettings, topic: string) {
    this.settings = settings
    this.topic = topic
    this.deadlines = new ProduceDeadlines(
      () => [...this.underWay, ...this.queued],
      (entry) => entry.reject(notAcknowledged('timeout', topic, `no response arrived within ${entry.timeoutMs} ms`)),
    )
  }

  produce(record: BrokerRecord, timeoutMs: number, slot?: ProduceSlot): Promise<RecordOffset> {
    return new Promise((resolve, reject) => {
      const entry = new QueuedRecord(record, timeoutMs, slot, resolve, reject)
      this.queued.push(entry)
      this.deadlines.watch(entry)
      slot?.handed()
      clearTimeout(this.idle)
      // In the next iteration of the event loop, so that all records of this one share a batch.
      this.sending ??= new Promise<void>((next) => setImmediate(next)).then(() => this.sendAll())
    })
  }

  async close(): Promise<void> {
    await within(CLOSE_MS, this.sending ?? Promise.resolve())
    clearTimeout(this.idle)
    await this.discard()
  }

  private open(): Producer {
    if (this.client !== undefined) return this.client
    this.client = new Producer({
      ...clientOptions(this.settings),
      idempotent: true,
      autocreateTopics: true,
      retries: 3,
      retryDelay: 200,
    })
    // Calls reject with their own errors.
    ignoreErrors(this.client)
    return this.client
  }

  private async discard(): Promise<void> {
    const old = this.client
    this.client = undefined
    if (old !== undefined) await within(CLOSE_MS, old.close(true))
  }

  private async sendAll(): Promise<void> {
    while (this.queued.length > 0) {
      const { batch, rest } = takeBatch(this.queued)
      this.queued = rest
      this.underWay = batch
      await this.sendBatch(batch)
    }
    this.underWay = []
    this.deadlines.stop()
    this.sending = undefined
    this.idle = setTimeout(() => this.discard(), IDLE_MS).unref()
  }

  private async sendBatch(entries: readonly QueuedRecord[]): Promise<void> {
    const { topic } = this
    for (const entry of entries) {
      if (entry.slot?.isVoid === true)
        entry.reject(notAcknowledged('unreachable', topic, 'a record that must precede it has failed'))
    }
    const batch = entries.filter((entry) => !entry.isSettled)
    if (batch.length === 0) return
    let records: PartitionedRecord[] = []
    try {
      records = await this.partition(batch)
      const { offsets = [] } = await this.open().send({ messages: records.map(({ message }) => message) })
      const bases = new Map(offsets.map((written) => [written.partition, written.offset]))
      for (const one of records) {
        const base = bases.get(one.partition)
        if (base !== undefined) this.acknowledge(one, base)
        else one.entry.reject(notAcknowledged('unreachable', topic, 'it said nothing about this record'))
      }
    } catch (error) {
      void this.discard()
      if (records.length === 0) for (const entry of batch) entry.reject(produceError(topic, error))
      else await this.settleEach(records, error)
    }
  }

  private async partition(batch: readonly QueuedRecord[]): Promise<PartitionedRecord[]> {
    const metadata = await this.open().metadata({ topics: [this.topic], autocreateTopics: true })
    const partitions = metadata.topics.get(this.topic)?.partitionsCount ?? 1
    const counts = new Map<number, number>()
    return batch.map((entry) => {
      const message = toMessage(entry.record)
      const number = this.choosePartition(message, partitions)
      const index = counts.get(number) ?? 0
      counts.set(number, index + 1)
      message.partition = number
      return { entry, message, partition: number, index }
    })
  }

  private acknowledge({ entry, partition, index }: PartitionedRecord, base: bigint): void {
    entry.resolve({ topic: this.topic, partition, offset: Number(base) + index })
  }

  /** Resolves or rejects each record of a failed batch by the verdict on its own partition. */
  private async settleEach(records: readonly PartitionedRecord[], error: unknown): Promise<void> {
    const { topic } = this
    const { offsets, errors } = readVerdicts(error)
    const isRefused = ({ partition }: PartitionedRecord) => explainRefusal(errors.get(partition)) !== undefined
    const unwritten: PartitionedRecord[] = []
    for (const one of records) {
      const base = offsets.get(one.partition)
      if (base === undefined) unwritten.push(one)
      else this.acknowledge(one, base)
    }
    if (!unwritten.some(isRefused)) {
      for (const { entry, partition } of unwritten) entry.reject(produceError(topic, errors.get(partition) ?? error))
      return
    }
    // A refused record must not fail the others of its batch: the broker takes all records of a partition or none, and
    // after a refusal the client does not retry the other partitions.
    const refused = unwritten.filter(isRefused)
    const others = unwritten.filter((one) => !isRefused(one))
    if (others.length > 0) await this.sendBatch(others.map(({ entry }) => entry))
    for (const one of refused) {
      if (refused.some((other) => isBeside(one, other))) await this.sendBatch([one.entry])
      else one.entry.reject(produceError(topic, errors.get(one.partition)))
    }
  }
}

const isBeside = (one: PartitionedRecord, other: PartitionedRecord): boolean =>
  one !== other && one.partition === other.partition

const BATCH_RECORDS = 500
const BATCH_BYTES = 512 * 1024

/** A record that waits for its acknowledgement. A class, because closures for each record take three times the memory. */
export class QueuedRecord {
  readonly record: BrokerRecord
  readonly sizeBytes: number
  readonly slot: ProduceSlot | undefined
  readonly timeoutMs: number
  /** In milliseconds of `performance.now()`. */
  readonly deadlineMs: number
  /** True once it was resolved, rejected or timed out. */
  isSettled = false
  readonly #resolve: (offset: RecordOffset) => void
  readonly #reject: (error: unknown) => void

  constructor(
    record: BrokerRecord,
    timeoutMs: number,
    slot: ProduceSlot | undefined,
    resolve: (offset: RecordOffset) => void,
    reject: (error: unknown) => void,
  ) {
    this.record = record
    this.sizeBytes = measureRecord(record)
    this.slot = slot
    this.timeoutMs = timeoutMs
    this.deadlineMs = performance.now() + timeoutMs
    this.#resolve = resolve
    this.#reject = reject
  }

  resolve(offset: RecordOffset): void {
    if (this.isSettled) return
    this.isSettled = true
    this.#resolve(offset)
  }

  reject(error: unknown): void {
    if (this.isSettled) return
    this.isSettled = true
    this.slot?.failed()
    this.#reject(error)
  }
}

/** The queued records that fit into one batch, in order, and those that do not; settled records are dropped. */
function takeBatch(queued: readonly QueuedRecord[]): { batch: QueuedRecord[]; rest: QueuedRecord[] } {
  const unsettled = queued.filter((entry) => !entry.isSettled)
  let bytes = 0
  const end = unsettled.findIndex(({ sizeBytes }, index) => {
    bytes += sizeBytes
    return index === BATCH_RECORDS || (index > 0 && bytes > BATCH_BYTES)
  })
  return end === -1 ? { batch: unsettled, rest: [] } : { batch: unsettled.slice(0, end), rest: unsettled.slice(end) }
}

/** Times out the records of a topic, with one timer for all of them: a timer for each takes more memory than its record. */
export class ProduceDeadlines {
  private readonly pending: () => readonly QueuedRecord[]
  private readonly onTimeout: (record: QueuedRecord) => void
  private timer: NodeJS.Timeout | undefined
  private timerMs = Number.POSITIVE_INFINITY

  /** `pending`: all records that wait for their acknowledgement; settled ones may be among them. */
  constructor(pending: () => readonly QueuedRecord[], onTimeout: (record: QueuedRecord) => void) {
    this.pending = pending
    this.onTimeout = onTimeout
  }

  /** For a record that is pending from now on. */
  watch({ deadlineMs }: QueuedRecord): void {
    if (deadlineMs >= this.timerMs) return
    clearTimeout(this.timer)
    this.timerMs = deadlineMs
    this.timer = setTimeout(() => this.check(), Math.max(1, Math.ceil(deadlineMs - performance.now())))
  }

  /** No record is pending. */
  stop(): void {
    clearTimeout(this.timer)
    this.timerMs = Number.POSITIVE_INFINITY
  }

  private check(): void {
    this.timerMs = Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    let next: QueuedRecord | undefined
    for (const record of this.pending()) {
      if (record.isSettled) continue
      if (record.deadlineMs <= nowMs) this.onTimeout(record)
      else if (next === undefined || record.deadlineMs < next.deadlineMs) next = record
    }
    if (next !== undefined) this.watch(next)
  }
}

type ProduceVerdicts = Readonly<{
  /** Offset of the first record of the batch, by acknowledged partition. */
  offsets: ReadonlyMap<number, bigint>
  /** The last error of each partition that failed. */
  errors: ReadonlyMap<number, Error>
}>

/** The fields of the client's errors, all optional: each attempt and each broker has an error of its own. */
type ProduceFault = Readonly<{
  cause?: unknown
  errors?: unknown
  produced?: { offsets?: readonly Readonly<{ partition: number; offset: bigint }>[] }
  response?: { responses?: readonly Readonly<{ partitionResponses?: readonly PartitionResponse[] }>[] }
}>
type PartitionResponse = Readonly<{
  index: number
  errorCode: number
  baseOffset: bigint
  errorMessage?: string | null
}>

/**
 * Reads the brokers' answer for each partition from the error of a batch. The client rejects the whole batch if one
 * partition failed; but the records of the other partitions are written: they must not be reported as failed, nor be sent
 * again.
 */
function readVerdicts(error: unknown): ProduceVerdicts {
  const offsets = new Map<number, bigint>()
  const errors = new Map<number, Error>()
  for (const { produced, response } of faultsIn(error)) {
    for (const { partition, offset } of produced?.offsets ?? []) offsets.set(partition, offset)
    const partitions = response?.responses?.flatMap(({ partitionResponses = [] }) => partitionResponses) ?? []
    for (const { index, errorCode, baseOffset, errorMessage } of partitions) {
      if (errorCode === 0) offsets.set(index, baseOffset)
      else errors.set(index, new ProtocolError(errorCode, errorMessage ?? null))
    }
  }
  return { offsets, errors }
}

function faultsIn(error: unknown): ProduceFault[] {
  if (typeof error !== 'object' || error === null) return []
  const fault: ProduceFault = error
  const inner = [fault.cause, ...(Array.isArray(fault.errors) ? fault.errors : [])]
  return [fault, ...inner.flatMap(faultsIn)]
}

/** Gives the partition of a message: by its key as Kafka's own Java client would, without a key one after the other. */
export function createPartitioner(): (message: MessageToProduce, partitionCount: number) => number {
  let roundRobin = 0
  return (message, partitionCount) =>
    (message.key === undefined ? roundRobin++ : compatibilityPartitioner(message, message.key)) % partitionCount
}

export const measureRecord = ({ key, value }: BrokerRecord): number => (key?.length ?? 0) + (value?.length ?? 0)

export function toMessage({ topic, key, value, headers }: BrokerRecord): MessageToProduce {
  const message: MessageToProduce = { topic, partition: 0 }
  if (key !== null) message.key = toBuffer(key)
  if (value !== null) message.value = toBuffer(value)
  // Buffers are compared by identity, so a repeated name keeps all of its values. The client writes null as no value.
  const own = new Map<Buffer, Buffer | null>()
  for (const [name, text] of headers) own.set(toBuffer(name), text === null ? null : toBuffer(text))
  message.headers = own as Map<Buffer, Buffer>
  return message
}

const toBuffer = (content: string | Uint8Array): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength)
