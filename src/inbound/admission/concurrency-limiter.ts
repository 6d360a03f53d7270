/**
 * Permits for the messages that run at once, of the whole service and of single endpoints, and a short queue for them. It has
 * no timers: a caller that waits too long leaves the queue itself.
 *
 * It is fair between endpoints: a free permit goes round among those whose messages wait, and a full queue takes a message
 * of an endpoint with few in it in exchange for the last one of the endpoint with most.
 */

/** `permits`: messages that may run at once; `queue`: messages that may wait. */
export type Bounds = Readonly<{ permits: number; queue: number }>

/** What is counted of the whole service, or of one endpoint with a limit of its own. */
export type PermitPool = {
  bounds: Bounds
  used: number
  /** Permits that were ever released. */
  released: number
}

/** The endpoint of a message: its pool, or its id if it has no limit of its own. */
export type Owner = PermitPool | string

/** One of the two is called once, within a call of the limiter: the message has a permit, or another one displaced it. */
export type Waiter = Readonly<{ start(): void; displace(): void }>

export interface ConcurrencyLimiter {
  /** False if there was no permit to acquire. */
  acquire(pool: PermitPool | undefined): boolean
  /** Releases a permit and starts the messages that can have it. */
  release(pool: PermitPool | undefined): void
  hasPermit(pool: PermitPool | undefined): boolean
  /** True if `wait` accepts one more message. */
  canWait(owner: Owner): boolean
  /** Queues a message for which there is no permit now; false if the queue is full. */
  wait(owner: Owner, waiter: Waiter): boolean
  /** False if the waiter was not in the queue that it leaves. */
  leave(owner: Owner, waiter: Waiter): boolean
  /** Gives a pool other bounds and starts the messages that these admit. */
  change(pool: PermitPool, bounds: Bounds): void
  readonly waiting: number
  /** Messages of one endpoint that wait. */
  countWaiting(owner: Owner): number
}

function giveBack(pool: PermitPool): void {
  pool.used -= 1
  pool.released += 1
}

export const createPermits = (bounds: Bounds): PermitPool => ({ bounds, used: 0, released: 0 })

/** `total` counts all messages. */
export function createConcurrencyLimiter(total: PermitPool): ConcurrencyLimiter {
  /** The waiters by endpoint; the endpoint that gets the next permit comes first. */
  const lists = new Map<Owner, Set<Waiter>>()
  let waiting = 0

  const countWaiting = (owner: Owner): number => lists.get(owner)?.size ?? 0
  const poolFor = (owner: Owner): PermitPool | undefined => (typeof owner === 'string' ? undefined : owner)
  const hasPermit = (pool: PermitPool | undefined): boolean =>
    total.used < total.bounds.permits && (pool === undefined || pool.used < pool.bounds.permits)
  const occupy = (pool: PermitPool | undefined): void => {
    total.used += 1
    if (pool !== undefined) pool.used += 1
  }
  const leave = (owner: Owner, waiter: Waiter): boolean => {
    const list = lists.get(owner)
    if (!list?.delete(waiter)) return false
    waiting -= 1
    if (list.size === 0) lists.delete(owner)
    return true
  }
  const nextOwner = (): Owner | undefined => {
    for (const owner of lists.keys()) if (hasPermit(poolFor(owner))) return owner
    return undefined
  }
  const dispatch = (): void => {
    for (let owner = nextOwner(); owner !== undefined; owner = nextOwner()) {
      const list = lists.get(owner) as Set<Waiter>
      const [waiter] = list as Iterable<Waiter> as [Waiter]
      leave(owner, waiter)
      // From now on this endpoint is the last in the round.
      if (lists.delete(owner)) lists.set(owner, list)
      occupy(poolFor(owner))
      waiter.start()
    }
  }
  /** The endpoint whose last message gives way to one more of `owner` in a full queue. */
  const displaced = (owner: Owner): Owner | undefined => {
    let most: Owner = owner
    for (const other of lists.keys()) if (countWaiting(other) > countWaiting(most)) most = other
    return countWaiting(owner) + 1 < countWaiting(most) ? most : undefined
  }
  const canWait = (owner: Owner): boolean => {
    if (countWaiting(owner) >= (poolFor(owner)?.bounds.queue ?? Number.POSITIVE_INFINITY)) return false
    return waiting < total.bounds.queue || displaced(owner) !== undefined
  }

  return {
    hasPermit,
    canWait,
    countWaiting,
    leave,
    acquire: (pool) => {
      if (!hasPermit(pool)) return false
      occupy(pool)
      return true
    },
    release: (pool) => {
      giveBack(total)
      if (pool !== undefined) giveBack(pool)
      if (waiting > 0) dispatch()
    },
    wait: (owner, waiter) => {
      if (!canWait(owner)) return false
      const other = waiting < total.bounds.queue ? undefined : displaced(owner)
      const list = lists.get(owner) ?? new Set()
      lists.set(owner, list.add(waiter))
      waiting += 1
      if (other !== undefined) {
        const last = [...(lists.get(other) as Set<Waiter>)].at(-1) as Waiter
        leave(other, last)
        last.displace()
      }
      return true
    },
    change: (pool, bounds) => {
      pool.bounds = bounds
      dispatch()
    },
    get waiting() {
      return waiting
    },
  }
}
