/**
 * The records of one assigned partition. They start as their order allows and finish in any order; what may be committed is
 * the first offset that is not done, with a note of what is done beyond it.
 */
import type { ConsumedRecord } from '../../core/ports/record-consumer.ts'
import { type CommitNote, readNote, writeNote } from './order/commit-note.ts'
import { createOffsetTracker } from './order/offset-tracker.ts'
import { type ChainedRecord, createRecordChains, type RecordOrder } from './order/record-chains.ts'
import { openPartitionControl, type RecordState } from './partition-handle.ts'
import type { ProcessRecordOptions } from './process-record.ts'
import { createRecordRunner } from './record-runner.ts'
import type { RecordSemaphore } from './record-semaphore.ts'

/** What can be committed now. */
export type CommitSnapshot = Readonly<{ offset: bigint; note: CommitNote; version: number }>

export interface PartitionQueue {
  readonly partition: number
  /** The offset behind the last record that was handed over. */
  readonly nextOffset: bigint
  /** Everything before it is done. */
  readonly doneOffset: bigint
  /** Everything before it is committed, as far as this instance knows. */
  committedOffset: bigint
  /** Whether something is done that is not committed. */
  readonly isDue: boolean
  /** Whether anything of it was ever committed or handed over. */
  readonly isStarted: boolean
  /** The end of the log when it was last reported. */
  endOffset: bigint
  readonly bufferedBytes: number
  /** Of the records that wait to start, as RecordChains counts them. */
  readonly waitingBytes: number
  readonly state: RecordState
  readonly figures: QueueFigures
  /** Takes the records of a fetch that started at `nextOffset`; `next` is where the next fetch starts. */
  offer(records: readonly ConsumedRecord[], next: bigint): void
  /**
   * Continues at another offset. Queued records are processed first; if they would then be processed twice, nothing is
   * changed and the result is false.
   */
  moveTo(offset: bigint): boolean
  snapshot(): CommitSnapshot
  /** Notes the commit of a snapshot, and gives back the permits of the records that it covers. */
  committed(snapshot: CommitSnapshot): void
  /** Ends the pauses of records, after a change of the endpoint. */
  wake(): void
  /** Starts no further record; resolves when those under way have ended. */
  close(): Promise<void>
}

/** Numbers of records. */
export type QueueFigures = Readonly<{
  /** Started and not done, without those that wait for their next attempt. */
  underWay: number
  /** Records that wait for their next attempt, or for a change of the endpoint. */
  retrying: number
  /** Gaps of offsets that are not done, before the last offset that is. */
  holes: number
  /** When the oldest record that is not done was started, in milliseconds since the epoch; undefined without one. */
  oldestAt: number | undefined
}>

export type PartitionQueueOptions = Readonly<{
  partition: number
  /** The committed offset and its note; undefined where nothing is committed. */
  committed: Readonly<{ offset: bigint; note: string }> | undefined
  order: RecordOrder
  semaphore: RecordSemaphore
  processing: ProcessRecordOptions
  /** Called when something can be committed. */
  onProgress: () => void
  /** A record is done and committed, if the partition has transactions. */
  onTransaction?: () => void
  /** Called now and then while bufferedBytes shrinks, and always when the queue is empty. */
  onRoom: () => void
  onReport: (state: RecordState) => void
  /** Called with a bug; the session cannot continue. */
  onFault: (error: unknown) => void
}>

/** From this share of the note's room on, only records start that are before the last done offset. */
const FULL = 0.75

export function openPartitionQueue({
  partition,
  committed,
  order,
  semaphore,
  processing,
  onProgress,
  onTransaction,
  onRoom,
  onReport,
  onFault,
}: PartitionQueueOptions): PartitionQueue {
  const control = openPartitionControl(semaphore, onReport)
  const start = committed?.offset ?? 0n
  const tracker = createOffsetTracker(start, committed === undefined ? [] : readNote(start, committed.note))
  const chains = createRecordChains(order)
  let isStarted = committed !== undefined
  let nextOffset = start
  /** The offset behind the last record that was handed over; between it and `nextOffset` there are no records. */
  let handedTo = start
  let endOffset = start
  /** The version of the tracker that is committed. */
  let committedVersion = 0
  /** Done records that hold a permit until they are committed, with the version of the tracker that has them. */
  let uncommitted: { offset: bigint; version: number }[] = []
  let isFull = false

  const runner = createRecordRunner({
    chains,
    control,
    semaphore,
    processing,
    isSerial: order === 'partition',
    // A record before the last done offset closes a gap of the note, so it must not wait for the note to have room.
    mayStart: ({ record }) => !isFull || record.offset < (tracker.beyond.at(-1)?.to ?? 0n),
    onDone: (chained, hasPermit) => {
      finish(chained)
      if (!hasPermit) return
      if (processing.transactions === undefined)
        uncommitted.push({ offset: chained.record.offset, version: tracker.version })
      else semaphore.release(1)
    },
    onRoom,
    onFault,
  })
  const finish = (chained: ChainedRecord) => {
    chains.finish(chained)
    tracker.add(chained.from, chained.record.offset + 1n)
    if (processing.transactions !== undefined) noteTransaction()
    passEnd()
    onProgress()
    if (chains.count === 0) onRoom()
  }
  /** What is done was committed with it. */
  const noteTransaction = () => {
    queue.committedOffset = tracker.doneOffset
    committedVersion = tracker.version
    onTransaction?.()
  }
  /** Behind the last record there may be offsets without a record, such as marks of transactions. */
  const passEnd = () => {
    if (chains.count === 0 && !control.isClosed) tracker.add(tracker.doneOffset, nextOffset)
  }
  const releaseAll = () => {
    semaphore.release(uncommitted.length)
    uncommitted = []
  }

  const queue: PartitionQueue = {
    partition,
    committedOffset: start,
    get endOffset() {
      return endOffset
    },
    set endOffset(offset) {
      // The log was cut since the note was written: records that come there now are others.
      tracker.forgetFrom(offset > nextOffset ? offset : nextOffset)
      endOffset = offset
    },
    get isStarted() {
      return isStarted
    },
    get nextOffset() {
      return nextOffset
    },
    get doneOffset() {
      return tracker.doneOffset
    },
    get isDue() {
      return tracker.version !== committedVersion || tracker.doneOffset !== this.committedOffset
    },
    get bufferedBytes() {
      return chains.bufferedBytes
    },
    get waitingBytes() {
      return chains.waitingBytes
    },
    get state() {
      return control.state
    },
    get figures() {
      const { retrying } = control
      const { count, oldestAt } = runner
      return { underWay: count - retrying, retrying, holes: tracker.beyond.length, oldestAt }
    },
    offer: (records, next) => {
      if (control.isClosed) return
      isStarted = true
      for (const record of records) {
        if (tracker.isDone(record.offset)) tracker.add(handedTo, record.offset)
        else chains.add(record, handedTo)
        handedTo = record.offset + 1n
      }
      nextOffset = next
      if (chains.count === 0) {
        passEnd()
        onProgress()
      }
      runner.run()
    },
    moveTo: (target) => {
      const isEmpty = chains.count === 0
      if (!isEmpty && target < nextOffset) return false
      isStarted = true
      nextOffset = target
      if (isEmpty) {
        releaseAll()
        handedTo = target
        tracker.moveTo(target)
        onProgress()
      }
      return true
    },
    snapshot: () => {
      const { doneOffset: offset, beyond, version } = tracker
      const note = writeNote(offset, beyond)
      isFull = note.fill > FULL
      return { offset, note, version }
    },
    committed({ offset, note: { coveredTo }, version }) {
      this.committedOffset = offset
      committedVersion = version
      const kept = uncommitted.filter(
        (one) => one.version > version || (coveredTo !== undefined && one.offset >= coveredTo),
      )
      const covered = uncommitted.length - kept.length
      uncommitted = kept
      semaphore.release(covered)
      runner.run()
    },
    wake: () => {
      control.wake()
      runner.run()
    },
    close: async () => {
      control.close()
      await runner.whenIdle()
      releaseAll()
    },
  }
  return queue
}
