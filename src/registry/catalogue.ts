/**
 * The management of endpoints: check, compile, store, put in force, in that order and one change at a time.
 * A change is in force when its promise resolves, and durable.
 */
import { isId } from '../domain/id.ts'
import type { Json } from '../domain/json.ts'
import type { Lint } from '../domain/lint.ts'
import { type EndpointStore, type Logger, type StoredDocument, StoreUnavailable } from '../domain/ports.ts'
import type { Clock } from '../domain/run.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import { build, type Stamp } from './build.ts'
import { findClashes, storeClash } from './clash.ts'
import { etagOf, matchesEtag } from './etag.ts'
import * as failures from './failures.ts'
import { compileFilter } from './filter.ts'
import { mergePatch } from './merge-patch.ts'
import { parseDocument } from './parse-document.ts'
import type { Compiled, Registry } from './registry.ts'

/** A document in force, with what the check had to say short of refusing it. */
export type Accepted = Readonly<{ document: StoredDocument; warnings: readonly Lint[] }>

/** Condition of a write: the If-Match header, undefined where there is none. */
export type Condition = string | undefined

/**
 * Documents come in as JSON text, so that names which stand twice can be told.
 *
 * Fails with BODY_UNREADABLE, BODY_TOO_DEEP, CONFIGURATION_INVALID (every fault in `details`), CONFIGURATION_CLASH,
 * ENDPOINT_UNKNOWN, ID_MALFORMED, FILTER_INVALID, PRECONDITION_FAILED, STORE_UNAVAILABLE.
 */
export interface Catalogue {
  /**
   * Compiles what the store holds and puts it in force. A document that this version no longer accepts is logged and
   * left out.
   */
  load(): Promise<void>
  /** Ids of the stored documents that are not in force, until they are mended or deleted. */
  notInForce(): readonly string[]
  /** Oldest first; each filter is a field path with the texts of which one must be equal. */
  list(filters: readonly (readonly [path: string, values: readonly string[]])[]): Promise<readonly StoredDocument[]>
  get(id: string): Promise<StoredDocument>
  create(text: string): Promise<Accepted>
  replace(id: string, text: string, condition: Condition): Promise<Accepted>
  /** JSON Merge Patch, RFC 7396. */
  patch(id: string, text: string, condition: Condition): Promise<Accepted>
  /** Resolves to what was removed. */
  remove(id: string, condition: Condition): Promise<StoredDocument>
}

export type CatalogueOptions = Readonly<{
  store: EndpointStore
  registry: Registry
  services: Services
  settings: PipelineSettings
  clock: Clock
  newId: () => string
  logger: Logger
}>

export function createCatalogue(options: CatalogueOptions): Catalogue {
  const { store, registry, services, settings, clock, newId, logger } = options
  const inTurn = createQueue()
  const refused = new Set<string>()

  const accept = async (
    raw: Json,
    faults: readonly Lint[],
    stamp: Stamp,
    write: (compiled: Compiled) => ReturnType<EndpointStore['replace']>,
  ): Promise<Accepted> => {
    const { lints, compiled } = build(raw, stamp, services, settings)
    const clashes = findClashes(compiled, registry.all())
    const errors = [...faults, ...lints.filter(({ severity }) => severity === 'error')]
    if (errors.length > 0) throw failures.invalid([...errors, ...clashes])
    if (clashes.length > 0) throw failures.clash(clashes)
    const result = await guardStore(() => write(compiled))
    if (result === 'gone') throw failures.unknown(stamp._id)
    if (result === 'stale') throw failures.stale()
    if (result !== 'stored') throw failures.clash([storeClash(result)])
    registry.put(compiled)
    refused.delete(stamp._id)
    const warnings = lints.filter(({ severity }) => severity === 'warning')
    const { _id, name } = compiled.document
    for (const { path, message } of warnings) logger.warn({ endpointId: _id, endpoint: name, path }, message)
    return { document: compiled.document, warnings }
  }

  const read = async (id: string): Promise<StoredDocument> => {
    if (!isId(id)) throw failures.malformedId(id)
    const document = await guardStore(() => store.get(id))
    if (document === undefined) throw failures.unknown(id)
    return document
  }

  const readFor = async (id: string, condition: Condition): Promise<StoredDocument> => {
    const document = await read(id)
    if (condition !== undefined && !matchesEtag(condition, etagOf(document))) throw failures.stale()
    return document
  }

  const replaceWith = (current: StoredDocument, raw: Json, faults: readonly Lint[]): Promise<Accepted> => {
    const { _id, createdAt, updatedAt } = current
    const stamp = { _id, createdAt, updatedAt: later(updatedAt, clock()) }
    return accept(raw, faults, stamp, (compiled) => store.replace(compiled, current))
  }

  return {
    load: async () => {
      const inForce: Compiled[] = []
      for (const document of await store.list()) {
        const compiled = revive(document, inForce, options)
        if (compiled === undefined) refused.add(document._id)
        else inForce.push(compiled)
      }
      registry.load(inForce)
    },
    notInForce: () => [...refused],
    list: async (filters) => {
      const tests = filters.map(([path, values]) => compileFilter(path, values))
      return (await guardStore(() => store.list())).filter((document) => tests.every((test) => test(document)))
    },
    get: read,
    create: (text) =>
      inTurn(() => {
        const { raw, faults } = parseDocument(text)
        const now = new Date(clock()).toISOString()
        return accept(raw, faults, { _id: newId(), createdAt: now, updatedAt: now }, (compiled) =>
          store.insert(compiled),
        )
      }),
    replace: (id, text, condition) =>
      inTurn(async () => {
        const current = await readFor(id, condition)
        const { raw, faults } = parseDocument(text)
        return replaceWith(current, raw, faults)
      }),
    patch: (id, text, condition) =>
      inTurn(async () => {
        const current = await readFor(id, condition)
        const { raw, faults } = parseDocument(text)
        return replaceWith(current, mergePatch(current, raw), faults)
      }),
    remove: (id, condition) =>
      inTurn(async () => {
        const current = await readFor(id, condition)
        const result = await guardStore(() => store.remove(current))
        if (result === 'stale') throw failures.stale()
        if (result === 'gone') throw failures.unknown(id)
        registry.remove(id)
        refused.delete(id)
        return current
      }),
  }
}

/** What a stored document compiles to; undefined where this version refuses it, or to have it beside `inForce`. */
function revive(
  document: StoredDocument,
  inForce: readonly Compiled[],
  { services, settings, logger }: CatalogueOptions,
): Compiled | undefined {
  const { lints, compiled } = build(document, document, services, settings)
  const faults = [...lints.filter(({ severity }) => severity === 'error'), ...findClashes(compiled, inForce)]
  if (faults.length === 0) return { ...compiled, document }
  const { _id, name } = document
  logger.error({ endpointId: _id, endpoint: name, faults }, 'A stored endpoint is not in force: it has faults')
  return undefined
}

/** An `updatedAt` that differs from the one before, even within one millisecond. */
const later = (before: string, now: number): string => new Date(Math.max(now, Date.parse(before) + 1)).toISOString()

/** Changes are checked against each other, so they run one at a time. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work, work)
    last = result.catch(() => undefined)
    return result
  }
}

async function guardStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof StoreUnavailable ? failures.storeUnavailable(thrown) : thrown
  }
}
