/**
 * The path of every change of endpoints; a single change is a batch of one. A change is prepared (its document compiled, its
 * tests run), checked against what is stored afterwards, committed in one transaction with all others, then activated.
 */
import { setImmediate as nextIteration } from 'node:timers/promises'
import { Failure } from '../core/failure.ts'
import type { JsonObject } from '../core/json.ts'
import { isError, isWarning, type Lint } from '../core/lint.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import type { ChangeMethod, Origin, StoredDocument } from '../core/stored-document.ts'
import type { DocumentBounds } from '../document/checks/document-bounds.ts'
import type { PipelineCache } from '../pipeline/pipeline-cache.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import { toStateRecord, usesState } from '../pipeline/stages/state.ts'
import type { AuditEffect, ToAuditEntry } from '../store/sql/audit-store.ts'
import type { EndpointStore, EndpointWrite, RefusedWrite } from '../store/sql/endpoint-store.ts'
import type { Premises } from '../store/sql/table-store.ts'
import type { ActiveTables } from '../tables/active-tables.ts'
import { type CompiledEndpoint, compileDocument, type Stamp } from './compiled-endpoint.ts'
import { ActiveEndpoints, findClashes, hasNameAndClaims, type Registry } from './endpoint-registry.ts'
import * as failures from './management-failures.ts'
import type { ParsedDocument } from './parse-document.ts'
import { computeEtag, matchesEtag } from './precondition.ts'
import type { Reconciler } from './reconciler.ts'
import { Outdated } from './store-queue.ts'
import {
  bytesAfter,
  type CheckedTable,
  checkTableChange,
  findUser,
  lintUses,
  shapesAfter,
  type TableChange,
  takesAway,
  toTableWrite,
} from './table-changes.ts'

/** The stored tests of endpoints, in one change. All fail with STORE_UNAVAILABLE. */
export type TestsForChange = Readonly<{
  /**
   * What the stored tests of an endpoint say of its new document: a lint for each test that fails, an error if it prevents
   * the change. Fails with OVERLOADED or SHUTTING_DOWN if the tests cannot run now.
   */
  run(endpointId: string, document: StoredDocument): Promise<readonly Lint[]>
  /** Differs where the stored tests differ. */
  readVersion(endpointId: string): Promise<string | undefined>
}>

/** Starts a change of endpoints with this origin. */
export type ChangeTests = (origin: Origin) => TestsForChange

export type EndpointWriterOptions = Readonly<{
  store: EndpointStore
  registry: Registry
  services: Services
  settings: PipelineSettings &
    DocumentBounds &
    Readonly<{ maxEndpoints: number; compiledEndpointsBytes: number; tablesMaxBytes: number }>
  clock: Clock
  newId: () => string
  logger: Logger
  tables: ActiveTables
  changeTests?: ChangeTests | undefined
}>

/** One change of one endpoint. */
export type EndpointChange = Readonly<{
  /** Its index among the operations of a batch. */
  operation: number
  method: ChangeMethod
  /** A new endpoint has none. */
  id?: string
  /** The If-Match header of the change. */
  ifMatch?: string | undefined
  /** Reads the stored document, if there is one. */
  read(): Promise<StoredDocument | undefined>
  /** The new document; left out for a deletion. May fail with BODY_UNREADABLE and BODY_TOO_DEEP. */
  draft?(current: StoredDocument | undefined): ParsedDocument
  /** The version that is restored, which creates the endpoint again if it was deleted. */
  restored?: Readonly<{ version: number; document: StoredDocument }>
  /** Becomes the newest state of the endpoint. */
  state?: JsonObject | undefined
}>

/** Changes that are made together: all of them, or none. No two of them are of one endpoint. */
type ChangeSet = Readonly<{
  changes: readonly EndpointChange[]
  /** No two of one table. */
  tables?: readonly TableChange[]
  origin: Origin
  /** How faults are answered, each time that the changes are checked. */
  collectFaults(): Faults
}>

/** Gets the faults of changes, each with the `operation` of its change. May throw the first one. */
export interface Faults {
  /** `path`: of the fault, if the failure has no details. */
  add(operation: number, failure: Failure, path?: string): void
  /** The document has errors, or its name or a claim is taken. `isSound`: whether it has a name and claims of its own. */
  addDocument(operation: number, errors: readonly Lint[], clashes: readonly Lint[], isSound: boolean): void
  /** Throws what was collected, if anything was. */
  settle(): void
}

/** A single change fails with its first fault. */
export const FIRST_FAULT: Faults = {
  add: (_operation, failure) => {
    throw failure
  },
  addDocument: (_operation, errors, clashes) => {
    if (errors.length > 0) throw failures.invalid([...errors, ...clashes])
    if (clashes.length > 0) throw failures.clash(clashes)
  },
  settle: () => undefined,
}

/** A change that was checked; `compiled`: undefined for a deletion. */
export type Checked = Readonly<{
  change: EndpointChange
  stamp: Stamp
  current: StoredDocument | undefined
  compiled: CompiledEndpoint | undefined
  lints: readonly Lint[]
}>

/** Changes that were checked together. */
export type CheckedSet = Readonly<{ endpoints: readonly Checked[]; tables: readonly CheckedTable[] }>

/** A document of a change, compiled. `failure`: why it could not be read or compiled. */
type Draft = Readonly<
  | { stamp: Stamp; compiled: CompiledEndpoint | undefined; lints: readonly Lint[]; errors: readonly Lint[] }
  | { failure: Failure }
>

/** The result of a change if its endpoint still has the document `current` and its stored tests. */
type Prepared = Readonly<{
  current: StoredDocument | undefined
  draft: Draft
  /** Of its stored tests, `none` without any; left out if none were to run. */
  testsEtag: string | undefined
  failing: readonly Lint[]
}>

/** The changes that are compiled, as their endpoints were then, and the tests that ran. */
type PreparedChanges = Readonly<{
  known: ReadonlyMap<EndpointChange, Prepared>
  tests: TestsForChange | undefined
}>

/** Changes that are checked without a pause for messages, where all that takes long is done already. */
const CHECKED_AT_ONCE = 20

export class EndpointWriter {
  readonly #options: EndpointWriterOptions & Readonly<{ pipelines: PipelineCache }>
  readonly #reconciler: Pick<Reconciler, 'inactive' | 'confirm' | 'seen'>
  #lastPrepared: Promise<unknown> = Promise.resolve()

  constructor(
    options: EndpointWriterOptions & Readonly<{ pipelines: PipelineCache }>,
    reconciler: Pick<Reconciler, 'inactive' | 'confirm' | 'seen'>,
  ) {
    this.#options = options
    this.#reconciler = reconciler
  }

  /** The stored document, of an active endpoint without a read of the store. Rejects with StoreUnavailable. */
  async current(id: string): Promise<StoredDocument | undefined> {
    return this.#findStored(id)?.document ?? (await this.#options.store.get(id))
  }

  /**
   * Does ahead all that takes long: compiles the documents and runs their tests. Other changes may be made meanwhile. One
   * document after the other: together they would leave messages less of the processor. Large sets let small ones in between.
   */
  async prepare({ changes, origin }: ChangeSet): Promise<PreparedChanges> {
    const tests = this.#options.changeTests?.(origin)
    const known = new Map<EndpointChange, Prepared>()
    for (const change of changes) {
      const prepared = this.#lastPrepared.then(async () => {
        const current = await change.read()
        if (current !== undefined || isCreation(change))
          known.set(change, await this.#prepareOne(change, current, tests))
        // Messages run between two documents.
        await nextIteration()
      })
      this.#lastPrepared = prepared.catch(() => undefined)
      await prepared
    }
    return { known, tests }
  }

  /**
   * Checks the changes against what is stored afterwards. `ahead`: what was prepared; what is not, or is out of date, is
   * compiled now. Fails with the codes of EndpointService; rejects with StoreUnavailable.
   */
  async check(set: ChangeSet, ahead?: PreparedChanges): Promise<CheckedSet> {
    const { changes, tables: tableChanges = [], origin, collectFaults } = set
    const { tables } = this.#options
    const faults = collectFaults()
    const checkedTables: CheckedTable[] = []
    for (const change of tableChanges) {
      const fail = (failure: Failure, path?: string) => faults.add(change.operation, failure, path)
      checkedTables.push(await checkTableChange(change, tables, fail))
    }
    const { tablesMaxBytes } = this.#options.settings
    const last = tableChanges.findLast(({ rows }) => rows !== undefined)
    if (last !== undefined && bytesAfter(tables, tableChanges) > tablesMaxBytes) {
      faults.add(last.operation, failures.tablesFull(tablesMaxBytes))
    }
    const shapes = shapesAfter(tables, tableChanges)
    const testsNow = this.#options.changeTests?.(origin)
    const { known, tests } = ahead ?? { known: new Map<EndpointChange, Prepared>(), tests: testsNow }
    const mayCreate = this.#countRoom(changes)
    const rivals = this.#rivalsAfter(changes)
    const checked: Checked[] = []
    for (const [count, change] of changes.entries()) {
      const { operation } = change
      const current = await change.read()
      if (current === undefined && !isCreation(change)) {
        faults.add(operation, failures.unknown(change.id ?? ''))
        continue
      }
      if (
        change.ifMatch !== undefined &&
        (current === undefined || !matchesEtag(change.ifMatch, computeEtag(current)))
      ) {
        faults.add(operation, failures.stale(), `operations[${operation}].ifMatch`)
      }
      if (current === undefined && !mayCreate())
        faults.add(operation, failures.tooMany(this.#options.settings.maxEndpoints))
      const before = known.get(change)
      const isSame = before !== undefined && (await isUpToDate(before, change, current, testsNow))
      const draft = isSame ? before.draft : await this.#compile(change, current)
      if ('failure' in draft) {
        faults.add(operation, draft.failure)
        continue
      }
      const { stamp, compiled, errors } = draft
      if (compiled !== undefined) {
        const isSound = hasNameAndClaims(draft.lints)
        const unfound = lintUses(compiled.tableUses ?? [], shapes)
        faults.addDocument(operation, [...errors, ...unfound], rivals.findClashes(compiled), isSound)
        if (isSound) rivals.add(compiled, operation)
      }
      const failing = isSame ? before.failing : await runTests(draft, current, tests)
      if (failing.some(isError)) faults.add(operation, failures.testsFailed(failing))
      checked.push({
        change,
        stamp,
        current,
        compiled,
        lints: [...draft.lints, ...failing, ...lintState(change, compiled)],
      })
      if (count % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await nextIteration()
    }
    const changed = new Set(changes.map(({ id }) => id))
    const others = tableChanges.length === 0 ? [] : this.#options.registry.all()
    const staying = others.filter(({ document }) => !changed.has(document._id))
    for (const change of tableChanges) {
      const inUse = findUser(change, shapes, staying)
      if (inUse !== undefined) faults.add(change.operation, inUse)
    }
    faults.settle()
    return { endpoints: checked, tables: checkedTables }
  }

  /**
   * Checks the changes, stores them with their entries in the audit log, and activates them. Calls must not overlap with
   * other changes of the registry.
   */
  async write(set: ChangeSet, toAuditEntry: ToAuditEntry | undefined, ahead?: PreparedChanges): Promise<CheckedSet> {
    const { store, logger, clock } = this.#options
    const made = await this.check(set, ahead)
    const { endpoints: checked, tables } = made
    const at = new Date(clock()).toISOString()
    const writes = checked.map((one) => ({
      ...toEndpointWrite(one, set.origin),
      entry: toAuditEntry?.(toAuditEffect(one.stamp, set.origin)),
    }))
    const ids = checked.map(({ stamp }) => stamp._id)
    const tableWrites = tables.map((one) => toTableWrite(one, at, set.origin, toAuditEntry))
    const result = await this.#reconciler.confirm(ids, () => store.writeAll(writes, tableWrites, this.#premises(made)))
    if (result !== 'stored' && result.reason === 'outdated') throw new Outdated()
    if (result !== 'stored') {
      const faults = set.collectFaults()
      const refused = (result.reason === 'table stale' ? tables : checked)[result.index]
      faults.add(refused?.change.operation ?? 0, refusal(result, checked[result.index]))
      faults.settle()
    }
    // First the endpoints: those that go keep the tables that they read.
    this.#activate(checked)
    this.#options.tables.change(
      tables.map(({ change: { name, rows }, before }) => ({
        name,
        version: before + 1,
        content: rows?.content ?? '',
        table: rows?.table,
      })),
    )
    for (const { compiled, lints } of checked) {
      for (const { path, message } of compiled === undefined ? [] : lints.filter(isWarning)) {
        logger.warn({ endpointId: compiled?.document._id, endpoint: compiled?.document.name, path }, message)
      }
    }
    return made
  }

  /** With them, neither of two instances takes away what the other one begins to read. */
  #premises({ endpoints, tables }: CheckedSet): Premises | undefined {
    const { seen } = this.#reconciler
    if (seen === undefined) return undefined
    const current = this.#options.tables.current
    const changed = new Set(tables.map(({ change }) => change.name))
    const read = endpoints.flatMap(({ compiled }) => compiled?.tableUses ?? []).map(({ table }) => table)
    const versions = new Map(
      read.filter((name) => !changed.has(name)).map((name) => [name, current.get(name)?.version ?? 0]),
    )
    return { storeVersion: tables.some(takesAway) ? seen : undefined, tables: versions }
  }

  async #prepareOne(
    change: EndpointChange,
    current: StoredDocument | undefined,
    tests: TestsForChange | undefined,
  ): Promise<Prepared> {
    const draft = await this.#compile(change, current)
    // Read before the tests run: a change meanwhile is seen later.
    const testsEtag = isTested(draft, current) ? await readTestsEtag(change, tests) : undefined
    return { current, draft, testsEtag, failing: await runTests(draft, current, tests) }
  }

  async #compile(change: EndpointChange, current: StoredDocument | undefined): Promise<Draft> {
    const { services, settings, pipelines, clock, newId } = this.#options
    const before = current ?? change.restored?.document
    try {
      const drafted = change.draft?.(current)
      const stamp = before === undefined ? newStamp(newId(), clock()) : await this.#nextStamp(before)
      if (drafted === undefined) return { stamp, compiled: undefined, lints: [], errors: [] }
      const { raw, faults } = drafted
      const options = { bounds: settings, pipelines }
      const { lints, compiled } = await compileDocument(raw, stamp, services, settings, options)
      return { stamp, compiled, lints, errors: [...faults, ...lints.filter(isError)] }
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.status < 500) return { failure: thrown }
      throw thrown
    }
  }

  /** The active endpoint whose document is the one in the store: for a pending compilation the store has another one. */
  #findStored(id: string): CompiledEndpoint | undefined {
    return this.#reconciler.inactive.pending.has(id) ? undefined : this.#options.registry.get(id)
  }

  /** The fields of the version after `document`: if another instance changes the document in between, the write is stale. */
  async #nextStamp(document: StoredDocument): Promise<Stamp> {
    const { store, clock } = this.#options
    const { _id, createdAt, updatedAt } = document
    const active = this.#findStored(_id)
    const known = active?.document === document ? { version: active.version, at: updatedAt } : undefined
    const newest = known ?? (await store.versions(_id))[0]
    const before = newest === undefined || newest.at < updatedAt ? updatedAt : newest.at
    return { _id, createdAt, updatedAt: later(before, clock()), version: (newest?.version ?? 0) + 1 }
  }

  /** Out: false for the first endpoint beyond the limit, which is reported once. */
  #countRoom(changes: readonly EndpointChange[]): () => boolean {
    const { registry, settings } = this.#options
    const { refused, pending } = this.#reconciler.inactive
    // An earlier document of a pending compilation may be active.
    const inactive = [...refused.keys(), ...pending.keys()].filter((id) => registry.get(id) === undefined)
    const removed = changes.filter(({ draft }) => draft === undefined).length
    const room = Math.max(settings.maxEndpoints - registry.size - inactive.length + removed, 0)
    let created = 0
    return () => created++ !== room
  }

  /** The names and claims of what is stored after the changes: of the changes so far, and of endpoints that none changes. */
  #rivalsAfter(changes: readonly EndpointChange[]) {
    const { registry } = this.#options
    const changed = new Set(changes.map(({ id }) => id))
    const added = new ActiveEndpoints()
    const places = new Map<string, number>()
    const stays = ({ document: { _id } }: CompiledEndpoint) => !changed.has(_id) && this.#findStored(_id) !== undefined
    const findRivals = (one: CompiledEndpoint) => [...added.findRivals(one), ...registry.findRivals(one).filter(stays)]
    const describeEndpoint = ({ document: { _id } }: CompiledEndpoint): string => {
      const place = places.get(_id)
      return `The endpoint ${place === undefined ? _id : `of operation ${place}`}`
    }
    return {
      findClashes: (one: CompiledEndpoint) => findClashes(one, { findRivals }, describeEndpoint),
      add: (one: CompiledEndpoint, place: number): void => {
        added.add(one)
        places.set(one.document._id, place)
      },
    }
  }

  /** Activates at once what is stored. */
  #activate(checked: readonly Checked[]): void {
    const { registry } = this.#options
    const { refused, pending } = this.#reconciler.inactive
    const changed = new Set(checked.map(({ stamp }) => stamp._id))
    const compiled = checked.flatMap((one) => one.compiled ?? [])
    const removed = checked.flatMap((one) => (one.compiled === undefined ? [one.stamp._id] : []))
    const overtaken = compiled.flatMap(registry.findRivals).map(({ document }) => document._id)
    const gone = [...removed, ...overtaken.filter((id) => !changed.has(id))]
    const [first, ...others] = compiled
    if (first !== undefined && others.length === 0 && gone.length === 0) registry.put(first)
    else registry.update(gone, compiled)
    for (const id of changed) {
      refused.delete(id)
      pending.delete(id)
    }
  }
}

const isCreation = ({ id, restored }: EndpointChange): boolean => id === undefined || restored !== undefined

const isTested = (draft: Draft, current: StoredDocument | undefined): boolean =>
  current !== undefined && !('failure' in draft) && draft.compiled !== undefined && draft.errors.length === 0

async function runTests(
  draft: Draft,
  current: StoredDocument | undefined,
  tests: TestsForChange | undefined,
): Promise<readonly Lint[]> {
  if (tests === undefined || 'failure' in draft || draft.compiled === undefined || !isTested(draft, current)) return []
  return tests.run(draft.stamp._id, draft.compiled.document)
}

async function readTestsEtag({ id }: EndpointChange, tests: TestsForChange | undefined): Promise<string | undefined> {
  if (id === undefined || tests === undefined) return undefined
  const version = await tests.readVersion(id)
  return version === undefined ? 'none' : computeEtag(version)
}

async function isUpToDate(
  { current: before, testsEtag }: Prepared,
  change: EndpointChange,
  current: StoredDocument | undefined,
  testsNow: TestsForChange | undefined,
): Promise<boolean> {
  const isSame =
    before === current ||
    (before !== undefined && current !== undefined && computeEtag(before) === computeEtag(current))
  return isSame && (testsEtag === undefined || (await readTestsEtag(change, testsNow)) === testsEtag)
}

function lintState({ operation, state }: EndpointChange, compiled: CompiledEndpoint | undefined): readonly Lint[] {
  if (state === undefined || compiled === undefined || usesState(compiled.endpoint)) return []
  const message = 'The document reads no state, so nothing reads this one.'
  return [{ path: `operations[${operation}].state`, message, severity: 'warning' }]
}

function toEndpointWrite({ change, stamp, current, compiled }: Checked, origin: Origin): EndpointWrite {
  const { method, restored, state } = change
  const details = { method, at: stamp.updatedAt, origin, ...(restored && { restored: restored.version }) }
  if (compiled === undefined) return { op: 'remove', expected: current as StoredDocument, change: details }
  const written = { record: compiled, change: details, ...(state && { state: toStateRecord(state) }) }
  return current === undefined ? { op: 'insert', ...written } : { op: 'replace', expected: current, ...written }
}

/** The failure for a write that another instance, or a stored document that is not active, is in the way of. */
function refusal(refused: RefusedWrite, of: Checked | undefined): Failure {
  if (refused.reason === 'gone') return failures.unknown(of?.stamp._id ?? '')
  if (refused.reason === 'stale') return failures.stale()
  if (refused.reason === 'table stale') return failures.staleTable()
  return failures.storeClash(refused.reason === 'claim' ? of?.compiled?.claims[refused.claim] : undefined)
}

/** For the entry of a change in the audit log. */
function toAuditEffect({ _id, version }: Stamp, { note, testsOverride }: Origin): AuditEffect {
  const parts = [note ?? '', testsOverride === undefined ? '' : `Tests overridden: ${testsOverride}`]
  const written = parts.filter((part) => part !== '').join('. ')
  return { target: _id, before: version - 1, after: version, ...(written === '' ? {} : { note: written }) }
}

/** Of a new endpoint; `now` in milliseconds since the epoch. */
function newStamp(_id: string, now: number): Stamp {
  const at = new Date(now).toISOString()
  return { _id, createdAt: at, updatedAt: at, version: 1 }
}

/** An `updatedAt` that differs from the one before, even within one millisecond. */
const later = (before: string, now: number): string => new Date(Math.max(now, Date.parse(before) + 1)).toISOString()
