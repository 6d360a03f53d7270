/**
 * Changes that the store of this process alone did not confirm: it may have kept them all the same, as where the disk fails
 * after the commit. What it holds is in force then, so that nobody meets one endpoint in `GET` and another with messages.
 */
import { isOverload } from '../../domain/failure.ts'
import type { Awaitable } from '../../domain/json.ts'
import type { EndpointStore } from '../../domain/ports/endpoint-store-port.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import { StoreUnavailable } from '../../domain/ports/store-unavailable.ts'
import type { StoredDocument } from '../../domain/stored-document.ts'
import type { ActiveEndpoints } from '../active-endpoints.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'
import type { Registry } from '../endpoint-registry.ts'

export interface UncertainWrites {
  /** Does a change of that endpoint. Rejects as `write` does, after what the store holds was put in force, if it can be read. */
  confirm<T>(id: string, write: () => Promise<T>): Promise<T>
  /** Puts in force what could not be read then. Rejects with StoreUnavailable. */
  settle(): Promise<void>
}

export type UncertainWritesOptions = Readonly<{
  store: EndpointStore
  registry: Registry
  /** Ids of the documents that were refused; kept up to date. */
  refused: Set<string>
  /** Compiles a stored document; undefined where it cannot be in force beside those. */
  loadStoredEndpoint(
    document: StoredDocument,
    version: number,
    inForce: Pick<ActiveEndpoints, 'rivalsOf'>,
  ): Awaitable<CompiledEndpoint | undefined>
  logger: Logger
}>

/** Calls must not overlap with each other, nor with other changes of the registry. */
export function createUncertainWrites({
  store,
  registry,
  refused,
  loadStoredEndpoint,
  logger,
}: UncertainWritesOptions): UncertainWrites {
  const ids = new Set<string>()

  const putInForce = async (id: string): Promise<void> => {
    const document = await store.get(id)
    const before = registry.get(id)?.document
    if (JSON.stringify(document) === JSON.stringify(before)) return
    const [newest] = await store.versions(id)
    const compiled = document && (await loadStoredEndpoint(document, newest?.version ?? 1, registry))
    if (compiled !== undefined) registry.put(compiled)
    else if (before !== undefined) registry.remove(id)
    if (document !== undefined && compiled === undefined) {
      // Why it is not in force is told where it was compiled.
      refused.add(id)
      return
    }
    refused.delete(id)
    const { name } = document ?? before ?? {}
    logger.warn(
      { endpointId: id, endpoint: name },
      'A change that was answered with an error was stored: it is in force',
    )
  }

  const settle = async (): Promise<void> => {
    for (const id of ids) {
      try {
        await putInForce(id)
        ids.delete(id)
      } catch (thrown) {
        // No isolated process had the time: no other endpoint is to wait for that, and the next change tries again.
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
          // Where it cannot be read either, the next change tries again.
          await settle().catch(() => undefined)
        }
        throw thrown
      }
    },
    settle,
  }
}
