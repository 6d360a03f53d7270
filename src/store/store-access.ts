/** The error of a store that does not answer, and the failure that a message or call gets from it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Failure } from '../core/failure.ts'
import type { FailureCode } from '../core/failure-table.ts'

/** The store did not answer; the message or call may be tried again. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** What one management call knows of the store. `isOver`: work that continues after its answer asks the store again. */
export type StoreAccess = { lost: StoreUnavailable | undefined; isOver: boolean }

const accesses = new AsyncLocalStorage<StoreAccess>()

/** Runs a part of a management call. All parts of a call have one `access`: it waits for a store that is away only once. */
export const withStoreAccess = <T>(access: StoreAccess, work: () => T): T => accesses.run(access, work)

/** A loss that took less is that of one connection: the next access gets another one. */
const LONG_MS = 200

/**
 * Runs one access to a shared store. For a management call it rejects with StoreUnavailable after `maxMs`, and at once if
 * the call has waited in vain before. The access itself continues until its own timeouts.
 */
export async function waitForStore<T>(maxMs: number, work: () => Promise<T>): Promise<T> {
  const access = accesses.getStore()
  if (access === undefined || access.isOver) return work()
  if (access.lost !== undefined) throw access.lost
  const startedAt = performance.now()
  const { promise: overdue, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new StoreUnavailable(`The store did not answer within ${maxMs} ms.`)), maxMs)
  try {
    return await Promise.race([work(), overdue])
  } catch (thrown) {
    if (thrown instanceof StoreUnavailable && performance.now() - startedAt > LONG_MS) access.lost = thrown
    throw thrown
  } finally {
    clearTimeout(timer)
  }
}

/** For a management call that waited in vain for another one's access: it asks the store no more. */
export function noteStoreLost(lost: StoreUnavailable): void {
  const access = accesses.getStore()
  if (access !== undefined) access.lost = lost
}

/**
 * The failure to answer with if `thrown` is StoreUnavailable; any other error is returned unchanged.
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
