/**
 * Which offsets of a partition are done, and their commits: everything before the first offset that is not done, with a note
 * of what is done beyond it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { ConsumerSession } from './record-consumer.ts'

/** The offsets from `from` to `to` - 1. */
export type OffsetRange = Readonly<{ from: bigint; to: bigint }>

/**
 * The done offsets of a partition whose records finish in any order. The gaps between the ranges are records that are not done,
 * so there are never more ranges than such records.
 */
export class OffsetTracker {
  #doneOffset: bigint
  #beyond: OffsetRange[]
  #version = 0

  constructor(start: bigint, beyond: readonly OffsetRange[] = []) {
    this.#doneOffset = start
    this.#beyond = [...beyond]
  }

  /** The first offset that is not done. */
  get doneOffset(): bigint {
    return this.#doneOffset
  }

  /** The done ranges beyond `doneOffset`: ascending, and not adjacent. */
  get beyond(): readonly OffsetRange[] {
    return this.#beyond
  }

  /** Grows with each change. */
  get version(): number {
    return this.#version
  }

  isDone(offset: bigint): boolean {
    if (offset < this.#doneOffset) return true
    const range = this.#beyond[this.#indexAt(offset + 1n)]
    return range !== undefined && range.from <= offset
  }

  /** The offsets from `from` to `to` - 1 are done; some of them may be so already. */
  add(from: bigint, to: bigint): void {
    if (to <= this.#doneOffset || from >= to) return
    this.#version += 1
    const ranges = this.#beyond
    if (from <= this.#doneOffset) {
      this.#doneOffset = to
      while (ranges[0] !== undefined && ranges[0].from <= this.#doneOffset) {
        const { to: end } = ranges.shift() as OffsetRange
        if (end > this.#doneOffset) this.#doneOffset = end
      }
      return
    }
    const first = this.#indexAt(from)
    let last = first
    let merged: OffsetRange = { from, to }
    for (let next = ranges[last]; next !== undefined && next.from <= merged.to; next = ranges[last]) {
      merged = {
        from: next.from < merged.from ? next.from : merged.from,
        to: next.to > merged.to ? next.to : merged.to,
      }
      last += 1
    }
    ranges.splice(first, last - first, merged)
  }

  /** Starts at another offset, with nothing done beyond it. */
  moveTo(offset: bigint): void {
    this.#version += 1
    this.#doneOffset = offset
    this.#beyond = []
  }

  /** Nothing from `end` on is done: the log ends there. */
  forgetFrom(end: bigint): void {
    const last = this.#beyond.at(-1)
    if (last === undefined || last.to <= end) return
    this.#version += 1
    this.#beyond = this.#beyond
      .filter(({ from }) => from < end)
      .map(({ from, to }) => ({ from, to: to < end ? to : end }))
  }

  /** The index of the first range that ends at or behind the offset. */
  #indexAt(offset: bigint): number {
    let [low, high] = [0, this.#beyond.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#beyond[middle] as OffsetRange).to < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Brokers take 4,096 bytes (`offset.metadata.max.bytes`); the adapter of the broker adds some of its own. */
export const NOTE_CHARACTERS = 4_000

/** A text of another program or version, or for another offset, gives no ranges: then its records are processed again. */
const VERSION = '1'
const CHECKSUM_BYTES = 4
/** Of the binary form, whose base64 is a third longer. */
const MAX_NOTE_BYTES = Math.floor(((NOTE_CHARACTERS - VERSION.length) * 3) / 4) - CHECKSUM_BYTES
/** No range is longer. */
const MAX_LENGTH = 1n << 53n

type CommitNote = Readonly<{
  /** At most NOTE_CHARACTERS of ASCII; empty where there are no ranges. */
  text: string
  /** All that is done before this offset is in the note; undefined if all of it is. */
  coveredTo: bigint | undefined
  /** How much of the room is used, from 0 to 1. */
  fill: number
}>

/** In: ranges beyond `offset`, ascending and not adjacent. Those that do not fit are left out, the highest first. */
export function writeNote(offset: bigint, ranges: readonly OffsetRange[]): CommitNote {
  if (ranges.length === 0) return { text: '', coveredTo: undefined, fill: 0 }
  const bytes: number[] = []
  let end = offset
  let coveredTo: bigint | undefined
  for (const { from, to } of ranges) {
    const before = bytes.length
    pushLength(bytes, from - end)
    pushLength(bytes, to - from)
    if (bytes.length > MAX_NOTE_BYTES) {
      bytes.length = before
      coveredTo = from
      break
    }
    end = to
  }
  const lengths = Buffer.from(bytes)
  const text = VERSION + Buffer.concat([checksum(offset, lengths), lengths]).toString('base64url')
  return { text, coveredTo, fill: coveredTo === undefined ? bytes.length / MAX_NOTE_BYTES : 1 }
}

/** The ranges of the note that was committed with `offset`; none if the text is not such a note. */
export function readNote(offset: bigint, text: string): readonly OffsetRange[] {
  if (!text.startsWith(VERSION) || text.length > NOTE_CHARACTERS) return []
  const bytes = Buffer.from(text.slice(VERSION.length), 'base64url')
  const lengths = bytes.subarray(CHECKSUM_BYTES)
  if (lengths.length === 0 || !checksum(offset, lengths).equals(bytes.subarray(0, CHECKSUM_BYTES))) return []
  const read = readLengths(lengths)
  const ranges: OffsetRange[] = []
  let end = offset
  for (let index = 0; index < read.length; index += 2) {
    const [gap, done] = [read[index], read[index + 1]]
    if (gap === undefined || done === undefined) return []
    ranges.push({ from: end + gap, to: end + gap + done })
    end += gap + done
  }
  return ranges
}

/** Seven bits in each byte, the lowest first; all bytes but the last have the eighth bit. */
function pushLength(bytes: number[], length: bigint): void {
  let rest = length
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
}

/** The lengths, from 1 to MAX_LENGTH; none if the bytes are not all such lengths. */
function readLengths(bytes: Buffer): readonly bigint[] {
  const lengths: bigint[] = []
  let length = 0n
  let shift = 0n
  for (const byte of bytes) {
    if (shift > 56n) return []
    length |= BigInt(byte & 0x7f) << shift
    shift += 7n
    if (byte >= 0x80) continue
    if (length === 0n || length > MAX_LENGTH) return []
    lengths.push(length)
    length = 0n
    shift = 0n
  }
  return shift === 0n ? lengths : []
}

/** Covers the offset as well: a tool that moves the offset of a group may keep its note. */
function checksum(offset: bigint, lengths: Buffer): Buffer {
  const sum = Buffer.alloc(CHECKSUM_BYTES)
  sum.writeUInt32BE(crc32(lengths, crc32(String(offset))))
  return sum
}

/** What can be committed of a partition now. */
export type CommitSnapshot = Readonly<{ offset: bigint; note: CommitNote; version: number }>

/** A partition with offsets to commit. */
interface Committable {
  readonly partition: number
  /** Something is done that is not committed. */
  readonly isDue: boolean
  snapshot(): CommitSnapshot
  committed(snapshot: CommitSnapshot): void
}

type OffsetCommitsOptions = Readonly<{
  commit: ConsumerSession['commit']
  /** The assigned partitions. */
  queues: () => Iterable<Committable>
  isStopping: () => boolean
  onCommitted: () => void
  /** A commit failed and is retried. */
  onTrouble: (error: unknown) => void
  /** The retries are used up, or the session stops. */
  onEnd: (error: unknown) => void
}>

const RETRY_MS = 250
const MAX_FAILURES = 20

/** Commits the offsets of a session: one commit at a time, each with all that is done by then. */
export class OffsetCommits {
  readonly #options: OffsetCommitsOptions
  #assignment = 0
  /** The group has moved on, so that nothing can be committed until the next assignment. */
  #isFenced = false
  #isDiscarded = false
  #committing: Promise<void> | undefined

  constructor(options: OffsetCommitsOptions) {
    this.#options = options
  }

  /** Commits in a later iteration of the event loop. */
  schedule(): void {
    if (this.#isFenced || this.#isDiscarded) return
    this.#committing ??= new Promise<void>((next) => setImmediate(next))
      .then(() => this.#commitDue())
      .finally(() => {
        this.#committing = undefined
        if (!this.#options.isStopping() && this.#due().length > 0) this.schedule()
      })
  }

  /** Commits all that is done; resolves when it is committed or cannot be. */
  async flush(): Promise<void> {
    await this.#committing
    await this.#commitDue()
  }

  /** Partitions were revoked: from now on, commits are made for a new assignment. */
  onRevoked(): void {
    this.#assignment += 1
    this.#isFenced = false
  }

  /** Commits nothing any more: the offsets are of a topic that was deleted. */
  discard(): void {
    this.#isDiscarded = true
  }

  #due(): readonly Committable[] {
    return [...this.#options.queues()].filter(({ isDue }) => isDue)
  }

  async #commitDue(): Promise<void> {
    const { commit, isStopping, onCommitted, onTrouble, onEnd } = this.#options
    let failures = 0
    for (let due = this.#due(); due.length > 0 && !this.#isFenced && !this.#isDiscarded; due = this.#due()) {
      const snapshots = due.map((queue) => [queue, queue.snapshot()] as const)
      const assignment = this.#assignment
      try {
        const outcome = await commit(
          new Map(snapshots.map(([{ partition }, { offset, note }]) => [partition, { offset, note: note.text }])),
        )
        if (outcome === 'fenced') {
          this.#isFenced = assignment === this.#assignment
          continue
        }
        for (const [queue, snapshot] of snapshots) queue.committed(snapshot)
        if (this.#isDiscarded) return
        failures = 0
        onCommitted()
      } catch (error) {
        failures += 1
        onTrouble(error)
        if (failures > MAX_FAILURES || isStopping()) return onEnd(error)
        await sleep(RETRY_MS)
      }
    }
  }
}
