/**
 * Writes that the store of a single process did not confirm: the store may hold them all the same, for example if the disk
 * fails after the commit. What the store holds is activated, so that `GET` and messages see the same document.
 */
import { isOverload } from '../../domain/failure.ts'
import type { EndpointStore } from '../../domain/ports/endpoint-store-port.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import { StoreUnavailable } from '../../domain/ports/store-port.ts'
import type { Registry } from '../endpoint-registry.ts'
import type { InactiveDocuments, LoadStoredEndpoint } from './load-stored-endpoint.ts'

export interface UncertainWrites {
  /** Runs a write to that endpoint. If it rejects, what the store holds is activated first, if it can be read. */
  confirm<T>(id: string, write: () => Promise<T>): Promise<T>
  /** Activates what could not be read then. Rejects with StoreUnavailable. */
  reconcile(): Promise<void>
}

export type UncertainWritesOptions = Readonly<{
  store: EndpointStore
  registry: Registry
  /** Kept up to date. */
  inactive: InactiveDocuments
  loadStoredEndpoint: LoadStoredEndpoint
  logger: Logger
}>

/** Calls must not overlap with each other, nor with other changes of the registry. */
export function createUncertainWrites({
  store,
  registry,
  inactive: { refused },
  loadStoredEndpoint,
  logger,
}: UncertainWritesOptions): UncertainWrites {
  const ids = new Set<string>()

  const activateStored = async (id: string): Promise<void> => {
    const document = await store.get(id)
    const before = registry.get(id)?.document
    if (JSON.stringify(document) === JSON.stringify(before)) return
    const [newest] = await store.versions(id)
    const compiled = document && (await loadStoredEndpoint(document, newest?.version ?? 1, registry))
    if (compiled !== undefined) registry.put(compiled)
    else if (before !== undefined) registry.remove(id)
    if (document !== undefined && compiled === undefined) {
      // loadStoredEndpoint has logged the reason.
      refused.add(id)
      return
    }
    refused.delete(id)
    const { name } = document ?? before ?? {}
    logger.warn({ endpointId: id, endpoint: name }, 'A change that was answered with an error was stored and is active')
  }

  const reconcile = async (): Promise<void> => {
    for (const id of ids) {
      try {
        await activateStored(id)
        ids.delete(id)
      } catch (thrown) {
        // No isolated process compiled it in time: the other endpoints go on, and the next change tries this one again.
        if (!isOverload(thrown)) throw thrown
      }
    }
  }

  return {
    confirm: async (id, write) => {
      try {
        return await write()
      } catch (thrown) {
        if (thrown instanceof StoreUnavailable) {
          ids.add(id)
          // If the store cannot be read either, the next change tries again.
          await reconcile().catch(() => undefined)
        }
        throw thrown
      }
    },
    reconcile,
  }
}
