/** One of several equal processes; `slot` counts from 0. */
export type WorkerSlot = Readonly<{ slot: number; workers: number }>

/** The part of a whole number that one process has; the parts of all add up to it where it is enough for one each. */
export const portion = (whole: number, { slot, workers }: WorkerSlot): number =>
  Math.max(1, Math.floor(whole / workers) + (slot < whole % workers ? 1 : 0))
