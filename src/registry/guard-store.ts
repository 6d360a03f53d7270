import { StoreUnavailable } from '../domain/ports.ts'
import * as failures from './failures.ts'

/** Runs what asks the store of endpoints. Fails with STORE_UNAVAILABLE where it does not answer. */
export async function guardStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof StoreUnavailable ? failures.storeUnavailable(thrown) : thrown
  }
}
