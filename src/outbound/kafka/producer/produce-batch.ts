/** Batches of the records that wait for one topic, and the client's form of a record. */
import { compatibilityPartitioner, type MessageToProduce } from '@platformatic/kafka'
import type { BrokerRecord, ProduceTurn, RecordOffset } from '../../../core/ports/record-producer.ts'

const BATCH_RECORDS = 500
const BATCH_BYTES = 512 * 1024

/** A record that waits for its acknowledgement. A class, because closures for each record take three times the memory. */
export class QueuedRecord {
  readonly record: BrokerRecord
  readonly sizeBytes: number
  readonly turn: ProduceTurn | undefined
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
    turn: ProduceTurn | undefined,
    resolve: (offset: RecordOffset) => void,
    reject: (error: unknown) => void,
  ) {
    this.record = record
    this.sizeBytes = sizeOf(record)
    this.turn = turn
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
    this.turn?.failed()
    this.#reject(error)
  }
}

/** The queued records that fit into one batch, in order, and those that do not; settled records are dropped. */
export function takeBatch(queued: readonly QueuedRecord[]): { batch: QueuedRecord[]; rest: QueuedRecord[] } {
  const unsettled = queued.filter((entry) => !entry.isSettled)
  let bytes = 0
  const end = unsettled.findIndex(({ sizeBytes }, index) => {
    bytes += sizeBytes
    return index === BATCH_RECORDS || (index > 0 && bytes > BATCH_BYTES)
  })
  return end === -1 ? { batch: unsettled, rest: [] } : { batch: unsettled.slice(0, end), rest: unsettled.slice(end) }
}

/** Gives the partition of a message: by its key as Kafka's own Java client would, without a key one after the other. */
export function createPartitioner(): (message: MessageToProduce, partitionCount: number) => number {
  let roundRobin = 0
  return (message, partitionCount) =>
    (message.key === undefined ? roundRobin++ : compatibilityPartitioner(message, message.key)) % partitionCount
}

export const sizeOf = ({ key, value }: BrokerRecord): number => (key?.length ?? 0) + (value?.length ?? 0)

export function toMessage({ topic, key, value, headers }: BrokerRecord): MessageToProduce {
  const message: MessageToProduce = { topic, partition: 0 }
  if (key !== null) message.key = bytesOf(key)
  if (value !== null) message.value = bytesOf(value)
  // Buffers are compared by identity, so a repeated name keeps all of its values. The client writes null as no value.
  const own = new Map<Buffer, Buffer | null>()
  for (const [name, text] of headers) own.set(bytesOf(name), text === null ? null : bytesOf(text))
  message.headers = own as Map<Buffer, Buffer>
  return message
}

const bytesOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength)
