/**
 * Collects garbage sooner while large records are processed. What one attempt makes of a record of 1 MB takes several times its
 * bytes, and by default V8 lets such garbage grow to a multiple of what is in use, which the byte limit of records cannot bound.
 * At all times it would cost half as much processor time again from topic to topic, so it is only for as long as it is needed.
 */
import { setFlagsFromString } from 'node:v8'

const LARGE_BYTES = 256 * 1024

/** How far the heap may grow between two collections; 0 leaves it to V8. */
const GROWING_PERCENT = 20

/** After the last attempt at a large record. */
const CALM_MS = 60_000

let calm: NodeJS.Timeout | undefined

const setGrowing = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`)

/** To be called with each attempt at a record. */
export function noteAttempt(bytes: number): void {
  if (bytes < LARGE_BYTES) return
  if (calm !== undefined) {
    calm.refresh()
    return
  }
  setGrowing(GROWING_PERCENT)
  calm = setTimeout(() => {
    calm = undefined
    setGrowing(0)
  }, CALM_MS).unref()
}
