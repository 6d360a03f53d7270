/**
 * Standard output for the log. Lines within 250 ms are written together, since a system call for each would take a
 * noticeable part of a message's time.
 */
import { writeSync } from 'node:fs'

/** The longest wait of a line, and the most bytes that wait: the capacity of a pipe. */
const WAIT_MS = 250
const BUFFER_BYTES = 65_536
/** The most bytes that a character of UTF-16 takes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3

export type LogOutput = Readonly<{
  write(line: string): void
  /** Writes all waiting lines now. */
  flush(): void
}>

/** Writes synchronously, so that the last lines are written however the process exits. */
export const openStandardOutput = (isShared: boolean): LogOutput => collectLines(isShared ? writeWhole : writeAll)

/**
 * Writes the first line after a pause at once and the lines of the next 250 ms together, in order. Waiting lines are written
 * when the process exits, also after an uncaught exception; only SIGKILL loses them.
 *
 * They wait as bytes, because the garbage collector would visit waiting strings at each run.
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
  return {
    flush,
    write: (line) => {
      const max = line.length * MAX_BYTES_PER_UNIT
      if (used + max > BUFFER_BYTES) flush()
      if (max > BUFFER_BYTES) {
        write(Buffer.from(line))
        return
      }
      used += buffer.write(line, used)
      if (timer === undefined) {
        startTimer()
        flush()
      }
    },
  }
}

/** The most bytes that a write to a pipe keeps together while other processes write to it (PIPE_BUF of Linux). */
const WHOLE_BYTES = 4_096
const LINE_FEED = 0x0a

/** Writes whole lines, as many at once as a pipe keeps together, to an output that several processes share. */
export function writeWhole(bytes: Uint8Array, write = writeAll): void {
  let start = 0
  while (start < bytes.byteLength) {
    const end = start + WHOLE_BYTES
    const last = end < bytes.byteLength ? bytes.lastIndexOf(LINE_FEED, end - 1) : bytes.byteLength - 1
    // A longer line is written alone.
    const next = last >= start ? last : (bytes.indexOf(LINE_FEED, end) + 1 || bytes.byteLength) - 1
    write(bytes.subarray(start, next + 1))
    start = next + 1
  }
}

const FULL_MS = 5
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Waits for a slow reader, as a write to a file does; drops the rest if there is no reader, or no room on the disk. */
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
