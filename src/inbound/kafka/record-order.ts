/**
 * When a record may start: the permits of its endpoint, the order of its partition, and the order of what is produced. Each
 * part knows nothing of the others; PartitionQueue asks all three.
 */
import type { ProduceSlot } from '../../core/ports/record-producer.ts'
import type { ConsumedRecord } from './record-consumer.ts'

/**
 * Limits how many records of an endpoint are in progress or not yet committed. While the group rebalances, no record may
 * start: another member would start it again.
 */
export class RecordSemaphore {
  readonly #waiting: ((granted: boolean) => void)[] = []
  #permits: number
  #held = 0
  #isSuspended = false
  #isClosed = false

  constructor(permits: number) {
    this.#permits = permits
  }

  /** Permits that are held. */
  get held(): number {
    return this.#held
  }

  /**
   * True when a record may start, false once the semaphore is closed or the signal is aborted. Not a promise where the answer
   * is known at once, since most records wait for nothing.
   */
  acquire(signal?: AbortSignal): boolean | Promise<boolean> {
    if (this.#isClosed || signal?.aborted === true) return false
    if (!this.#isSuspended && this.#held < this.#permits && this.#waiting.length === 0) {
      this.#held += 1
      return true
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.push(resolve)
    if (signal === undefined) return promise
    const leave = () => {
      const index = this.#waiting.indexOf(resolve)
      if (index >= 0) this.#waiting.splice(index, 1)
      resolve(false)
    }
    signal.addEventListener('abort', leave)
    return promise.finally(() => signal.removeEventListener('abort', leave))
  }

  release(count: number): void {
    this.#held -= count
    this.#grant()
  }

  /** Changes the number of permits; those that are held stay so. */
  resize(permits: number): void {
    this.#permits = permits
    this.#grant()
  }

  /** Grants nothing until `resume`. */
  suspend(): void {
    this.#isSuspended = true
  }

  resume(): void {
    this.#isSuspended = false
    this.#grant()
  }

  /** Answers all callers who wait with false, and all who ask later. */
  close(): void {
    this.#isClosed = true
    for (const answer of this.#waiting.splice(0)) answer(false)
  }

  #grant(): void {
    while (!this.#isSuspended && this.#held < this.#permits && this.#waiting.length > 0) {
      this.#held += 1
      this.#waiting.shift()?.(true)
    }
  }
}

export type RecordOrder = 'partition' | 'key' | 'none'

/** The order that an endpoint says; else `partition`. */
export const readOrder = ({ kafka }: { kafka?: { order?: RecordOrder } | undefined }): RecordOrder =>
  kafka?.order ?? 'partition'

/** A record with the first offset that is not before it: offsets in between have no record, and are done with it. */
export type ChainedRecord = Readonly<{ record: ConsumedRecord; from: bigint; sizeBytes: number }>

/** What a record occupies in memory besides its bytes. */
const OVERHEAD_BYTES = 300

/**
 * The records of a partition that are handed over and not done, in chains: of each chain, one record after the other. Under
 * `key`, the records of a key are a chain. Otherwise each record is a chain of its own: PartitionQueue keeps the order
 * `partition`.
 */
export class RecordChains {
  readonly #order: RecordOrder
  /** Records behind the first one of their chain; a chain without such records has an empty list. */
  readonly #behind = new Map<string, Fifo<ChainedRecord>>()
  readonly #ready = new Fifo<ChainedRecord>()
  /** Their offsets are lower than those of the others that could start. */
  readonly #first: ChainedRecord[] = []
  #count = 0
  #bufferedBytes = 0
  #readyBytes = 0

  constructor(order: RecordOrder) {
    this.#order = order
  }

  /** Handed over and not done. */
  get count(): number {
    return this.#count
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  /** Bytes of the records that could start now; under `partition`, of all records. */
  get waitingBytes(): number {
    return this.#order === 'partition' ? this.#bufferedBytes : this.#readyBytes
  }

  /** Adds the next record of the partition. */
  add(record: ConsumedRecord, from: bigint): void {
    // A record that stays behind would keep the whole answer of its fetch in memory.
    const own = this.#order === 'partition' ? record : copyRecord(record)
    const chained: ChainedRecord = { record: own, from, sizeBytes: OVERHEAD_BYTES + countBytes(record) }
    this.#count += 1
    this.#bufferedBytes += chained.sizeBytes
    const name = this.#chainName(record)
    const chain = name === undefined ? undefined : this.#behind.get(name)
    if (chain !== undefined) {
      chain.push(chained)
      return
    }
    if (name !== undefined) this.#behind.set(name, new Fifo())
    this.#ready.push(chained)
    this.#readyBytes += chained.sizeBytes
  }

  /** The next record that may start. */
  peek(): ChainedRecord | undefined {
    return this.#first[0] ?? this.#ready.peek()
  }

  /** Takes the record of `peek`: it starts. */
  take(): ChainedRecord | undefined {
    const chained = this.#first.shift() ?? this.#ready.shift()
    if (chained !== undefined) this.#readyBytes -= chained.sizeBytes
    return chained
  }

  /** A record that was taken is not done, and may start again before all others. */
  putBack(chained: ChainedRecord): void {
    const index = this.#first.findIndex(({ record }) => record.offset > chained.record.offset)
    this.#first.splice(index < 0 ? this.#first.length : index, 0, chained)
    this.#readyBytes += chained.sizeBytes
  }

  /** A record that was taken is done: the next one of its chain may start. */
  finish({ record, sizeBytes }: ChainedRecord): void {
    this.#count -= 1
    this.#bufferedBytes -= sizeBytes
    const name = this.#chainName(record)
    if (name === undefined) return
    const next = this.#behind.get(name)?.shift()
    if (next === undefined) {
      this.#behind.delete(name)
    } else {
      this.#first.push(next)
      this.#readyBytes += next.sizeBytes
    }
  }

  /** Without one, the record is a chain of its own. Records without a key are one chain. */
  #chainName({ key }: ConsumedRecord): string | undefined {
    if (this.#order !== 'key') return undefined
    return key === null ? '' : `=${key.toString('latin1')}`
  }
}

function countBytes({ key, value, headers }: ConsumedRecord): number {
  let bytes = (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
  for (const [name, content] of headers) bytes += (name?.byteLength ?? 0) + (content?.byteLength ?? 0)
  return bytes
}

/** In memory of its own: a Buffer of the pool would keep its neighbours. One piece, as each takes long to make and to free. */
function copyRecord(record: ConsumedRecord): ConsumedRecord {
  const memory = Buffer.allocUnsafeSlow(countBytes(record))
  let end = 0
  const copy = (bytes: Buffer | null): Buffer | null => {
    if (bytes === null) return null
    const start = end
    end += bytes.copy(memory, start)
    return memory.subarray(start, end)
  }
  const { key, value, headers } = record
  return {
    ...record,
    key: copy(key),
    value: copy(value),
    headers: headers.map(([name, content]) => [copy(name), copy(content)] as const),
  }
}

/** `shift` of a long array moves all of its items. */
class Fifo<T> {
  #items: T[] = []
  #index = 0

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#index]
  }

  shift(): T | undefined {
    const item = this.#items[this.#index]
    if (item === undefined) return undefined
    this.#index += 1
    if (this.#index === this.#items.length || this.#index > 1_000) {
      this.#items = this.#items.slice(this.#index)
      this.#index = 0
    }
    return item
  }
}

/**
 * The records of a partition whose only effect is what they produce: each may start once all of the one before is handed to the
 * producer, which keeps that order. If one fails, nothing of those behind it is sent any more; they run again after it.
 */
export class ProduceQueue {
  readonly #state: QueueState = { unsettled: [], waiting: [], failedAt: Number.POSITIVE_INFINITY }
  #last: QueueSlot | undefined
  #opened = 0

  get hasFailed(): boolean {
    return this.#state.failedAt < Number.POSITIVE_INFINITY
  }

  /** True if all of the last message is handed over, and before the first one. */
  get isOpen(): boolean {
    return this.#last?.isHanded !== false
  }

  /** The next message; `count`: the records that it produces. `onHanded` is called when all of them are handed over. */
  open(count: number, onHanded: () => void): QueueSlot {
    this.#opened += 1
    const slot = new QueueSlot(this.#state, this.#opened, count, onHanded)
    this.#state.unsettled.push(slot)
    this.#last = slot
    return slot
  }
}

type QueueState = {
  /** The slots that are not settled, in order. */
  readonly unsettled: QueueSlot[]
  readonly waiting: (() => void)[]
  /** The number of the first slot that failed. */
  failedAt: number
}

/** The slot of one message; there is one for each record. */
export class QueueSlot implements ProduceSlot {
  readonly #state: QueueState
  readonly #number: number
  readonly #onHanded: () => void
  #left: number

  constructor(queue: QueueState, number: number, left: number, onHanded: () => void) {
    this.#state = queue
    this.#number = number
    this.#left = left
    this.#onHanded = onHanded
  }

  get isVoid(): boolean {
    return this.#state.failedAt < this.#number
  }

  get isHanded(): boolean {
    return this.#left <= 0
  }

  handed(): void {
    this.#left -= 1
    if (this.#left === 0) this.#onHanded()
  }

  failed(): void {
    if (this.#number >= this.#state.failedAt) return
    this.#state.failedAt = this.#number
    this.#wakeAll()
  }

  /** The message has succeeded, or counts as not tried. */
  settle(): void {
    const { unsettled } = this.#state
    const index = unsettled.indexOf(this)
    if (index < 0) return
    unsettled.splice(index, 1)
    this.#wakeAll()
  }

  /**
   * The message has failed. Resolves when the earlier ones are settled: to true, once the later ones are settled as well; to
   * false if an earlier one has failed, so that this one counts as not tried.
   */
  async fail(): Promise<boolean> {
    const { unsettled } = this.#state
    this.failed()
    await this.#until(() => unsettled[0] === this || this.isVoid)
    const isFirst = !this.isVoid
    if (isFirst) await this.#until(() => unsettled.length === 1)
    this.settle()
    return isFirst
  }

  #wakeAll(): void {
    const { waiting } = this.#state
    if (waiting.length === 0) return
    for (const wake of waiting.splice(0)) wake()
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#state.waiting.push(resolve))
  }
}
