/**
 * The transactions of one assigned partition: the port RecordTransactions. One transaction at a time; the records that come
 * meanwhile go together in the next one, so transactions grow with the load.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessageToProduce } from '@platformatic/kafka'
import type { RecordOffset, RecordTransactions } from '../../../core/ports/record-producer.ts'
import { type KafkaSettings, within } from '../kafka-client.ts'
import { isFenced, refusalOf } from '../kafka-errors.ts'
import { createPartitioner, toMessage } from '../producer/produce-batch.ts'
import { type OpenTransaction, openTransactionClient, TransactionLost } from './transaction-client.ts'
import { openPart, type TransactionPart } from './transaction-part.ts'

const BATCH_RECORDS = 1_000
/** Below the usual `max.message.bytes`, which counts for all records of a transaction in one partition. */
const BATCH_BYTES = 512 * 1024
const CLOSE_MS = 3_000
const REBALANCE_POLL_MS = 20
/** Longer than members of a group have for it. */
const REBALANCE_MS = 90_000

/** What transactions need of the member of the group. */
export type TransactionGroup = Readonly<{
  groupId: string
  topic: string
  /** An object of its own for each assignment. */
  identity: () => object
  /** Adds the offset in the name of the assignment. Rejects if the group has moved on, or the topic was replaced. */
  addOffset: (transaction: OpenTransaction, partition: number, offset: bigint) => Promise<void>
  onCommitted: () => void
}>

export interface PartitionTransactions extends RecordTransactions {
  /** Fences the former owner of the partition: what it left open is aborted, so the committed offset is certain afterwards. */
  start(): Promise<void>
  /** Commits an offset alone, behind the transactions that wait. 'fenced': the partition was lost meanwhile. */
  commit(offset: bigint): Promise<'committed' | 'fenced'>
  /** The partition is not assigned any more: nothing is committed from now on, and an open transaction is aborted. */
  close(): Promise<void>
}

/** `onLost` is called when no transaction can follow until the partition is assigned again. */
export function openPartitionTransactions(
  settings: KafkaSettings,
  { groupId, topic, identity, addOffset, onCommitted }: TransactionGroup,
  partition: number,
  onLost: (error: unknown) => void,
): PartitionTransactions {
  // One for each partition of a group, so that the instance that is assigned the partition next aborts what this one leaves open.
  const client = openTransactionClient(settings, `${groupId}.${topic}.${partition}`)
  const partitionOf = createPartitioner()
  let queue: TransactionPart[] = []
  let running: Promise<void> | undefined
  /** Why nothing can be committed any more. */
  let closedBy: Error | undefined
  let committed = -1n

  const close = (reason: Error) => {
    closedBy ??= reason
    for (const part of queue.splice(0)) part.fail(closedBy)
  }
  const throwIfClosed = () => {
    if (closedBy !== undefined) throw closedBy
  }
  const enqueue = (part: TransactionPart) => {
    if (closedBy !== undefined) return part.fail(closedBy)
    queue.push(part)
    // In the next turn of the event loop, so that all records of this turn share a transaction.
    running ??= new Promise<void>((next) => setImmediate(next)).then(runAll)
  }
  const runAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const end = batchEnd(queue)
      const batch = queue.slice(0, end)
      queue = queue.slice(end)
      for (const part of batch) part.take()
      await commitAll(batch)
    }
    running = undefined
  }

  const commitAll = async (batch: readonly TransactionPart[]): Promise<void> => {
    const [voided, live] = [batch.filter(({ isVoid }) => isVoid), batch.filter(({ isVoid }) => !isVoid)]
    for (const part of voided) part.fail(new Error('a record that must precede it has failed'))
    if (live.length === 0) return
    try {
      const offsets = await writeWhileAssigned(live)
      let from = 0
      for (const part of live) {
        const { length } = part.records
        part.succeed(offsets.slice(from, from + length))
        from += length
      }
    } catch (error) {
      if (error instanceof TransactionLost) {
        close(error)
        onLost(error)
      } else if (closedBy === undefined && refusalOf(error) !== undefined && live.length > 1) {
        // The others must not fail with a record that the broker does not take.
        const middle = live.length >>> 1
        await commitAll(live.slice(0, middle))
        return commitAll(live.slice(middle))
      }
      for (const part of live) part.fail(error)
    }
  }
  /** Writes the parts again if the group rebalances and the partition stays. */
  const writeWhileAssigned = async (parts: readonly TransactionPart[]): Promise<RecordOffset[]> => {
    for (;;) {
      throwIfClosed()
      let joined = identity()
      try {
        return await write(parts, () => {
          throwIfClosed()
          joined = identity()
        })
      } catch (error) {
        if (!isFenced(error)) throw error
        await rebalanced(joined)
      }
    }
  }
  const rebalanced = async (former: object): Promise<void> => {
    const startedAt = performance.now()
    while (closedBy === undefined && identity() === former) {
      if (performance.now() - startedAt > REBALANCE_MS) {
        throw new TransactionLost(`the group did not rebalance within ${REBALANCE_MS} ms`, false, undefined)
      }
      await sleep(REBALANCE_POLL_MS)
    }
  }
  const write = async (parts: readonly TransactionPart[], beforeOffset: () => void): Promise<RecordOffset[]> => {
    const records = parts.flatMap((part) => part.records)
    const nextOffset = parts.reduce((highest, part) => (part.nextOffset > highest ? part.nextOffset : highest), -1n)
    // An offset alone may wait behind a transaction with a later one.
    if (records.length === 0 && nextOffset <= committed) return []
    const topics = new Set(records.map((record) => record.topic))
    const counts = topics.size === 0 ? new Map<string, number>() : await client.partitionCounts([...topics])
    const messages = records.map((record) => {
      const message = toMessage(record)
      return { ...message, partition: partitionOf(message, counts.get(record.topic) ?? 1) }
    })
    const bases = await client.write(messages, async (transaction) => {
      beforeOffset()
      await addOffset(transaction, partition, nextOffset)
      throwIfClosed()
    })
    committed = nextOffset
    onCommitted()
    return offsetsOf(messages, bases)
  }

  return {
    start: client.start,
    open: (nextOffset, count) => openPart(nextOffset, count, enqueue),
    commit: async (offset) => {
      const settled = Promise.withResolvers<void>()
      const end = { take: () => {}, succeed: () => settled.resolve(), fail: settled.reject }
      enqueue({ nextOffset: offset, records: [], sizeBytes: 0, isVoid: false, ...end })
      try {
        await settled.promise
        return 'committed'
      } catch (error) {
        if (closedBy !== undefined) return 'fenced'
        throw error
      }
    },
    close: async () => {
      close(new Error('the partition belongs to another instance, or the consumer stops'))
      await within(CLOSE_MS, running ?? Promise.resolve())
      await client.close()
    },
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
function offsetsOf(
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
