/**
 * Work on the store that runs one at a time. While the store is unavailable, each piece would wait for its own timeout, and
 * the last of many for the timeouts of all others: those in the queue fail together instead.
 */
import { Failure } from '../core/failure.ts'
import { noteStoreLost, StoreUnavailable } from '../store/store-access.ts'

/** Runs work in the order of the calls. Rejects as earlier work did that found the store unavailable while this waited. */
export type StoreQueue = <T>(work: () => Promise<T>) => Promise<T>

export function createStoreQueue(): StoreQueue {
  let last: Promise<unknown> = Promise.resolve()
  let calls = 0
  /** The last such rejection, and the number of calls at that time. */
  let outage: Readonly<{ thrown: unknown; calls: number }> | undefined

  return <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1
    const call = calls
    const run = async (): Promise<T> => {
      if (outage !== undefined && call <= outage.calls) {
        const { thrown } = outage
        noteStoreLost(
          thrown instanceof StoreUnavailable ? thrown : new StoreUnavailable(String(thrown), { cause: thrown }),
        )
        throw thrown
      }
      try {
        return await work()
      } catch (thrown) {
        if (isStoreUnavailable(thrown)) outage = { thrown, calls }
        throw thrown
      }
    }
    const result = last.then(run)
    last = result.catch(() => undefined)
    return result
  }
}

export const isStoreUnavailable = (thrown: unknown): boolean =>
  thrown instanceof StoreUnavailable || (thrown instanceof Failure && thrown.kind.store === 'management')

/** A change was checked against what the store holds no more, and is to be checked again, whatever its If-Match names. */
export class Outdated extends Error {}

/** Of instances that change one endpoint at once, one succeeds in each round, so all of them finish. */
const MAX_ATTEMPTS = 50

/**
 * Repeats `work` when another instance has changed the endpoint in between: a request without If-Match matches any
 * version. Rejects with StoreUnavailable after 50 conflicts.
 */
export async function retryOnConflict<T>(ifMatch: string | undefined, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (thrown) {
      const isConflict = ifMatch === undefined && thrown instanceof Failure && thrown.kind.stale === true
      if (!isConflict && !(thrown instanceof Outdated)) throw thrown
      if (attempt === MAX_ATTEMPTS) throw new StoreUnavailable('Too many conflicting changes.', { cause: thrown })
    }
  }
}
