/**
 * The management of endpoints: one change at a time is checked, compiled, stored and activated, in this order. When the
 * promise of a change resolves, the change is active and durable.
 */

import { withStoreAccess } from '../core/ports/store-port.ts'
import { NOTE_CHARACTERS, type Origin, type StoredDocument } from '../core/stored-document.ts'
import { createPipelineCache } from '../pipeline/pipeline-cache.ts'
import type { EntryOf } from '../store/sql/audit-store.ts'
import type { ChangeFeed } from '../store/store.ts'
import { createActiveEndpoints } from './active-endpoints.ts'
import { type BatchReport, createBatchWriter } from './batch/batch-writer.ts'
import { readBatch } from './batch/read-batch.ts'
import { createEndpointChanges } from './endpoint-changes.ts'
import { createEndpointReads, type EndpointReads } from './endpoint-reads.ts'
import {
  type Accepted,
  createEndpointWriter,
  type EndpointWriterOptions,
  type WriteDetails,
} from './endpoint-writer.ts'
import * as failures from './management-failures.ts'
import { mergePatch } from './merge-patch.ts'
import { parseDocument } from './parse-document.ts'
import { etagOf, matchesEtag, retryOnConflict } from './precondition.ts'
import { createStoreQueue } from './store-queue.ts'
import {
  createLoadStoredEndpoint,
  type InactiveDocuments,
  type LoadStoredEndpointOptions,
  REFUSED,
} from './sync/load-stored-endpoint.ts'
import { createStartChecks } from './sync/start-checks.ts'
import { createStoreSync } from './sync/store-sync.ts'
import { createUncertainWrites } from './sync/uncertain-writes.ts'

/**
 * Documents are passed as JSON text, so that duplicate names can be reported. `ifMatch` is the If-Match header; undefined
 * if there is none. `entryOf`: for the entry of the change in the audit log, which is stored in one transaction with it.
 *
 * Fails with BODY_UNREADABLE, BODY_TOO_DEEP, DOCUMENT_TOO_LARGE, CONFIGURATION_INVALID (every fault in `details`),
 * CONFIGURATION_CLASH, ENDPOINTS_TOO_MANY, ENDPOINT_UNKNOWN, VERSION_UNKNOWN, ID_MALFORMED, FILTER_INVALID,
 * PRECONDITION_FAILED, STORE_UNAVAILABLE, and with OVERLOADED if no isolated process compiled the document in time.
 */
export interface EndpointService extends EndpointReads {
  /**
   * Activates the documents in the store. Documents that have faults are logged and left out; checks that take long follow
   * after it, and then leave further ones out.
   */
  load(): Promise<void>
  /** From now on activates the changes of other instances to a shared store. `onVersion` gets each version that is reported. */
  follow(onVersion?: (version: number) => void): void
  /** Activates what a shared store holds now. */
  catchUp(): Promise<void>
  /** The version of a shared store that is active here; undefined if the store is not shared. */
  version(): number | undefined
  /** Ids of the stored documents that are not active: they have faults, or their compilation is pending. */
  inactive(): readonly string[]
  /** How many documents are active since the start and not checked yet. */
  readonly unchecked: number
  /** Checks the document of an endpoint now, if the start left it for later. */
  check(id: string): Promise<void>
  /** Ends the checks that the start left for later. */
  stop(): void
  /** The same documents, with the reasons. */
  readonly inactiveDocuments: InactiveDocuments
  create(text: string, origin?: Origin, entryOf?: EntryOf): Promise<Accepted>
  replace(id: string, text: string, ifMatch: string | undefined, origin?: Origin, entryOf?: EntryOf): Promise<Accepted>
  /** In: a JSON Merge Patch (RFC 7396). */
  patch(id: string, text: string, ifMatch: string | undefined, origin?: Origin, entryOf?: EntryOf): Promise<Accepted>
  /** Activates the document of an earlier version, also of a deleted endpoint. */
  restore(
    id: string,
    version: number,
    ifMatch: string | undefined,
    origin?: Origin,
    entryOf?: EntryOf,
  ): Promise<Accepted>
  /** Resolves to the removed document and the version of its deletion. */
  remove(
    id: string,
    ifMatch: string | undefined,
    origin?: Origin,
    entryOf?: EntryOf,
  ): Promise<Pick<Accepted, 'document' | 'version'>>
  /**
   * Makes many changes, or none of them. In: the batch as JSON text; its note replaces that of `origin`. Also fails with
   * BATCH_INVALID; the faults of operations are in `details`.
   */
  batch(text: string, origin?: Origin, entryOf?: EntryOf): Promise<BatchReport>
}

export type EndpointServiceOptions = EndpointWriterOptions &
  Readonly<{
    /** Present if other instances may change the store. */
    changes?: ChangeFeed | undefined
    /**
     * Resolves when all processes of this service have activated a stored change of so many documents; the change is
     * answered then.
     */
    announce?: ((documents: number) => Promise<void>) | undefined
    /** As `StartChecksOptions` has it. */
    beforeOpenMs?: number | undefined
  }>

export function createEndpointService(options: EndpointServiceOptions): EndpointService {
  const { store, changes, announce, registry, settings, logger } = options
  /** Changes are checked against each other. */
  const enqueue = createStoreQueue()
  const inactive: InactiveDocuments = { refused: new Map(), pending: new Map() }
  const pipelines = createPipelineCache({ maxBytes: settings.compiledEndpointsBytes })
  const onFaults: LoadStoredEndpointOptions['onFaults'] = (document, faults) => {
    logger.error({ endpointId: document._id, endpoint: document.name, faults }, REFUSED)
    void startChecks.refuse(document, faults)
  }
  const loadStoredEndpoint = createLoadStoredEndpoint({ ...options, pipelines, onFaults })
  const startChecks = createStartChecks({ ...options, loadStoredEndpoint, refused: inactive.refused, enqueue })
  const reads = createEndpointReads(store)
  const storeSync =
    changes && createStoreSync({ ...options, changes, inactive, loadStoredEndpoint, loadAtStart: startChecks.load })
  // With a shared store, the sync also activates writes that were not confirmed.
  const uncertain = storeSync ? undefined : createUncertainWrites({ ...options, inactive, loadStoredEndpoint })
  const confirm = uncertain?.confirm ?? (<T>(_ids: readonly string[], write: () => Promise<T>) => write())
  const endpointChanges = createEndpointChanges(options, inactive)
  const writer = createEndpointWriter({ ...options, pipelines }, endpointChanges, confirm)
  const batches = createBatchWriter({ ...options, pipelines }, endpointChanges, confirm)

  /** In a shared store a change is checked against the store's present documents, not against the last ones seen here. */
  const change = async <T>(
    ifMatch: string | undefined,
    work: () => Promise<T>,
    countDocuments: (result: T) => number = () => 1,
  ): Promise<T> => {
    const checked = async (): Promise<T> => {
      await (storeSync?.catchUp() ?? uncertain?.reconcile())
      return work()
    }
    const result = await failures.callEndpointStore(() =>
      enqueue(storeSync ? () => retryOnConflict(ifMatch, checked) : checked),
    )
    // Outside the queue: two processes that announce at once would wait for each other.
    const documents = countDocuments(result)
    if (documents > 0) await announce?.(documents)
    return result
  }

  const loadAll = async (): Promise<void> => {
    const active = createActiveEndpoints()
    const newest = await store.newestVersions()
    for (const document of await store.list()) {
      const loaded = await startChecks.load(document, newest.get(document._id) ?? 1, active)
      if ('refused' in loaded) inactive.refused.set(document._id, loaded.refused)
      else active.add(loaded.compiled)
    }
    registry.load(active.all())
  }

  const readMatching = async (id: string, ifMatch: string | undefined): Promise<StoredDocument> => {
    const document = await reads.get(id)
    if (ifMatch !== undefined && !matchesEtag(ifMatch, etagOf(document))) throw failures.stale()
    return document
  }

  return {
    ...reads,
    load: async () => {
      startChecks.begin()
      await enqueue(storeSync?.catchUpWholly ?? loadAll)
      void startChecks.run()
    },
    follow: (onVersion) => {
      let isQueued = false
      const catchUp = async () => {
        isQueued = false
        await storeSync?.catchUp()
      }
      changes?.watch((version) => {
        onVersion?.(version)
        if (isQueued || storeSync?.isAt(version)) return
        isQueued = true
        // Calls wait behind it, so it waits for the store no longer than one of them.
        enqueue(() => withStoreAccess({ lost: undefined, isOver: false }, catchUp)).catch((err: unknown) => {
          isQueued = false
          logger.warn({ err }, 'Changes of other instances could not be read')
        })
      })
    },
    catchUp: () => failures.callEndpointStore(() => enqueue(async () => storeSync?.catchUpWholly())),
    version: () => storeSync?.version,
    inactive: () => [...inactive.refused.keys(), ...inactive.pending.keys()],
    get unchecked() {
      return startChecks.left
    },
    check: startChecks.check,
    stop: () => {
      startChecks.stop()
      pipelines.stop()
    },
    inactiveDocuments: inactive,
    create: (text, origin = {}, entryOf) => change(undefined, () => writer.create(text, origin, entryOf)),
    replace: (id, text, ifMatch, origin = {}, entryOf) =>
      change(ifMatch, async () => {
        const current = await readMatching(id, ifMatch)
        return writer.replace(current, parseDocument(text), { method: 'replace', origin }, entryOf)
      }),
    patch: (id, text, ifMatch, origin = {}, entryOf) =>
      change(ifMatch, async () => {
        const current = await readMatching(id, ifMatch)
        const { raw, faults } = parseDocument(text)
        const patched = { raw: mergePatch(current, raw), faults }
        return writer.replace(current, patched, { method: 'patch', origin }, entryOf)
      }),
    restore: (id, version, ifMatch, origin = {}, entryOf) =>
      change(ifMatch, async () => {
        const { document } = await reads.versions.get(id, version)
        if (document === null) throw failures.emptyVersion(version)
        const details: WriteDetails = { method: 'restore', origin, restored: version }
        if ((await store.get(id)) !== undefined) {
          return writer.replace(await readMatching(id, ifMatch), { raw: document, faults: [] }, details, entryOf)
        }
        if (ifMatch !== undefined) throw failures.stale()
        return writer.recreate(document, details, entryOf)
      }),
    remove: (id, ifMatch, origin = {}, entryOf) =>
      change(ifMatch, async () => writer.remove(await readMatching(id, ifMatch), origin, entryOf)),
    batch: async (text, origin = {}, entryOf) => {
      const batch = await readBatch(text)
      const { operations, note = origin.note } = batch
      const ifMatch = operations.find(({ operation }) => operation.ifMatch !== undefined)?.operation.ifMatch
      const noted = note === undefined ? origin : { ...origin, note: note.slice(0, NOTE_CHARACTERS) }
      // Compared with what other instances have stored. What takes long holds no other change up.
      await change(
        undefined,
        async () => undefined,
        () => 0,
      )
      const prepared = await failures.callEndpointStore(() => batches.prepare(batch, noted))
      if (batch.dryRun) return failures.callEndpointStore(() => batches.write(prepared))
      return change(
        ifMatch,
        () => batches.write(prepared, entryOf),
        ({ results }) => results.length,
      )
    },
  }
}
