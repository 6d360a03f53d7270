/** The transactions of the partitions that a member of a group is assigned. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessageToProduce } from '@platformatic/kafka'
import { OutboundError } from '../../core/ports/http-client-port.ts'
import type {
  BrokerRecord,
  ProduceSlot,
  RecordOffset,
  RecordProducer,
  RecordTransactions,
} from '../../core/ports/record-producer.ts'
import { within } from '../../core/within.ts'
import type { KafkaSettings } from './kafka-client.ts'
import { explainRefusal, isFenced, notAcknowledged, produceError } from './kafka-errors.ts'
import { createPartitioner, measureRecord, toMessage } from './kafka-producer.ts'
import {
  type OpenTransaction,
  openTransactionClient,
  type TransactionClient,
  TransactionLost,
} from './transaction-client.ts'

const BATCH_RECORDS = 1_000
/** Below the usual `max.message.bytes`, which counts for all records of a transaction in one partition. */
const BATCH_BYTES = 512 * 1024
const CLOSE_MS = 3_000
const REBALANCE_POLL_MS = 20
/** Longer than members of a group have for it. */
const REBALANCE_MS = 90_000

/** What transactions need of the member of the group. */
type TransactionGroup = Readonly<{
  groupId: string
  topic: string
  /** An object of its own for each assignment. */
  identity: () => object
  /** Adds the offset in the name of the assignment. Rejects if the group has moved on, or the topic was replaced. */
  addOffset: (transaction: OpenTransaction, partition: number, offset: bigint) => Promise<void>
  onCommitted: () => void
}>

export interface AssignedTransactions {
  /**
   * For partitions that are assigned now: what a former owner of them left open is aborted. Rejects with the client's
   * errors.
   */
  start(partitions: readonly number[]): Promise<void>
  of(partition: number): RecordTransactions | undefined
  /** The other partitions are not assigned any more. */
  keep(partitions: ReadonlyMap<number, unknown>): void
  /** Commits offsets alone, each behind the transactions of its partition. 'fenced': a partition was lost meanwhile. */
  commit(offsets: ReadonlyMap<number, Readonly<{ offset: bigint }>>): Promise<'committed' | 'fenced'>
  close(): Promise<void>
}

/** `onLost` is called when the session cannot continue. */
export function createAssignedTransactions(
  settings: KafkaSettings,
  group: TransactionGroup,
  onLost: (error: unknown) => void,
): AssignedTransactions {
  const assigned = new Map<number, PartitionTransactions>()
  const closing = new Set<Promise<void>>()

  const closeOne = (partition: number) => {
    const closed = assigned.get(partition)?.close()
    assigned.delete(partition)
    if (closed === undefined) return
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
  }
  return {
    start: async (partitions) => {
      const opened = partitions.map((partition) => {
        closeOne(partition)
        const transactions = new PartitionTransactions(settings, group, partition, onLost)
        assigned.set(partition, transactions)
        return transactions
      })
      await Promise.all(opened.map((transactions) => transactions.start()))
    },
    of: (partition) => assigned.get(partition),
    keep: (partitions) => {
      for (const partition of [...assigned.keys()]) if (!partitions.has(partition)) closeOne(partition)
    },
    commit: async (offsets) => {
      const outcomes = await Promise.all(
        [...offsets].map(
          async ([partition, { offset }]) => (await assigned.get(partition)?.commit(offset)) ?? 'fenced',
        ),
      )
      return outcomes.includes('fenced') ? 'fenced' : 'committed'
    },
    close: async () => {
      for (const partition of [...assigned.keys()]) closeOne(partition)
      await Promise.all(closing)
    },
  }
}

/**
 * The transactions of one assigned partition: the port RecordTransactions. One transaction at a time; the records that arrive
 * meanwhile go together in the next one, so transactions grow with the load.
 */
class PartitionTransactions implements RecordTransactions {
  private readonly group: TransactionGroup
  private readonly partition: number
  private readonly onLost: (error: unknown) => void
  private readonly client: TransactionClient
  private readonly choosePartition = createPartitioner()
  private queue: TransactionPart[] = []
  private running: Promise<void> | undefined
  /** Why nothing can be committed any more. */
  private closedBy: Error | undefined
  private committed = -1n

  /** `onLost` is called when no transaction can follow until the partition is assigned again. */
  constructor(settings: KafkaSettings, group: TransactionGroup, partition: number, onLost: (error: unknown) => void) {
    this.group = group
    this.partition = partition
    this.onLost = onLost
    // One for each partition of a group, so that the instance that is assigned the partition next aborts what this one leaves open.
    this.client = openTransactionClient(settings, `${group.groupId}.${group.topic}.${partition}`)
  }

  /**
   * Fences the former owner of the partition: what it left open is aborted, so the committed offset is certain afterwards.
   */
  start(): Promise<void> {
    return this.client.start()
  }

  open(nextOffset: bigint, count: number): RecordProducer {
    return openPart(nextOffset, count, (part) => this.enqueue(part))
  }

  /** Commits an offset alone, behind the transactions that wait. 'fenced': the partition was lost meanwhile. */
  async commit(offset: bigint): Promise<'committed' | 'fenced'> {
    const settled = Promise.withResolvers<void>()
    const end = { take: () => {}, succeed: () => settled.resolve(), fail: settled.reject }
    this.enqueue({ nextOffset: offset, records: [], sizeBytes: 0, isVoid: false, ...end })
    try {
      await settled.promise
      return 'committed'
    } catch (error) {
      if (this.closedBy !== undefined) return 'fenced'
      throw error
    }
  }

  /** The partition is not assigned any more: nothing is committed from now on, and an open transaction is aborted. */
  async close(): Promise<void> {
    this.stop(new Error('the partition belongs to another instance, or the consumer stops'))
    await within(CLOSE_MS, this.running ?? Promise.resolve())
    await this.client.close()
  }

  private stop(reason: Error): void {
    this.closedBy ??= reason
    for (const part of this.queue.splice(0)) part.fail(this.closedBy)
  }

  private throwIfClosed(): void {
    if (this.closedBy !== undefined) throw this.closedBy
  }

  private enqueue(part: TransactionPart): void {
    if (this.closedBy !== undefined) {
      part.fail(this.closedBy)
      return
    }
    this.queue.push(part)
    // In the next iteration of the event loop, so that all records of this one share a transaction.
    this.running ??= new Promise<void>((next) => setImmediate(next)).then(() => this.runAll())
  }

  private async runAll(): Promise<void> {
    while (this.queue.length > 0) {
      const end = batchEnd(this.queue)
      const batch = this.queue.slice(0, end)
      this.queue = this.queue.slice(end)
      for (const part of batch) part.take()
      await this.commitAll(batch)
    }
    this.running = undefined
  }

  private async commitAll(batch: readonly TransactionPart[]): Promise<void> {
    const [voided, live] = [batch.filter(({ isVoid }) => isVoid), batch.filter(({ isVoid }) => !isVoid)]
    for (const part of voided) part.fail(new Error('a record that must precede it has failed'))
    if (live.length === 0) return
    try {
      const offsets = await this.writeWhileAssigned(live)
      let from = 0
      for (const part of live) {
        const { length } = part.records
        part.succeed(offsets.slice(from, from + length))
        from += length
      }
    } catch (error) {
      if (error instanceof TransactionLost) {
        this.stop(error)
        this.onLost(error)
      } else if (this.closedBy === undefined && explainRefusal(error) !== undefined && live.length > 1) {
        // The others must not fail with a record that the broker does not take.
        const middle = live.length >>> 1
        await this.commitAll(live.slice(0, middle))
        return this.commitAll(live.slice(middle))
      }
      for (const part of live) part.fail(error)
    }
  }

  /** Writes the parts again if the group rebalances and the partition stays. */
  private async writeWhileAssigned(parts: readonly TransactionPart[]): Promise<RecordOffset[]> {
    for (;;) {
      this.throwIfClosed()
      let joined = this.group.identity()
      try {
        return await this.write(parts, () => {
          this.throwIfClosed()
          joined = this.group.identity()
        })
      } catch (error) {
        if (!isFenced(error)) throw error
        await this.rebalanced(joined)
      }
    }
  }

  private async rebalanced(former: object): Promise<void> {
    const startedAt = performance.now()
    while (this.closedBy === undefined && this.group.identity() === former) {
      if (performance.now() - startedAt > REBALANCE_MS) {
        throw new TransactionLost(`the group did not rebalance within ${REBALANCE_MS} ms`, false, undefined)
      }
      await sleep(REBALANCE_POLL_MS)
    }
  }

  private async write(parts: readonly TransactionPart[], beforeOffset: () => void): Promise<RecordOffset[]> {
    const records = parts.flatMap((part) => part.records)
    const nextOffset = parts.reduce((highest, part) => (part.nextOffset > highest ? part.nextOffset : highest), -1n)
    // An offset alone may wait behind a transaction with a later one.
    if (records.length === 0 && nextOffset <= this.committed) return []
    const topics = new Set(records.map((record) => record.topic))
    const counts = topics.size === 0 ? new Map<string, number>() : await this.client.partitionCounts([...topics])
    const messages = records.map((record) => {
      const message = toMessage(record)
      return { ...message, partition: this.choosePartition(message, counts.get(record.topic) ?? 1) }
    })
    const bases = await this.client.write(messages, async (transaction) => {
      beforeOffset()
      await this.group.addOffset(transaction, this.partition, nextOffset)
      this.throwIfClosed()
    })
    this.committed = nextOffset
    this.group.onCommitted()
    return assignOffsets(messages, bases)
  }
}

/** How many of the parts, the first ones, fit into one transaction; at least one. */
function batchEnd(parts: readonly TransactionPart[]): number {
  let [count, bytes] = [0, 0]
  const end = parts.findIndex(({ records, sizeBytes }, index) => {
    count += records.length
    bytes += sizeBytes
    return index > 0 && (count > BATCH_RECORDS || bytes > BATCH_BYTES)
  })
  return end === -1 ? parts.length : end
}

/** In: messages with their partitions, and the offset of the first one in each partition. */
function assignOffsets(
  messages: readonly (MessageToProduce & { partition: number })[],
  bases: readonly Readonly<{ topic: string; partition: number; offset: bigint }>[],
): RecordOffset[] {
  const next = new Map(bases.map(({ topic, partition, offset }) => [`${partition} ${topic}`, Number(offset)]))
  return messages.map(({ topic, partition }) => {
    const name = `${partition} ${topic}`
    const offset = next.get(name) ?? -1
    next.set(name, offset + 1)
    return { topic, partition, offset }
  })
}

/** A record of a part that waits for the end of its transaction. */
type PartRecord = Readonly<{
  record: BrokerRecord
  slot: ProduceSlot | undefined
  timer: NodeJS.Timeout
  resolve(offset: RecordOffset): void
  reject(error: unknown): void
}>

/** The part of one record in a transaction: all that is produced for it, and the offset behind it. */
interface TransactionPart {
  readonly nextOffset: bigint
  readonly records: readonly BrokerRecord[]
  readonly sizeBytes: number
  /** It was refused, or an earlier record has failed. */
  readonly isVoid: boolean
  /** From now on only its transaction settles it, whatever time that takes. */
  take(): void
  /** In: where its records were written, in their order. */
  succeed(offsets: readonly RecordOffset[]): void
  fail(error: unknown): void
}

/** `count`: the records that are produced for it; `onComplete` is called when all of them are here. */
function openPart(nextOffset: bigint, count: number, onComplete: (part: TransactionPart) => void): RecordProducer {
  const held: PartRecord[] = []
  let isSettled = false
  let sizeBytes = 0

  const settle = (each: (one: PartRecord, index: number) => void) => {
    if (isSettled) return
    isSettled = true
    for (const [index, one] of held.entries()) {
      clearTimeout(one.timer)
      each(one, index)
    }
  }
  const fail = (error: unknown) =>
    settle(({ record: { topic }, slot, reject }) => {
      slot?.failed()
      reject(partError(topic, error))
    })
  const part: TransactionPart & RecordProducer = {
    nextOffset,
    get records() {
      return held.map(({ record }) => record)
    },
    get sizeBytes() {
      return sizeBytes
    },
    get isVoid() {
      return isSettled || held.some(({ slot }) => slot?.isVoid === true)
    },
    produce: (record, timeoutMs, slot) =>
      new Promise((resolve, reject) => {
        if (isSettled)
          return reject(notAcknowledged('unreachable', record.topic, 'another record of its message failed'))
        const timer = setTimeout(
          () => fail(notAcknowledged('timeout', record.topic, `its transaction did not start within ${timeoutMs} ms`)),
          timeoutMs,
        )
        held.push({ record, slot, timer, resolve, reject })
        sizeBytes += measureRecord(record)
        if (held.length === count) onComplete(part)
        slot?.handed()
      }),
    take: () => {
      for (const { timer } of held) clearTimeout(timer)
    },
    succeed: (offsets) => settle(({ resolve }, index) => resolve(offsets[index] as RecordOffset)),
    fail,
  }
  return part
}

function partError(topic: string, error: unknown): unknown {
  if (error instanceof OutboundError) return error
  // The record may be in the topic all the same.
  if (error instanceof TransactionLost && error.isUncertain)
    return notAcknowledged('timeout', topic, error.message, error)
  return produceError(topic, error)
}
