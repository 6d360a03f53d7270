/** What waits in the order in which it came, by how much it takes. What is done to the oldest costs the same however many wait. */
export interface FifoQueue<Item extends Readonly<{ bytes: number }>> {
  add(item: Item): void
  readonly oldest: Item | undefined
  shift(): Item | undefined
  /** Before all that wait. */
  putBack(items: readonly Item[]): void
  /** Changes the oldest that was not changed before; false where all were. */
  changeNext(change: (item: Item) => Item): boolean
  /** All that waited. */
  clear(): readonly Item[]
  readonly count: number
  readonly bytes: number
}

/** Places of items that have left are given back in so large parts. */
const LEFT_PLACES = 1_024

export function createFifoQueue<Item extends Readonly<{ bytes: number }>>(): FifoQueue<Item> {
  let items: (Item | undefined)[] = []
  let first = 0
  let unchanged = 0
  let bytes = 0

  function giveBackPlaces(): void {
    if (first < LEFT_PLACES || first * 2 < items.length) return
    items = items.slice(first)
    unchanged = Math.max(0, unchanged - first)
    first = 0
  }

  function shift(): Item | undefined {
    const item = items[first]
    if (item === undefined) return undefined
    items[first] = undefined
    first += 1
    bytes -= item.bytes
    giveBackPlaces()
    return item
  }

  return {
    add: (item) => {
      items.push(item)
      bytes += item.bytes
    },
    get oldest() {
      return items[first]
    },
    shift,
    putBack: (given) => {
      items = [...given, ...items.slice(first)]
      first = 0
      unchanged = 0
      for (const item of given) bytes += item.bytes
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
      return cleared
    },
    get count() {
      return items.length - first
    },
    get bytes() {
      return bytes
    },
  }
}
