/** Starts the records of a partition as their chains and the permits of the endpoint allow, and reports which are done. */

import { createProduceLine, type LineTurn, type ProduceLine } from './order/produce-line.ts'
import type { ChainedRecord, RecordChains } from './order/record-chains.ts'
import type { PartitionControl, RecordHandle } from './partition-handle.ts'
import { type ProcessRecordOptions, processRecord } from './process-record.ts'
import type { RecordSemaphore } from './record-semaphore.ts'

export type RecordRunnerOptions = Readonly<{
  chains: RecordChains
  control: PartitionControl
  semaphore: RecordSemaphore
  processing: ProcessRecordOptions
  /**
   * One record after the other. Where all that the endpoint does is to produce, the next one starts once the produces of the
   * one before are in line.
   */
  isSerial: boolean
  /** Whether this record may start now, as far as the chains and the partition allow. */
  mayStart: (next: ChainedRecord) => boolean
  /** `hasPermit`: the caller gives back the permit of the record when it is committed. */
  onDone: (chained: ChainedRecord, hasPermit: boolean) => void
  /** Called now and then while there is room for more records, and always when none waits to start. */
  onRoom: () => void
  /** Called with a bug; the session cannot continue. */
  onFault: (error: unknown) => void
}>

export interface RecordRunner {
  /** Starts all records that may start. */
  run(): void
  /** Records that are started and not done. */
  readonly count: number
  /** When the oldest of them was started, in milliseconds since the epoch; undefined without one. */
  readonly oldestAt: number | undefined
  /** Resolves when no record is under way any more. */
  whenIdle(): Promise<void>
}

/** After this many records the event loop gets a turn. */
const RECORDS_PER_TURN = 128

export function createRecordRunner(options: RecordRunnerOptions): RecordRunner {
  const { chains, control, semaphore, processing, isSerial, onDone, onRoom, onFault } = options
  /** In the order of their starts, with the time of it. */
  const started = new Map<ChainedRecord, number>()
  let idle: (() => void) | undefined
  let line: ProduceLine | undefined
  let isRunning = false
  let waitsForPermit = false

  const mayStart = (): boolean => {
    const next = control.isClosed ? undefined : chains.peek()
    return next !== undefined && isInOrder() && options.mayStart(next)
  }
  const isInOrder = (): boolean =>
    !isSerial || started.size === 0 || (line?.isOpen === true && !line.hasFailed && produces() !== undefined)
  const produces = () => (isSerial ? processing.current()?.produces : undefined)
  const openTurn = (): LineTurn | undefined => {
    if (started.size === 0) line = undefined
    const count = produces()
    if (count === undefined) return undefined
    line ??= createProduceLine()
    return line.open(count, run)
  }
  const run = () => {
    if (!isRunning && !waitsForPermit) startAll(false)
  }
  /** `hasPermit`: there is a permit for the first record. A record that is handed over while it starts calls `run`. */
  const startAll = (hasPermit: boolean) => {
    isRunning = true
    let granted: boolean | Promise<boolean> = hasPermit
    try {
      for (let count = 1; mayStart(); count += 1) {
        granted ||= semaphore.acquire()
        if (granted instanceof Promise) return runWhenGranted(granted)
        if (!granted) return
        granted = false
        if (!start()) return
        if (count % RECORDS_PER_TURN === 0) {
          onRoom()
          setImmediate(run)
          return
        }
      }
      if (granted === true) semaphore.release(1)
    } catch (thrown) {
      onFault(thrown)
    } finally {
      isRunning = false
    }
  }
  const runWhenGranted = (granted: Promise<boolean>) => {
    waitsForPermit = true
    void granted.then((isGranted) => {
      waitsForPermit = false
      if (isGranted) startAll(true)
    })
  }
  /** Starts the next record, which has a permit. False: it is not done, and no other may start now. */
  const start = (): boolean => {
    const chained = chains.take()
    if (chained === undefined) return false
    const turn = openTurn()
    const openHandle = () => {
      handle = control.open()
      return handle
    }
    let handle: RecordHandle | undefined
    let done: boolean | Promise<boolean>
    try {
      done = processRecord(chained.record, processing, openHandle, turn)
    } catch (thrown) {
      giveBack(chained, true)
      throw thrown
    }
    if (done === false) {
      giveBack(chained, true)
      return false
    }
    if (done === true) {
      // It waited for nothing, so it sent nothing: its repetition after a crash could not be noticed, and it needs no permit
      // until its commit.
      semaphore.release(1)
      onDone(chained, false)
      return true
    }
    started.set(chained, Date.now())
    const end = (isDone: boolean) => finish(chained, isDone, turn, handle)
    void done.then(end, (thrown: unknown) => {
      onFault(thrown)
      end(false)
    })
    return true
  }
  const finish = (
    chained: ChainedRecord,
    isDone: boolean,
    turn: LineTurn | undefined,
    handle: RecordHandle | undefined,
  ): void => {
    started.delete(chained)
    handle?.close()
    const hasPermit = handle?.hasPermit ?? true
    if (isDone) {
      onDone(chained, hasPermit)
      run()
    } else {
      giveBack(chained, hasPermit)
      // It is not tried yet, and may be the last that the next start waits for.
      if (turn?.isVoid === true) run()
    }
    if (started.size === 0) idle?.()
    if (chains.peek() === undefined || chains.count % RECORDS_PER_TURN === 0) onRoom()
  }
  const giveBack = (chained: ChainedRecord, hasPermit: boolean) => {
    if (hasPermit) semaphore.release(1)
    chains.putBack(chained)
  }
  return {
    run,
    get count() {
      return started.size
    },
    get oldestAt() {
      const [oldestAt] = started.values()
      return oldestAt
    },
    whenIdle: async () => {
      if (started.size === 0) return
      await new Promise<void>((resolve) => {
        idle = resolve
      })
    },
  }
}
