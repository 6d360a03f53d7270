/** Progress of what takes longer than a second: notes for people, so they go to standard error. */
import type { TextOutput } from './command-process.ts'

const EVERY_MS = 1_000

/**
 * Out: to be called after each of the things; it writes a line at most once a second, and none in the first. `clock`: in
 * milliseconds.
 */
export function progressOf(
  what: string,
  stderr: TextOutput = process.stderr,
  clock: () => number = Date.now,
): (done: number, of: number) => void {
  let reportedAt = clock()
  return (done, of) => {
    const now = clock()
    if (now - reportedAt < EVERY_MS) return
    reportedAt = now
    stderr.write(`${done} of ${of} ${what}\n`)
  }
}
