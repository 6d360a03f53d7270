/** Keeps the endpoints in force the same as those of a store that other instances change too. */
import { type Backoff, nextPauseMs } from '../../domain/backoff.ts'
import { type Failure, isOverload } from '../../domain/failure.ts'
import type { Awaitable } from '../../domain/json.ts'
import type { ChangeFeed } from '../../domain/ports/change-feed-port.ts'
import type { Logger } from '../../domain/ports/logger-port.ts'
import type { Clock } from '../../domain/run.ts'
import type { StoredDocument } from '../../domain/stored-document.ts'
import { type ActiveEndpoints, createActiveEndpoints } from '../active-endpoints.ts'
import { findClashes } from '../clash.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'
import type { Registry } from '../endpoint-registry.ts'

export interface StoreSync {
  /** The newest version of the store of which everything is in force here; 0 before the first. */
  readonly version: number
  /** Whether what is in force here is that version of the store, no more and no less. */
  isAt(version: number): boolean
  /**
   * Puts in force what the store holds now, but for what is late: of that, what was in force before stays, and the
   * next calls try it again, after pauses that grow. Rejects with StoreUnavailable, and then changes nothing.
   */
  catchUp(): Promise<void>
  /** The same; rejects with OVERLOADED where something is late. */
  catchUpWholly(): Promise<void>
}

export type StoreSyncOptions = Readonly<{
  changes: ChangeFeed
  registry: Registry
  /** Ids of the documents that were refused; kept up to date. */
  refused: Set<string>
  /** What each document met that no isolated process had the time to compile, by its id; kept up to date. */
  late: Map<string, Failure>
  /**
   * Compiles a stored document; undefined where it cannot be in force beside those. Rejects with OVERLOADED where no
   * isolated process has the time, or as `starved` says without waiting for one.
   */
  loadStoredEndpoint(
    document: StoredDocument,
    version: number,
    inForce: Pick<ActiveEndpoints, 'rivalsOf'>,
    starved?: Failure,
  ): Awaitable<CompiledEndpoint | undefined>
  clock: Clock
  logger: Logger
}>

/** From one attempt at what is late to the next; doubles up to the longest. */
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 }

/** Calls of `catchUp`, and other changes of the registry, must not overlap. */
export function createStoreSync({
  changes,
  registry,
  refused,
  late,
  loadStoredEndpoint,
  clock,
  logger,
}: StoreSyncOptions): StoreSync {
  let version = 0
  /** The newest one that was read. */
  let seen = 0
  /** What was late or refused since `version`, as text. */
  const tried = new Map<string, string>()
  let pauseMs = 0
  let againAt = 0

  const isAt = (known: number): boolean => known === version && known === seen

  /** An endpoint whose document is the same stays as it is: compiling it again would gain nothing. */
  const isNews = (document: StoredDocument): boolean => {
    const { _id } = document
    const text = JSON.stringify(document)
    return JSON.stringify(registry.get(_id)?.document) !== text && !(refused.has(_id) && tried.get(_id) === text)
  }

  const postpone = (endpointIds: readonly string[]): void => {
    pauseMs = nextPauseMs(pauseMs, BACKOFF)
    againAt = clock() + pauseMs
    logger.warn(
      { endpointIds, pauseMs },
      'Changes of endpoints are not in force: no isolated process had the time to compile them; trying again',
    )
  }

  const catchUp = async (): Promise<void> => {
    const since = await changes.since(version)
    // A version that goes back is another history, such as a restored backup.
    const { version: newVersion, documents, versions, ids } = since.version < seen ? await changes.since(0) : since
    if (isAt(newVersion)) return
    const news = documents.filter(isNews)
    const replaced = new Set(news.map(({ _id }) => _id))
    const before = registry.all()
    const inForce = createActiveEndpoints(before.filter(({ document: { _id } }) => ids.has(_id) && !replaced.has(_id)))
    for (const id of refused) if (!ids.has(id) || replaced.has(id)) refused.delete(id)
    const revived: CompiledEndpoint[] = []
    const lateNow = new Map<string, Failure>()
    const isDue = clock() >= againAt
    // Where one had to wait in vain for a process, no other one waits.
    let starved: Failure | undefined
    for (const document of news) {
      const { _id } = document
      const text = JSON.stringify(document)
      const isPaused = !isDue && late.has(_id) && tried.get(_id) === text
      tried.set(_id, text)
      try {
        const spared = isPaused ? late.get(_id) : starved
        const compiled = await loadStoredEndpoint(document, versions.get(_id) ?? 1, inForce, spared)
        if (compiled === undefined) {
          refused.add(_id)
        } else {
          revived.push(compiled)
          inForce.add(compiled)
        }
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        lateNow.set(_id, thrown)
        if (!isPaused) starved = thrown
      }
    }
    // What is late and has lost its name or route to another one would stand in its way.
    const isOvertaken = (one: CompiledEndpoint) => lateNow.has(one.document._id) && findClashes(one, inForce).length > 0
    const isGone = (one: CompiledEndpoint) =>
      !ids.has(one.document._id) || refused.has(one.document._id) || isOvertaken(one)
    const gone = before.filter(isGone).map(({ document }) => document._id)
    if (gone.length > 0 || revived.length > 0) registry.update(gone, revived)
    const endpointIds = revived.map(({ document }) => document._id).filter((id) => late.has(id))
    if (endpointIds.length > 0) logger.info({ endpointIds }, 'Changes of endpoints are in force that were late')
    late.clear()
    for (const [id, failure] of lateNow) late.set(id, failure)
    if (starved !== undefined) postpone([...late.keys()])
    seen = newVersion
    if (late.size > 0) return
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
      for (const failure of late.values()) throw failure
    },
  }
}
