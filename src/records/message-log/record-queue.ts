/**
 * The bounded queue of records to write. If it is full, records of messages that ended done or were shed are dropped first.
 * Then, while the store answers, failures may exceed the limits (without their bodies, up to ten times the records and twice
 * the bytes). Beyond that, or while the store does not answer, the oldest failures lose first their bodies and then their
 * records.
 */
import { kindOf } from '../../core/failure-table.ts'
import type { MessageRecord, Recorded, RecordedOutcome } from '../../core/records/message-record.ts'
import { createFifoQueue, type QueueLimits } from './fifo-queue.ts'
import { createRecordBuffer, type Lines, mostBytesOf } from './record-buffer.ts'

export interface RecordQueue {
  push(recorded: Recorded): void
  /** Adds the line (`doneLine`) of a message that ended done. */
  pushDone(line: string): void
  /** Counts a record that is lost without having been queued, or after it was taken. */
  countDropped(outcome: RecordedOutcome): void
  /**
   * Gives failures first, then the others by age; the first even if it exceeds the bytes. All count as queued until
   * `acknowledge`.
   */
  take(limits: QueueLimits): Readonly<{ batch: readonly Recorded[]; bytes: number }>
  /** Gives the oldest lines; undefined if there are none. They count as queued until `acknowledgeDone`. */
  takeDone(): Lines | undefined
  /** Removes the first `count` of the records that `take` gave. */
  acknowledge(count: number): void
  /** Removes `lines`, the first of those that `takeDone` gave. */
  acknowledgeDone(lines: Lines): void
  /** Puts what was taken and not acknowledged back to the front. */
  requeue(): void
  /** Whether the store took the last batch; true at first. */
  readonly isAnswering: boolean
  setAnswering(isAnswering: boolean): void
  readonly size: number
  /** Dropped records by outcome. */
  readonly dropped: Readonly<Record<RecordedOutcome, number>>
}

type Droppable = Pick<MessageRecord, 'outcome' | 'endpointId' | 'code' | 'replayOf' | 'captured'>

type QueuedRecord = Readonly<{ recorded: Recorded; bytes: number }>

/** Estimated sizes in bytes: of a record besides its texts, and of each call or body in it. */
const RECORD_BYTES = 1_000
const PART_BYTES = 120

/** How far failures may exceed the limits while the store answers. */
const FAILURE_RECORDS_FACTOR = 10
const FAILURE_BYTES_FACTOR = 2

/**
 * Whether a record may be dropped before others. That of a replay may not, or the replay would be repeated, and that of a
 * captured message has taken one of few places.
 */
function isDroppable({ outcome, endpointId, code, replayOf, captured }: Droppable): boolean {
  if (outcome === 'done') return replayOf === undefined && !captured
  // Records of shed messages would add to the load.
  return endpointId === undefined || (code !== undefined && kindOf(code).shed !== undefined)
}

export function createRecordQueue(limits: QueueLimits): RecordQueue {
  const failureLimits: QueueLimits = {
    records: limits.records * FAILURE_RECORDS_FACTOR,
    bytes: limits.bytes * FAILURE_BYTES_FACTOR,
  }
  const lines = createRecordBuffer()
  const droppable = createFifoQueue<QueuedRecord>()
  const failures = createFifoQueue<QueuedRecord>()
  const queueOf = ({ recorded }: QueuedRecord) => (isDroppable(recorded.record) ? droppable : failures)
  let isAnswering = true
  const dropped = { done: 0, partial: 0, refused: 0, failed: 0 }

  const size = (): number => failures.count + droppable.count + lines.count
  const isOver = (bytes: number, more: number): boolean => failures.bytes + droppable.bytes + lines.bytes + more > bytes
  const isFull = (more: number, { records, bytes }: QueueLimits): boolean => size() >= records || isOver(bytes, more)

  function drop({ recorded }: QueuedRecord): void {
    dropped[recorded.record.outcome] += 1
  }

  function dropDroppable(): void {
    dropped.done += lines.clear()
    for (const one of droppable.clear()) drop(one)
  }

  /** Makes room for the record if there is none. */
  function pushFailure(whole: QueuedRecord): void {
    const bound = isAnswering ? failureLimits : limits
    let kept = isFull(whole.bytes, isAnswering ? limits : failureLimits) ? withoutBodies(whole) : whole
    while (isOver(bound.bytes, kept.bytes) && failures.changeNext(withoutBodies)) {}
    if (isOver(bound.bytes, kept.bytes)) kept = withoutBodies(kept)
    while (isFull(kept.bytes, bound)) {
      const oldest = failures.shift()
      if (oldest === undefined) break
      drop(oldest)
    }
    if (isFull(kept.bytes, failureLimits)) drop(kept)
    else failures.add(kept)
  }

  return {
    push: (recorded) => {
      const one = { recorded, bytes: sizeOf(recorded) }
      if (!isFull(one.bytes, limits)) return queueOf(one).add(one)
      if (isDroppable(recorded.record)) return drop(one)
      dropDroppable()
      pushFailure(one)
    },
    pushDone: (line) => {
      // An upper bound, because counting the bytes would read each line once more.
      if (isFull(mostBytesOf(line), limits)) dropped.done += 1
      else lines.add(line)
    },
    countDropped: (outcome) => {
      dropped[outcome] += 1
    },
    take: ({ records, bytes }) => {
      const failed = failures.take({ records, bytes }, true)
      const rest = { records: records - failed.length, bytes: bytes - bytesOf(failed) }
      const batch = [...failed, ...droppable.take(rest, failed.length === 0)]
      return { batch: batch.map(({ recorded }) => recorded), bytes: bytesOf(batch) }
    },
    takeDone: lines.take,
    acknowledge: (count) => {
      droppable.acknowledge(count - failures.acknowledge(count))
    },
    acknowledgeDone: lines.acknowledge,
    requeue: () => {
      for (const queue of [failures, droppable, lines]) queue.requeue()
    },
    get isAnswering() {
      return isAnswering
    },
    setAnswering: (answers) => {
      isAnswering = answers
    },
    get size() {
      return size()
    },
    dropped,
  }
}

const bytesOf = (batch: readonly QueuedRecord[]): number => batch.reduce((sum, { bytes }) => sum + bytes, 0)

function sizeOf({ record, bodies }: Recorded): number {
  let bytes = RECORD_BYTES + (record.error?.length ?? 0)
  for (const { target, remark = '' } of record.calls) bytes += PART_BYTES + target.length + remark.length
  for (const { summary, content } of bodies) {
    bytes += PART_BYTES + summary.which.length + summary.contentType.length + content.byteLength
  }
  for (const value of Object.values(record.keys)) {
    for (const one of typeof value === 'string' ? [value] : value) bytes += one.length
  }
  return bytes
}

const NO_BYTES = new Uint8Array()

/** The same record with empty bodies, marked as cut. */
function withoutBodies(one: QueuedRecord): QueuedRecord {
  const { record, bodies } = one.recorded
  if (bodies.length === 0) return one
  const without = bodies.map(({ summary }) => ({ summary: { ...summary, cut: true as const }, content: NO_BYTES }))
  const recorded = { record: { ...record, bodies: without.map(({ summary }) => summary) }, bodies: without }
  return { recorded, bytes: sizeOf(recorded) }
}
