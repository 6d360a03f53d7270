/**
 * Requests that wait for a turn of the processor. Pure: it is told how long the service has worked by then, and tells who
 * is to begin or to be refused.
 *
 * First come, first served, as long as nobody has to be refused; a few may wait for longer than many. From then on until the
 * queue was empty once, the last one to come goes first, and the others wait only briefly: where not all can be served, it is
 * better to serve some at once than all too late.
 */

export type TurnBounds = Readonly<{
  /** How many may wait. */
  places: number
  /** How long the service may have worked for others meanwhile, in milliseconds. */
  waitMs: number
}>

export interface AdaptiveLifoQueue<Entry> {
  /** Gives the one that has to be refused, where the queue is full. */
  add(entry: Entry, workedMs: number): Entry | undefined
  /** Told `count` times a turn at most; undefined where nobody is left. */
  next(): Entry | undefined
  /** Those who have waited too long. */
  expire(workedMs: number): readonly Entry[]
  readonly size: number
  /** Whether some had to be refused since the queue was empty. */
  readonly overloaded: boolean
}

/** Of the time that one may wait, where others had to be refused. */
const OVERLOADED_SHARE = 0.1

/** So many are no overload yet, however large their messages are: a second of waiting does them less harm than a refusal. */
const FEW = 32

/** How much longer than many a few may wait. */
const PATIENCE_OF_FEW = 20

export function createAdaptiveLifoQueue<Entry>({ places, waitMs }: TurnBounds): AdaptiveLifoQueue<Entry> {
  /** Oldest first. */
  const waiting: { entry: Entry; fromMs: number }[] = []
  let overloaded = false

  return {
    add: (entry, workedMs) => {
      waiting.push({ entry, fromMs: workedMs })
      if (waiting.length <= places) return undefined
      overloaded = true
      return waiting.shift()?.entry
    },
    next: () => {
      const taken = overloaded ? waiting.pop() : waiting.shift()
      if (waiting.length === 0) overloaded = false
      return taken?.entry
    },
    expire: (workedMs) => {
      const calmMs = waiting.length <= FEW ? waitMs * PATIENCE_OF_FEW : waitMs
      const mostMs = overloaded ? waitMs * OVERLOADED_SHARE : calmMs
      const kept = waiting.findIndex(({ fromMs }) => workedMs - fromMs <= mostMs)
      const expired = waiting.splice(0, kept === -1 ? waiting.length : kept)
      // An end by refusals alone is none: those who come next would wait as long again.
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
