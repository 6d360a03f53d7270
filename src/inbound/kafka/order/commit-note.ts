/**
 * The done ranges beyond a committed offset, as the text that is committed with it. A text that was written by another
 * program, another version or for another offset gives no ranges: then the records are processed again, and none is skipped.
 */
import { crc32 } from 'node:zlib'
import type { OffsetRange } from './offset-tracker.ts'

/** Brokers take 4,096 bytes (`offset.metadata.max.bytes`); the adapter of the broker adds some of its own. */
export const NOTE_CHARACTERS = 4_000

const VERSION = '1'
const CHECKSUM_BYTES = 4
/** Of the binary form, whose base64 is a third longer. */
const MOST_BYTES = Math.floor(((NOTE_CHARACTERS - VERSION.length) * 3) / 4) - CHECKSUM_BYTES
/** Lengths above this are no lengths of ranges. */
const LONGEST = 1n << 53n

export type CommitNote = Readonly<{
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
    if (bytes.length > MOST_BYTES) {
      bytes.length = before
      coveredTo = from
      break
    }
    end = to
  }
  const lengths = Buffer.from(bytes)
  const text = VERSION + Buffer.concat([checksum(offset, lengths), lengths]).toString('base64url')
  return { text, coveredTo, fill: coveredTo === undefined ? bytes.length / MOST_BYTES : 1 }
}

/** The ranges of the note that was committed with `offset`; none if the text is not such a note. */
export function readNote(offset: bigint, text: string): readonly OffsetRange[] {
  if (!text.startsWith(VERSION) || text.length > NOTE_CHARACTERS) return []
  const bytes = Buffer.from(text.slice(VERSION.length), 'base64url')
  const lengths = bytes.subarray(CHECKSUM_BYTES)
  if (lengths.length === 0 || !checksum(offset, lengths).equals(bytes.subarray(0, CHECKSUM_BYTES))) return []
  const ranges: OffsetRange[] = []
  const read = lengthReader(lengths)
  let end = offset
  while (!read.isAtEnd()) {
    const [gap, done] = [read.next(), read.next()]
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

/** `next`: a length from 1 to LONGEST; undefined if there is none. */
function lengthReader(bytes: Buffer): { next: () => bigint | undefined; isAtEnd: () => boolean } {
  let index = 0
  const next = (): bigint | undefined => {
    let length = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[index]
      index += 1
      if (byte === undefined || shift > 56n) return undefined
      length |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return length > 0n && length <= LONGEST ? length : undefined
    }
  }
  return { next, isAtEnd: () => index >= bytes.length }
}

/** Covers the offset as well: a tool that moves the offset of a group may keep its note. */
function checksum(offset: bigint, lengths: Buffer): Buffer {
  const sum = Buffer.alloc(CHECKSUM_BYTES)
  sum.writeUInt32BE(crc32(lengths, crc32(String(offset))))
  return sum
}
