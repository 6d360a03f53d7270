/**
 * The places for messages that are worked on at once, of the whole service and of single endpoints, and a short queue in
 * front of them. Pure: who waits is told by a call, and whoever waits too long has to be taken away.
 *
 * Fair between endpoints: a place that becomes free goes round among those that wait, and a full queue takes one more of
 * an endpoint that has few in it in exchange for the last of the one that has most.
 */

/** `places` are for messages under way, `queue` for those that wait. */
export type Bounds = Readonly<{ places: number; queue: number }>

/** What is counted of the whole service, or of one endpoint that has a limit of its own. */
export type Gate = {
  bounds: Bounds
  used: number
  /** Messages that gave back their place, ever. */
  ended: number
}

/** The endpoint of a message: its gate, or its id where it has no limit of its own. */
export type Owner = Gate | string

/** Told once, while some call of `Places` runs: the message has a place, or it was pushed out of the queue. */
export type Waiter = Readonly<{ begin(): void; pushOut(): void }>

export interface Places {
  /** Takes a place; tells whether there was one. */
  take(gate: Gate | undefined): boolean
  /** Gives back a place, and begins with those who can have it. */
  free(gate: Gate | undefined): void
  /** Whether there is a place. */
  hasRoom(gate: Gate | undefined): boolean
  /** Whether `wait` would take one more. */
  canWait(owner: Owner): boolean
  /** Waits for a place, of which there is none now; false where the queue is full. */
  wait(owner: Owner, waiter: Waiter): boolean
  /** Leaves the queue; tells whether the waiter was in it. */
  leave(owner: Owner, waiter: Waiter): boolean
  /** Gives a gate other bounds; the first messages that wait begin where there is room for them now. */
  change(gate: Gate, bounds: Bounds): void
  readonly waiting: number
  /** Those of one endpoint. */
  waitingOf(owner: Owner): number
}

function giveBack(gate: Gate): void {
  gate.used -= 1
  gate.ended += 1
}

export const createPermits = (bounds: Bounds): Gate => ({ bounds, used: 0, ended: 0 })

/** `whole` counts all messages. */
export function createConcurrencyLimiter(whole: Gate): Places {
  /** Those that wait, by endpoint; the endpoint whose turn is next comes first. */
  const lists = new Map<Owner, Set<Waiter>>()
  let waiting = 0

  const waitingOf = (owner: Owner): number => lists.get(owner)?.size ?? 0
  const gateOf = (owner: Owner): Gate | undefined => (typeof owner === 'string' ? undefined : owner)
  const hasRoom = (gate: Gate | undefined): boolean =>
    whole.used < whole.bounds.places && (gate === undefined || gate.used < gate.bounds.places)
  const occupy = (gate: Gate | undefined): void => {
    whole.used += 1
    if (gate !== undefined) gate.used += 1
  }
  const leave = (owner: Owner, waiter: Waiter): boolean => {
    const list = lists.get(owner)
    if (!list?.delete(waiter)) return false
    waiting -= 1
    if (list.size === 0) lists.delete(owner)
    return true
  }
  const nextOwner = (): Owner | undefined => {
    for (const owner of lists.keys()) if (hasRoom(gateOf(owner))) return owner
    return undefined
  }
  const dispatch = (): void => {
    for (let owner = nextOwner(); owner !== undefined; owner = nextOwner()) {
      const list = lists.get(owner) as Set<Waiter>
      const [waiter] = list as Iterable<Waiter> as [Waiter]
      leave(owner, waiter)
      // Its endpoint is the last in turn from now on.
      if (lists.delete(owner)) lists.set(owner, list)
      occupy(gateOf(owner))
      waiter.begin()
    }
  }
  /** The endpoint whose last one gives way to one more of `owner`, where the queue is full. */
  const crowdedOut = (owner: Owner): Owner | undefined => {
    let most: Owner = owner
    for (const other of lists.keys()) if (waitingOf(other) > waitingOf(most)) most = other
    return waitingOf(owner) + 1 < waitingOf(most) ? most : undefined
  }
  const canWait = (owner: Owner): boolean => {
    if (waitingOf(owner) >= (gateOf(owner)?.bounds.queue ?? Number.POSITIVE_INFINITY)) return false
    return waiting < whole.bounds.queue || crowdedOut(owner) !== undefined
  }

  return {
    hasRoom,
    canWait,
    waitingOf,
    leave,
    take: (gate) => {
      if (!hasRoom(gate)) return false
      occupy(gate)
      return true
    },
    free: (gate) => {
      giveBack(whole)
      if (gate !== undefined) giveBack(gate)
      if (waiting > 0) dispatch()
    },
    wait: (owner, waiter) => {
      if (!canWait(owner)) return false
      const crowded = waiting < whole.bounds.queue ? undefined : crowdedOut(owner)
      const list = lists.get(owner) ?? new Set()
      lists.set(owner, list.add(waiter))
      waiting += 1
      if (crowded !== undefined) {
        const last = [...(lists.get(crowded) as Set<Waiter>)].at(-1) as Waiter
        leave(crowded, last)
        last.pushOut()
      }
      return true
    },
    change: (gate, bounds) => {
      gate.bounds = bounds
      dispatch()
    },
    get waiting() {
      return waiting
    },
  }
}
