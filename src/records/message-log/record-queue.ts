/**
 * The bounded queue of records to write. If it is full, records of messages that ended done or were shed are dropped first.
 * Then, while the store answers, failures may exceed the limits (without their bodies, up to ten times the records and twice
 * the bytes). Beyond that, or while the store does not answer, the oldest failures lose first their bodies and then their
 * records.
 */
import { kindForCode } from '../../core/failure-table.ts'
import type { MessageRecord, Recorded, RecordedOutcome } from '../../core/records/message-record.ts'
import type { OnRecorded } from '../../inbound/incoming-message.ts'

export interface RecordQueue {
  push(recorded: Recorded, onRecorded?: OnRecorded): void
  /** Adds the line (`doneLine`) of a message that ended done. */
  pushDone(line: string, onRecorded?: OnRecorded): void
  /** Counts a record that is lost without having been queued, or after it was taken. */
  countDropped(outcome: RecordedOutcome): void
  /**
   * Gives failures first, then the others by age; the first even if it exceeds the bytes. All count as queued until
   * `acknowledge`.
   */
  take(limits: QueueLimits): Readonly<{ batch: readonly Recorded[]; bytes: number }>
  /** Gives the oldest lines. They count as queued until `acknowledgeDone`. */
  takeDone(): Lines | undefined
  /** Removes the first `count` of the records that `take` gave: they are stored, unless `isLost`. */
  acknowledge(count: number, isLost?: boolean): void
  /** Removes `lines`, the first of those that `takeDone` gave. */
  acknowledgeDone(lines: Lines, isLost?: boolean): void
  /** Puts what was taken and not acknowledged back to the front. */
  requeue(): void
  /** The store took the last batch; true at first. */
  readonly isAnswering: boolean
  setAnswering(isAnswering: boolean): void
  readonly size: number
  /** A sender waits until a record in the queue is stored. */
  readonly isAwaited: boolean
  /** Dropped records by outcome. */
  readonly dropped: Readonly<Record<RecordedOutcome, number>>
}

type Droppable = Pick<MessageRecord, 'outcome' | 'endpointId' | 'code' | 'replayOf' | 'captured'>

type QueuedRecord = Readonly<{ recorded: Recorded; bytes: number; onRecorded?: OnRecorded | undefined }>

/** Estimated sizes in bytes: of a record besides its texts, and of each call or body in it. */
const RECORD_BYTES = 1_000
const PART_BYTES = 120

/** How far failures may exceed the limits while the store answers. */
const FAILURE_RECORDS_FACTOR = 10
const FAILURE_BYTES_FACTOR = 2

/**
 * True if a record may be dropped before others. That of a replay may not, or the replay would be repeated, and that of a
 * captured message has taken one of few places.
 */
function isDroppable({ outcome, endpointId, code, replayOf, captured }: Droppable): boolean {
  if (outcome === 'done') return replayOf === undefined && !captured
  // Records of shed messages would add to the load.
  return endpointId === undefined || (code !== undefined && kindForCode(code).shed !== undefined)
}

export function createRecordQueue(limits: QueueLimits): RecordQueue {
  const failureLimits: QueueLimits = {
    records: limits.records * FAILURE_RECORDS_FACTOR,
    bytes: limits.bytes * FAILURE_BYTES_FACTOR,
  }
  const lines = createRecordBuffer()
  const droppable = createFifoQueue<QueuedRecord>()
  const failures = createFifoQueue<QueuedRecord>()
  const queueFor = ({ recorded }: QueuedRecord) => (isDroppable(recorded.record) ? droppable : failures)
  let isAnswering = true
  let awaited = 0
  /** Of lines, by their numbers since the start, in their order. */
  let awaitedLines: Readonly<{ number: number; onRecorded: OnRecorded }>[] = []
  let endedLines = 0
  const dropped = { done: 0, partial: 0, refused: 0, failed: 0 }

  function end(onRecorded: OnRecorded | undefined, isLost: boolean): void {
    if (onRecorded === undefined) return
    awaited -= 1
    onRecorded(isLost)
  }

  function endLines(are: (number: number) => boolean, isLost: boolean): void {
    if (awaitedLines.length === 0) return
    const ended = awaitedLines.filter(({ number }) => are(number))
    awaitedLines = awaitedLines.filter(({ number }) => !are(number))
    for (const { onRecorded } of ended) end(onRecorded, isLost)
  }

  const size = (): number => failures.count + droppable.count + lines.count
  const isOver = (bytes: number, more: number): boolean => failures.bytes + droppable.bytes + lines.bytes + more > bytes
  const isFull = (more: number, { records, bytes }: QueueLimits): boolean => size() >= records || isOver(bytes, more)

  function drop({ recorded, onRecorded }: QueuedRecord): void {
    dropped[recorded.record.outcome] += 1
    end(onRecorded, true)
  }

  function dropDroppable(): void {
    dropped.done += lines.clear()
    endLines((number) => number >= endedLines + lines.count, true)
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
    push: (recorded, onRecorded) => {
      const one = { recorded, bytes: estimateBytes(recorded), onRecorded }
      if (onRecorded !== undefined) awaited += 1
      if (!isFull(one.bytes, limits)) return queueFor(one).add(one)
      if (isDroppable(recorded.record)) return drop(one)
      dropDroppable()
      pushFailure(one)
    },
    pushDone: (line, onRecorded) => {
      // An upper bound, because counting the bytes would read each line once more.
      if (isFull(maxUtf8Bytes(line), limits)) {
        dropped.done += 1
        onRecorded?.(true)
        return
      }
      if (onRecorded !== undefined) {
        awaited += 1
        awaitedLines.push({ number: endedLines + lines.count, onRecorded })
      }
      lines.add(line)
    },
    countDropped: (outcome) => {
      dropped[outcome] += 1
    },
    take: ({ records, bytes }) => {
      const failed = failures.take({ records, bytes }, true)
      const rest = { records: records - failed.length, bytes: bytes - totalBytes(failed) }
      const batch = [...failed, ...droppable.take(rest, failed.length === 0)]
      return { batch: batch.map(({ recorded }) => recorded), bytes: totalBytes(batch) }
    },
    takeDone: lines.take,
    acknowledge: (count, isLost = false) => {
      const failed = failures.acknowledge(count)
      const others = droppable.acknowledge(count - failed.length)
      for (const { onRecorded } of [...failed, ...others]) end(onRecorded, isLost)
    },
    acknowledgeDone: (written, isLost = false) => {
      lines.acknowledge(written)
      endedLines += written.count
      endLines((number) => number < endedLines, isLost)
    },
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
    get isAwaited() {
      return awaited > 0
    },
    dropped,
  }
}

const totalBytes = (batch: readonly QueuedRecord[]): number => batch.reduce((sum, { bytes }) => sum + bytes, 0)

function estimateBytes({ record, bodies }: Recorded): number {
  let bytes = RECORD_BYTES + (record.error?.length ?? 0)
  for (const { code } of record.missed ?? []) bytes += PART_BYTES + code.length
  for (const { target, remark = '', token } of record.calls) {
    bytes += PART_BYTES + target.length + remark.length + (token?.from.length ?? 0)
  }
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
  return { ...one, recorded, bytes: estimateBytes(recorded) }
}

/**
 * A queue that knows its size. A writer takes the oldest items, and acknowledges them once they are written or puts them
 * back. Every operation on the oldest items costs the same however long the queue is.
 */
export type QueueLimits = Readonly<{ records: number; bytes: number }>

interface FifoQueue<Item extends Readonly<{ bytes: number }>> {
  add(item: Item): void
  /** Removes the oldest item that is not taken. */
  shift(): Item | undefined
  /** Gives the oldest items within the limits. `firstExceeds`: the first is given even if it exceeds the bytes. */
  take(limits: QueueLimits, firstExceeds: boolean): readonly Item[]
  /** Removes and gives the first `count` of the taken items, as many as there are. */
  acknowledge(count: number): readonly Item[]
  /** Puts the taken items back to the front. */
  requeue(): void
  /** Replaces the oldest item that was not replaced before; false if there is none. */
  changeNext(change: (item: Item) => Item): boolean
  /** Removes and gives all items that are not taken. */
  clear(): readonly Item[]
  /** Taken items included, as in `bytes`. */
  readonly count: number
  readonly bytes: number
}

/** Removed items leave holes at the front of the array, which is cut when it has at least so many. */
const MAX_HOLES = 1_024

export function createFifoQueue<Item extends Readonly<{ bytes: number }>>(): FifoQueue<Item> {
  let items: (Item | undefined)[] = []
  let taken: readonly Item[] = []
  let first = 0
  let unchanged = 0
  let bytes = 0

  function cutHoles(): void {
    if (first < MAX_HOLES || first * 2 < items.length) return
    items = items.slice(first)
    unchanged = Math.max(0, unchanged - first)
    first = 0
  }

  /** The bytes of the item stay counted. */
  function removeOldest(): Item | undefined {
    const item = items[first]
    if (item === undefined) return undefined
    items[first] = undefined
    first += 1
    cutHoles()
    return item
  }

  return {
    add: (item) => {
      items.push(item)
      bytes += item.bytes
    },
    shift: () => {
      const item = removeOldest()
      bytes -= item?.bytes ?? 0
      return item
    },
    take: (limits, firstExceeds) => {
      const oldest: Item[] = []
      let room = limits.bytes
      for (let next = items[first]; next !== undefined && oldest.length < limits.records; next = items[first]) {
        if (next.bytes > room && !(firstExceeds && oldest.length === 0)) break
        room -= next.bytes
        oldest.push(next)
        removeOldest()
      }
      taken = oldest
      return oldest
    },
    acknowledge: (count) => {
      const removed = taken.slice(0, count)
      taken = taken.slice(count)
      for (const item of removed) bytes -= item.bytes
      return removed
    },
    requeue: () => {
      items = [...taken, ...items.slice(first)]
      taken = []
      first = 0
      unchanged = 0
    },
    changeNext: (change) => {
      const at = Math.max(unchanged, first)
      const item = items[at]
      if (item === undefined) return false
      const changed = change(item)
      items[at] = changed
      bytes += changed.bytes - item.bytes
      unchanged = at + 1
      return true
    },
    clear: () => {
      const cleared = items.slice(first) as Item[]
      items = []
      first = 0
      unchanged = 0
      bytes = 0
      for (const item of taken) bytes += item.bytes
      return cleared
    },
    get count() {
      return items.length - first + taken.length
    },
    get bytes() {
      return bytes
    },
  }
}

/**
 * The queue of the lines of messages that ended done, as bytes. Lines that are queued as strings are copied again and again
 * by the garbage collector: they took 60 MB more under full load (bench/EXPERIMENTS.md).
 */
export type Lines = Readonly<{ bytes: Uint8Array; count: number }>

interface RecordBuffer {
  add(line: string): void
  /** Gives the oldest lines, a thousand or so. They count as queued until `acknowledge`. */
  take(): Lines | undefined
  /** Removes `lines`, the first of those that were taken. */
  acknowledge(lines: Lines): void
  /** Puts what was taken and not acknowledged back to the front. */
  requeue(): void
  /** Removes all lines that are not taken; gives how many. */
  clear(): number
  /** Taken lines included, as in `bytes`. */
  readonly count: number
  readonly bytes: number
}

const CHUNK_BYTES = 256 * 1024
const LINE_END = 0x0a

/** In UTF-8, of a code unit of a string. */
const MAX_UNIT_BYTES = 3

/** An upper bound of the bytes of a line in UTF-8. */
const maxUtf8Bytes = (line: string): number => line.length * MAX_UNIT_BYTES

type Chunk = { readonly buffer: Buffer; start: number; end: number; count: number }

/** Splits two or more lines. */
export function splitInHalf({ bytes, count }: Lines): readonly [Lines, Lines] {
  const first = Math.floor(count / 2)
  let end = 0
  for (let line = 0; line < first; line += 1) end = bytes.indexOf(LINE_END, end) + 1
  return [
    { bytes: bytes.subarray(0, end), count: first },
    { bytes: bytes.subarray(end), count: count - first },
  ]
}

export function createRecordBuffer(): RecordBuffer {
  let full: Chunk[] = []
  /** The memory of a chunk that was written: new memory would cost as much as filling it. */
  let spare: Buffer | undefined
  let filling = startChunk(0)
  let taken: Chunk | undefined
  let count = 0
  let bytes = 0

  function startChunk(minBytes: number): Chunk {
    const isSpareEnough = spare !== undefined && minBytes <= CHUNK_BYTES
    // Shared, so that the thread that writes the lines gets them without a copy.
    const buffer = isSpareEnough ? spare : Buffer.from(new SharedArrayBuffer(Math.max(CHUNK_BYTES, minBytes)))
    if (isSpareEnough) spare = undefined
    return { buffer: buffer as Buffer, start: 0, end: 0, count: 0 }
  }

  return {
    add: (line) => {
      const max = maxUtf8Bytes(line)
      if (filling.buffer.length - filling.end < max) {
        if (filling.count > 0) full.push(filling)
        filling = startChunk(max)
      }
      const size = filling.buffer.write(line, filling.end)
      filling.end += size
      filling.count += 1
      bytes += size
      count += 1
    },
    take: () => {
      taken = full.shift()
      if (taken === undefined && filling.count > 0) {
        taken = filling
        filling = startChunk(0)
      }
      return taken && { bytes: taken.buffer.subarray(taken.start, taken.end), count: taken.count }
    },
    acknowledge: (lines) => {
      if (taken === undefined) return
      count -= lines.count
      bytes -= lines.bytes.byteLength
      taken.start += lines.bytes.byteLength
      taken.count -= lines.count
      if (taken.count > 0) return
      if (taken.buffer.length === CHUNK_BYTES) spare = taken.buffer
      taken = undefined
    },
    requeue: () => {
      if (taken !== undefined) full.unshift(taken)
      taken = undefined
    },
    clear: () => {
      const cleared = count - (taken?.count ?? 0)
      if (cleared === 0) return 0
      full = []
      filling = startChunk(0)
      count -= cleared
      bytes = taken === undefined ? 0 : taken.end - taken.start
      return cleared
    },
    get count() {
      return count
    },
    get bytes() {
      return bytes
    },
  }
}
