/** The error of a store that does not answer, and the failure that a message or call gets from it. */
import { Failure } from '../failure.ts'
import type { FailureCode } from '../failure-table.ts'

/** The store did not answer; the message or call may be tried again. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/**
 * The failure to answer with if `thrown` is StoreUnavailable; any other error is returned as it is.
 *
 * In: the code and sentence of the failure; `path`: its path in the document, if it has one.
 */
export function storeFailure(code: FailureCode, sentence: string, thrown: unknown, path?: string): unknown {
  if (!(thrown instanceof StoreUnavailable)) return thrown
  return new Failure(code, sentence, { cause: thrown, ...(path === undefined ? {} : { path }) })
}

/** Runs `work` on a store that a management call uses. `store`: its name for people. Fails with STORE_UNAVAILABLE. */
export async function callStore<T>(store: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw storeFailure('STORE_UNAVAILABLE', `${store} does not answer now; try again.`, thrown)
  }
}
