/**
 * One session of an endpoint's consumer: it processes the records of the assigned partitions and commits what is done.
 * When any part of it cannot continue, the session ends as a whole and the next one starts at the committed offsets: no
 * state needs repair.
 */
import type {
  CommittedOffset,
  ConsumerListener,
  ConsumerSession,
  GroupStart,
  PartitionAssignment,
  RecordConsumer,
} from '../../core/ports/record-consumer.ts'
import { type FetchBudget, NO_DEMAND } from './fetch-demand.ts'
import { createOffsetCommits } from './offset-commits.ts'
import type { RecordOrder } from './order/record-chains.ts'
import type { RecordState } from './partition-handle.ts'
import { openPartitionQueue, type PartitionQueue } from './partition-queue.ts'
import type { ProcessRecordOptions } from './process-record.ts'
import { createRecordSemaphore } from './record-semaphore.ts'

export type RecordSessionOptions = Readonly<{
  consumer: RecordConsumer
  groupId: string
  topic: string
  /** Records under way or not yet committed. */
  maxInFlight: number
  /** Shared with the consumers of other endpoints. */
  budget: FetchBudget
  order: RecordOrder
  processing: ProcessRecordOptions
  /**
   * The topic was deleted and created again since the last session. The broker forgets the offsets of the former topic
   * only after a while, so they are ignored until the first commit.
   */
  isNewTopic: boolean
  exactlyOnce: boolean
  /** Where the group starts if it has no committed offset of the topic. */
  groupStart: GroupStart
  /** The group has committed offsets of the topic. */
  onStarted: () => void
  /** The topic was deleted and created again; the session ends. */
  onReplaced: () => void
  /** The partitions are assigned. */
  onAssigned: (partitions: readonly number[]) => void
  /** Something failed and is retried; the session goes on. */
  onTrouble: (error: unknown) => void
  onRecovered: () => void
  onReport: (partition: number, state: RecordState) => void
  /** Records `from` to `to` do not exist, or exist no more. */
  onOffsetReset: (partition: number, from: bigint, to: bigint) => void
}>

export interface RecordSession {
  /** Resolves to the reason why the session ended; never rejects. */
  readonly ended: Promise<unknown>
  queues(): readonly PartitionQueue[]
  /** Records under way or not yet committed. */
  readonly inFlight: number
  /** The endpoint was changed: records that wait for their next attempt are tried at once. */
  wake(maxInFlight: number): void
  /** Lets the records under way finish, commits them and leaves the group. */
  close(): Promise<void>
}

/** Rejects if the client cannot be opened. */
export async function openRecordSession(options: RecordSessionOptions): Promise<RecordSession> {
  const { consumer, groupId, topic, groupStart, exactlyOnce, onTrouble, onRecovered } = options
  const semaphore = createRecordSemaphore(options.maxInFlight)
  const ending = Promise.withResolvers<unknown>()
  const queues = new Map<number, PartitionQueue>()
  const startAt = options.isNewTopic ? 'earliest' : 'committed'
  let { isNewTopic } = options
  let isStopping = false

  const noteStart = () => {
    isNewTopic = false
    options.onStarted()
  }
  const onReplaced = (error: Error) => {
    commits.discard()
    options.onReplaced()
    ending.resolve(error)
  }
  const onRevoked = (partitions: readonly number[]) => {
    commits.onRevoked()
    for (const partition of partitions) {
      // Its record under way is not awaited: the result cannot be committed.
      void queues.get(partition)?.close()
      queues.delete(partition)
    }
  }
  const onAssigned = ({ partitions, added }: PartitionAssignment) => {
    if (isStopping) return
    for (const [partition, committed] of added) {
      if (committed !== undefined) options.onStarted()
      const queue = openQueue(partition, committed)
      // So that the start is committed at once, over the offset of the former topic.
      if (isNewTopic) queue.committedOffset = -1n
      queues.set(partition, queue)
    }
    semaphore.resume()
    options.onAssigned(partitions)
    commits.schedule()
  }
  const openQueue = (partition: number, committed: CommittedOffset | undefined): PartitionQueue =>
    openPartitionQueue({
      partition,
      committed,
      order: options.order,
      semaphore,
      processing: { ...options.processing, transactions: session.transactionsOf(partition) },
      onProgress: commits.schedule,
      onTransaction: noteStart,
      onRoom: session.demandChanged,
      onReport: (state) => options.onReport(partition, state),
      onFault: ending.resolve,
    })
  const onOffsetReset = (partition: number, to: bigint): boolean => {
    const queue = queues.get(partition)
    if (queue === undefined) return true
    const { isStarted, nextOffset: from } = queue
    if (!queue.moveTo(to)) return false
    // A partition without a committed offset starts at its earliest record, whichever that is.
    if (isStarted) options.onOffsetReset(partition, from, to)
    return true
  }
  const listener: ConsumerListener = {
    onRebalance: semaphore.suspend,
    onRevoked,
    onAssigned,
    demand: () => (isStopping ? NO_DEMAND : share.demand(queues)),
    onRecords: (partition, records, nextOffset) => queues.get(partition)?.offer(records, nextOffset),
    onEndOffset: (partition, offset) => {
      const queue = queues.get(partition)
      if (queue !== undefined) queue.endOffset = offset
    },
    onOffsetReset,
    onTrouble: (error) => {
      if (!isStopping) onTrouble(error)
    },
    onRecovered,
    onReplaced,
    onEnd: ending.resolve,
  }

  const session: ConsumerSession = await consumer.open({ groupId, topic, startAt, groupStart, exactlyOnce }, listener)
  const share = options.budget.open(session.demandChanged)
  const commits = createOffsetCommits({
    commit: session.commit,
    queues: () => queues.values(),
    isStopping: () => isStopping,
    onCommitted: noteStart,
    onTrouble,
    onEnd: ending.resolve,
  })

  return {
    ended: ending.promise,
    queues: () => [...queues.values()],
    get inFlight() {
      return semaphore.held
    },
    wake: (maxInFlight) => {
      semaphore.resize(maxInFlight)
      for (const queue of queues.values()) queue.wake()
    },
    close: async () => {
      isStopping = true
      semaphore.close()
      await Promise.all([...queues.values()].map((queue) => queue.close()))
      await commits.flush()
      queues.clear()
      share.close()
      await session.close()
    },
  }
}
