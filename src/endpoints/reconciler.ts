/**
 * Keeps the active endpoints those that the store holds: at the start, when other instances have changed the store, and when a
 * write was not confirmed. What the store holds is read, what differs is compiled, and all of it is activated together.
 */
import { setImmediate as nextIteration } from 'node:timers/promises'
import { type Backoff, nextPauseMs } from '../core/backoff.ts'
import { type Failure, isOverload } from '../core/failure.ts'
import type { Clock } from '../core/run.ts'
import type { StoredDocument } from '../core/stored-document.ts'
import type { EndpointStore } from '../store/sql/endpoint-store.ts'
import type { ChangeFeed, StoreChanges } from '../store/store.ts'
import { StoreUnavailable, withStoreAccess } from '../store/store-access.ts'
import type { ActiveTables } from '../tables/active-tables.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import { ActiveEndpoints, findClashes } from './endpoint-registry.ts'
import { type InactiveDocuments, StoredEndpoints, type StoredEndpointsOptions } from './stored-endpoints.ts'

export type ReconcilerOptions = Omit<StoredEndpointsOptions, 'refused'> &
  Readonly<{
    store: EndpointStore
    /** Present if other instances may change the store. */
    changes?: ChangeFeed | undefined
    clock: Clock
    /** Activated with the endpoints. */
    tables: Pick<ActiveTables, 'read' | 'list' | 'current'>
  }>

/** What the store holds of one endpoint; without a document, nothing. */
type Found = Readonly<{ id: string; document?: StoredDocument; version?: number }>

/** Documents that are compared without a pause for messages. */
const COMPARED_AT_ONCE = 50

const UNCONFIRMED = 'A change that was answered with an error was stored and is active'

/** The pauses between attempts at pending compilations. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 30_000 }

/** Calls that change the registry must not overlap, those of others included; `load` and `follow` enqueue themselves. */
export class Reconciler {
  /** The stored documents that are not active. */
  readonly inactive: InactiveDocuments = { refused: new Map(), pending: new Map() }
  readonly stored: StoredEndpoints
  readonly #options: ReconcilerOptions
  /** The newest version of a shared store that is completely active here; 0 before the first. */
  #version = 0
  /** The newest version that was read. */
  #seen = 0
  /** The documents, as text, that were pending or refused since `#version`. */
  readonly #tried = new Map<string, string>()
  /** The endpoints whose last write was not confirmed: the store may hold it all the same. */
  readonly #uncertain = new Set<string>()
  /** The same of any table. */
  #areTablesUncertain = false
  #pauseMs = 0
  #retryAt = 0

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.stored = new StoredEndpoints({ ...options, refused: this.inactive.refused })
  }

  /** Set for a shared store only. */
  get version(): number | undefined {
    return this.#options.changes && this.#version
  }

  /** The version of a shared store that changes are checked against. */
  get seen(): number | undefined {
    return this.#options.changes && this.#seen
  }

  /** At the start: activates all that the store holds. Rejects with OVERLOADED if a compilation is pending. */
  async load(): Promise<void> {
    const { changes, store, tables, enqueue } = this.#options
    this.stored.beginStart()
    await enqueue(async () => {
      if (changes !== undefined) return this.catchUpWholly()
      const versions = await store.newestVersions()
      const documents = await store.list()
      const activateTables = await tables.read(await tables.list())
      activateTables()
      await this.#activate(
        documents.map((document) => ({ id: document._id, document, version: versions.get(document._id) ?? 1 })),
        true,
      )
      this.#throwPending()
    })
    void this.stored.checkRest()
  }

  /** From now on activates the changes of other instances. `onVersion` gets each version that is reported. */
  follow(onVersion?: (version: number) => void): void {
    const { changes, enqueue, logger } = this.#options
    let isQueued = false
    const catchUp = async () => {
      isQueued = false
      await this.refresh()
    }
    changes?.watch((version) => {
      onVersion?.(version)
      if (isQueued || this.#isAt(version)) return
      isQueued = true
      // Calls wait behind it, so it waits for the store no longer than one of them.
      enqueue(() => withStoreAccess({ lost: undefined, isOver: false }, catchUp)).catch((err: unknown) => {
        isQueued = false
        logger.warn({ err }, 'Changes of other instances could not be read')
      })
    })
  }

  /**
   * Activates what the store holds now, as far as it may differ from what is active. For a pending compilation the earlier
   * document stays active, and later calls try again, after pauses that grow. Rejects with StoreUnavailable, and then
   * changes nothing.
   */
  async refresh(): Promise<void> {
    const { changes } = this.#options
    await (changes === undefined ? this.#activateUncertain() : this.#catchUp(changes))
  }

  /** The same for a shared store; rejects with OVERLOADED if a compilation is pending. */
  async catchUpWholly(): Promise<void> {
    const { changes } = this.#options
    if (changes === undefined) return
    await this.#catchUp(changes)
    this.#throwPending()
  }

  /**
   * Runs a write to those endpoints, and to tables. If it rejects, the store may hold it all the same, for example if the disk fails after
   * the commit: what the store holds is activated, so that `GET` and messages see the same document.
   */
  async confirm<T>(ids: readonly string[], write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (thrown) {
      // With a shared store, the next refresh reads the write from the feed.
      if (thrown instanceof StoreUnavailable && this.#options.changes === undefined) {
        for (const id of ids) this.#uncertain.add(id)
        this.#areTablesUncertain = true
        // If the store cannot be read either, the next change tries again.
        await this.refresh().catch(() => undefined)
      }
      throw thrown
    }
  }

  async #catchUp(changes: ChangeFeed): Promise<void> {
    const { registry, tables } = this.#options
    const { version, documents, versions, ids } = await this.#readChanges(changes)
    if (this.#isAt(version)) return
    // Another instance may have changed the store between the two: they are read again until they are of one version.
    const listed = await tables.list()
    if ((await changes.since(version)).version !== version) return this.#catchUp(changes)
    const activateTables = await tables.read(listed)
    const found: Found[] = []
    for (const [index, document] of documents.entries()) {
      const { _id: id } = document
      if (this.#isNew(document)) found.push({ id, document, version: versions.get(id) ?? 1 })
      if (index % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) await nextIteration()
    }
    const known = [...registry.all().map(({ document }) => document._id), ...this.inactive.refused.keys()]
    for (const id of known) if (!ids.has(id)) found.push({ id })
    await this.#activate(found, this.#seen === 0, activateTables)
    this.#seen = version
    if (this.inactive.pending.size === 0) this.#version = version
  }

  async #readChanges(changes: ChangeFeed): Promise<StoreChanges> {
    const since = await changes.since(this.#version)
    // A version that decreases belongs to another history, such as a restored backup.
    return since.version < this.#seen ? changes.since(0) : since
  }

  #isAt(version: number): boolean {
    return version === this.#version && version === this.#seen
  }

  /** An endpoint with the same document stays unchanged: compiling it again would gain nothing. */
  #isNew(document: StoredDocument): boolean {
    const { _id } = document
    const text = JSON.stringify(document)
    if (JSON.stringify(this.#options.registry.get(_id)?.document) === text) return false
    return !this.inactive.refused.has(_id) || this.#tried.get(_id) !== text
  }

  async #activateUncertain(): Promise<void> {
    if (this.#uncertain.size === 0 && !this.#areTablesUncertain) return
    const { store, registry, logger, tables } = this.#options
    const activateTables = await tables.read(await tables.list())
    const found: Found[] = []
    const names = new Map<string, string | undefined>()
    for (const id of this.#uncertain) {
      const active = registry.get(id)?.document
      const document = await store.get(id)
      if (JSON.stringify(document) === JSON.stringify(active)) this.#uncertain.delete(id)
      else {
        names.set(id, (document ?? active)?.name)
        found.push(document === undefined ? { id } : { id, document, version: await this.#newestVersion(id) })
      }
    }
    const before = tables.current
    await this.#activate(found, false, activateTables)
    this.#areTablesUncertain = false
    for (const name of new Set([...before.keys(), ...tables.current.keys()])) {
      if (before.get(name)?.version !== tables.current.get(name)?.version) logger.warn({ table: name }, UNCONFIRMED)
    }
    for (const { id } of found) {
      if (this.inactive.pending.has(id)) continue
      this.#uncertain.delete(id)
      // The reason of a refusal is logged already.
      if (this.inactive.refused.has(id)) continue
      const fields = { endpointId: id, endpoint: names.get(id) }
      logger.warn(fields, UNCONFIRMED)
    }
  }

  async #newestVersion(id: string): Promise<number> {
    return (await this.#options.store.versions(id))[0]?.version ?? 1
  }

  /**
   * Activates what was found, all at once: endpoints may have exchanged their names and routes. `found`: all that differs from
   * what is active, so what else was pending is so no more.
   */
  async #activate(found: readonly Found[], isStart: boolean, activateTables?: () => void): Promise<void> {
    if (found.length === 0) {
      activateTables?.()
      return this.#setPending(new Map())
    }
    const { registry, clock, logger } = this.#options
    const { refused, pending } = this.inactive
    const ids = new Set(found.map(({ id }) => id))
    const before = registry.all()
    const active = new ActiveEndpoints(before.filter(({ document }) => !ids.has(document._id)))
    const loaded: CompiledEndpoint[] = []
    const nowPending = new Map<string, Failure>()
    // Without a change feed, nothing but the next change tries again.
    const isDue = this.#options.changes === undefined || clock() >= this.#retryAt
    // After one document has waited for a process in vain, no other one waits.
    let overload: Failure | undefined
    for (const { id, document, version = 1 } of found) {
      refused.delete(id)
      if (document === undefined) continue
      const earlier = isDue ? undefined : pending.get(id)
      const paused = earlier && this.#tried.get(id) === JSON.stringify(document) ? earlier : undefined
      const options = { overload: paused ?? overload }
      try {
        const result = await (isStart
          ? this.stored.loadAtStart(document, version, active, options)
          : this.stored.load(document, version, active, options))
        if ('refused' in result) {
          refused.set(id, result.refused)
          this.#tried.set(id, JSON.stringify(document))
        } else {
          loaded.push(result.compiled)
          active.add(result.compiled)
        }
      } catch (thrown) {
        if (!isOverload(thrown)) throw thrown
        nowPending.set(id, thrown)
        this.#tried.set(id, JSON.stringify(document))
        if (paused === undefined) overload = thrown
      }
      // Messages run between two documents of a batch.
      await nextIteration()
    }
    // An earlier document that has lost its name or route to another endpoint cannot stay active.
    const isGone = (one: CompiledEndpoint): boolean =>
      nowPending.has(one.document._id) ? findClashes(one, active).length > 0 : ids.has(one.document._id)
    const isLoaded = new Set(loaded.map(({ document }) => document._id))
    const gone = before
      .filter((one) => !isLoaded.has(one.document._id) && isGone(one))
      .map(({ document }) => document._id)
    // The endpoints come first: those that go, or of which the newest documents are pending, keep the tables that they read.
    for (const id of nowPending.keys()) {
      const late = registry.get(id)
      if (late !== undefined) late.lastTables ??= this.#options.tables.current
    }
    if (gone.length > 0 || loaded.length > 0) registry.update(gone, loaded)
    activateTables?.()
    const endpointIds = [...isLoaded].filter((id) => pending.has(id))
    if (endpointIds.length > 0) logger.info({ endpointIds }, 'Endpoints whose compilation was pending are active')
    this.#setPending(nowPending)
    if (overload !== undefined) this.#postpone()
  }

  #setPending(failures: ReadonlyMap<string, Failure>): void {
    const { pending } = this.inactive
    for (const id of pending.keys()) {
      const one = failures.has(id) ? undefined : this.#options.registry.get(id)
      if (one !== undefined) one.lastTables = undefined
    }
    pending.clear()
    for (const [id, failure] of failures) pending.set(id, failure)
    if (pending.size > 0) return
    this.#tried.clear()
    this.#pauseMs = 0
  }

  #postpone(): void {
    const { clock, logger } = this.#options
    this.#pauseMs = nextPauseMs(this.#pauseMs, BACKOFF)
    this.#retryAt = clock() + this.#pauseMs
    logger.warn(
      { endpointIds: [...this.inactive.pending.keys()], pauseMs: this.#pauseMs },
      'Changed endpoints are not active: no isolated process compiled them in time; trying again',
    )
  }

  #throwPending(): void {
    for (const failure of this.inactive.pending.values()) throw failure
  }
}
