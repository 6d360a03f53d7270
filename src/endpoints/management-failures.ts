/** The failures of management calls, with their sentences. */
import { Failure } from '../core/failure.ts'
import { FAILURES, type FailureCode } from '../core/failure-table.ts'
import { type Lint, toFaults } from '../core/lint.ts'
import type { StoredDocument } from '../core/stored-document.ts'
import type { Claim } from '../document/doors.ts'
import { callStore } from '../store/store-access.ts'

export function invalid(faults: readonly Lint[]): Failure {
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
  return new Failure('CONFIGURATION_INVALID', `The endpoint document has ${count}; nothing was stored.`, {
    details: toFaults(faults),
  })
}

export const dryRunInvalid = (faults: readonly Lint[]): Failure =>
  new Failure('DRY_RUN_INVALID', 'The dry run cannot be made as requested; details has the reasons.', {
    details: toFaults(faults),
  })

export const TESTS_INVALID = {
  code: 'TESTS_INVALID',
  sentence: 'The tests cannot run as they are written; details has every fault.',
} as const

export const testsInvalid = (faults: readonly Lint[]): Failure =>
  new Failure(TESTS_INVALID.code, TESTS_INVALID.sentence, { details: toFaults(faults) })

/** In: a fault for each test that fails. */
export function testsFailed(faults: readonly Lint[]): Failure {
  const count = faults.length === 1 ? 'A stored test of the endpoint fails' : 'Stored tests of the endpoint fail'
  return new Failure(
    'TESTS_FAILED',
    `${count} with this document; nothing was stored. Change the document, or first the tests.`,
    { details: toFaults(faults) },
  )
}

export function clash(clashes: readonly Lint[]): Failure {
  const places = clashes.map(({ path }) => path).join(' and ')
  return new Failure(
    'CONFIGURATION_CLASH',
    `The document clashes with another endpoint in ${places}; nothing was stored.`,
    {
      details: toFaults(clashes),
    },
  )
}

/** The store has a document with the same name or claim, of an endpoint that is not active here. */
export const storeClash = (claim: Claim | undefined): Failure =>
  clash([
    claim === undefined
      ? { path: 'name', message: 'Another endpoint has this name already; choose another one.', severity: 'error' }
      : { path: claim.path, message: `Another endpoint ${claim.taken}`, severity: 'error' },
  ])

export const tooMany = (max: number): Failure =>
  new Failure(
    'ENDPOINTS_TOO_MANY',
    `There are ${max} endpoints, which is the limit (MAX_ENDPOINTS); delete one that is not needed.`,
  )

export const unknown = (id: string): Failure => new Failure('ENDPOINT_UNKNOWN', `There is no endpoint with ID '${id}'.`)

export const unknownTable = (name: string): Failure =>
  new Failure('TABLE_UNKNOWN', `There is no table '${name}'; GET /tables lists those that there are.`)

export const unknownTableVersion = (name: string, version: number): Failure =>
  new Failure(
    'VERSION_UNKNOWN',
    `The table '${name}' has no version ${version} with rows; GET /tables/${name}/versions lists them.`,
  )

export const tablesFull = (max: number): Failure =>
  new Failure(
    'TABLES_FULL',
    `All tables together would take more than ${max} bytes (TABLES_MAX_BYTES); delete one that is not needed.`,
  )

export const staleTable = (): Failure =>
  new Failure('PRECONDITION_FAILED', 'The table has changed since it was read; read it again and repeat the change.')

export const tableExists = (name: string): Failure =>
  new Failure('PRECONDITION_FAILED', `There is a table "${name}" already; nothing was stored.`)

/** In: the endpoint that reads the table, and what it would miss. */
/** `what`: the table, or its column, that the change takes away. */
export const tableInUse = ({ _id, name }: StoredDocument, path: string, what: string): Failure =>
  new Failure(
    'TABLE_IN_USE',
    `The endpoint "${name}" (${_id}) reads ${what} in ${path}. Change the endpoint first, or both in one batch.`,
  )

export const unknownVersion = (id: string, version: number): Failure =>
  new Failure(
    'VERSION_UNKNOWN',
    `The endpoint '${id}' has no version ${version}; GET /endpoints/${id}/versions lists them.`,
  )

export const emptyVersion = (version: number): Failure =>
  new Failure('VERSION_UNKNOWN', `Version ${version} is a deletion and has no document; take the one before it.`)

export const malformedId = (id: string): Failure =>
  new Failure('ID_MALFORMED', `'${id}' is not an ID: 24 lower-case hexadecimal digits.`)

export const stale = (): Failure =>
  new Failure('PRECONDITION_FAILED', 'The endpoint has changed since it was read; read it again and repeat the change.')

/** Runs `work` on the store of endpoints. Fails with STORE_UNAVAILABLE. */
export const callEndpointStore = <T>(work: () => Promise<T>): Promise<T> => callStore('The store of endpoints', work)

/** A fault of one operation of a batch, with the code that the operation alone would fail with. */
export type OperationFault = Readonly<{ operation: number; code: FailureCode; path: string; message: string }>

/** Faults of the batch itself, none of one operation. */
export const batchInvalid = (faults: readonly Lint[]): Failure =>
  new Failure('BATCH_INVALID', 'The batch cannot be made as requested; details has the reasons.', {
    details: toFaults(faults),
  })

/** The failure has the lowest status of its faults, and the code of the first one with that status. */
export function batchRefused(faults: readonly OperationFault[]): Failure {
  const statusFor = ({ code }: OperationFault): number => FAILURES[code].status
  const [first] = faults.toSorted((one, other) => statusFor(one) - statusFor(other) || one.operation - other.operation)
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
  return new Failure(first?.code ?? 'BATCH_INVALID', `The batch has ${count}; nothing was stored.`, {
    details: faults.toSorted((one, other) => one.operation - other.operation),
  })
}
