import { writeSync } from 'node:fs'

const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Reports the parent one line before anything else happens in this process: what was reported and what was done must not get
 * out of order. The pipe may be full and does not block; then this waits for its reader.
 */
export function announce(line: string): void {
  let rest = Buffer.from(`${line}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown
      Atomics.wait(pause, 0, 0, 1)
    }
  }
}
