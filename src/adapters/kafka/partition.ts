/**
 * One partition while it is ours: its records run one after the other, and its offsets are done in order, so that
 * what may be committed is always everything before the record under way.
 */
import type { ConsumedRecord } from './record.ts'
import { type Attendant, type RecordState, type SettleOptions, settleRecord } from './settle.ts'
import type { Slots } from './slots.ts'

export interface Partition {
  readonly number: number
  /** What the next fetch should begin with. */
  readonly fetchOffset: bigint
  /** Everything before it is done. */
  readonly doneOffset: bigint
  /** Everything before it is committed, as far as this instance knows. */
  committedOffset: bigint
  /** Whether anything of it was ever committed, or read. */
  readonly isBegun: boolean
  /** Where the log ends, when last asked. */
  endOffset: bigint
  readonly bufferedBytes: number
  readonly state: RecordState
  /** Takes what a fetch that began at fetchOffset gave; `next` is where the next one begins. */
  offer(records: readonly ConsumedRecord[], next: bigint): void
  /**
   * Begins elsewhere: what was wanted is not there any more. What is already here goes on before that, unless it would
   * have to be done again: then nothing is moved, and the answer is false.
   */
  moveTo(offset: bigint): boolean
  /** Notes what was committed; gives back the slots of those records. */
  committed(offset: bigint): void
  /** Lets a record that waits for it be tried again. */
  changed(): void
  /** Begins no further record; resolves when the one under way has come to its end. */
  close(): Promise<void>
}

export type PartitionOptions = Readonly<{
  number: number
  /** What is committed; undefined where nothing is. */
  offset: bigint | undefined
  slots: Slots
  settle: SettleOptions
  /** Told when something can be committed. */
  onProgress: () => void
  /** Told now and then when more could be fetched, and always when nothing is left. */
  onRoom: () => void
  onReport: (state: RecordState) => void
  /** Told of a bug: the consumer has to start anew. */
  onFault: (error: unknown) => void
}>

const BETWEEN_TURNS = 128

export function openPartition({
  number,
  offset: committed,
  slots,
  settle,
  onProgress,
  onRoom,
  onReport,
  onFault,
}: PartitionOptions): Partition {
  const closing = new AbortController()
  const offset = committed ?? 0n
  let isBegun = committed !== undefined
  let queue: readonly ConsumedRecord[] = []
  let position = 0
  let bufferedBytes = 0
  let fetchOffset = offset
  let doneOffset = offset
  /** Of the records that are done and hold a slot until they are committed. */
  let uncommitted: bigint[] = []
  let state: RecordState = { state: 'running' }
  let wake: (() => void) | undefined
  let work: Promise<void> = Promise.resolve()
  let isRunning = false
  let holdsSlot = false

  const attendant: Attendant = {
    signal: closing.signal,
    report: (next) => {
      state = next
      onReport(next)
    },
    pause: async (timeMs) => {
      // Whoever waits must not keep the records of other partitions from beginning.
      holdsSlot = false
      slots.give(1)
      await new Promise<void>((resolve) => {
        const timer = timeMs === undefined ? undefined : setTimeout(resolve, timeMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        if (closing.signal.aborted) wake()
      })
      wake = undefined
      closing.signal.throwIfAborted()
      holdsSlot = await slots.take()
      if (!holdsSlot) closing.abort()
      closing.signal.throwIfAborted()
    },
  }

  const run = async (): Promise<void> => {
    try {
      for (let record = queue[position]; record !== undefined; record = queue[position]) {
        if (closing.signal.aborted) return
        const slot = slots.take()
        holdsSlot = slot instanceof Promise ? await slot : slot
        if (!holdsSlot || closing.signal.aborted) return
        const settled = settleRecord(record, settle, attendant)
        if (!(settled instanceof Promise ? await settled : settled)) return
        finish(record, settled instanceof Promise)
        if (position % BETWEEN_TURNS === 0) {
          onRoom()
          // Records that wait for nothing must not keep the rest of the service waiting.
          await new Promise<void>((resolve) => setImmediate(resolve))
        }
      }
      // Behind the last record there may be marks of transactions, which nobody sees.
      if (!closing.signal.aborted) passTo(fetchOffset)
    } catch (thrown) {
      onFault(thrown)
    } finally {
      // In one go with the end of the queue: what was offered in between would lie there.
      if (holdsSlot) slots.give(1)
      holdsSlot = false
      isRunning = false
      onRoom()
    }
  }
  const finish = (record: ConsumedRecord, hasWaited: boolean) => {
    // Where nothing was waited for, nothing was sent anywhere: nobody can see this record twice, and it need not
    // keep others from beginning until it is committed.
    if (hasWaited) uncommitted.push(record.offset)
    else slots.give(1)
    holdsSlot = false
    position += 1
    bufferedBytes -= sizeOf(record)
    passTo(record.offset + 1n)
  }
  const passTo = (offset: bigint) => {
    doneOffset = offset
    onProgress()
  }
  /** Not running is not enough: where running has ended early, what is in the queue is not done. */
  const isEmpty = () => !isRunning && queue[position] === undefined
  const start = () => {
    if (isRunning || queue[position] === undefined || closing.signal.aborted) return
    isRunning = true
    work = run()
  }
  const giveBack = (upTo: bigint) => {
    const kept = uncommitted.filter((done) => done >= upTo)
    slots.give(uncommitted.length - kept.length)
    uncommitted = kept
  }

  return {
    number,
    committedOffset: offset,
    endOffset: offset,
    get isBegun() {
      return isBegun
    },
    get fetchOffset() {
      return fetchOffset
    },
    get doneOffset() {
      return doneOffset
    },
    get bufferedBytes() {
      return bufferedBytes
    },
    get state() {
      return state
    },
    offer: (records, next) => {
      if (closing.signal.aborted) return
      isBegun = true
      fetchOffset = next
      queue = [...queue.slice(position), ...records]
      position = 0
      for (const record of records) bufferedBytes += sizeOf(record)
      start()
      if (isEmpty()) passTo(next)
    },
    moveTo: (target) => {
      if (!isEmpty() && target < fetchOffset) return false
      isBegun = true
      fetchOffset = target
      if (isEmpty()) {
        slots.give(uncommitted.length)
        uncommitted = []
        passTo(target)
      }
      return true
    },
    committed(target) {
      this.committedOffset = target
      giveBack(target)
    },
    changed: () => {
      wake?.()
      start()
    },
    close: async () => {
      closing.abort()
      wake?.()
      await work
      giveBack(fetchOffset)
    },
  }
}

const sizeOf = ({ key, value }: ConsumedRecord): number => 100 + (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
