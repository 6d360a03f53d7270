/** The request of a batch, read operation by operation with pauses for messages, and the answer to it. */
import { setImmediate as nextIteration } from 'node:timers/promises'
import { Failure } from '../core/failure.ts'
import { collectInto, isWarning, type Lint, toFaults } from '../core/lint.ts'
import type { StoredDocument } from '../core/stored-document.ts'
import { type BatchOperation, checkBatch, checkOperation, MAX_OPERATIONS } from '../document/checks/batch-operation.ts'
import { divideElements } from '../formats/json-elements.ts'
import { MAX_DEPTH, memberText } from '../formats/json-read.ts'
import { TABLE_FORMATS } from '../tables/table-formats.ts'
import { readTableValue } from '../tables/table-thread.ts'
import type { Checked, EndpointChange, Faults } from './endpoint-writer.ts'
import * as failures from './management-failures.ts'
import { parseDocument, unreadable } from './parse-document.ts'
import { computeEtag } from './precondition.ts'
import { type CheckedTable, type ReadTable, type TableChange, tableEtag, unkeptRows } from './table-changes.ts'

/** An operation of a batch. */
type BatchChange<Operation = BatchOperation> = Readonly<{
  /** Its index in the batch. */
  index: number
  operation: Operation
  /** Names that occur twice in one object of its document. */
  repeated: readonly Lint[]
  /** Of the table that it puts, in which numbers are as they were written. */
  contentText?: string | undefined
}>

type Batch = Readonly<{
  /** Those without faults. */
  operations: readonly BatchChange[]
  /** Of the other operations. */
  faults: readonly failures.OperationFault[]
  dryRun: boolean
  note: string | undefined
}>

/** In a document the paths are those of the document; elsewhere they start at the batch. */
const IN_DOCUMENT = 'document.'

/**
 * In: the request as JSON text. Fails with BODY_UNREADABLE and BODY_TOO_DEEP, and with BATCH_INVALID if the fault is in no
 * operation.
 */
export async function readBatch(text: string): Promise<Batch> {
  const { rest, elements = [] } = await divideElements(text, 'operations').catch((thrown: unknown) => {
    throw unreadable(thrown)
  })
  const { raw, faults: repeated } = parseDocument(rest)
  const lints: Lint[] = [...repeated]
  const sink = collectInto(lints)
  const isBatch = checkBatch(raw, sink)
  if (elements.length > MAX_OPERATIONS) {
    sink
      .at('operations')
      .error(`The batch has ${elements.length} operations, and ${MAX_OPERATIONS} is the most; divide it.`)
  }
  if (!isBatch || lints.length > 0) throw failures.batchInvalid(lints)
  const operations: BatchChange[] = []
  const faults: failures.OperationFault[] = []
  for (const [index, element] of elements.entries()) {
    const read = readOperation(element, index)
    if ('operation' in read) operations.push(read)
    else faults.push(...read.faults)
    await nextIteration()
  }
  return {
    operations,
    faults: [...faults, ...findRepeatedIds(operations)],
    dryRun: raw.dryRun === true,
    note: typeof raw.note === 'string' && raw.note !== '' ? raw.note : undefined,
  }
}

/** Its document may be as deep as one that is sent alone. */
const LEVELS = MAX_DEPTH + 1

function readOperation(
  text: string,
  index: number,
): BatchChange | Readonly<{ faults: readonly failures.OperationFault[] }> {
  try {
    const { raw, faults } = parseDocument(text, LEVELS)
    const lints: Lint[] = []
    const lint = collectInto(lints).at('operations', index)
    const isOperation = checkOperation(raw, lint)
    const outside = faults.filter(({ path }) => !path.startsWith(IN_DOCUMENT))
    for (const { path, message } of outside) lint.below(path).error(message)
    const inside = faults.filter((fault) => !outside.includes(fault))
    if (isOperation && lints.length === 0) {
      const repeated = inside.map((fault) => ({ ...fault, path: fault.path.slice(IN_DOCUMENT.length) }))
      const isText = raw.op !== 'putTable' || typeof raw.content === 'string'
      const contentText = isText ? undefined : memberText(text, 'content')
      return { index, operation: raw, repeated, contentText }
    }
    return { faults: lints.map(({ path, message }) => ({ operation: index, code: 'BATCH_INVALID', path, message })) }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return {
      faults: [{ operation: index, code: thrown.code, path: `operations[${index}]`, message: thrown.message }],
    }
  }
}

/** Two changes of one endpoint or table would depend on their order. */
function findRepeatedIds(operations: readonly BatchChange[]): readonly failures.OperationFault[] {
  const first = new Map<string, number>()
  return operations.flatMap(({ index, operation }): failures.OperationFault[] => {
    if (operation.op === 'create') return []
    const [name, kind, part] =
      'table' in operation ? [operation.table, 'table', 'table'] : [operation.id, 'endpoint', 'id']
    const before = first.get(`${kind} ${name}`)
    if (before === undefined) {
      first.set(`${kind} ${name}`, index)
      return []
    }
    const message = `Operation ${before} changes the ${kind} ${name} already; join the two.`
    return [{ operation: index, code: 'BATCH_INVALID', path: `operations[${index}].${part}`, message }]
  })
}

type TableOperation = Extract<BatchOperation, { table: string }>

type EndpointOperation = Exclude<BatchOperation, TableOperation>

const isTableChange = (change: BatchChange): change is BatchChange<TableOperation> => 'table' in change.operation
export const isEndpointChange = (change: BatchChange): change is BatchChange<EndpointOperation> =>
  !isTableChange(change)

type BatchTable = Readonly<{ index: number; operation: TableOperation; read: ReadTable | undefined }>

/** The tables that the operations bring. `faults`: those of the batch so far, and those of the tables. */
export async function readTables(operations: readonly BatchChange[], known: readonly failures.OperationFault[]) {
  const tables: BatchTable[] = []
  const faults = [...known]
  for (const { index, operation, contentText } of operations.filter(isTableChange)) {
    // Undefined for a deletion.
    const read = 'content' in operation ? await readTableValue(operation.content, contentText) : undefined
    if (read === undefined || read.ok) tables.push({ index, operation, read })
    else {
      for (const { path, message } of read.faults)
        faults.push({ operation: index, code: 'TABLE_INVALID', path: path || `operations[${index}].content`, message })
    }
  }
  return { tables, faults }
}

/** The changes that the operations ask for. */
export const toTableChanges = (tables: readonly BatchTable[]): readonly TableChange[] =>
  tables.map(({ index, operation: { table: name, ifMatch }, read }) => ({
    operation: index,
    name,
    ifMatch,
    rows: read && unkeptRows(read.table),
    warnings: read?.warnings,
  }))

/** The change that an operation asks for. `current`: reads the stored document of an endpoint. */
export function parseChange(
  { index, operation, repeated }: BatchChange<EndpointOperation>,
  current: (id: string) => Promise<StoredDocument | undefined>,
): EndpointChange {
  if (operation.op === 'create') {
    const { op: method, document, state } = operation
    return {
      operation: index,
      method,
      read: async () => undefined,
      draft: () => ({ raw: document, faults: repeated }),
      state,
    }
  }
  const { op: method, id, ifMatch } = operation
  const change = { operation: index, method, id, ifMatch, read: () => current(id) }
  if (operation.op === 'delete') return change
  const { document, state } = operation
  return { ...change, draft: () => ({ raw: document, faults: repeated }), state }
}

/** A batch fails with all faults of its operations. In: those that reading it found. */
export function collectFaults(known: readonly failures.OperationFault[]): Faults {
  const all = [...known]
  const clashing: failures.OperationFault[] = []
  const add = (to: failures.OperationFault[], operation: number, { code, message, options }: Failure, path = '') => {
    for (const detail of options.details ?? [{ path, message }]) to.push({ operation, code, ...detail })
  }
  return {
    // The details of the failure that the operation alone would have; without details, its sentence.
    add: (operation, failure, path) => add(all, operation, failure, path),
    addDocument: (operation, errors, clashes, isSound) => {
      if (errors.length > 0) add(all, operation, failures.invalid(errors))
      if (isSound && clashes.length > 0) add(clashing, operation, failures.clash(clashes))
    },
    settle: () => {
      if (all.length + clashing.length > 0) throw failures.batchRefused([...all, ...clashing])
    },
  }
}

/** The outcome of one operation. */
export type OperationResult = Readonly<{
  /** Its index in the batch. */
  operation: number
  op: BatchOperation['op']
  /** Left out for an endpoint that a dry run would create, and for a table. */
  id?: string
  /** Of the endpoint or table. */
  name: string
  version: number
  /** Of the stored document; left out for a deletion and in a dry run. */
  etag?: string
  /** In a dry run, of the document that would be replaced or deleted: the same change is refused once it is another one. */
  ifMatch?: string
  warnings: readonly Readonly<{ path: string; message: string }>[]
}>

export type BatchReport = Readonly<{ results: readonly OperationResult[]; dryRun: boolean }>

export function toOperationResult(
  { change, stamp, current, compiled, lints }: Checked,
  dryRun: boolean,
): OperationResult {
  const { name } = (compiled?.document ?? current) as StoredDocument
  return {
    operation: change.operation,
    op: change.method as BatchOperation['op'],
    ...(dryRun && change.id === undefined ? {} : { id: stamp._id }),
    name,
    version: stamp.version,
    ...(dryRun || compiled === undefined ? {} : { etag: computeEtag(compiled.document) }),
    ...(dryRun && current !== undefined ? { ifMatch: computeEtag(current) } : {}),
    warnings: toFaults(lints.filter(isWarning)),
  }
}

export function toTableResult(
  { change: { operation, name, rows, warnings = [] }, before, current }: CheckedTable,
  dryRun: boolean,
): OperationResult {
  return {
    operation,
    op: rows === undefined ? 'deleteTable' : 'putTable',
    name,
    version: before + 1,
    ...(dryRun || rows === undefined ? {} : { etag: tableEtag(before + 1, TABLE_FORMATS.json) }),
    ...(dryRun && current !== undefined ? { ifMatch: tableEtag(current.version, TABLE_FORMATS.json) } : {}),
    warnings,
  }
}
