/** The primary's record of a worker, and the delay before a lost one is replaced. */

import type { Worker } from 'node:cluster'
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import type { ToWorker } from './ipc-protocol.ts'

export type WorkerHandle = {
  readonly slot: number
  readonly worker: Worker
  /** The restart delay before it; undefined for the first worker in its slot. */
  readonly pauseMs: number | undefined
  /** Whether it answers questions. */
  joined: boolean
  /** When it started to take messages, on the clock of `performance.now()`. */
  listeningSince?: number
  administers: boolean
  /** Whether it completed its messages after a stop. */
  stopped: boolean
  /** Whether it is restarted because it asked for a port that no other worker holds now. */
  recalled: boolean
  /** Its last exposition. */
  metrics: string
}

export const listens = ({ listeningSince }: WorkerHandle): boolean => listeningSince !== undefined

/** Sends without waiting: a worker that no longer reads has an `exit` event soon. */
export const send = ({ worker }: WorkerHandle, message: ToWorker): void => void worker.send(message, () => undefined)

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
