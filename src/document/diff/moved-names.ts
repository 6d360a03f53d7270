/** Finds the names that are at another place than before: the fewest whose move gives the new order. */

/** In: unique names before and afterwards; those of one side only do not count. */
export function movedNames(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  const positions = new Map(before.map((name, index) => [name, index]))
  const common = after.filter((name) => positions.has(name))
  const staying = findLongestRise(common.map((name) => positions.get(name) ?? 0))
  return new Set(common.filter((_name, index) => !staying.has(index)))
}

/** The indexes of a longest rising subsequence of different numbers, by patience sorting: n log n. */
function findLongestRise(numbers: readonly number[]): ReadonlySet<number> {
  /** For each length, the index of the smallest number that ends a rise of that length. */
  const ends: number[] = []
  const previous: (number | undefined)[] = []
  const numberAt = (index: number | undefined): number => (index === undefined ? -1 : (numbers[index] ?? -1))
  for (const [index, number] of numbers.entries()) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (numberAt(ends[middle]) < number) low = middle + 1
      else high = middle
    }
    previous.push(low === 0 ? undefined : ends[low - 1])
    ends[low] = index
  }
  const rise = new Set<number>()
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) rise.add(index)
  return rise
}
