/** Median and range of several measurements: a single one depends on the other work of the machine. */
export type Spread = Readonly<{ median: number; min: number; max: number; values: readonly number[] }>

/** `values`: at least one. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number): number => sorted[index] ?? Number.NaN
  const half = (sorted.length - 1) / 2
  return { median: (at(Math.floor(half)) + at(Math.ceil(half))) / 2, min: at(0), max: at(sorted.length - 1), values }
}
