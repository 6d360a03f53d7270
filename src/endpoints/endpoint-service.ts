/**
 * The management of endpoints: changes one after the other are checked, compiled, stored and activated, in this order. When
 * the promise of a change resolves, the change is active and durable.
 */
import { isWarning, type Lint } from '../core/lint.ts'
import { NOTE_CHARACTERS, type Origin, type StoredDocument } from '../core/stored-document.ts'
import { createPipelineCache } from '../pipeline/pipeline-cache.ts'
import type { ToAuditEntry } from '../store/sql/audit-store.ts'
import type { ChangeFeed } from '../store/store.ts'
import type { TableContent } from '../tables/active-tables.ts'
import type { CompactTable } from '../tables/compact-table.ts'
import {
  type BatchReport,
  collectFaults,
  isEndpointChange,
  parseChange,
  readBatch,
  readTables,
  toOperationResult,
  toTableChanges,
  toTableResult,
} from './batch.ts'
import { createEndpointReads, type EndpointReads } from './endpoint-reads.ts'
import {
  type Checked,
  type CheckedSet,
  type EndpointChange,
  EndpointWriter,
  type EndpointWriterOptions,
  FIRST_FAULT,
} from './endpoint-writer.ts'
import * as failures from './management-failures.ts'
import { mergePatch, parseDocument } from './parse-document.ts'
import { Reconciler } from './reconciler.ts'
import { createStoreQueue, isStoreUnavailable, retryOnConflict } from './store-queue.ts'
import type { InactiveDocuments, StoredEndpointsOptions } from './stored-endpoints.ts'
import type { CheckedTable, TableChange } from './table-changes.ts'

/** The document of a change, as it is active or was removed, with the warnings of its check. */
export type Accepted = Readonly<{ document: StoredDocument; version: number; warnings: readonly Lint[] }>

/**
 * Documents are passed as JSON text, so that duplicate names can be reported. `ifMatch` is the If-Match header; undefined
 * if there is none. `toAuditEntry`: for the entry of the change in the audit log, which is stored in one transaction with it.
 *
 * Fails with BODY_UNREADABLE, BODY_TOO_DEEP, DOCUMENT_TOO_LARGE, CONFIGURATION_INVALID (every fault in `details`),
 * CONFIGURATION_CLASH, ENDPOINTS_TOO_MANY, ENDPOINT_UNKNOWN, VERSION_UNKNOWN, ID_MALFORMED, FILTER_INVALID,
 * PRECONDITION_FAILED, STORE_UNAVAILABLE, and with OVERLOADED if no isolated process compiled the document in time.
 */
export interface EndpointService extends EndpointReads {
  /**
   * Changes tables, whose rows are stored. Out: each with its new version. Also fails with TABLE_UNKNOWN, TABLE_IN_USE.
   */
  changeTables(
    changes: readonly TableChange[],
    origin?: Origin,
    toAuditEntry?: ToAuditEntry,
  ): Promise<readonly CheckedTable[]>
  /** Fails as `changeTables` would. */
  checkTables(changes: readonly TableChange[]): Promise<void>
  /**
   * Activates the documents in the store. Documents that have faults are logged and left out; checks that take long follow
   * after it, and then leave further ones out.
   */
  load(): Promise<void>
  /** From now on activates the changes of other instances to a shared store. `onVersion` gets each version that is reported. */
  follow(onVersion?: (version: number) => void): void
  /** Activates what a shared store holds now, as far as it is compiled in time. */
  refresh(): Promise<void>
  /** The same; rejects if a compilation is pending. */
  catchUp(): Promise<void>
  /** The version of a shared store that is active here; undefined if the store is not shared. */
  version(): number | undefined
  /** Ids of the stored documents that are not active: they have faults, or their compilation is pending. */
  inactive(): readonly string[]
  /** The same documents, with the reasons. */
  readonly inactiveDocuments: InactiveDocuments
  /** How many documents are active since the start and not checked yet. */
  readonly unchecked: number
  /** Checks the document of an endpoint now, if the start left it for later. */
  check(id: string): Promise<void>
  /** Ends the checks that the start left for later. */
  stop(): void
  create(text: string, origin?: Origin, toAuditEntry?: ToAuditEntry): Promise<Accepted>
  replace(
    id: string,
    text: string,
    ifMatch: string | undefined,
    origin?: Origin,
    toAuditEntry?: ToAuditEntry,
  ): Promise<Accepted>
  /** In: a JSON Merge Patch (RFC 7396). */
  patch(
    id: string,
    text: string,
    ifMatch: string | undefined,
    origin?: Origin,
    toAuditEntry?: ToAuditEntry,
  ): Promise<Accepted>
  /** Activates the document of an earlier version, also of a deleted endpoint. */
  restore(
    id: string,
    version: number,
    ifMatch: string | undefined,
    origin?: Origin,
    toAuditEntry?: ToAuditEntry,
  ): Promise<Accepted>
  /** Resolves to the removed document and the version of its deletion. */
  remove(id: string, ifMatch: string | undefined, origin?: Origin, toAuditEntry?: ToAuditEntry): Promise<Accepted>
  /**
   * Makes many changes, or none of them. In: the batch as JSON text; its note replaces that of `origin`. Also fails with
   * BATCH_INVALID; the faults of operations are in `details`.
   */
  batch(text: string, origin?: Origin, toAuditEntry?: ToAuditEntry): Promise<BatchReport>
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
    /** As `StoredEndpointsOptions` has it. */
    beforeOpenMs?: StoredEndpointsOptions['beforeOpenMs']
  }>

export function createEndpointService(options: EndpointServiceOptions): EndpointService {
  const { store, changes, announce, settings } = options
  const enqueue = createStoreQueue()
  const pipelines = createPipelineCache({ maxBytes: settings.compiledEndpointsBytes })
  const reconciler = new Reconciler({ ...options, pipelines, enqueue })
  const writer = new EndpointWriter({ ...options, pipelines }, reconciler)
  const reads = createEndpointReads(store)

  /** A change is checked against what the store holds now, and against the changes before it. */
  const inOrder = <T>(ifMatch: string | undefined, work: () => Promise<T>): Promise<T> => {
    const checked = async (): Promise<T> => {
      await reconciler.refresh()
      return work()
    }
    return failures.callEndpointStore(() =>
      enqueue(changes === undefined ? checked : () => retryOnConflict(ifMatch, checked)),
    )
  }

  const refresh = () => inOrder(undefined, async () => undefined)

  /** Announced outside the queue: two processes that announce at once would wait for each other. */
  const announced = async (made: CheckedSet): Promise<CheckedSet> => {
    const count = made.endpoints.length + made.tables.length
    if (count > 0) await announce?.(count)
    return made
  }

  /**
   * Rows are stored before the queue, as that takes long, and only for a change that would be made now. Those of a change
   * that is refused all the same are removed; where the store did not answer, it may have made the change.
   */
  const write = async (...[set, ...others]: Parameters<EndpointWriter['write']>): Promise<CheckedSet> => {
    const { changes: endpoints, tables = [] } = set
    const ifMatch = [...endpoints, ...tables].find((one) => one.ifMatch !== undefined)?.ifMatch
    if (tables.some(({ rows }) => rows?.unkept)) await inOrder(ifMatch, () => writer.check(set, others[1]))
    const kept: TableContent[] = []
    const keep = async (table: CompactTable) => {
      const rows = await options.tables.keep(options.newId(), table)
      kept.push(rows)
      return rows
    }
    try {
      const withRows: TableChange[] = []
      for (const change of tables) {
        const { unkept } = change.rows ?? {}
        const rows = unkept ? await failures.callEndpointStore(() => keep(unkept)) : change.rows
        withRows.push({ ...change, rows })
      }
      return await announced(await inOrder(ifMatch, () => writer.write({ ...set, tables: withRows }, ...others)))
    } catch (thrown) {
      if (!isStoreUnavailable(thrown)) kept.map((rows) => options.tables.unkeep(rows))
      throw thrown
    }
  }

  /** `describe`: runs before each attempt, when what other instances have stored is known. */
  const changeOne = async (
    origin: Origin,
    toAuditEntry: ToAuditEntry | undefined,
    ifMatch: string | undefined,
    describe: () => Promise<Omit<EndpointChange, 'operation' | 'ifMatch'>>,
  ): Promise<Accepted> => {
    const made = await inOrder(ifMatch, async () => {
      const change = { ...(await describe()), operation: 0, ifMatch }
      return writer.write({ changes: [change], origin, collectFaults: () => FIRST_FAULT }, toAuditEntry)
    })
    const [{ compiled, current, stamp, lints }] = (await announced(made)).endpoints as readonly [Checked]
    const document = (compiled?.document ?? current) as StoredDocument
    return { document, version: stamp.version, warnings: lints.filter(isWarning) }
  }

  return {
    ...reads,
    load: () => reconciler.load(),
    follow: (onVersion) => reconciler.follow(onVersion),
    refresh,
    catchUp: () => failures.callEndpointStore(() => enqueue(() => reconciler.catchUpWholly())),
    version: () => reconciler.version,
    inactive: () => [...reconciler.inactive.refused.keys(), ...reconciler.inactive.pending.keys()],
    get unchecked() {
      return reconciler.stored.unchecked
    },
    check: (id) => reconciler.stored.check(id),
    stop: () => {
      reconciler.stored.stop()
      pipelines.stop()
    },
    inactiveDocuments: reconciler.inactive,
    changeTables: async (tables, origin = {}, toAuditEntry) => {
      const set = { changes: [], tables, origin, collectFaults: () => FIRST_FAULT }
      return (await write(set, toAuditEntry)).tables
    },
    checkTables: async (tables) => {
      const set = { changes: [], tables, origin: {}, collectFaults: () => FIRST_FAULT }
      await inOrder(undefined, () => writer.check(set))
    },
    create: (text, origin = {}, toAuditEntry) =>
      changeOne(origin, toAuditEntry, undefined, async () => ({
        method: 'create',
        read: async () => undefined,
        draft: () => parseDocument(text),
      })),
    replace: (id, text, ifMatch, origin = {}, toAuditEntry) =>
      changeOne(origin, toAuditEntry, ifMatch, async () => ({
        method: 'replace',
        id,
        read: () => reads.get(id),
        draft: () => parseDocument(text),
      })),
    patch: (id, text, ifMatch, origin = {}, toAuditEntry) =>
      changeOne(origin, toAuditEntry, ifMatch, async () => ({
        method: 'patch',
        id,
        read: () => reads.get(id),
        draft: (current) => {
          const { raw, faults } = parseDocument(text)
          return { raw: mergePatch(current, raw), faults }
        },
      })),
    restore: (id, version, ifMatch, origin = {}, toAuditEntry) =>
      changeOne(origin, toAuditEntry, ifMatch, async () => {
        const { document } = await reads.versions.get(id, version)
        if (document === null) throw failures.emptyVersion(version)
        return {
          method: 'restore',
          id,
          read: () => store.get(id),
          draft: () => ({ raw: document, faults: [] }),
          restored: { version, document },
        }
      }),
    remove: (id, ifMatch, origin = {}, toAuditEntry) =>
      changeOne(origin, toAuditEntry, ifMatch, async () => ({ method: 'delete', id, read: () => reads.get(id) })),
    batch: async (text, origin = {}, toAuditEntry) => {
      const { operations, faults: read, dryRun, note = origin.note } = await readBatch(text)
      const { tables, faults } = await readTables(operations, read)
      const set = {
        changes: operations.filter(isEndpointChange).map((one) => parseChange(one, (id) => writer.current(id))),
        tables: toTableChanges(tables),
        origin: note === undefined ? origin : { ...origin, note: note.slice(0, NOTE_CHARACTERS) },
        collectFaults: () => collectFaults(faults),
      }
      // Compared with what other instances have stored. What takes long holds no other change up.
      await refresh()
      const ahead = await failures.callEndpointStore(() => writer.prepare(set))
      const checked = dryRun
        ? await failures.callEndpointStore(() => writer.check(set, ahead))
        : await write(set, toAuditEntry, ahead)
      const results = [
        ...checked.endpoints.map((one) => toOperationResult(one, dryRun)),
        ...checked.tables.map((one) => toTableResult(one, dryRun)),
      ]
      return { results: results.sort((one, other) => one.operation - other.operation), dryRun }
    },
  }
}
