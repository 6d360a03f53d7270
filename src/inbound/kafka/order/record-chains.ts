/**
 * The records of a partition that are handed over and not done, in chains: of each chain, one record after the other. Under
 * `key`, the records of a key are a chain. Otherwise each record is one alone: RecordRunner keeps the order `partition`.
 */
import type { ConsumedRecord } from '../../../core/ports/record-consumer.ts'

export type RecordOrder = 'partition' | 'key' | 'none'

/** The order that an endpoint says; else `partition`. */
export const orderOf = ({ kafka }: { kafka?: { order?: RecordOrder } | undefined }): RecordOrder =>
  kafka?.order ?? 'partition'

/** Whether what is produced for a record and its offset are one transaction. */
export const isExactlyOnce = ({ kafka }: { kafka?: { exactlyOnce?: boolean | undefined } | undefined }): boolean =>
  kafka?.exactlyOnce === true

/** A record with the first offset that is not before it: offsets in between have no record, and are done with it. */
export type ChainedRecord = Readonly<{ record: ConsumedRecord; from: bigint; sizeBytes: number }>

export interface RecordChains {
  /** Handed over and not done. */
  readonly count: number
  readonly bufferedBytes: number
  /** Bytes of the records that could start now; under `partition`, of all records. */
  readonly waitingBytes: number
  /** Adds the next record of the partition. */
  add(record: ConsumedRecord, from: bigint): void
  /** The next record that may start. */
  peek(): ChainedRecord | undefined
  /** Takes the record of `peek`: it starts. */
  take(): ChainedRecord | undefined
  /** A record that was taken is not done, and may start again before all others. */
  putBack(chained: ChainedRecord): void
  /** A record that was taken is done: the next one of its chain may start. */
  finish(chained: ChainedRecord): void
}

/** What a record occupies in memory besides its bytes. */
const OVERHEAD_BYTES = 300

export function createRecordChains(order: RecordOrder): RecordChains {
  /** Records behind the first one of their chain; a chain without such records has an empty list. */
  const behind = new Map<string, Fifo<ChainedRecord>>()
  const ready = createFifo<ChainedRecord>()
  /** Their offsets are lower than those of the others that could start. */
  const first: ChainedRecord[] = []
  let count = 0
  let bufferedBytes = 0
  let readyBytes = 0

  const peek = () => first[0] ?? ready.peek()
  return {
    get count() {
      return count
    },
    get bufferedBytes() {
      return bufferedBytes
    },
    get waitingBytes() {
      return order === 'partition' ? bufferedBytes : readyBytes
    },
    add: (record, from) => {
      // A record that stays behind would keep the whole answer of its fetch in memory.
      const own = order === 'partition' ? record : copyOf(record)
      const chained: ChainedRecord = { record: own, from, sizeBytes: sizeOf(record) }
      count += 1
      bufferedBytes += chained.sizeBytes
      const name = chainOf(record, order)
      const chain = name === undefined ? undefined : behind.get(name)
      if (chain !== undefined) return chain.push(chained)
      if (name !== undefined) behind.set(name, createFifo())
      ready.push(chained)
      readyBytes += chained.sizeBytes
    },
    peek,
    take: () => {
      const chained = first.shift() ?? ready.shift()
      if (chained !== undefined) readyBytes -= chained.sizeBytes
      return chained
    },
    putBack: (chained) => {
      const index = first.findIndex(({ record }) => record.offset > chained.record.offset)
      first.splice(index < 0 ? first.length : index, 0, chained)
      readyBytes += chained.sizeBytes
    },
    finish: ({ record, sizeBytes }) => {
      count -= 1
      bufferedBytes -= sizeBytes
      const name = chainOf(record, order)
      if (name === undefined) return
      const next = behind.get(name)?.shift()
      if (next === undefined) {
        behind.delete(name)
      } else {
        first.push(next)
        readyBytes += next.sizeBytes
      }
    },
  }
}

/** The name of the record's chain; undefined: it is a chain alone. Records without a key are one chain. */
function chainOf({ key }: ConsumedRecord, order: RecordOrder): string | undefined {
  if (order !== 'key') return undefined
  return key === null ? '' : `=${key.toString('latin1')}`
}

const sizeOf = (record: ConsumedRecord): number => OVERHEAD_BYTES + bytesIn(record)

function bytesIn({ key, value, headers }: ConsumedRecord): number {
  let bytes = (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
  for (const [name, content] of headers) bytes += (name?.byteLength ?? 0) + (content?.byteLength ?? 0)
  return bytes
}

/** In memory of its own: a Buffer of the pool would keep its neighbours. One piece, as each takes long to make and to free. */
function copyOf(record: ConsumedRecord): ConsumedRecord {
  const memory = Buffer.allocUnsafeSlow(bytesIn(record))
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

type Fifo<T> = Readonly<{ push(item: T): void; peek(): T | undefined; shift(): T | undefined }>

/** `shift` of a long array moves all of its items. */
function createFifo<T>(): Fifo<T> {
  let items: T[] = []
  let index = 0
  return {
    push: (item) => void items.push(item),
    peek: () => items[index],
    shift: () => {
      const item = items[index]
      if (item === undefined) return undefined
      index += 1
      if (index === items.length || index > 1_000) {
        items = items.slice(index)
        index = 0
      }
      return item
    },
  }
}
