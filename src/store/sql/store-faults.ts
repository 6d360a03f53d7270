/** The `StoreUnavailable` that stores reject with, worded once for both databases. */
import { StoreUnavailable } from '../../domain/ports/store-port.ts'

/** `reason`: part of a sentence, without its full stop. */
export const storeUnavailable = (reason: string, options?: ErrorOptions): StoreUnavailable =>
  new StoreUnavailable(`The store did not answer: ${reason}.`, options)

export const storeClosed = (): StoreUnavailable => new StoreUnavailable('The store is closed.')

/**
 * Builds the mapping of thrown values to what the ports promise: `StoreUnavailable` if a retry may succeed, else the value
 * itself. `reasonOf` knows the error codes of the database and gives undefined for a wrong query or value.
 */
export const compileStoreFault =
  (reasonOf: (thrown: unknown) => string | undefined) =>
  (thrown: unknown): unknown => {
    if (thrown instanceof StoreUnavailable) return thrown
    const reason = reasonOf(thrown)
    return reason === undefined ? thrown : storeUnavailable(reason, { cause: thrown })
  }
