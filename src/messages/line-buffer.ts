/** Lines of text that wait as bytes: what waits as objects is copied by the collector again and again. */
export type Lines = Readonly<{ bytes: Uint8Array; count: number }>

export interface LineBuffer {
  add(line: string): void
  /** The oldest of them, a thousand or so; undefined where there are none. */
  take(): Lines | undefined
  /** What was taken is done with. */
  settle(): void
  /** What was taken waits again. */
  putBack(): void
  /** Drops all that wait; gives how many. */
  clear(): number
  /** Those that were taken included. */
  readonly count: number
  readonly bytes: number
}

const CHUNK_BYTES = 256 * 1024

type Chunk = { readonly buffer: Buffer; used: number; count: number }

/** A character of UTF-16 takes at most three bytes of UTF-8. */
const mostBytes = (line: string): number => line.length * 3

const startChunk = (atLeast: number): Chunk => ({
  buffer: Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, atLeast)),
  used: 0,
  count: 0,
})

export function createLineBuffer(): LineBuffer {
  let full: Chunk[] = []
  let filling = startChunk(0)
  let taken: Chunk | undefined
  let count = 0
  let bytes = 0

  function next(): Chunk | undefined {
    const oldest = full.shift()
    if (oldest !== undefined || filling.count === 0) return oldest
    const chunk = filling
    filling = startChunk(0)
    return chunk
  }

  return {
    add: (line) => {
      if (filling.buffer.length - filling.used < mostBytes(line)) {
        if (filling.count > 0) full.push(filling)
        filling = startChunk(mostBytes(line))
      }
      const size = filling.buffer.write(line, filling.used)
      filling.used += size
      filling.count += 1
      count += 1
      bytes += size
    },
    take: () => {
      taken = next()
      return taken && { bytes: taken.buffer.subarray(0, taken.used), count: taken.count }
    },
    settle: () => {
      if (taken === undefined) return
      count -= taken.count
      bytes -= taken.used
      taken = undefined
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
