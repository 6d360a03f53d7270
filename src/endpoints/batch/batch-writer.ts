/**
 * Changes many endpoints at once: compiles all documents, compares them with what is stored afterwards, stores all of them
 * in one transaction, then activates them together.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { Failure } from '../../core/failure.ts'
import type { Lint } from '../../core/lint.ts'
import type { Origin, StoredDocument } from '../../core/stored-document.ts'
import { recordOf, usesState } from '../../pipeline/stages/state.ts'
import type { EntryOf } from '../../store/sql/audit-store.ts'
import type { EndpointWrite, RefusedWrite } from '../../store/sql/endpoint-writes.ts'
import { type ActiveEndpoints, createActiveEndpoints } from '../active-endpoints.ts'
import { findClashes, hasOwnPlace, storeClash } from '../clash.ts'
import { compileDocument, type Stamp } from '../compile-document.ts'
import type { CompiledEndpoint } from '../compiled-endpoint.ts'
import { type EndpointChanges, effectOf } from '../endpoint-changes.ts'
import { type EndpointWriterParts, logWarnings, newStamp, type TestsOfChange } from '../endpoint-writer.ts'
import * as failures from '../management-failures.ts'
import { etagOf, matchesEtag } from '../precondition.ts'
import type { UncertainWrites } from '../sync/uncertain-writes.ts'
import type { Batch, PlacedOperation } from './read-batch.ts'

/** The outcome of one operation. */
export type OperationResult = Readonly<{
  /** Its index in the batch. */
  operation: number
  op: PlacedOperation['operation']['op']
  /** Left out for an endpoint that a dry run would create. */
  id?: string
  name: string
  version: number
  /** Of the stored document; left out for a deletion and in a dry run. */
  etag?: string
  /** In a dry run, of the document that would be replaced or deleted: the same change is refused once it is another one. */
  ifMatch?: string
  warnings: readonly Readonly<{ path: string; message: string }>[]
}>

export type BatchReport = Readonly<{ results: readonly OperationResult[]; dryRun: boolean }>

/** A batch whose documents are compiled, as its endpoints were then. */
export type PreparedBatch = Readonly<{
  batch: Batch
  origin: Origin
  prepared: ReadonlyMap<PlacedOperation, PreparedOperation>
  tests: TestsOfChange | undefined
}>

/** Fails with the codes of single changes, with every fault in `details`; rejects with StoreUnavailable. */
export interface BatchWriter {
  /** Does all that takes long: compiles the documents and runs their tests. Other changes may be made meanwhile. */
  prepare(batch: Batch, origin: Origin): Promise<PreparedBatch>
  /**
   * Resolves when the changes are stored and active, or in a dry run checked. Calls must not overlap with other changes,
   * except for a dry run. `entryOf`: for the entries of its operations in the audit log.
   */
  write(batch: PreparedBatch, entryOf?: EntryOf): Promise<BatchReport>
}

/** What comes of an operation if its endpoint still has the document `current` and its stored tests. */
type PreparedOperation = Readonly<{
  current: StoredDocument | undefined
  /** Of its stored tests, `none` without any; left out if none were to run. */
  testsEtag?: string | undefined
  refusals: readonly Failure[]
  /** Undefined if there is no document or endpoint to go on with. */
  checked: Checked | undefined
}>

/** An operation that was checked; `compiled`: undefined for a deletion. */
type Checked = Readonly<{
  placed: PlacedOperation
  stamp: Stamp
  current: StoredDocument | undefined
  compiled: CompiledEndpoint | undefined
  etag?: string
  lints: readonly Lint[]
}>

/** Operations that are checked without a pause for messages, where all that takes long is done already. */
const CHECKED_AT_ONCE = 20

export function createBatchWriter(
  options: EndpointWriterParts,
  changes: EndpointChanges,
  confirm: UncertainWrites['confirm'],
): BatchWriter {
  const { store, services, settings, pipelines, clock, newId, logger, changeTests } = options

  const currentOf = async ({ operation }: PlacedOperation): Promise<StoredDocument | undefined> =>
    operation.op === 'create' ? undefined : changes.current(operation.id)

  const prepareOne = async (
    placed: PlacedOperation,
    current: StoredDocument | undefined,
    tests: TestsOfChange | undefined,
  ): Promise<PreparedOperation> => {
    const { operation } = placed
    if (operation.op !== 'create' && current === undefined) {
      return { current, refusals: [failures.unknown(operation.id)], checked: undefined }
    }
    const stamp = current === undefined ? newStamp(newId(), clock()) : await changes.nextStamp(current)
    if (operation.op === 'delete') {
      return { current, refusals: [], checked: { placed, stamp, current, compiled: undefined, lints: [] } }
    }
    try {
      const bounds = { bounds: settings, pipelines }
      const { lints, compiled } = await compileDocument(operation.document, stamp, services, settings, bounds)
      const errors = [...placed.repeated, ...lints.filter(({ severity }) => severity === 'error')]
      const tested = errors.length === 0 && current !== undefined
      // Read before the tests run: a change meanwhile is seen later.
      const testsEtag = tested ? await testsEtagOf(placed, tests) : undefined
      const failing = tested ? ((await tests?.run(stamp._id, compiled.document)) ?? []) : []
      const refusals = [
        ...(errors.length > 0 ? [failures.invalid(errors)] : []),
        ...(failing.some(({ severity }) => severity === 'error') ? [failures.testsFailed(failing)] : []),
      ]
      const etag = etagOf(compiled.document)
      const all = [...lints, ...failing, ...lintState(placed, compiled)]
      return { current, testsEtag, refusals, checked: { placed, stamp, current, compiled, etag, lints: all } }
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status >= 500) throw thrown
      return { current, refusals: [thrown], checked: undefined }
    }
  }

  /** Lets `faults` grow. Out: undefined if the operation has no document or endpoint to go on with. */
  const check = async (
    placed: PlacedOperation,
    faults: Faults,
    { prepared, tests }: PreparedBatch,
    testsNow: TestsOfChange | undefined,
  ): Promise<Checked | undefined> => {
    const { index, operation } = placed
    const current = await currentOf(placed)
    if (operation.op !== 'create' && current !== undefined) {
      const { ifMatch } = operation
      const isStale = ifMatch !== undefined && !matchesEtag(ifMatch, etagOf(current))
      if (isStale) faults.add(index, failures.stale(), `operations[${index}].ifMatch`)
    }
    const before = prepared.get(placed)
    const isSame =
      before !== undefined &&
      isSameDocument(before.current, current) &&
      (before.testsEtag === undefined || (await testsEtagOf(placed, testsNow)) === before.testsEtag)
    const { refusals, checked } = isSame ? before : await prepareOne(placed, current, tests)
    for (const refusal of refusals) faults.add(index, refusal)
    return checked
  }

  /** The endpoints whose names and routes remain after the batch, without those that it writes. */
  const untouchedBy = (operations: readonly PlacedOperation[]): ActiveEndpoints => {
    const touched = new Set(operations.flatMap(({ operation }) => (operation.op === 'create' ? [] : [operation.id])))
    return createActiveEndpoints(changes.stored().filter(({ document }) => !touched.has(document._id)))
  }

  const checkRoom = (operations: readonly PlacedOperation[], faults: Faults): void => {
    const removed = operations.filter(({ operation }) => operation.op === 'delete').length
    const created = operations.filter(({ operation }) => operation.op === 'create')
    const room = settings.maxEndpoints - changes.count() + removed
    const beyond = created[Math.max(room, 0)]
    if (beyond !== undefined) faults.add(beyond.index, failures.tooMany(settings.maxEndpoints))
  }

  /** Fails with every fault of the batch. */
  const checkAll = async (batch: PreparedBatch): Promise<readonly Checked[]> => {
    const { operations, faults: known } = batch.batch
    const faults = collectFaults(known)
    checkRoom(operations, faults)
    const after = untouchedBy(operations)
    const indexes = new Map<string, number>()
    const nameOf = ({ document }: CompiledEndpoint): string => {
      const other = indexes.get(document._id)
      return `The endpoint ${other === undefined ? document._id : `of operation ${other}`}`
    }
    const testsNow = changeTests?.(batch.origin)
    const checked: Checked[] = []
    for (const [count, placed] of operations.entries()) {
      const one = await check(placed, faults, batch, testsNow)
      if (one !== undefined) checked.push(one)
      if (one?.compiled !== undefined && hasOwnPlace(one.lints)) {
        const clashes = findClashes(one.compiled, after, nameOf)
        if (clashes.length > 0) faults.add(placed.index, failures.clash(clashes))
        after.add(one.compiled)
        indexes.set(one.stamp._id, placed.index)
      }
      if (count % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await turn()
    }
    const refused = faults.failure()
    if (refused !== undefined) throw refused
    return checked
  }

  const commit = async (checked: readonly Checked[], origin: Origin, entryOf: EntryOf | undefined): Promise<void> => {
    const writes = checked.map((one) => ({ ...writeOf(one, origin), entry: entryOf?.(effectOf(one.stamp, origin)) }))
    const ids = checked.map(({ stamp }) => stamp._id)
    const result = await confirm(ids, () => store.writeAll(writes))
    if (result !== 'stored') throw refusal(result, checked)
    const removed = checked.flatMap(({ compiled, stamp }) => (compiled === undefined ? [stamp._id] : []))
    changes.activate(
      removed,
      checked.flatMap(({ compiled }) => compiled ?? []),
    )
    for (const { compiled, lints } of checked) if (compiled !== undefined) logWarnings(lints, compiled.document, logger)
  }

  let last: Promise<unknown> = Promise.resolve()
  /**
   * One document after the other: together they would leave messages less of the processor. Batches take turns, because each
   * asks for one turn at a time.
   */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }

  const prepareAll = async (batch: Batch, origin: Origin): Promise<PreparedBatch> => {
    const tests = changeTests?.(origin)
    const prepared = new Map<PlacedOperation, PreparedOperation>()
    for (const placed of batch.operations) {
      await inTurn(async () => {
        prepared.set(placed, await prepareOne(placed, await currentOf(placed), tests))
        // Messages run between two documents.
        await turn()
      })
    }
    return { batch, origin, prepared, tests }
  }

  return {
    prepare: prepareAll,
    write: async (batch, entryOf) => {
      const { dryRun } = batch.batch
      const checked = await checkAll(batch)
      if (!dryRun) await commit(checked, batch.origin, entryOf)
      const results = checked.map((one) => resultOf(one, dryRun))
      return { results, dryRun }
    },
  }
}

async function testsEtagOf(
  { operation }: PlacedOperation,
  tests: TestsOfChange | undefined,
): Promise<string | undefined> {
  if (operation.op === 'create' || tests === undefined) return undefined
  const version = await tests.versionOf(operation.id)
  return version === undefined ? 'none' : etagOf(version)
}

const isSameDocument = (one: StoredDocument | undefined, other: StoredDocument | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && etagOf(one) === etagOf(other))

function lintState({ index, operation }: PlacedOperation, { endpoint }: CompiledEndpoint): readonly Lint[] {
  if (operation.op === 'delete' || operation.state === undefined || usesState(endpoint)) return []
  const message = 'The document reads no state, so nothing reads this one.'
  return [{ path: `operations[${index}].state`, message, severity: 'warning' }]
}

function resultOf({ placed, stamp, current, compiled, etag, lints }: Checked, dryRun: boolean): OperationResult {
  const { index, operation } = placed
  const { op } = operation
  const { name } = (compiled?.document ?? current) as StoredDocument
  const warnings = lints.filter(({ severity }) => severity === 'warning')
  return {
    operation: index,
    op,
    ...(dryRun && op === 'create' ? {} : { id: stamp._id }),
    name,
    version: stamp.version,
    ...(dryRun || etag === undefined ? {} : { etag }),
    ...(dryRun && current !== undefined ? { ifMatch: etagOf(current) } : {}),
    warnings: warnings.map(({ path, message }) => ({ path, message })),
  }
}

function writeOf({ placed, stamp, current, compiled }: Checked, origin: Origin): EndpointWrite {
  const { operation } = placed
  if (compiled === undefined) {
    return { op: 'remove', expected: current as StoredDocument, change: { at: stamp.updatedAt, origin } }
  }
  const given = operation.op === 'delete' ? undefined : operation.state
  const state = given === undefined ? {} : { state: recordOf(given) }
  if (current === undefined) return { op: 'insert', record: compiled, change: { origin }, ...state }
  return { op: 'replace', record: compiled, expected: current, change: { origin }, ...state }
}

/** The failure for a write that another instance, or a stored document that is not active, is in the way of. */
function refusal({ index, reason }: RefusedWrite, checked: readonly Checked[]): Failure {
  const { placed, stamp } = checked[index] as Checked
  const failure = () => {
    if (reason === 'gone') return failures.unknown(stamp._id)
    return reason === 'stale' ? failures.stale() : failures.clash([storeClash(reason)])
  }
  const faults = collectFaults([])
  faults.add(placed.index, failure())
  return faults.failure() as Failure
}

type Faults = ReturnType<typeof collectFaults>

function collectFaults(known: readonly failures.OperationFault[]) {
  const all = [...known]
  return {
    /** Adds the details of the failure that the operation alone would have; without details, its sentence. */
    add: (operation: number, { code, message, options }: Failure, path = ''): void => {
      for (const detail of options.details ?? [{ path, message }]) all.push({ operation, code, ...detail })
    },
    failure: (): Failure | undefined => (all.length === 0 ? undefined : failures.batchRefused(all)),
  }
}
