/**
 * Changes are checked against each other, so they run one at a time. While the store is away, each would find that out
 * by itself, after its own patience, and the last of many would wait for all the others.
 */
import { Failure } from '../domain/failure.ts'
import { StoreUnavailable } from '../domain/ports/store-unavailable.ts'

/** Runs work in the order of the calls. Fails as work before it, where that met a store that is away while this waited. */
export type ChangeQueue = <T>(work: () => Promise<T>) => Promise<T>

export function createChangeQueue(): ChangeQueue {
  let last: Promise<unknown> = Promise.resolve()
  let calls = 0
  /** The newest work that met a store that is away, and how many calls there were by then. */
  let away: Readonly<{ thrown: unknown; calls: number }> | undefined

  return <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1
    const call = calls
    const run = async (): Promise<T> => {
      if (away !== undefined && call <= away.calls) throw away.thrown
      try {
        return await work()
      } catch (thrown) {
        if (tellsOfStore(thrown)) away = { thrown, calls }
        throw thrown
      }
    }
    const result = last.then(run)
    last = result.catch(() => undefined)
    return result
  }
}

const tellsOfStore = (thrown: unknown): boolean =>
  thrown instanceof StoreUnavailable || (thrown instanceof Failure && thrown.kind.store === 'management')
