/**
 * A queue that knows its size. A writer takes the oldest items, and acknowledges them once they are written or puts them
 * back. Every operation on the oldest items costs the same however long the queue is.
 */
export type QueueLimits = Readonly<{ records: number; bytes: number }>

export interface FifoQueue<Item extends Readonly<{ bytes: number }>> {
  add(item: Item): void
  /** Removes the oldest item that is not taken. */
  shift(): Item | undefined
  /** Gives the oldest items within the limits. `firstExceeds`: the first is given even if it exceeds the bytes. */
  take(limits: QueueLimits, firstExceeds: boolean): readonly Item[]
  /** Removes the first `count` of the taken items; gives how many there were to remove. */
  acknowledge(count: number): number
  /** Puts the taken items back to the front. */
  requeue(): void
  /** Replaces the oldest item that was not replaced before; false if there is none. */
  changeNext(change: (item: Item) => Item): boolean
  /** Removes and gives all items that are not taken. */
  clear(): readonly Item[]
  /** Taken items included, as in `bytes`. */
  readonly count: number
  readonly bytes: number
}

/** Removed items leave holes at the front of the array, which is cut when it has at least so many. */
const MOST_HOLES = 1_024

export function createFifoQueue<Item extends Readonly<{ bytes: number }>>(): FifoQueue<Item> {
  let items: (Item | undefined)[] = []
  let taken: readonly Item[] = []
  let first = 0
  let unchanged = 0
  let bytes = 0

  function cutHoles(): void {
    if (first < MOST_HOLES || first * 2 < items.length) return
    items = items.slice(first)
    unchanged = Math.max(0, unchanged - first)
    first = 0
  }

  /** The bytes of the item stay counted. */
  function removeOldest(): Item | undefined {
    const item = items[first]
    if (item === undefined) return undefined
    items[first] = undefined
    first += 1
    cutHoles()
    return item
  }

  return {
    add: (item) => {
      items.push(item)
      bytes += item.bytes
    },
    shift: () => {
      const item = removeOldest()
      bytes -= item?.bytes ?? 0
      return item
    },
    take: (limits, firstExceeds) => {
      const oldest: Item[] = []
      let room = limits.bytes
      for (let next = items[first]; next !== undefined && oldest.length < limits.records; next = items[first]) {
        if (next.bytes > room && !(firstExceeds && oldest.length === 0)) break
        room -= next.bytes
        oldest.push(next)
        removeOldest()
      }
      taken = oldest
      return oldest
    },
    acknowledge: (count) => {
      const removed = taken.slice(0, count)
      taken = taken.slice(count)
      for (const item of removed) bytes -= item.bytes
      return removed.length
    },
    requeue: () => {
      items = [...taken, ...items.slice(first)]
      taken = []
      first = 0
      unchanged = 0
    },
    changeNext: (change) => {
      const at = Math.max(unchanged, first)
      const item = items[at]
      if (item === undefined) return false
      const changed = change(item)
      items[at] = changed
      bytes += changed.bytes - item.bytes
      unchanged = at + 1
      return true
    },
    clear: () => {
      const cleared = items.slice(first) as Item[]
      items = []
      first = 0
      unchanged = 0
      bytes = 0
      for (const item of taken) bytes += item.bytes
      return cleared
    },
    get count() {
      return items.length - first + taken.length
    },
    get bytes() {
      return bytes
    },
  }
}
