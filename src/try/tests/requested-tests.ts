/** `POST /endpoints/tests/run`: tests of a document, stored or not. */

import type { Failure } from '../../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, isError, type Lint } from '../../core/lint.ts'
import { described, Endpoint, either, flag, list, named, text, values } from '../../core/schema.ts'
import { checkSchema } from '../../document/checks/check-field.ts'
import type { DocumentBounds } from '../../document/checks/document-bounds.ts'
import type { EndpointService } from '../../endpoints/endpoint-service.ts'
import * as failures from '../../endpoints/management-failures.ts'
import { parseDocument } from '../../endpoints/parse-document.ts'
import { checkTestFile } from './check-test-file.ts'
import { type RunTests, withSnapshot } from './run-tests.ts'
import type { Snapshots, TestReport } from './test-file.ts'
import { Test, TestFile } from './test-file-schema.ts'

/**
 * In: the request as JSON text. Out: the report.
 *
 * Fails with BODY_UNREADABLE, BODY_TOO_DEEP and TESTS_INVALID if the request is wrong, with ID_MALFORMED, ENDPOINT_UNKNOWN and
 * STORE_UNAVAILABLE if its endpoint cannot be read, with DOCUMENT_TOO_LARGE, and with OVERLOADED and SHUTTING_DOWN as a
 * message would; never for a fault of the document or a failing test.
 */
export type RunRequestedTests = (text: string) => Promise<TestReport>

type RequestedTestsOptions = Readonly<{
  runTests: RunTests
  /** The reason to reject a message now. */
  refusal(): Failure | undefined
  endpointService: Pick<EndpointService, 'get'>
  settings: DocumentBounds
  /** The stored file of tests of an endpoint; undefined if none are stored anywhere. */
  storedTests?: (endpointId: string) => Promise<JsonObject>
}>

export const TestRun = named(
  'TestRun',
  {},
  {
    endpoint: Endpoint,
    endpointId: described(text, 'Of a stored endpoint.'),
    tests: described(either([TestFile, list(Test)]), 'A file of tests, or its tests.'),
    snapshots: described(values, 'By the names of the tests.'),
    coverage: described(flag, 'Whether the report says which parts of the document the tests ran.'),
    update: described(flag, 'Whether the report has the snapshots as they would be now.'),
  },
)

/** Milliseconds for all tests of a request. */
const LIMIT_MS = 30_000

export function createRequestedTests(options: RequestedTestsOptions): RunRequestedTests {
  const { runTests, refusal, endpointService, settings, storedTests } = options
  return async (body) => {
    const refused = refusal()
    if (refused !== undefined) throw refused
    const { raw, faults } = parseDocument(body)
    const request = isObject(raw) ? raw : {}
    // Faults within the document are in the report, as those that a dry run finds.
    const wrong = [
      ...faults.filter(({ path }) => !path.startsWith('endpoint.')),
      ...requestFaults(raw, storedTests !== undefined),
    ]
    if (wrong.length > 0) throw failures.testsInvalid(wrong)
    const { endpoint, endpointId, tests } = request
    const stored = typeof endpointId === 'string' ? await endpointService.get(endpointId) : undefined
    const given = tests ?? (await storedTests?.(String(endpointId))) ?? {}
    const { file, lints } = checkTestFile(Array.isArray(given) ? { tests: given } : given)
    const errors = lints.filter(isError)
    if (errors.length > 0) throw failures.testsInvalid(errors.map((lint) => inRequest(lint, given)))
    let taken: Snapshots = {}
    const report = await runTests(endpoint ?? stored ?? {}, file, {
      snapshots: isObject(request.snapshots) ? (request.snapshots as Snapshots) : {},
      onSnapshot: (test, step, snapshot) => {
        taken = withSnapshot(taken, test, step, snapshot)
      },
      limitMs: LIMIT_MS,
      coverage: request.coverage === true,
      ...(endpoint === undefined ? {} : { bounds: settings }),
    })
    return request.update === true ? { ...report, snapshots: taken } : report
  }
}

/** `tests` is a file of tests, or only the array of them. */
const inRequest = (lint: Lint, given: Json): Lint =>
  Array.isArray(given) ? lint : { ...lint, path: lint.path === '' ? 'tests' : `tests.${lint.path}` }

function requestFaults(raw: Json, hasStored: boolean): readonly Lint[] {
  const lints: Lint[] = []
  const lint = collectInto(lints)
  if (!isObject(raw)) {
    lint.error('Running tests takes an object with "endpoint" or "endpointId", and "tests".')
    return lints
  }
  const { tests, ...rest } = raw
  checkSchema(TestRun, rest, lint)
  const { endpoint, endpointId } = rest
  if (endpoint === undefined && endpointId === undefined) {
    lint.error('Give an "endpoint" (a document) or an "endpointId".')
  }
  if (tests === undefined && (!hasStored || endpointId === undefined)) {
    lint.at('tests').error('"tests" is required: a file of tests, or an array of tests.')
  }
  return lints
}
