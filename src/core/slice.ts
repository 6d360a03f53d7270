/** Work of a message that takes long is done in slices, between which other messages run. */
import { setImmediate as nextIteration } from 'node:timers/promises'

/** The length of a slice. Even asynchronous work holds the event loop that long. */
export const SLICE_MS = 10

/** Between two slices. */
export const letOthersRun = (): Promise<void> => nextIteration()
