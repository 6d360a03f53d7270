/**
 * Work on the store that runs one at a time. While the store is unavailable, each piece would wait for its own timeout, and
 * the last of many for the timeouts of all others: those in the queue fail together instead.
 */
import { Failure } from '../core/failure.ts'
import { noteStoreLost, StoreUnavailable } from '../core/ports/store-port.ts'

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

const isStoreUnavailable = (thrown: unknown): boolean =>
  thrown instanceof StoreUnavailable || (thrown instanceof Failure && thrown.kind.store === 'management')
