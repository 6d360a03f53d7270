/** Runs one piece of work an item, a bounded number at a time, and waits for all that was started. */

/**
 * Results in the order of the items, whichever finishes first.
 *
 * After a failure no further item is started; those under way are awaited, so that nothing goes on behind an answer
 * already given. Then the failure of the first item that failed is thrown.
 */
export async function mapItems<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length)
  const failures: { index: number; thrown: unknown }[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next
      next += 1
      try {
        results[index] = await work(items[index] as Item, index)
      } catch (thrown) {
        failures.push({ index, thrown })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  failures.sort((one, other) => one.index - other.index)
  if (failures[0] !== undefined) throw failures[0].thrown
  return results
}

/** Starts everything at once and waits for all; then throws the first failure in the order given, if any. */
export async function settleAll<Result>(pending: readonly Promise<Result>[]): Promise<Result[]> {
  // By far the most frequent number, which needs none of the rest.
  if (pending.length === 1) return [await (pending[0] as Promise<Result>)]
  const settled = await Promise.allSettled(pending)
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
