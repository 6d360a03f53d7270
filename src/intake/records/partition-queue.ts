/**
 * The records of one assigned partition. They are processed one after the other, and their offsets are done in order, so
 * that everything before the record under way may be committed.
 */
import type { ConsumedRecord } from '../../domain/ports/record-consumer.ts'
import { openPartitionControl, type RecordState } from './partition-handle.ts'
import { type ProcessRecordOptions, processRecord } from './process-record.ts'
import type { RecordSemaphore } from './record-semaphore.ts'

export interface PartitionQueue {
  readonly partition: number
  /** The offset behind the last record that was handed over. */
  readonly nextOffset: bigint
  /** Everything before it is done. */
  readonly doneOffset: bigint
  /** Everything before it is committed, as far as this instance knows. */
  committedOffset: bigint
  /** Whether anything of it was ever committed or handed over. */
  readonly isStarted: boolean
  /** The end of the log when it was last reported. */
  endOffset: bigint
  readonly bufferedBytes: number
  readonly state: RecordState
  /** Takes the records of a fetch that started at `nextOffset`; `next` is where the next fetch starts. */
  offer(records: readonly ConsumedRecord[], next: bigint): void
  /**
   * Continues at another offset. Queued records are processed first; if they would then be processed twice, nothing is
   * changed and the result is false.
   */
  moveTo(offset: bigint): boolean
  /** Notes a commit, and gives back the permits of the committed records. */
  committed(offset: bigint): void
  /** Ends the pause of a record, after a change of the endpoint. */
  wake(): void
  /** Starts no further record; resolves when the one under way has ended. */
  close(): Promise<void>
}

export type PartitionQueueOptions = Readonly<{
  partition: number
  /** The committed offset; undefined where nothing is committed. */
  committed: bigint | undefined
  semaphore: RecordSemaphore
  processing: ProcessRecordOptions
  /** Called when something can be committed. */
  onProgress: () => void
  /** Called now and then while bufferedBytes shrinks, and always when the queue is empty. */
  onRoom: () => void
  onReport: (state: RecordState) => void
  /** Called with a bug; the session cannot continue. */
  onFault: (error: unknown) => void
}>

/** After this many records the event loop gets a turn. */
const RECORDS_PER_TURN = 128

export function openPartitionQueue({
  partition,
  committed,
  semaphore,
  processing,
  onProgress,
  onRoom,
  onReport,
  onFault,
}: PartitionQueueOptions): PartitionQueue {
  const control = openPartitionControl(semaphore, onReport)
  const start = committed ?? 0n
  let isStarted = committed !== undefined
  let queue: readonly ConsumedRecord[] = []
  let index = 0
  let bufferedBytes = 0
  let nextOffset = start
  let doneOffset = start
  /** Offsets of records that are done and hold a permit until they are committed. */
  let uncommitted: bigint[] = []
  let work: Promise<void> = Promise.resolve()
  let isRunning = false

  const run = async (): Promise<void> => {
    try {
      for (let record = queue[index]; record !== undefined; record = queue[index]) {
        if (control.isClosed) return
        const granted = control.acquire()
        const mayStart = granted instanceof Promise ? await granted : granted
        if (!mayStart || control.isClosed) return
        const done = processRecord(record, processing, control.handle)
        if (!(done instanceof Promise ? await done : done)) return
        finish(record, done instanceof Promise)
        if (index % RECORDS_PER_TURN === 0) {
          onRoom()
          await new Promise<void>((resolve) => setImmediate(resolve))
        }
      }
      // Behind the last record there may be offsets without a record, such as marks of transactions.
      if (!control.isClosed) passTo(nextOffset)
    } catch (thrown) {
      onFault(thrown)
    } finally {
      // No await since the end of the loop: records that were offered in between would stay in the queue.
      control.release()
      isRunning = false
      onRoom()
    }
  }
  const finish = (record: ConsumedRecord, hasWaited: boolean) => {
    // A record that waited for nothing has sent nothing: its repetition after a crash could not be noticed, so it needs
    // no permit until its commit.
    if (hasWaited) {
      uncommitted.push(record.offset)
      control.detach()
    } else {
      control.release()
    }
    index += 1
    bufferedBytes -= sizeOf(record)
    passTo(record.offset + 1n)
  }
  const passTo = (offset: bigint) => {
    doneOffset = offset
    onProgress()
  }
  /** Not the same as not running: a run that ended early leaves records that are not done. */
  const isEmpty = () => !isRunning && queue[index] === undefined
  const resume = () => {
    if (isRunning || queue[index] === undefined || control.isClosed) return
    isRunning = true
    work = run()
  }
  const releaseCommitted = (before: bigint) => {
    const kept = uncommitted.filter((offset) => offset >= before)
    semaphore.release(uncommitted.length - kept.length)
    uncommitted = kept
  }

  return {
    partition,
    committedOffset: start,
    endOffset: start,
    get isStarted() {
      return isStarted
    },
    get nextOffset() {
      return nextOffset
    },
    get doneOffset() {
      return doneOffset
    },
    get bufferedBytes() {
      return bufferedBytes
    },
    get state() {
      return control.state
    },
    offer: (records, next) => {
      if (control.isClosed) return
      isStarted = true
      nextOffset = next
      queue = [...queue.slice(index), ...records]
      index = 0
      for (const record of records) bufferedBytes += sizeOf(record)
      resume()
      if (isEmpty()) passTo(next)
    },
    moveTo: (target) => {
      if (!isEmpty() && target < nextOffset) return false
      isStarted = true
      nextOffset = target
      if (isEmpty()) {
        semaphore.release(uncommitted.length)
        uncommitted = []
        passTo(target)
      }
      return true
    },
    committed(offset) {
      this.committedOffset = offset
      releaseCommitted(offset)
    },
    wake: () => {
      control.wake()
      resume()
    },
    close: async () => {
      control.close()
      await work
      releaseCommitted(nextOffset)
    },
  }
}

const sizeOf = ({ key, value }: ConsumedRecord): number => 100 + (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
