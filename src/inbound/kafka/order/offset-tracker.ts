/**
 * Which offsets of a partition are done, where records finish in any order: everything before `doneOffset`, and ranges beyond
 * it. The gaps between the ranges are records that are not done, so there are never more ranges than such records.
 */

/** The offsets from `from` to `to` - 1. */
export type OffsetRange = Readonly<{ from: bigint; to: bigint }>

export interface OffsetTracker {
  /** The first offset that is not done. */
  readonly doneOffset: bigint
  /** The done ranges beyond `doneOffset`: ascending, and not adjacent. */
  readonly beyond: readonly OffsetRange[]
  /** Grows with each change. */
  readonly version: number
  isDone(offset: bigint): boolean
  /** The offsets from `from` to `to` - 1 are done; some of them may be so already. */
  add(from: bigint, to: bigint): void
  /** Starts at another offset, with nothing done beyond it. */
  moveTo(offset: bigint): void
  /** Nothing from `end` on is done: the log ends there. */
  forgetFrom(end: bigint): void
}

/** `beyond`: as in OffsetTracker. */
export function createOffsetTracker(start: bigint, beyond: readonly OffsetRange[] = []): OffsetTracker {
  let doneOffset = start
  let ranges = [...beyond]
  let version = 0

  /** The index of the first range that ends at or behind the offset. */
  const indexAt = (offset: bigint): number => {
    let [low, high] = [0, ranges.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((ranges[middle] as OffsetRange).to < offset) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    get doneOffset() {
      return doneOffset
    },
    get beyond() {
      return ranges
    },
    get version() {
      return version
    },
    isDone: (offset) => {
      if (offset < doneOffset) return true
      const range = ranges[indexAt(offset + 1n)]
      return range !== undefined && range.from <= offset
    },
    add: (from, to) => {
      if (to <= doneOffset || from >= to) return
      version += 1
      if (from <= doneOffset) {
        doneOffset = to
        while (ranges[0] !== undefined && ranges[0].from <= doneOffset) {
          const { to: end } = ranges.shift() as OffsetRange
          if (end > doneOffset) doneOffset = end
        }
        return
      }
      const first = indexAt(from)
      let last = first
      let merged: OffsetRange = { from, to }
      for (let next = ranges[last]; next !== undefined && next.from <= merged.to; next = ranges[last]) {
        merged = {
          from: next.from < merged.from ? next.from : merged.from,
          to: next.to > merged.to ? next.to : merged.to,
        }
        last += 1
      }
      ranges.splice(first, last - first, merged)
    },
    moveTo: (offset) => {
      version += 1
      doneOffset = offset
      ranges = []
    },
    forgetFrom: (end) => {
      const last = ranges.at(-1)
      if (last === undefined || last.to <= end) return
      version += 1
      ranges = ranges.filter(({ from }) => from < end).map(({ from, to }) => ({ from, to: to < end ? to : end }))
    },
  }
}
