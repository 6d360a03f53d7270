/** The delay before a lost worker is replaced. */
import { type Backoff, nextPauseMs } from '../domain/backoff.ts'

/** A worker that ran for so long was not lost because of its start. */
const SETTLED_MS = 60_000
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 }

/**
 * No delay the first time, then delays that double, so that a worker that fails again and again leaves the processor to
 * the others. In: the delay before the lost worker, undefined for the first in its slot, and how long it took messages.
 */
export function restartDelayMs(lastPauseMs: number | undefined, livedMs: number): number {
  if (lastPauseMs === undefined || livedMs >= SETTLED_MS) return 0
  return nextPauseMs(lastPauseMs, BACKOFF)
}
