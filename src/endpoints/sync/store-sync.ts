/** Keeps the active endpoints the same as those of a store that other instances change too. */
import { setImmediate as turn } from 'node:timers/promises'
import { type Backoff, nextPauseMs } from '../../core/backoff.ts'
import { type Failure, isOverload } from '../../core/failure.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import type { StoredDocument } from '../../core/stored-document.ts'
import type { ChangeFeed } from '../../store/store.ts'
import { createActiveEndpoints } from '../active-endpoints.ts'
import { findClashes } from '../clash.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'
import type { Registry } from '../endpoint-registry.ts'
import type { InactiveDocuments, LoadStoredEndpoint } from './load-stored-endpoint.ts'

export interface StoreSync {
  /** The newest version of the store that is completely active here; 0 before the first. */
  readonly version: number
  /** Whether the active endpoints are those of this version of the store, no more and no less. */
  isAt(version: number): boolean
  /**
   * Activates what the store holds now. For a pending compilation the earlier document stays active, and later calls try
   * again, after pauses that grow. Rejects with StoreUnavailable, and then changes nothing.
   */
  catchUp(): Promise<void>
  /** The same; rejects with OVERLOADED if a compilation is pending. */
  catchUpWholly(): Promise<void>
}

export type StoreSyncOptions = Readonly<{
  changes: ChangeFeed
  registry: Registry
  /** Kept up to date. */
  inactive: InactiveDocuments
  loadStoredEndpoint: LoadStoredEndpoint
  /** The same, for what the store holds at the start. */
  loadAtStart: LoadStoredEndpoint
  clock: Clock
  logger: Logger
}>

/** Documents that are compared without a pause for messages. */
const COMPARED_AT_ONCE = 50

/** The pauses between attempts at pending compilations. */
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 }

/** Calls of `catchUp`, and other changes of the registry, must not overlap. */
export function createStoreSync({
  changes,
  registry,
  inactive: { refused, pending },
  loadStoredEndpoint,
  loadAtStart,
  clock,
  logger,
}: StoreSyncOptions): StoreSync {
  let version = 0
  /** The newest version that was read. */
  let seen = 0
  /** The documents, as text, that were pending or refused since `version`. */
  const tried = new Map<string, string>()
  let pauseMs = 0
  let retryAt = 0

  const isAt = (known: number): boolean => known === version && known === seen

  /** An endpoint with the same document stays as it is: compiling it again would gain nothing. */
  const isNew = (document: StoredDocument): boolean => {
    const { _id } = document
    const text = JSON.stringify(document)
    return JSON.stringify(registry.get(_id)?.document) !== text && !(refused.has(_id) && tried.get(_id) === text)
  }

  const postpone = (endpointIds: readonly string[]): void => {
    pauseMs = nextPauseMs(pauseMs, BACKOFF)
    retryAt = clock() + pauseMs
    logger.warn(
      { endpointIds, pauseMs },
      'Changed endpoints are not active: no isolated process compiled them in time; trying again',
    )
  }

  const catchUp = async (): Promise<void> => {
    const since = await changes.since(version)
    // A version that decreases belongs to another history, such as a restored backup.
    const { version: newVersion, documents, versions, ids } = since.version < seen ? await changes.since(0) : since
    if (isAt(newVersion)) return
    const changed: StoredDocument[] = []
    for (const [index, document] of documents.entries()) {
      if (isNew(document)) changed.push(document)
      if (index % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) await turn()
    }
    const replaced = new Set(changed.map(({ _id }) => _id))
    const before = registry.all()
    const active = createActiveEndpoints(before.filter(({ document: { _id } }) => ids.has(_id) && !replaced.has(_id)))
    for (const id of refused.keys()) if (!ids.has(id) || replaced.has(id)) refused.delete(id)
    const loaded: CompiledEndpoint[] = []
    const nowPending = new Map<string, Failure>()
    const isDue = clock() >= retryAt
    const load = seen === 0 ? loadAtStart : loadStoredEndpoint
    // After one document has waited for a process in vain, no other one waits.
    let overload: Failure | undefined
    for (const document of changed) {
      const { _id } = document
      const text = JSON.stringify(document)
      const isPaused = !isDue && pending.has(_id) && tried.get(_id) === text
      tried.set(_id, text)
      try {
        const instead = isPaused ? pending.get(_id) : overload
        const result = await load(document, versions.get(_id) ?? 1, active, { overload: instead })
        if ('refused' in result) {
          refused.set(_id, result.refused)
        } else {
          loaded.push(result.compiled)
          active.add(result.compiled)
        }
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        nowPending.set(_id, thrown)
        if (!isPaused) overload = thrown
      }
      // Messages run between two documents of a batch.
      await turn()
    }
    // An earlier document that has lost its name or route to another endpoint cannot stay active.
    const isOvertaken = (one: CompiledEndpoint) =>
      nowPending.has(one.document._id) && findClashes(one, active).length > 0
    const isGone = (one: CompiledEndpoint) =>
      !ids.has(one.document._id) || refused.has(one.document._id) || isOvertaken(one)
    const gone = before.filter(isGone).map(({ document }) => document._id)
    if (gone.length > 0 || loaded.length > 0) registry.update(gone, loaded)
    const endpointIds = loaded.map(({ document }) => document._id).filter((id) => pending.has(id))
    if (endpointIds.length > 0) logger.info({ endpointIds }, 'Endpoints whose compilation was pending are active')
    pending.clear()
    for (const [id, failure] of nowPending) pending.set(id, failure)
    if (overload !== undefined) postpone([...pending.keys()])
    seen = newVersion
    if (pending.size > 0) return
    tried.clear()
    pauseMs = 0
    version = newVersion
  }

  return {
    get version() {
      return version
    },
    isAt,
    catchUp,
    catchUpWholly: async () => {
      await catchUp()
      for (const failure of pending.values()) throw failure
    },
  }
}
