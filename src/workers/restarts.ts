/** How long a worker that was lost is waited with before another one takes its place. */

/** One that has worked for so long did not end because it began. */
const SETTLED_MS = 60_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * At once the first time, then after pauses that double: a worker that cannot live must not take the processor from
 * those that can. In: the pause before the one that was lost, if it took another's place, and how long it took messages.
 */
export function pauseBefore(lastPauseMs: number | undefined, livedMs: number): number {
  if (lastPauseMs === undefined || livedMs >= SETTLED_MS) return 0
  return Math.min(Math.max(lastPauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
}
