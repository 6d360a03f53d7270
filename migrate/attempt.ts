/** What the work gives; undefined if it throws, where the reason does not matter. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
