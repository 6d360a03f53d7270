/**
 * One session of an endpoint's consumer: it processes the records of the assigned partitions and commits what is done.
 * When any part of it cannot continue, the session ends as a whole and the next one starts at the committed offsets: no
 * state needs repair.
 */
import { OffsetCommits } from './offset-commits.ts'
import { PartitionQueue } from './partition-queue.ts'
import type { ProcessRecordOptions, RecordState } from './process-record.ts'
import type {
  CommittedOffset,
  ConsumerSession,
  ConsumerSubscription,
  FetchDemand,
  PartitionAssignment,
  RecordConsumer,
} from './record-consumer.ts'
import { type RecordOrder, RecordSemaphore } from './record-order.ts'

type RecordSessionOptions = Omit<ConsumerSubscription, 'startAt'> &
  Readonly<{
    consumer: RecordConsumer
    /** Records in progress or not yet committed. */
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
    /** The group has committed offsets of the topic. */
    onStarted: () => void
    /** The topic was deleted and created again; the session ends. */
    onReplaced: () => void
    /** The partitions are assigned. */
    onAssigned: (partitions: readonly number[]) => void
    /** Something failed and is retried; the session continues. */
    onTrouble: (error: unknown) => void
    onRecovered: () => void
    onReport: (partition: number, state: RecordState) => void
    /** Records `from` to `to` do not exist, or exist no more. */
    onOffsetReset: (partition: number, from: bigint, to: bigint) => void
  }>

export class RecordSession {
  /** Resolves to the reason why the session ended; never rejects. */
  readonly ended: Promise<unknown>
  readonly #options: RecordSessionOptions
  readonly #member: ConsumerSession
  readonly #semaphore: RecordSemaphore
  readonly #share: FetchShare
  readonly #commits: OffsetCommits
  readonly #queues = new Map<number, PartitionQueue>()
  readonly #end: (reason: unknown) => void
  #isNewTopic: boolean
  #isStopping = false

  /** Rejects if the client cannot be opened. */
  static async open(options: RecordSessionOptions): Promise<RecordSession> {
    const { consumer, groupId, topic, isNewTopic, groupStart, exactlyOnce, onTrouble, onRecovered } = options
    const startAt = isNewTopic ? 'earliest' : 'committed'
    const ending = Promise.withResolvers<unknown>()
    // Only `onEnd` may be called before the session is open.
    const session: RecordSession = new RecordSession(
      options,
      await consumer.open(
        { groupId, topic, startAt, groupStart, exactlyOnce },
        {
          onRebalance: () => session.#semaphore.suspend(),
          onRevoked: (partitions) => session.#revoke(partitions),
          onAssigned: (assignment) => session.#assign(assignment),
          demand: () => (session.#isStopping ? NO_DEMAND : session.#share.demand(session.#queues)),
          onRecords: (partition, records, next) => session.#queues.get(partition)?.offer(records, next),
          onEndOffset: (partition, offset) => {
            const queue = session.#queues.get(partition)
            if (queue !== undefined) queue.endOffset = offset
          },
          onOffsetReset: (partition, offset) => session.#resetOffset(partition, offset),
          onTrouble: (error) => {
            if (!session.#isStopping) onTrouble(error)
          },
          onRecovered,
          onReplaced: (error) => {
            session.#commits.discard()
            options.onReplaced()
            ending.resolve(error)
          },
          onEnd: ending.resolve,
        },
      ),
      ending,
    )
    return session
  }

  private constructor(options: RecordSessionOptions, member: ConsumerSession, ending: PromiseWithResolvers<unknown>) {
    this.ended = ending.promise
    this.#end = ending.resolve
    this.#options = options
    this.#member = member
    this.#isNewTopic = options.isNewTopic
    this.#semaphore = new RecordSemaphore(options.maxInFlight)
    this.#share = options.budget.open(() => member.demandChanged())
    this.#commits = new OffsetCommits({
      commit: (offsets) => member.commit(offsets),
      queues: () => this.#queues.values(),
      isStopping: () => this.#isStopping,
      onCommitted: this.#noteStart,
      onTrouble: options.onTrouble,
      onEnd: ending.resolve,
    })
  }

  get queues(): readonly PartitionQueue[] {
    return [...this.#queues.values()]
  }

  /** Records in progress or not yet committed. */
  get inFlight(): number {
    return this.#semaphore.held
  }

  /** The endpoint was changed: records that wait for their next attempt are tried at once. */
  wake(maxInFlight: number): void {
    this.#semaphore.resize(maxInFlight)
    for (const queue of this.#queues.values()) queue.wake()
  }

  /** Lets the records in progress finish, commits them and leaves the group. */
  async close(): Promise<void> {
    this.#isStopping = true
    this.#semaphore.close()
    await Promise.all(this.queues.map((queue) => queue.close()))
    await this.#commits.flush()
    this.#queues.clear()
    this.#share.close()
    await this.#member.close()
  }

  #revoke(partitions: readonly number[]): void {
    this.#commits.onRevoked()
    for (const partition of partitions) {
      // Its record in progress is not awaited: the result cannot be committed.
      void this.#queues.get(partition)?.close()
      this.#queues.delete(partition)
    }
  }

  #assign({ partitions, added }: PartitionAssignment): void {
    if (this.#isStopping) return
    for (const [partition, committed] of added) {
      if (committed !== undefined) this.#options.onStarted()
      const queue = this.#openQueue(partition, committed)
      // So that the start is committed at once, over the offset of the former topic.
      if (this.#isNewTopic) queue.committedOffset = -1n
      this.#queues.set(partition, queue)
    }
    this.#semaphore.resume()
    this.#options.onAssigned(partitions)
    this.#commits.schedule()
  }

  #openQueue(partition: number, committed: CommittedOffset | undefined): PartitionQueue {
    const { order, processing, onReport } = this.#options
    return new PartitionQueue({
      partition,
      committed,
      order,
      semaphore: this.#semaphore,
      processing: { ...processing, transactions: this.#member.transactionsFor(partition) },
      onProgress: () => this.#commits.schedule(),
      onTransaction: this.#noteStart,
      onRoom: () => this.#member.demandChanged(),
      onReport: (state) => onReport(partition, state),
      onFault: this.#end,
    })
  }

  readonly #noteStart = (): void => {
    this.#isNewTopic = false
    this.#options.onStarted()
  }

  #resetOffset(partition: number, to: bigint): boolean {
    const queue = this.#queues.get(partition)
    if (queue === undefined) return true
    const { isStarted, nextOffset: from } = queue
    if (!queue.moveTo(to)) return false
    // A partition without a committed offset starts at its earliest record, whichever that is.
    if (isStarted) this.#options.onOffsetReset(partition, from, to)
    return true
  }
}

type Queues = ReadonlyMap<number, Pick<PartitionQueue, 'bufferedBytes' | 'waitingBytes'>>

/** The part of one endpoint. */
type FetchShare = Readonly<{
  /** How much of the endpoint's partitions may be fetched now; at least one small fetch while it holds no record. */
  demand(queues: Queues): FetchDemand
  close(): void
}>

const MAX_PARTITION_BYTES = 256 * 1024
const MIN_BYTES = 32 * 1024
const FETCH_BYTES = 2 * 1024 * 1024

const NO_DEMAND: FetchDemand = { maxBytes: FETCH_BYTES, partitionBytes: new Map() }

type Share = { heldBytes: number; isRefused: boolean; readonly onRoom: () => void }

/**
 * Backpressure: how much may be fetched while earlier records wait to be processed. The endpoints share the bytes that their
 * records may take in memory, and so do the partitions of an endpoint: one whose target does not answer must not stop others.
 *
 * One endpoint alone may hold all of `limitBytes`. Of several, each may hold as much as it leaves free, so that one that comes
 * later finds room. Since all may fetch at the same time, one fetch brings at most an equal part of what is free.
 */
export class FetchBudget {
  readonly #limitBytes: number
  readonly #shares = new Set<Share>()
  #heldBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** For one more endpoint; `onRoom` is called when others have left room of which it was refused some. */
  open(onRoom: () => void): FetchShare {
    const share: Share = { heldBytes: 0, isRefused: false, onRoom }
    this.#shares.add(share)
    return {
      demand: (queues) => this.#demand(share, queues),
      close: () => {
        this.#hold(share, 0)
        this.#shares.delete(share)
      },
    }
  }

  #demand(share: Share, queues: Queues): FetchDemand {
    let bufferedBytes = 0
    for (const queue of queues.values()) bufferedBytes += queue.bufferedBytes
    this.#hold(share, bufferedBytes)
    const freeBytes = this.#limitBytes - this.#heldBytes
    const ownBytes = freeBytes + share.heldBytes
    const maxBytes = this.#shares.size === 1 ? ownBytes : Math.floor(ownBytes / 2)
    const fetchBytes = within(FETCH_BYTES, Math.floor(freeBytes / this.#shares.size))
    const { demand, isRefused } = splitDemand(queues, share.heldBytes, maxBytes, fetchBytes)
    share.isRefused = isRefused
    return demand
  }

  #hold(share: Share, bytes: number): void {
    const freedBytes = share.heldBytes - bytes
    this.#heldBytes -= freedBytes
    share.heldBytes = bytes
    if (freedBytes <= 0) return
    for (const other of this.#shares) {
      if (!other.isRefused || other === share) continue
      other.isRefused = false
      other.onRoom()
    }
  }
}

/**
 * In: what the endpoint holds, and may hold. A partition fetches while few of its records wait to start; the others may hold its
 * equal share, so that it leaves the shares of other partitions alone. `isRefused`: more would be fetched if more were free.
 */
function splitDemand(
  queues: Queues,
  heldBytes: number,
  maxBytes: number,
  fetchBytes: number,
): Readonly<{ demand: FetchDemand; isRefused: boolean }> {
  if (heldBytes > 0 && heldBytes >= maxBytes) return { demand: NO_DEMAND, isRefused: true }
  const share = Math.floor(maxBytes / Math.max(queues.size, 1))
  const partitionBytes = within(MAX_PARTITION_BYTES, share, fetchBytes)
  const room = new Map<number, number>()
  let isRefused = false
  for (const [partition, { bufferedBytes, waitingBytes }] of queues) {
    const hasShare = bufferedBytes < Math.max(share, partitionBytes)
    if (!hasShare) isRefused = true
    else if (waitingBytes < partitionBytes / 2) room.set(partition, partitionBytes)
  }
  return { demand: { maxBytes: fetchBytes, partitionBytes: room }, isRefused }
}

const within = (...bytes: readonly number[]): number => Math.max(MIN_BYTES, Math.min(...bytes))
