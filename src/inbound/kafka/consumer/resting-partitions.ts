/** Partitions that cannot be read now. They rest for a while, so that fetches of the others do not fail with them. */

const REST_MS = 500

interface RestingPartitions {
  has(partition: number): boolean
  /** Excludes the partitions from fetches until the next retry. */
  add(partitions: readonly number[]): void
  /** A fetch of the partition has succeeded. */
  recovered(partition: number): void
  /** Forgets partitions that are not assigned any more; returns whether no assigned partition is in trouble. */
  areRecovered(isAssigned: (partition: number) => boolean): boolean
  close(): void
}

/** `onRetry` is called after each rest, when all partitions may be tried again. */
export function createRestingPartitions(onRetry: () => void): RestingPartitions {
  /** Not readable at the last try, and those of them that are not tried now. */
  const troubled = new Set<number>()
  const resting = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  return {
    has: (partition) => resting.has(partition),
    add: (partitions) => {
      for (const partition of partitions) {
        troubled.add(partition)
        resting.add(partition)
      }
      timer ??= setTimeout(() => {
        timer = undefined
        resting.clear()
        onRetry()
      }, REST_MS)
    },
    recovered: (partition) => void troubled.delete(partition),
    areRecovered: (isAssigned) => {
      for (const partition of troubled) if (!isAssigned(partition)) troubled.delete(partition)
      return troubled.size === 0
    },
    close: () => clearTimeout(timer),
  }
}
