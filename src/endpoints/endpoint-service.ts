/**
 * The management of endpoints: check, compile, store, put in force, in that order and one change at a time.
 * A change is in force when its promise resolves, and durable.
 */
import type { DocumentBounds } from '../config/checks/document-bounds.ts'
import { isId } from '../domain/id.ts'
import type { Json } from '../domain/json.ts'
import type { Lint } from '../domain/lint.ts'
import type { ChangeFeed } from '../domain/ports/change-feed-port.ts'
import type { EndpointStore } from '../domain/ports/endpoint-store-port.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import { StoreUnavailable } from '../domain/ports/store-unavailable.ts'
import type { Clock } from '../domain/run.ts'
import type { ChangeMethod, Origin, StoredDocument } from '../domain/stored-document.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import { type ActiveEndpoints, createActiveEndpoints } from './active-endpoints.ts'
import { createChangeQueue } from './change-queue.ts'
import { findClashes, storeClash } from './clash.ts'
import { compileDocument, type Stamp } from './compile-document.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import { compileFilter } from './document-filter.ts'
import type { Registry } from './endpoint-registry.ts'
import { createVersions, documentOf, type Versions } from './endpoint-versions.ts'
import { etagOf, matchesEtag } from './etag.ts'
import { isolate } from './isolate.ts'
import * as failures from './management-failures.ts'
import { mergePatch } from './merge-patch.ts'
import { parseDocument } from './parse-document.ts'
import { loadStoredEndpoint } from './sync/load-stored-endpoint.ts'
import { retryOnConflict } from './sync/retry-on-conflict.ts'
import { createStoreSync, type StoreSyncOptions } from './sync/store-sync.ts'
import { createUncertainWrites, type UncertainWrites } from './sync/uncertain-writes.ts'

/** A document in force, with what the check had to say short of refusing it. */
export type Accepted = Readonly<{ document: StoredDocument; version: number; warnings: readonly Lint[] }>

/** Condition of a write: the If-Match header, undefined where there is none. */
export type Condition = string | undefined

/**
 * Documents come in as JSON text, so that names which stand twice can be told.
 *
 * Fails with BODY_UNREADABLE, BODY_TOO_DEEP, DOCUMENT_TOO_LARGE, CONFIGURATION_INVALID (every fault in `details`),
 * CONFIGURATION_CLASH, ENDPOINTS_TOO_MANY, ENDPOINT_UNKNOWN, VERSION_UNKNOWN, ID_MALFORMED, FILTER_INVALID, PRECONDITION_FAILED, STORE_UNAVAILABLE.
 */
export interface EndpointService {
  /**
   * Compiles what the store holds and puts it in force. A document that this version no longer accepts is logged and
   * left out. Fails with OVERLOADED where no isolated process had the time for one.
   */
  load(): Promise<void>
  /** From now on puts in force what other instances change in a shared store. */
  follow(): void
  /** Puts in force what a shared store holds by now. Fails with STORE_UNAVAILABLE; with OVERLOADED where a part is late. */
  catchUp(): Promise<void>
  /** The version of a shared store that is in force here; undefined where the store is not shared. */
  version(): number | undefined
  /** Ids of the stored documents that are not in force: until they are mended or deleted, or were late. */
  notInForce(): readonly string[]
  /** Oldest first; each filter is a field path with the texts of which one must be equal. */
  list(filters: readonly (readonly [path: string, values: readonly string[]])[]): Promise<readonly StoredDocument[]>
  get(id: string): Promise<StoredDocument>
  create(text: string, origin?: Origin): Promise<Accepted>
  replace(id: string, text: string, condition: Condition, origin?: Origin): Promise<Accepted>
  /** JSON Merge Patch, RFC 7396. */
  patch(id: string, text: string, condition: Condition, origin?: Origin): Promise<Accepted>
  /** Puts the document of an earlier version in force, also of an endpoint that was deleted. */
  restore(id: string, version: number, condition: Condition, origin?: Origin): Promise<Accepted>
  /** Resolves to what was removed, and the version that its removal is. */
  remove(id: string, condition: Condition, origin?: Origin): Promise<Pick<Accepted, 'document' | 'version'>>
  readonly versions: Versions
}

export type EndpointServiceOptions = Readonly<{
  store: EndpointStore
  /** Where other instances may change the store. */
  changes?: ChangeFeed | undefined
  /** Resolves when all processes of this service have caught up with a change that is stored; it is answered then. */
  announce?: (() => Promise<void>) | undefined
  registry: Registry
  services: Services
  settings: PipelineSettings & DocumentBounds & Readonly<{ maxEndpoints: number }>
  clock: Clock
  newId: () => string
  logger: Logger
}>

/** What is kept of a change beside the document. */
type How = Readonly<{ method: ChangeMethod; origin: Origin; restored?: number }>

export function createEndpointService(options: EndpointServiceOptions): EndpointService {
  const { store, changes, announce, registry, services, settings, clock, newId, logger } = options
  const inTurn = createChangeQueue()
  const refused = new Set<string>()
  const late: StoreSyncOptions['late'] = new Map()
  const versions = createVersions(store)
  const loadHere: StoreSyncOptions['loadStoredEndpoint'] = (...stored) => loadStoredEndpoint(options, ...stored)
  const follower = changes && createStoreSync({ ...options, changes, refused, late, loadStoredEndpoint: loadHere })
  // Whoever follows others comes by what the store holds anyway.
  const unconfirmed = follower
    ? undefined
    : createUncertainWrites({ ...options, refused, loadStoredEndpoint: loadHere })
  const confirm: UncertainWrites['confirm'] = unconfirmed?.confirm ?? ((_id, write) => write())

  /** The store has no longer what is in force of a document that is late: its name and route may be another's. */
  const stored: Pick<ActiveEndpoints, 'rivalsOf'> = {
    rivalsOf: (one) => registry.rivalsOf(one).filter(({ document }) => !late.has(document._id)),
  }

  /** In a shared store a change is checked against what that holds now, not against what this instance has heard of. */
  const change = async <T>(condition: Condition, work: () => Promise<T>): Promise<T> => {
    const checked = async (): Promise<T> => {
      await (follower?.catchUp() ?? unconfirmed?.settle())
      return work()
    }
    const result = await failures.callEndpointStore(() =>
      inTurn(follower ? () => retryOnConflict(condition, checked) : checked),
    )
    // Not within its turn: two processes that change something would wait for each other.
    await announce?.()
    return result
  }

  const notInForce = (): readonly string[] => [...refused, ...late.keys()]

  /** A change of it is in force. */
  const settle = (id: string): void => {
    refused.delete(id)
    late.delete(id)
  }

  const refuseOneMore = (): void => {
    // Of what is late, an earlier document may be in force.
    const others = notInForce().filter((id) => registry.get(id) === undefined).length
    if (registry.size + others >= settings.maxEndpoints) throw failures.tooMany(settings.maxEndpoints)
  }

  const loadAll = async (): Promise<void> => {
    const inForce = createActiveEndpoints()
    const newest = await store.newestVersions()
    for (const document of await store.list()) {
      const compiled = await loadStoredEndpoint(options, document, newest.get(document._id) ?? 1, inForce)
      if (compiled === undefined) refused.add(document._id)
      else inForce.add(compiled)
    }
    registry.load(inForce.all())
  }

  const accept = async (
    raw: Json,
    faults: readonly Lint[],
    stamp: Stamp,
    write: (compiled: CompiledEndpoint) => ReturnType<EndpointStore['replace']>,
  ): Promise<Accepted> => {
    const { lints, compiled } = compileDocument(raw, stamp, await isolate(raw, services), settings, settings)
    const clashes = findClashes(compiled, stored)
    const errors = [...faults, ...lints.filter(({ severity }) => severity === 'error')]
    if (errors.length > 0) throw failures.invalid([...errors, ...clashes])
    if (clashes.length > 0) throw failures.clash(clashes)
    const result = await failures.callEndpointStore(() => confirm(stamp._id, () => write(compiled)))
    if (result === 'gone') throw failures.unknown(stamp._id)
    if (result === 'stale') throw failures.stale()
    if (result !== 'stored') throw failures.clash([storeClash(result)])
    const overtaken = registry.rivalsOf(compiled).map(({ document }) => document._id)
    if (overtaken.length > 0) registry.update(overtaken, [compiled])
    else registry.put(compiled)
    settle(stamp._id)
    const warnings = lints.filter(({ severity }) => severity === 'warning')
    const { _id, name } = compiled.document
    for (const { path, message } of warnings) logger.warn({ endpointId: _id, endpoint: name, path }, message)
    return { document: compiled.document, version: compiled.version, warnings }
  }

  const read = async (id: string): Promise<StoredDocument> => {
    if (!isId(id)) throw failures.malformedId(id)
    const document = await failures.callEndpointStore(() => store.get(id))
    if (document === undefined) throw failures.unknown(id)
    return document
  }

  const readFor = async (id: string, condition: Condition): Promise<StoredDocument> => {
    const document = await read(id)
    if (condition !== undefined && !matchesEtag(condition, etagOf(document))) throw failures.stale()
    return document
  }

  const replaceWith = async (
    current: StoredDocument,
    { raw, faults }: ReturnType<typeof parseDocument>,
    how: How,
  ): Promise<Accepted> => {
    const { _id, createdAt, updatedAt } = current
    // Read after the document: where another instance changes it in between, the document is stale.
    const [newest] = await failures.callEndpointStore(() => store.versions(_id))
    const stamp = { _id, createdAt, updatedAt: later(updatedAt, clock()), version: (newest?.version ?? 0) + 1 }
    return accept(raw, faults, stamp, (compiled) => store.replace(compiled, current, how))
  }

  /** Under the id that it had. */
  const revert = async (document: StoredDocument, how: How): Promise<Accepted> => {
    refuseOneMore()
    const { _id, createdAt } = document
    const [newest] = await failures.callEndpointStore(() => store.versions(_id))
    const updatedAt = later(newest?.at ?? createdAt, clock())
    return accept(
      document,
      [],
      { _id, createdAt, updatedAt, version: (newest?.version ?? 0) + 1 },
      async (compiled) => {
        try {
          return await store.insert(compiled, how)
        } catch (thrown) {
          // Another instance was faster.
          if (!(thrown instanceof StoreUnavailable) && (await store.get(_id)) !== undefined) return 'stale'
          throw thrown
        }
      },
    )
  }

  return {
    load: () => inTurn(follower?.catchUpWholly ?? loadAll),
    follow: () => {
      let waiting = false
      const catchUp = async () => {
        waiting = false
        await follower?.catchUp()
      }
      const missed = (err: unknown) => {
        waiting = false
        logger.warn({ err }, 'Changes of other instances could not be read')
      }
      changes?.watch((version) => {
        if (waiting || follower?.isAt(version)) return
        waiting = true
        inTurn(catchUp).catch(missed)
      })
    },
    catchUp: () => failures.callEndpointStore(() => inTurn(async () => follower?.catchUpWholly())),
    version: () => follower?.version,
    notInForce,
    list: async (filters) => {
      const tests = filters.map(([path, values]) => compileFilter(path, values))
      return (await failures.callEndpointStore(() => store.list())).filter((document) =>
        tests.every((test) => test(document)),
      )
    },
    get: read,
    versions,
    create: (text, origin = {}) =>
      change(undefined, () => {
        refuseOneMore()
        const { raw, faults } = parseDocument(text)
        const now = new Date(clock()).toISOString()
        return accept(raw, faults, { _id: newId(), createdAt: now, updatedAt: now, version: 1 }, (compiled) =>
          store.insert(compiled, { origin }),
        )
      }),
    replace: (id, text, condition, origin = {}) =>
      change(condition, async () => {
        const current = await readFor(id, condition)
        return replaceWith(current, parseDocument(text), { method: 'replace', origin })
      }),
    patch: (id, text, condition, origin = {}) =>
      change(condition, async () => {
        const current = await readFor(id, condition)
        const { raw, faults } = parseDocument(text)
        return replaceWith(current, { raw: mergePatch(current, raw), faults }, { method: 'patch', origin })
      }),
    restore: (id, version, condition, origin = {}) =>
      change(condition, async () => {
        const document = documentOf(await versions.get(id, version))
        const how: How = { method: 'restore', origin, restored: version }
        if ((await failures.callEndpointStore(() => store.get(id))) === undefined) {
          if (condition !== undefined) throw failures.stale()
          return revert(document, how)
        }
        return replaceWith(await readFor(id, condition), { raw: document, faults: [] }, how)
      }),
    remove: (id, condition, origin = {}) =>
      change(condition, async () => {
        const current = await readFor(id, condition)
        const at = later(current.updatedAt, clock())
        const [newest] = await failures.callEndpointStore(() => store.versions(id))
        const result = await failures.callEndpointStore(() => confirm(id, () => store.remove(current, { at, origin })))
        if (result === 'stale') throw failures.stale()
        if (result === 'gone') throw failures.unknown(id)
        registry.remove(id)
        settle(id)
        return { document: current, version: (newest?.version ?? 0) + 1 }
      }),
  }
}

/** An `updatedAt` that differs from the one before, even within one millisecond. */
const later = (before: string, now: number): string => new Date(Math.max(now, Date.parse(before) + 1)).toISOString()
