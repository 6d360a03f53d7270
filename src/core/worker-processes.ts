/** The processes of a service that share its work (WORKERS). */

/** One of several equal processes; `slot` counts from 0. */
export type WorkerSlot = Readonly<{ slot: number; workers: number }>

/** The part of a whole number for one process; the parts add up to the whole if it is at least the number of workers. */
export const portion = (whole: number, { slot, workers }: WorkerSlot): number =>
  Math.max(1, Math.floor(whole / workers) + (slot < whole % workers ? 1 : 0))

export type WorkerCounts = Readonly<{
  configured: number
  /** Processes that accept messages now. */
  running: number
  /** Processes that exited by themselves and were replaced, since the service started. */
  lost: number
}>
