/**
 * The queue of the lines of messages that ended done, as bytes. Lines that are queued as strings are copied again and again
 * by the garbage collector: they took 60 MB more under full load (bench/EXPERIMENTS.md).
 */
export type Lines = Readonly<{ bytes: Uint8Array; count: number }>

export interface RecordBuffer {
  add(line: string): void
  /** Gives the oldest lines, a thousand or so; undefined if there are none. They count as queued until `acknowledge`. */
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
const MOST_UNIT_BYTES = 3

/** An upper bound of the bytes of a line in UTF-8. */
export const mostBytesOf = (line: string): number => line.length * MOST_UNIT_BYTES

type Chunk = { readonly buffer: Buffer; start: number; end: number; count: number }

/** Splits two or more lines. */
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
  /** The memory of a chunk that was written: new memory would cost as much as filling it. */
  let spare: Buffer | undefined
  let filling = startChunk(0)
  let taken: Chunk | undefined
  let count = 0
  let bytes = 0

  function startChunk(leastBytes: number): Chunk {
    const isSpareEnough = spare !== undefined && leastBytes <= CHUNK_BYTES
    // Shared, so that the thread that writes the lines gets them without a copy.
    const buffer = isSpareEnough ? spare : Buffer.from(new SharedArrayBuffer(Math.max(CHUNK_BYTES, leastBytes)))
    if (isSpareEnough) spare = undefined
    return { buffer: buffer as Buffer, start: 0, end: 0, count: 0 }
  }

  return {
    add: (line) => {
      const most = mostBytesOf(line)
      if (filling.buffer.length - filling.end < most) {
        if (filling.count > 0) full.push(filling)
        filling = startChunk(most)
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
