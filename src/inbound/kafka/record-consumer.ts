/**
 * The port between kafka-consumer.ts, which supplies partitions, records and commits and knows nothing of messages, and
 * consumer-session.ts, which decides what becomes of a record and when an offset is committed.
 */
import type { RecordTransactions } from '../../core/ports/record-producer.ts'

export type ConsumedRecord = Readonly<{
  topic: string
  partition: number
  offset: bigint
  /** Milliseconds since the epoch. */
  timestamp: number
  key: Buffer | null
  /** null: a tombstone. */
  value: Buffer | null
  headers: readonly (readonly [name: Buffer | null, value: Buffer | null])[]
}>

/** `group`: where that other group has committed, and at the earliest record of a partition of which it has no offset. */
export type GroupStart = 'earliest' | 'latest' | Readonly<{ group: string }>

export type ConsumerSubscription = Readonly<{
  /** The members of a group share the partitions of the topic. */
  groupId: string
  topic: string
  /**
   * Where the first assigned partitions start: at their committed offset (at the earliest record without one), or at the
   * earliest record whatever is committed. From the first commit on, the committed offset counts in any case.
   */
  startAt: 'committed' | 'earliest'
  /**
   * Where a group starts that has no committed offset of the topic. Unless it is `earliest`, the adapter commits the start of
   * all partitions together before it reports the first assignment, and calls onEnd if `group` has no offset of the topic.
   */
  groupStart: GroupStart
  /** What is produced for the records is committed with their offsets, by RecordTransactions. */
  exactlyOnce: boolean
}>

/**
 * An offset to commit. `note` is a text of at most 4,000 ASCII characters that the broker keeps with it; empty for none. It comes
 * back with the offset only if it was written for this topic: not for one of the same name that was deleted.
 */
export type CommittedOffset = Readonly<{ offset: bigint; note: string }>

export type PartitionAssignment = Readonly<{
  /** All partitions that this member now has. */
  partitions: readonly number[]
  /** Those of them that it did not have before, with their committed offset; undefined where nothing is committed. */
  added: ReadonlyMap<number, CommittedOffset | undefined>
}>

/** How much the policy can take now. */
export type FetchDemand = Readonly<{
  /** Upper limit for one fetch over all of its partitions. */
  maxBytes: number
  /** Upper limit by partition; a partition without an entry is paused. */
  partitionBytes: ReadonlyMap<number, number>
}>

/**
 * What the adapter reports to the policy. No method throws. The adapter calls none of them before `open` has resolved, and
 * none after `close` has. The messages of the errors are one sentence for people, without secrets.
 */
export type ConsumerListener = Readonly<{
  /** The group redistributes its partitions. No further record may start until onAssigned: another member may get it. */
  onRebalance: () => void
  /**
   * Precedes each onAssigned. The member has lost these partitions: nothing of them can be committed, even if they
   * return with the next assignment. Commits of the other partitions count again. May report none.
   */
  onRevoked: (partitions: readonly number[]) => void
  /** The redistribution is complete; records of the added partitions follow. */
  onAssigned: (assignment: PartitionAssignment) => void
  /** Asked before each fetch. */
  demand: () => FetchDemand
  /**
   * Records of one partition, in order and without gaps. `nextOffset` is the offset of the next fetch; it may lie beyond
   * the last record (marks of transactions), and `records` may be empty.
   */
  onRecords: (partition: number, records: readonly ConsumedRecord[], nextOffset: bigint) => void
  /** The offset behind the last record of the partition. */
  onEndOffset: (partition: number, offset: bigint) => void
  /**
   * The next offset of the partition does not exist any more; fetching continues at `offset`, the earliest record.
   * Returns false if records that were handed over would then be processed twice; the adapter reports onReplaced.
   */
  onOffsetReset: (partition: number, offset: bigint) => boolean
  /** Something failed and is retried. */
  onTrouble: (error: Error) => void
  /** All assigned partitions can be read again. */
  onRecovered: () => void
  /** The topic was deleted and created again: offsets of the former topic mean nothing. The session cannot continue. */
  onReplaced: (error: Error) => void
  /** The session cannot continue; the policy closes it and opens another. */
  onEnd: (error: Error) => void
}>

/** One membership in a group, from joining it until the session is closed. */
export interface ConsumerSession {
  /**
   * Commits the next offset to process, by partition, in the name of the current assignment. A note that the broker refuses
   * is left out.
   * 'fenced': the group has moved on, and nothing was committed; offsets count again from the next onRevoked.
   * Rejects if the broker does not answer; the policy may then try again.
   */
  commit(offsets: ReadonlyMap<number, CommittedOffset>): Promise<'committed' | 'fenced'>
  /** The transactions of an assigned partition; undefined unless the subscription is exactlyOnce. */
  transactionsFor(partition: number): RecordTransactions | undefined
  /** The demand may have grown: a paused partition may resume. */
  demandChanged(): void
  /** Leaves the group and closes the connections. Never rejects. */
  close(): Promise<void>
}

export interface RecordConsumer {
  /** Resolves before the group is joined; rejects if the client refuses its settings. */
  open(subscription: ConsumerSubscription, listener: ConsumerListener): Promise<ConsumerSession>
}
