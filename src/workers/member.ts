/** A worker, as the primary keeps it. */
import type { Worker } from 'node:cluster'
import type { ToWorker } from './protocol.ts'

export type Member = {
  readonly slot: number
  readonly worker: Worker
  /** After which it took another one's place; undefined for the first in its slot. */
  readonly pauseMs: number | undefined
  /** It answers questions. */
  joined: boolean
  /** It takes messages, since then. */
  listeningSince?: number
  administers: boolean
  /** It has ended its messages, as it was told to. */
  stopped: boolean
  /** It must come again, since it asked for a port that nobody has any more. */
  recalled: boolean
  /** What it told last. */
  metrics: string
}

export const listens = ({ listeningSince }: Member): boolean => listeningSince !== undefined

/** One that cannot be told any more is found out by its end. */
export const send = ({ worker }: Member, message: ToWorker): void => void worker.send(message, () => undefined)
