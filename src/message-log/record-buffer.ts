/** Lines of text that wait as bytes: what waits as objects is copied by the collector again and again. */
import { type DoneLine, mostBytes, writeDone } from '../domain/done-records/done-line.ts'

export type Lines = Readonly<{ bytes: Uint8Array; count: number }>

export interface RecordBuffer {
  add(line: DoneLine): void
  /** The oldest of them, a thousand or so; undefined where there are none. */
  take(): Lines | undefined
  /** What was taken is done with, or only these first lines of it. */
  settle(lines?: Lines): void
  /** What was taken waits again. */
  putBack(): void
  /** Drops all that wait; gives how many. */
  clear(): number
  /** Those that were taken included. */
  readonly count: number
  readonly bytes: number
}

const CHUNK_BYTES = 256 * 1024
const LINE_END = 0x0a

type Chunk = { readonly buffer: Buffer; used: number; count: number }

/** Memory that threads share: handing it to the one that writes copies nothing. */
const startChunk = (atLeast: number): Chunk => ({
  buffer: Buffer.from(new SharedArrayBuffer(Math.max(CHUNK_BYTES, atLeast))),
  used: 0,
  count: 0,
})

/** Nothing is added to it any more. */
const startRest = (buffer: Buffer, count: number): Chunk => ({ buffer, used: buffer.length, count })

/** Two parts of several lines, each with at least one. */
export function halvesOf({ bytes, count }: Lines): readonly [Lines, Lines] {
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
  let filling = startChunk(0)
  let taken: Chunk | undefined
  /** A whole chunk that is done with, to be filled again: fresh memory costs as much as writing to it. */
  let spare: Chunk | undefined
  let count = 0
  let bytes = 0

  function next(): Chunk | undefined {
    const oldest = full.shift()
    if (oldest !== undefined || filling.count === 0) return oldest
    const chunk = filling
    filling = begin(0)
    return chunk
  }

  function begin(atLeast: number): Chunk {
    if (spare === undefined || spare.buffer.length < atLeast) return startChunk(atLeast)
    const chunk = spare
    spare = undefined
    return chunk
  }

  return {
    add: (line) => {
      const most = mostBytes(line)
      if (filling.buffer.length - filling.used < most) {
        if (filling.count > 0) full.push(filling)
        filling = begin(most)
      }
      const end = writeDone(line, filling.buffer, filling.used)
      bytes += end - filling.used
      filling.used = end
      filling.count += 1
      count += 1
    },
    take: () => {
      taken = next()
      return taken && { bytes: taken.buffer.subarray(0, taken.used), count: taken.count }
    },
    settle: (lines) => {
      if (taken === undefined) return
      const size = lines?.bytes.byteLength ?? taken.used
      const settled = lines?.count ?? taken.count
      count -= settled
      bytes -= size
      const { buffer, used } = taken
      if (size < used) taken = startRest(buffer.subarray(size, used), taken.count - settled)
      else {
        if (buffer.length === CHUNK_BYTES) spare = { buffer, used: 0, count: 0 }
        taken = undefined
      }
    },
    putBack: () => {
      if (taken !== undefined) full.unshift(taken)
      taken = undefined
    },
    clear: () => {
      const kept = taken?.count ?? 0
      const cleared = count - kept
      if (cleared === 0) return 0
      full = []
      filling = startChunk(0)
      count = kept
      bytes = taken?.used ?? 0
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
