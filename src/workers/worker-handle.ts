/** What the primary knows of a worker. */
import type { Worker } from 'node:cluster'
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
  /** Whether it is restarted because it asked for a port that no worker has any more. */
  recalled: boolean
  /** Its last exposition. */
  metrics: string
}

export const listens = ({ listeningSince }: WorkerHandle): boolean => listeningSince !== undefined

/** Sends without waiting: a worker that no longer reads has an `exit` event soon. */
export const send = ({ worker }: WorkerHandle, message: ToWorker): void => void worker.send(message, () => undefined)
