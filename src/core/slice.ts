/** Work of a message that takes long is done in slices, between which other messages run. */
import { setImmediate as nextIteration } from 'node:timers/promises'

/** The length of a slice. Even asynchronous work holds the event loop that long. */
export const SLICE_MS = 10

/** Between two slices. */
export const letOthersRun = (): Promise<void> => nextIteration()

/** Of work for which no message waits, such as reading a table: messages hardly notice it. */
const MANAGEMENT_SLICE_MS = 3

/** Gives what to await within a loop, every few µs of work: a promise once a slice of MANAGEMENT_SLICE_MS is over, else nothing. */
export function createPause(): () => Promise<void> | undefined {
  let startedAt = performance.now()
  return () => {
    if (performance.now() - startedAt <= MANAGEMENT_SLICE_MS) return undefined
    return letOthersRun().then(() => {
      startedAt = performance.now()
    })
  }
}
