/** Changes one endpoint: compiles its document, checks it for clashes, stores it, then activates it. */

import type { Lint } from '../core/lint.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import { StoreUnavailable } from '../core/ports/store-port.ts'
import type { Clock } from '../core/run.ts'
import type { Change, Origin, StoredDocument } from '../core/stored-document.ts'
import type { DocumentBounds } from '../document/checks/document-bounds.ts'
import type { PipelineCache } from '../pipeline/pipeline-cache.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import type { AuditEntry, EntryOf } from '../store/sql/audit-store.ts'
import type { EndpointStore } from '../store/sql/endpoint-store.ts'
import { findClashes, storeClash } from './clash.ts'
import { compileDocument, type Stamp } from './compile-document.ts'
import type { CompiledEndpoint } from './compiled-endpoint.ts'
import { type EndpointChanges, effectOf } from './endpoint-changes.ts'
import type { Registry } from './endpoint-registry.ts'
import * as failures from './management-failures.ts'
import { type ParsedDocument, parseDocument } from './parse-document.ts'
import type { UncertainWrites } from './sync/uncertain-writes.ts'

/** An active document with the warnings of its check. */
export type Accepted = Readonly<{ document: StoredDocument; version: number; warnings: readonly Lint[] }>

export type WriteDetails = Omit<Change, 'at'>

/**
 * `entryOf`: for the entry of a change in the audit log. Calls must not overlap. Each rejects with StoreUnavailable, or fails
 * with the codes of EndpointService.
 */
export interface EndpointWriter {
  create(text: string, origin: Origin, entryOf?: EntryOf): Promise<Accepted>
  /** `current`: the stored document. */
  replace(current: StoredDocument, parsed: ParsedDocument, details: WriteDetails, entryOf?: EntryOf): Promise<Accepted>
  /** Stores a deleted document again, under its id. */
  recreate(document: StoredDocument, details: WriteDetails, entryOf?: EntryOf): Promise<Accepted>
  /** Resolves to the removed document and the version of its deletion. */
  remove(current: StoredDocument, origin: Origin, entryOf?: EntryOf): Promise<Pick<Accepted, 'document' | 'version'>>
}

/** The stored tests of endpoints, in one change. All fail with STORE_UNAVAILABLE. */
export type TestsOfChange = Readonly<{
  /**
   * What the stored tests of an endpoint say of its new document: a lint for each test that fails, an error if it prevents
   * the change. Fails with OVERLOADED or SHUTTING_DOWN if the tests cannot run now.
   */
  run(endpointId: string, document: StoredDocument): Promise<readonly Lint[]>
  /** Differs where the stored tests differ; undefined without any. */
  versionOf(endpointId: string): Promise<string | undefined>
}>

/** Starts a change of endpoints with this origin. */
export type ChangeTests = (origin: Origin) => TestsOfChange

export type EndpointWriterOptions = Readonly<{
  store: EndpointStore
  registry: Registry
  services: Services
  settings: PipelineSettings & DocumentBounds & Readonly<{ maxEndpoints: number; compiledEndpointsBytes: number }>
  clock: Clock
  newId: () => string
  logger: Logger
  /** Undefined if no tests run at changes. */
  changeTests?: ChangeTests | undefined
}>

export type EndpointWriterParts = EndpointWriterOptions & Readonly<{ pipelines: PipelineCache }>

export function createEndpointWriter(
  { store, services, settings, pipelines, clock, newId, logger, changeTests }: EndpointWriterParts,
  changes: EndpointChanges,
  confirm: UncertainWrites['confirm'],
): EndpointWriter {
  const { nextStamp } = changes

  const makeRoom = (): void => {
    if (changes.count() >= settings.maxEndpoints) throw failures.tooMany(settings.maxEndpoints)
  }

  const save = async (
    { raw, faults }: ParsedDocument,
    stamp: Stamp,
    origin: Origin,
    entryOf: EntryOf | undefined,
    write: (compiled: CompiledEndpoint, entry: AuditEntry | undefined) => ReturnType<EndpointStore['replace']>,
  ): Promise<Accepted> => {
    const { lints, compiled } = await compileDocument(raw, stamp, services, settings, {
      bounds: settings,
      pipelines,
    })
    const clashes = findClashes(compiled, changes)
    const errors = [...faults, ...lints.filter(({ severity }) => severity === 'error')]
    if (errors.length > 0) throw failures.invalid([...errors, ...clashes])
    if (clashes.length > 0) throw failures.clash(clashes)
    const failing = stamp.version === 1 ? [] : ((await changeTests?.(origin).run(stamp._id, compiled.document)) ?? [])
    if (failing.some(({ severity }) => severity === 'error')) throw failures.testsFailed(failing)
    const result = await confirm([stamp._id], () => write(compiled, entryOf?.(effectOf(stamp, origin))))
    if (result === 'gone') throw failures.unknown(stamp._id)
    if (result === 'stale') throw failures.stale()
    if (result !== 'stored') throw failures.clash([storeClash(result)])
    changes.activate([], [compiled])
    const { document, version } = compiled
    return { document, version, warnings: logWarnings([...lints, ...failing], document, logger) }
  }

  return {
    create: async (text, origin, entryOf) => {
      makeRoom()
      const parsed = parseDocument(text)
      return save(parsed, newStamp(newId(), clock()), origin, entryOf, (compiled, entry) =>
        store.insert(compiled, { origin }, entry),
      )
    },
    replace: async (current, parsed, details, entryOf) =>
      save(parsed, await nextStamp(current), details.origin, entryOf, (compiled, entry) =>
        store.replace(compiled, current, details, entry),
      ),
    recreate: async (document, details, entryOf) => {
      makeRoom()
      const stamp = await nextStamp(document)
      return save({ raw: document, faults: [] }, stamp, details.origin, entryOf, async (compiled, entry) => {
        try {
          return await store.insert(compiled, details, entry)
        } catch (thrown) {
          // Another instance has created it again in between.
          if (!(thrown instanceof StoreUnavailable) && (await store.get(stamp._id)) !== undefined) return 'stale'
          throw thrown
        }
      })
    },
    remove: async (current, origin, entryOf) => {
      const stamp = await nextStamp(current)
      const { _id, updatedAt: at, version } = stamp
      const result = await confirm([_id], () =>
        store.remove(current, { at, origin }, entryOf?.(effectOf(stamp, origin))),
      )
      if (result === 'stale') throw failures.stale()
      if (result === 'gone') throw failures.unknown(_id)
      changes.activate([_id], [])
      return { document: current, version }
    },
  }
}

/** Of a new endpoint; `now` in milliseconds since the epoch. */
export function newStamp(_id: string, now: number): Stamp {
  const at = new Date(now).toISOString()
  return { _id, createdAt: at, updatedAt: at, version: 1 }
}

/** Logs the warnings of a document that was stored, and returns them. */
export function logWarnings(lints: readonly Lint[], { _id, name }: StoredDocument, logger: Logger): readonly Lint[] {
  const warnings = lints.filter(({ severity }) => severity === 'warning')
  for (const { path, message } of warnings) logger.warn({ endpointId: _id, endpoint: name, path }, message)
  return warnings
}
