/**
 * Requests that wait for the processor. Pure: the caller says how long the service has worked so far.
 *
 * First come, first served, as long as no request is shed; a few may wait longer than many. After the first shed request,
 * and until the queue was empty once, the newest request goes first and the others wait only briefly: under overload it is
 * better to serve some at once than all too late.
 */

export type QueueBounds = Readonly<{
  /** How many may wait. */
  capacity: number
  /** Milliseconds that the service may work for others while a request waits. */
  waitMs: number
}>

interface AdaptiveLifoQueue<Entry> {
  /** Out: the entry to shed, if the queue is full. */
  add(entry: Entry, workedMs: number): Entry | undefined
  next(): Entry | undefined
  /** Out: the entries that have waited too long. */
  expire(workedMs: number): readonly Entry[]
  readonly size: number
  /** An entry was shed since the queue was empty. */
  readonly overloaded: boolean
}

/** The share of `waitMs` that a request may wait under overload. */
const OVERLOADED_SHARE = 0.1

/** So few aren't an overload, however large their messages are: a second of waiting harms them less than being shed. */
const FEW = 32

/** A few may wait so many times `waitMs`. */
const FEW_WAIT_TIMES = 20

export function createAdaptiveLifoQueue<Entry>({ capacity, waitMs }: QueueBounds): AdaptiveLifoQueue<Entry> {
  /** Oldest first. */
  const waiting: { entry: Entry; fromMs: number }[] = []
  let overloaded = false

  return {
    add: (entry, workedMs) => {
      waiting.push({ entry, fromMs: workedMs })
      if (waiting.length <= capacity) return undefined
      overloaded = true
      return waiting.shift()?.entry
    },
    next: () => {
      const taken = overloaded ? waiting.pop() : waiting.shift()
      if (waiting.length === 0) overloaded = false
      return taken?.entry
    },
    expire: (workedMs) => {
      const calmMs = waiting.length <= FEW ? waitMs * FEW_WAIT_TIMES : waitMs
      const maxMs = overloaded ? waitMs * OVERLOADED_SHARE : calmMs
      const kept = waiting.findIndex(({ fromMs }) => workedMs - fromMs <= maxMs)
      const expired = waiting.splice(0, kept === -1 ? waiting.length : kept)
      // A batch in which every request was shed does not end the overload: the next requests would wait as long again.
      if (expired.length > 0) overloaded = true
      else if (waiting.length === 0) overloaded = false
      return expired.map(({ entry }) => entry)
    },
    get size() {
      return waiting.length
    },
    get overloaded() {
      return overloaded
    },
  }
}
