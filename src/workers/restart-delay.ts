/** The delay before a lost worker is replaced. */

/** A worker that ran for so long was not lost because of its start. */
const SETTLED_MS = 60_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * No delay the first time, then delays that double, so that a worker that fails again and again leaves the processor to
 * the others. In: the delay before the lost worker, undefined for the first in its slot, and how long it took messages.
 */
export function restartDelayMs(lastPauseMs: number | undefined, livedMs: number): number {
  if (lastPauseMs === undefined || livedMs >= SETTLED_MS) return 0
  return Math.min(Math.max(lastPauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
}
