/**
 * Records that wait to be written, bounded. Where they are too many, those of messages that ended done or were turned away
 * go first. Those of failures are held beyond that as long as the store answers, without their bodies, up to a bound of
 * their own; from there on, and where the store does not answer, the oldest go for newer ones: their bodies, then they.
 */
import { type DoneLine, mostBytes } from '../domain/done-records/done-line.ts'
import { kindOf } from '../domain/failure-table.ts'
import type { MessageRecord, Recorded, RecordedOutcome } from '../domain/message-record.ts'
import { createFifoQueue } from './fifo-queue.ts'
import { createRecordBuffer, type Lines } from './record-buffer.ts'

export type QueueLimits = Readonly<{ records: number; bytes: number }>

export interface RecordQueue {
  push(recorded: Recorded): void
  /** The record of a message that ended done. */
  pushDone(line: DoneLine): void
  /** Counts a record that is lost without having waited, or was taken in vain. */
  giveUp(outcome: RecordedOutcome): void
  /** Failures first, then by age; at most so many and about so many bytes; they count as waiting until `settle`. */
  take(records: number, bytes: number): Readonly<{ batch: readonly Recorded[]; bytes: number }>
  /** Some of the lines, the oldest; undefined where there are none. They count as `take`'s. */
  takeDone(): Lines | undefined
  /** What was taken is done with: of `take`'s batch only the first `records` where that is given. */
  settle(records?: number): void
  /** The same of the lines, where `lines` are the first of them. */
  settleDone(lines: Lines): void
  /** What was taken waits again. */
  putBack(): void
  /** Whether the store took the last batch; true at first. */
  readonly answering: boolean
  setAnswering(answering: boolean): void
  readonly size: number
  /** Records given up, by outcome. */
  readonly dropped: Readonly<Record<RecordedOutcome, number>>
}

type Waiting = Readonly<{ recorded: Recorded; bytes: number }>

/** What a record takes, about, besides what it has of its own length; and each call or body in it. */
const RECORD_BYTES = 1_000
const PART_BYTES = 120

/** How far failures may go beyond the limits while the store answers. */
const MORE_RECORDS = 10
const MORE_BYTES = 2

/**
 * Whether its record may be given up before others: nobody will ask why it failed. What a replay did must be known, or it
 * would be done again.
 */
export function isDroppable({
  outcome,
  endpointId,
  code,
  replayOf,
}: Pick<MessageRecord, 'outcome' | 'endpointId' | 'code' | 'replayOf'>): boolean {
  if (outcome === 'done') return replayOf === undefined
  // Records of shed messages would add to the load.
  return endpointId === undefined || (code !== undefined && kindOf(code).shed !== undefined)
}

export function createRecordQueue(limits: QueueLimits): RecordQueue {
  const most: QueueLimits = { records: limits.records * MORE_RECORDS, bytes: limits.bytes * MORE_BYTES }
  const done = createRecordBuffer()
  const droppable = createFifoQueue<Waiting>()
  const failures = createFifoQueue<Waiting>()
  const listOf = ({ recorded }: Waiting) => (isDroppable(recorded.record) ? droppable : failures)
  let taken: readonly Waiting[] = []
  let takenBytes = 0
  let answering = true
  const dropped = { done: 0, partial: 0, refused: 0, failed: 0 }

  const size = (): number => failures.count + droppable.count + taken.length + done.count
  const isOver = (bytes: number, more: number): boolean =>
    failures.bytes + droppable.bytes + takenBytes + done.bytes + more > bytes
  const isFull = (more: number, { records, bytes }: QueueLimits): boolean => size() >= records || isOver(bytes, more)

  function drop({ recorded }: Waiting): void {
    dropped[recorded.record.outcome] += 1
  }

  function dropDroppable(): void {
    dropped.done += done.clear()
    for (const one of droppable.clear()) drop(one)
  }

  /** Makes room for it where there is none. */
  function pushFailure(whole: Waiting): void {
    const bound = answering ? most : limits
    let held = isFull(whole.bytes, answering ? limits : most) ? emptied(whole) : whole
    while (isOver(bound.bytes, held.bytes) && failures.changeNext(emptied)) {}
    if (isOver(bound.bytes, held.bytes)) held = emptied(held)
    while (isFull(held.bytes, bound) && failures.oldest !== undefined) drop(failures.shift() as Waiting)
    if (isFull(held.bytes, most)) drop(held)
    else failures.add(held)
  }

  return {
    push: (recorded) => {
      const one = { recorded, bytes: sizeOf(recorded) }
      if (!isFull(one.bytes, limits)) return listOf(one).add(one)
      if (isDroppable(recorded.record)) return drop(one)
      dropDroppable()
      pushFailure(one)
    },
    pushDone: (line) => {
      if (isFull(mostBytes(line), limits)) dropped.done += 1
      else done.add(line)
    },
    takeDone: done.take,
    giveUp: (outcome) => {
      dropped[outcome] += 1
    },
    take: (records, bytes) => {
      const batch: Waiting[] = []
      for (const list of [failures, droppable]) {
        while (list.oldest !== undefined && batch.length < records) {
          if (batch.length > 0 && takenBytes + list.oldest.bytes > bytes) break
          takenBytes += list.oldest.bytes
          batch.push(list.shift() as Waiting)
        }
      }
      taken = batch
      return { batch: batch.map(({ recorded }) => recorded), bytes: takenBytes }
    },
    settle: (records) => {
      for (const { bytes } of taken.slice(0, records)) takenBytes -= bytes
      taken = records === undefined ? [] : taken.slice(records)
      if (records === undefined) done.settle()
    },
    settleDone: done.settle,
    putBack: () => {
      for (const list of [failures, droppable]) list.putBack(taken.filter((one) => listOf(one) === list))
      taken = []
      takenBytes = 0
      done.putBack()
    },
    get answering() {
      return answering
    },
    setAnswering: (answers) => {
      answering = answers
    },
    get size() {
      return size()
    },
    dropped,
  }
}

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

const NOTHING = new Uint8Array()

/** What became of a message is told even where there is no room for its bodies. */
function emptied(one: Waiting): Waiting {
  const { record, bodies } = one.recorded
  if (bodies.length === 0) return one
  const without = bodies.map(({ summary }) => ({ summary: { ...summary, cut: true as const }, content: NOTHING }))
  const recorded = { record: { ...record, bodies: without.map(({ summary }) => summary) }, bodies: without }
  return { recorded, bytes: sizeOf(recorded) }
}
