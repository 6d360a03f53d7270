/**
 * Writes that the store of a single process did not confirm: the store may hold them all the same, for example if the disk
 * fails after the commit. What the store holds is activated, so that `GET` and messages see the same document.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { isOverload } from '../../core/failure.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import { StoreUnavailable } from '../../core/ports/store-port.ts'
import type { StoredDocument } from '../../core/stored-document.ts'
import type { EndpointStore } from '../../store/sql/endpoint-store.ts'
import { createActiveEndpoints } from '../active-endpoints.ts'
import { findClashes } from '../clash.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'
import type { Registry } from '../endpoint-registry.ts'
import type { InactiveDocuments, LoadStoredEndpoint, RefusedEndpoint } from './load-stored-endpoint.ts'

export interface UncertainWrites {
  /** Runs a write to those endpoints. If it rejects, what the store holds is activated first, if it can be read. */
  confirm<T>(ids: readonly string[], write: () => Promise<T>): Promise<T>
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
  const uncertain = new Set<string>()

  type Found = Readonly<{ id: string; document: StoredDocument | undefined }>

  /** The endpoints whose stored documents are others than the active ones. */
  const findChanged = async (): Promise<readonly Found[]> => {
    const changed: Found[] = []
    for (const id of uncertain) {
      const document = await store.get(id)
      if (JSON.stringify(document) === JSON.stringify(registry.get(id)?.document)) uncertain.delete(id)
      else changed.push({ id, document })
    }
    return changed
  }

  /** All at once, as the endpoints of a batch may have exchanged their names and routes. */
  const reconcile = async (): Promise<void> => {
    const changed = await findChanged()
    if (changed.length === 0) return
    const ids = new Set(changed.map(({ id }) => id))
    const active = createActiveEndpoints(registry.all().filter(({ document }) => !ids.has(document._id)))
    const loaded: CompiledEndpoint[] = []
    const gone: string[] = []
    const late = new Set<string>()
    const nowRefused = new Map<string, RefusedEndpoint>()
    for (const { id, document } of changed) {
      try {
        const result = document && (await loadStoredEndpoint(document, await newestVersion(id), active))
        if (result === undefined || 'refused' in result) {
          gone.push(id)
          if (result !== undefined) nowRefused.set(id, result.refused)
        } else {
          loaded.push(result.compiled)
          active.add(result.compiled)
        }
      } catch (thrown) {
        // No isolated process compiled it in time: the other endpoints go on, and the next change tries this one again.
        if (!isOverload(thrown)) throw thrown
        late.add(id)
        const before = registry.get(id)
        if (before !== undefined && findClashes(before, active).length > 0) gone.push(id)
      }
      await turn()
    }
    const known = new Map(gone.map((id) => [id, registry.get(id)?.document.name]))
    registry.update(gone, loaded)
    for (const { id, document } of changed.filter((one) => !late.has(one.id))) {
      uncertain.delete(id)
      // loadStoredEndpoint has logged the reason.
      const refusal = nowRefused.get(id)
      if (refusal !== undefined) refused.set(id, refusal)
      else {
        refused.delete(id)
        const fields = { endpointId: id, endpoint: document?.name ?? known.get(id) }
        logger.warn(fields, 'A change that was answered with an error was stored and is active')
      }
    }
  }

  const newestVersion = async (id: string): Promise<number> => (await store.versions(id))[0]?.version ?? 1

  return {
    confirm: async (ids, write) => {
      try {
        return await write()
      } catch (thrown) {
        if (thrown instanceof StoreUnavailable) {
          for (const id of ids) uncertain.add(id)
          // If the store cannot be read either, the next change tries again.
          await reconcile().catch(() => undefined)
        }
        throw thrown
      }
    },
    reconcile,
  }
}
