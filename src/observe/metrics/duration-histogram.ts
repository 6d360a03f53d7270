/** Histograms of durations: rows of numbers in one typed array, so that adding a duration allocates nothing. */

/** Upper bounds of the buckets, in milliseconds; a last bucket without a bound follows. */
export const BOUNDS_MS: readonly number[] = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
]

const BUCKETS = BOUNDS_MS.length + 1
const WIDTH = BUCKETS + 1

/** Each row has one number for each bucket, then the sum. */
export const createDurations = (rows: number): Float64Array => new Float64Array(rows * WIDTH)

export function addDuration(durations: Float64Array, row: number, ms: number): void {
  let bucket = 0
  while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] as number)) bucket += 1
  const start = row * WIDTH
  durations[start + bucket] = (durations[start + bucket] as number) + 1
  durations[start + BUCKETS] = (durations[start + BUCKETS] as number) + ms
}

export type Histogram = Readonly<{
  /** How many durations were at most each of BOUNDS_MS. */
  cumulative: readonly number[]
  count: number
  sumMs: number
}>

/** Undefined for a row without durations. */
export function readDurations(durations: Float64Array, row: number): Histogram | undefined {
  const start = row * WIDTH
  const cumulative: number[] = []
  let count = 0
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    count += durations[start + bucket] as number
    if (bucket < BOUNDS_MS.length) cumulative.push(count)
  }
  return count === 0 ? undefined : { cumulative, count, sumMs: durations[start + BUCKETS] as number }
}
