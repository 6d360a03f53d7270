/**
 * Standard output for the log: lines that come close together are written together, since each write is a call of the
 * system that takes as long as a part of a message.
 */
import { writeSync } from 'node:fs'

/** How long a line waits at most for others, and how many bytes of them wait at most: as many as a pipe holds. */
const WAIT_MS = 250
const BUFFER_BYTES = 65_536
/** The most bytes that a character of UTF-16 takes in UTF-8. */
const MOST_BYTES = 3

/** Puts a line into a buffer; gives where it ends. */
export type PutBytes = (buffer: Buffer, at: number) => number

export type LogOutput = Readonly<{
  write(line: string): void
  /** Writes a line of `most` bytes or fewer, which is put where it waits. */
  append(most: number, put: PutBytes): void
  /** Writes all that waits, at once. */
  flush(): void
}>

/** Synchronous, so that the last lines before an end of any kind are written. */
export const openStandardOutput = (isShared: boolean): LogOutput => collectLines(isShared ? writeWhole : writeAll)

/**
 * The first line after a pause is written at once; those that follow within 250 ms go together, in order. What waits is
 * written whenever the process ends by itself, a fault that nothing caught included; only SIGKILL takes it along.
 *
 * Lines wait as bytes: as strings they would be looked at by each run of the garbage collector until they are written.
 */
export function collectLines(write: (bytes: Uint8Array) => void): LogOutput {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  let used = 0
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    const end = used
    used = 0
    if (end > 0) write(buffer.subarray(0, end))
  }
  const onTime = (): void => {
    timer = undefined
    if (used === 0) return
    startTimer()
    flush()
  }
  const startTimer = (): void => {
    timer = setTimeout(onTime, WAIT_MS)
    timer.unref()
  }
  process.on('exit', flush)
  const append = (most: number, put: PutBytes): void => {
    if (used + most > BUFFER_BYTES) flush()
    if (most > BUFFER_BYTES) {
      const own = Buffer.allocUnsafe(most)
      write(own.subarray(0, put(own, 0)))
      return
    }
    used = put(buffer, used)
    if (timer === undefined) {
      startTimer()
      flush()
    }
  }
  return {
    flush,
    append,
    write: (line) => append(line.length * MOST_BYTES, (bytes, at) => at + bytes.write(line, at)),
  }
}

/** What a pipe takes as a whole, though other processes write to it (POSIX, PIPE_BUF on Linux). */
const WHOLE_BYTES = 4_096
const LINE_FEED = 0x0a

/** Line by line where other processes write too, as many at once as stay together. */
export function writeWhole(bytes: Uint8Array, write = writeAll): void {
  let start = 0
  while (start < bytes.byteLength) {
    const end = start + WHOLE_BYTES
    const last = end < bytes.byteLength ? bytes.lastIndexOf(LINE_FEED, end - 1) : bytes.byteLength - 1
    // A line that is longer goes by itself.
    const next = last >= start ? last : (bytes.indexOf(LINE_FEED, end) + 1 || bytes.byteLength) - 1
    write(bytes.subarray(start, next + 1))
    start = next + 1
  }
}

const FULL_MS = 5
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Waits for a reader that is slow, as a write to a file would; gives up where there is none, or no room on the disk. */
function writeAll(bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.byteLength) {
    try {
      written += writeSync(1, bytes, written)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(sleeper, 0, 0, FULL_MS)
    }
  }
}
