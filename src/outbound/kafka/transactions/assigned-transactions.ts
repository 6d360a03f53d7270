/** The transactions of all partitions that a member is assigned. */
import type { RecordTransactions } from '../../../core/ports/record-producer.ts'
import type { KafkaSettings } from '../kafka-client.ts'
import {
  openPartitionTransactions,
  type PartitionTransactions,
  type TransactionGroup,
} from './partition-transactions.ts'

export interface AssignedTransactions {
  /** For partitions that are assigned now: what a former owner of them left open is aborted. Rejects with the client's errors. */
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
        const transactions = openPartitionTransactions(settings, group, partition, onLost)
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
