/** Work of a message that takes long is done in slices, between which other messages run. */
import { setImmediate as nextIteration } from 'node:timers/promises'

/** The length of a slice. Even asynchronous work holds the event loop that long. */
export const SLICE_MS = 10

/** Between two slices. */
export const letOthersRun = (): Promise<void> => nextIteration()

/** Gives what to await within a loop, every few µs of work: a promise once a slice is over, else nothing. */
export function createPause(): () => Promise<void> | undefined {
  let startedAt = performance.now()
  return () => {
    if (performance.now() - startedAt <= SLICE_MS) return undefined
    return letOthersRun().then(() => {
      startedAt = performance.now()
    })
  }
}
