/**
 * Records that wait to be written, bounded. Where they are too many, those of messages that ended done go first. Those of
 * failures are held as long as the store answers, without their bodies where there is no room for them; only where it does
 * not answer are the oldest given up for newer ones.
 */
import type { Recorded, RecordedOutcome } from '../domain/message-record.ts'

import { createLineBuffer, type Lines } from './line-buffer.ts'

export type QueueLimits = Readonly<{ records: number; bytes: number }>

export interface RecordQueue {
  push(recorded: Recorded): void
  /** A record as a line of `doneLine`. */
  pushDone(line: string): void
  /** Counts a record that was never made. */
  giveUp(outcome: RecordedOutcome): void
  /** The oldest, at most so many and about so many bytes; they count as waiting until `settle`. */
  take(records: number, bytes: number): Readonly<{ batch: readonly Recorded[]; bytes: number }>
  /** Some of the lines, the oldest; undefined where there are none. They count as `take`'s. */
  takeDone(): Lines | undefined
  /** What was taken is done with. */
  settle(): void
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

/** What a record takes besides its bodies, about. */
const RECORD_BYTES = 1_000

/** Whether its record may be given up while the store answers: nobody will ask why it failed. */
const isDroppable = ({ record }: Recorded): boolean => record.outcome === 'done' || record.endpointId === undefined

export function createRecordQueue(limits: QueueLimits): RecordQueue {
  const done = createLineBuffer()
  let waiting: Waiting[] = []
  let taken: readonly Waiting[] = []
  let bytes = 0
  let answering = true
  const dropped = { done: 0, partial: 0, refused: 0, failed: 0 }

  const isFull = (more: number): boolean =>
    waiting.length + taken.length + done.count >= limits.records || bytes + done.bytes + more > limits.bytes

  function drop({ recorded, bytes: size }: Waiting): void {
    bytes -= size
    dropped[recorded.record.outcome] += 1
  }

  /** All at once: to look for the oldest of them with each failure would take longer with each. */
  function dropDroppable(): void {
    dropped.done += done.clear()
    const held: Waiting[] = []
    for (const one of waiting) {
      if (isDroppable(one.recorded)) drop(one)
      else held.push(one)
    }
    waiting = held
  }

  function add(recorded: Recorded): void {
    const size = sizeOf(recorded)
    waiting.push({ recorded, bytes: size })
    bytes += size
  }

  return {
    push: (recorded) => {
      const size = sizeOf(recorded)
      if (!isFull(size)) return add(recorded)
      if (isDroppable(recorded)) {
        dropped[recorded.record.outcome] += 1
        return
      }
      dropDroppable()
      while (!answering && isFull(size) && waiting.length > 0) drop(waiting.shift() as Waiting)
      add(isFull(size) ? withoutContents(recorded) : recorded)
    },
    pushDone: (line) => {
      if (isFull(line.length)) dropped.done += 1
      else done.add(line)
    },
    takeDone: done.take,
    giveUp: (outcome) => {
      dropped[outcome] += 1
    },
    take: (records, most) => {
      let count = 0
      let sum = 0
      while (count < Math.min(records, waiting.length)) {
        const next = (waiting[count] as Waiting).bytes
        if (count > 0 && sum + next > most) break
        sum += next
        count += 1
      }
      taken = waiting.splice(0, count)
      return { batch: taken.map(({ recorded }) => recorded), bytes: sum }
    },
    settle: () => {
      for (const one of taken) bytes -= one.bytes
      taken = []
      done.settle()
    },
    putBack: () => {
      waiting = [...taken, ...waiting]
      taken = []
      done.putBack()
    },
    get answering() {
      return answering
    },
    setAnswering: (answers) => {
      answering = answers
    },
    get size() {
      return waiting.length + taken.length + done.count
    },
    dropped,
  }
}

const sizeOf = ({ bodies }: Recorded): number =>
  bodies.reduce((sum, { content }) => sum + content.byteLength, RECORD_BYTES)

const NOTHING = new Uint8Array()

/** What became of a message is told even where there is no room for its bodies. */
function withoutContents({ record, bodies }: Recorded): Recorded {
  const emptied = bodies.map(({ summary }) => ({ summary: { ...summary, cut: true as const }, content: NOTHING }))
  return { record: { ...record, bodies: emptied.map(({ summary }) => summary) }, bodies: emptied }
}
