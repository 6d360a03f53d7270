/**
 * The records of one assigned partition. They start as their order and the permits of the endpoint allow, and finish in any
 * order; what may be committed is the first offset that is not done, with a note of what is done beyond it.
 */
import { type CommitSnapshot, OffsetTracker, readNote, writeNote } from './offset-commits.ts'
import { type ProcessRecordOptions, processRecord, type RecordHandle, type RecordState } from './process-record.ts'
import type { CommittedOffset, ConsumedRecord } from './record-consumer.ts'
import {
  type ChainedRecord,
  ProduceQueue,
  type QueueSlot,
  RecordChains,
  type RecordOrder,
  type RecordSemaphore,
} from './record-order.ts'

type PartitionQueueOptions = Readonly<{
  partition: number
  committed: CommittedOffset | undefined
  order: RecordOrder
  semaphore: RecordSemaphore
  processing: ProcessRecordOptions
  /** Called when something can be committed. */
  onProgress: () => void
  /** A record is done and committed, if the partition has transactions. */
  onTransaction?: () => void
  /** Called now and then while there is room for more records, and always when none waits to start. */
  onRoom: () => void
  onReport: (state: RecordState) => void
  /** Called with a bug; the session cannot continue. */
  onFault: (error: unknown) => void
}>

/** Numbers of records. */
type QueueFigures = Readonly<{
  /** Started and not done, without those that wait for their next attempt. */
  underWay: number
  /** Records that wait for their next attempt, or for a change of the endpoint. */
  retrying: number
  /** Gaps of offsets that are not done, before the last offset that is. */
  holes: number
  /** When the oldest record that is not done was started, in milliseconds since the epoch. */
  oldestAt: number | undefined
}>

/** From this share of the note's room on, only records start that are before the last done offset. */
const FULL = 0.75
/** After this many records other work of the event loop runs. */
const RECORDS_PER_ITERATION = 128

export class PartitionQueue {
  readonly partition: number
  /** Everything before it is committed, as far as this instance knows. */
  committedOffset: bigint
  readonly #options: PartitionQueueOptions
  readonly #semaphore: RecordSemaphore
  readonly #retries: Retries
  readonly #tracker: OffsetTracker
  readonly #chains: RecordChains
  /**
   * One record after the other. If all that the endpoint does is to produce, the next one starts once the produces of the one
   * before are in line.
   */
  readonly #isSerial: boolean
  #produceQueue: ProduceQueue | undefined
  /** The records that are started and not done, in the order of their starts, with the time of it. */
  readonly #started = new Map<ChainedRecord, number>()
  #isStarting = false
  #waitsForPermit = false
  #whenIdle: (() => void) | undefined
  #isStarted: boolean
  #nextOffset: bigint
  /** The offset behind the last record that was handed over; between it and `nextOffset` there are no records. */
  #handedTo: bigint
  #endOffset: bigint
  /** The version of the tracker that is committed. */
  #committedVersion = 0
  /** Done records that hold a permit until they are committed, with the version of the tracker that has them. */
  #uncommitted: { offset: bigint; version: number }[] = []
  #isNoteFull = false

  constructor(options: PartitionQueueOptions) {
    const { partition, committed, order, semaphore, onReport } = options
    const start = committed?.offset ?? 0n
    this.partition = partition
    this.committedOffset = start
    this.#options = options
    this.#semaphore = semaphore
    this.#retries = new Retries(semaphore, onReport)
    this.#tracker = new OffsetTracker(start, committed === undefined ? [] : readNote(start, committed.note))
    this.#chains = new RecordChains(order)
    this.#isSerial = order === 'partition'
    this.#isStarted = committed !== undefined
    this.#nextOffset = start
    this.#handedTo = start
    this.#endOffset = start
  }

  /** True once anything of it was committed or handed over. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** The offset behind the last record that was handed over, where the next fetch starts. */
  get nextOffset(): bigint {
    return this.#nextOffset
  }

  /** Everything before it is done. */
  get doneOffset(): bigint {
    return this.#tracker.doneOffset
  }

  /** True if something is done that is not committed. */
  get isDue(): boolean {
    return this.#tracker.version !== this.#committedVersion || this.#tracker.doneOffset !== this.committedOffset
  }

  /** The end of the log when it was last reported. */
  get endOffset(): bigint {
    return this.#endOffset
  }

  set endOffset(offset: bigint) {
    // The log was cut since the note was written: records that arrive there now are others.
    this.#tracker.forgetFrom(offset > this.#nextOffset ? offset : this.#nextOffset)
    this.#endOffset = offset
  }

  get bufferedBytes(): number {
    return this.#chains.bufferedBytes
  }

  /** Of the records that wait to start, as RecordChains counts them. */
  get waitingBytes(): number {
    return this.#chains.waitingBytes
  }

  /** The worst state of the records that do not run. */
  get state(): RecordState {
    return this.#retries.worst
  }

  get figures(): QueueFigures {
    const retrying = this.#retries.pausing
    const [oldestAt] = this.#started.values()
    return { underWay: this.#started.size - retrying, retrying, holes: this.#tracker.beyond.length, oldestAt }
  }

  /** Takes the records of a fetch that started at `nextOffset`; `next` is where the next fetch starts. */
  offer(records: readonly ConsumedRecord[], next: bigint): void {
    if (this.#retries.isClosed) return
    this.#isStarted = true
    for (const record of records) {
      if (this.#tracker.isDone(record.offset)) this.#tracker.add(this.#handedTo, record.offset)
      else this.#chains.add(record, this.#handedTo)
      this.#handedTo = record.offset + 1n
    }
    this.#nextOffset = next
    if (this.#chains.count === 0) {
      this.#passEnd()
      this.#options.onProgress()
    }
    this.#run()
  }

  /**
   * Continues at another offset. Queued records are processed first; if they would then be processed twice, nothing is
   * changed and the result is false.
   */
  moveTo(offset: bigint): boolean {
    const isEmpty = this.#chains.count === 0
    if (!isEmpty && offset < this.#nextOffset) return false
    this.#isStarted = true
    this.#nextOffset = offset
    if (isEmpty) {
      this.#releaseAll()
      this.#handedTo = offset
      this.#tracker.moveTo(offset)
      this.#options.onProgress()
    }
    return true
  }

  /** What can be committed now. */
  snapshot(): CommitSnapshot {
    const { doneOffset: offset, beyond, version } = this.#tracker
    const note = writeNote(offset, beyond)
    this.#isNoteFull = note.fill > FULL
    return { offset, note, version }
  }

  /** Notes the commit of a snapshot, and gives back the permits of the records that it covers. */
  committed({ offset, note: { coveredTo }, version }: CommitSnapshot): void {
    this.committedOffset = offset
    this.#committedVersion = version
    const kept = this.#uncommitted.filter(
      (one) => one.version > version || (coveredTo !== undefined && one.offset >= coveredTo),
    )
    const covered = this.#uncommitted.length - kept.length
    this.#uncommitted = kept
    this.#semaphore.release(covered)
    this.#run()
  }

  /** Ends the pauses of records, after a change of the endpoint. */
  wake(): void {
    this.#retries.wake()
    this.#run()
  }

  /** Starts no further record; resolves when those in progress have ended. */
  async close(): Promise<void> {
    this.#retries.close()
    if (this.#started.size > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve
      })
    }
    this.#releaseAll()
  }

  /** Starts all records that may start. A record that is handed over while it starts calls this too. */
  readonly #run = (): void => {
    if (!this.#isStarting && !this.#waitsForPermit) this.#startAll(false)
  }

  /** `hasPermit`: there is a permit for the first record. */
  #startAll(hasPermit: boolean): void {
    const { onRoom, onFault } = this.#options
    this.#isStarting = true
    let granted: boolean | Promise<boolean> = hasPermit
    try {
      for (let count = 1; this.#mayStart(); count += 1) {
        granted ||= this.#semaphore.acquire()
        if (granted instanceof Promise) {
          this.#startWhenGranted(granted)
          return
        }
        if (!granted) return
        granted = false
        if (!this.#start()) return
        if (count % RECORDS_PER_ITERATION === 0) {
          onRoom()
          setImmediate(this.#run)
          return
        }
      }
      if (granted === true) this.#semaphore.release(1)
    } catch (thrown) {
      onFault(thrown)
    } finally {
      this.#isStarting = false
    }
  }

  #startWhenGranted(granted: Promise<boolean>): void {
    this.#waitsForPermit = true
    void granted.then((isGranted) => {
      this.#waitsForPermit = false
      if (isGranted) this.#startAll(true)
    })
  }

  #mayStart(): boolean {
    const next = this.#retries.isClosed ? undefined : this.#chains.peek()
    if (next === undefined || !this.#isInOrder()) return false
    // A record before the last done offset closes a gap of the note, so it must not wait for the note to have room.
    return !this.#isNoteFull || next.record.offset < (this.#tracker.beyond.at(-1)?.to ?? 0n)
  }

  #isInOrder(): boolean {
    if (!this.#isSerial || this.#started.size === 0) return true
    return this.#produceQueue?.isOpen === true && !this.#produceQueue.hasFailed && this.#produces() !== undefined
  }

  #produces(): number | undefined {
    return this.#isSerial ? this.#options.processing.current()?.produces : undefined
  }

  #openSlot(): QueueSlot | undefined {
    if (this.#started.size === 0) this.#produceQueue = undefined
    const count = this.#produces()
    if (count === undefined) return undefined
    this.#produceQueue ??= new ProduceQueue()
    return this.#produceQueue.open(count, this.#run)
  }

  /** Starts the next record, which has a permit. False: it is not done, and no other may start now. */
  #start(): boolean {
    const chained = this.#chains.take()
    if (chained === undefined) return false
    const slot = this.#openSlot()
    let retry: Retry | undefined
    const openRetry = () => {
      retry = this.#retries.open()
      return retry
    }
    let done: boolean | Promise<boolean>
    try {
      done = processRecord(chained.record, this.#options.processing, openRetry, slot)
    } catch (thrown) {
      this.#giveBack(chained, true)
      throw thrown
    }
    if (done === false) {
      this.#giveBack(chained, true)
      return false
    }
    if (done === true) {
      // It waited for nothing, so it sent nothing: its repetition after a crash could not be noticed, and it needs no permit
      // until its commit.
      this.#semaphore.release(1)
      this.#finish(chained, false)
      return true
    }
    this.#started.set(chained, Date.now())
    const end = (isDone: boolean) => this.#end(chained, isDone, slot, retry)
    void done.then(end, (thrown: unknown) => {
      this.#options.onFault(thrown)
      end(false)
    })
    return true
  }

  #end(chained: ChainedRecord, isDone: boolean, slot: QueueSlot | undefined, retry: Retry | undefined): void {
    this.#started.delete(chained)
    retry?.close()
    const hasPermit = retry?.hasPermit ?? true
    if (isDone) {
      this.#finish(chained, hasPermit)
      this.#run()
    } else {
      this.#giveBack(chained, hasPermit)
      // It is not tried yet, and may be the last that the next start waits for.
      if (slot?.isVoid === true) this.#run()
    }
    if (this.#started.size === 0) this.#whenIdle?.()
    if (this.#chains.peek() === undefined || this.#chains.count % RECORDS_PER_ITERATION === 0) this.#options.onRoom()
  }

  #giveBack(chained: ChainedRecord, hasPermit: boolean): void {
    if (hasPermit) this.#semaphore.release(1)
    this.#chains.putBack(chained)
  }

  /** The record is done; it keeps a permit that it has until it is committed. */
  #finish(chained: ChainedRecord, hasPermit: boolean): void {
    const { processing, onTransaction, onProgress, onRoom } = this.#options
    const isCommitted = processing.transactions !== undefined
    this.#chains.finish(chained)
    this.#tracker.add(chained.from, chained.record.offset + 1n)
    if (isCommitted) {
      this.committedOffset = this.#tracker.doneOffset
      this.#committedVersion = this.#tracker.version
      onTransaction?.()
    }
    this.#passEnd()
    onProgress()
    if (this.#chains.count === 0) onRoom()
    if (!hasPermit) return
    if (isCommitted) this.#semaphore.release(1)
    else this.#uncommitted.push({ offset: chained.record.offset, version: this.#tracker.version })
  }

  /** Behind the last record there may be offsets without a record, such as marks of transactions. */
  #passEnd(): void {
    if (this.#chains.count === 0 && !this.#retries.isClosed) this.#tracker.add(this.doneOffset, this.#nextOffset)
  }

  #releaseAll(): void {
    this.#semaphore.release(this.#uncommitted.length)
    this.#uncommitted = []
  }
}

const RUNNING: RecordState = { state: 'running' }

/** The handle of one record. */
type Retry = RecordHandle & {
  hasPermit: boolean
  /** The record is not processed any more: its state does not count, and the caller has its permit. */
  readonly close: () => void
}

/** The records of a partition that did not succeed at once: their states, and their pauses. */
class Retries {
  readonly #semaphore: RecordSemaphore
  readonly #onReport: (state: RecordState) => void
  readonly #closing = new AbortController()
  /** The records that wait or are stopped. */
  readonly #troubled = new Map<Retry, RecordState>()
  readonly #pauses = new Set<() => void>()
  #pausing = 0

  constructor(semaphore: RecordSemaphore, onReport: (state: RecordState) => void) {
    this.#semaphore = semaphore
    this.#onReport = onReport
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  get worst(): RecordState {
    let worst = RUNNING
    for (const state of this.#troubled.values()) if (worst.state !== 'stopped') worst = state
    return worst
  }

  /** Records that wait for their next attempt, or for a change of the endpoint. */
  get pausing(): number {
    return this.#pausing
  }

  /** For a record that has a permit. */
  open(): Retry {
    const { signal } = this.#closing
    const retry: Retry = {
      signal,
      hasPermit: true,
      report: (next) => {
        if (next.state === 'running') this.#troubled.delete(retry)
        else this.#troubled.set(retry, next)
        this.#onReport(next)
      },
      pause: async (timeMs) => {
        if (retry.hasPermit) this.#semaphore.release(1)
        retry.hasPermit = false
        this.#pausing += 1
        await this.#pause(timeMs)
        // Records of this partition may hold all permits until it is closed.
        retry.hasPermit = await this.#semaphore.acquire(signal)
        this.#pausing -= 1
        if (!retry.hasPermit) this.#closing.abort()
        signal.throwIfAborted()
      },
      close: () => void this.#troubled.delete(retry),
    }
    return retry
  }

  /** Ends all pauses. */
  wake(): void {
    for (const end of this.#pauses) end()
  }

  close(): void {
    this.#closing.abort()
    this.wake()
  }

  async #pause(timeMs: number | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = timeMs === undefined ? undefined : setTimeout(resolve, timeMs)
    if (this.isClosed) resolve()
    this.#pauses.add(resolve)
    await promise
    this.#pauses.delete(resolve)
    clearTimeout(timer)
  }
}
