/** The tests that the service keeps for each endpoint: `/endpoints/{id}/tests`. */
import { Failure } from '../../core/failure.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { isError, type Lint } from '../../core/lint.ts'
import type { EndpointService } from '../../endpoints/endpoint-service.ts'
import type { ChangeTests } from '../../endpoints/endpoint-writer.ts'
import * as failures from '../../endpoints/management-failures.ts'
import { parseDocument } from '../../endpoints/parse-document.ts'
import { computeEtag, matchesEtag } from '../../endpoints/precondition.ts'
import { retryOnConflict } from '../../endpoints/store-queue.ts'
import type { ToAuditEntry } from '../../store/sql/audit-store.ts'
import type { EndpointTestStore } from '../../store/sql/endpoint-store.ts'
import { checkTestFile } from './check-test-file.ts'
import type { RunTests } from './run-tests.ts'
import type { Mismatch, TestReport, TestResult } from './test-file.ts'

/** `file`: as it was sent. */
type SavedTests = Readonly<{ file: JsonObject; warnings: readonly Lint[] }>

/**
 * An endpoint without tests has the file `{ "tests": [] }`. `ifMatch` is the If-Match header; undefined if there is none.
 * `toAuditEntry`: for the entry of a change in the audit log.
 * Each call fails with ID_MALFORMED, ENDPOINT_UNKNOWN and STORE_UNAVAILABLE.
 */
export interface StoredTests {
  /** The ids of the endpoints that have tests. Fails with STORE_UNAVAILABLE only. */
  endpoints(): Promise<ReadonlySet<string>>
  get(endpointId: string): Promise<JsonObject>
  /** In: a file of tests as JSON text. Also fails with BODY_UNREADABLE, BODY_TOO_DEEP, TESTS_INVALID, PRECONDITION_FAILED. */
  replace(
    endpointId: string,
    text: string,
    ifMatch: string | undefined,
    toAuditEntry?: ToAuditEntry,
  ): Promise<SavedTests>
  /** Also fails with PRECONDITION_FAILED. */
  remove(endpointId: string, ifMatch: string | undefined, toAuditEntry?: ToAuditEntry): Promise<void>
}

type StoredTestsOptions = Readonly<{
  store: EndpointTestStore
  endpointService: Pick<EndpointService, 'get'>
}>

const NO_TESTS: JsonObject = { tests: [] }

export function createStoredTests({ store, endpointService }: StoredTestsOptions): StoredTests {
  const write = async (
    endpointId: string,
    file: JsonObject | undefined,
    ifMatch: string | undefined,
    toAuditEntry: ToAuditEntry | undefined,
  ) => {
    await endpointService.get(endpointId)
    await failures.callEndpointStore(() =>
      retryOnConflict(ifMatch, async () => {
        const stored = await store.get(endpointId)
        if (ifMatch !== undefined && !matchesEtag(ifMatch, computeEtag(parseTestFile(stored)))) throw stale()
        const entry = toAuditEntry?.({ target: endpointId })
        const result = await store.write(endpointId, file && JSON.stringify(file), stored, entry)
        if (result === 'gone') throw failures.unknown(endpointId)
        if (result === 'stale') throw stale()
      }),
    )
  }
  return {
    endpoints: () => failures.callEndpointStore(() => store.endpoints()),
    get: async (endpointId) => {
      const stored = await failures.callEndpointStore(() => store.get(endpointId))
      // Tests are deleted with their endpoint: only without them it may be unknown.
      if (stored === undefined) await endpointService.get(endpointId)
      return parseTestFile(stored)
    },
    replace: async (endpointId, text, ifMatch, toAuditEntry) => {
      const { raw, faults } = parseDocument(text)
      const { lints } = checkTestFile(raw)
      const errors = [...faults, ...lints.filter(isError)]
      if (errors.length > 0) throw failures.testsInvalid(errors)
      const file = raw as JsonObject
      await write(endpointId, file, ifMatch, toAuditEntry)
      return { file, warnings: lints }
    },
    remove: (endpointId, ifMatch, toAuditEntry) => write(endpointId, undefined, ifMatch, toAuditEntry),
  }
}

const parseTestFile = (stored: string | undefined): JsonObject => (stored === undefined ? NO_TESTS : JSON.parse(stored))

const stale = (): Failure =>
  new Failure(
    'PRECONDITION_FAILED',
    'The tests have changed since they were read; read them again and repeat the change.',
  )

// Runs the stored tests of an endpoint against the document that is to replace its own (`TESTS_ON_CHANGE`).

type ChangeTestsOptions = Readonly<{
  mode: 'off' | 'warn' | 'require'
  store: EndpointTestStore
  runTests: RunTests
  /** Milliseconds for all tests of one change; 20,000 by default. */
  limitMs?: number
}>

/** Of one change, of one endpoint or of many: the next change waits for it. */
const LIMIT_MS = 20_000

/** Of one change; the failing tests beyond are counted. */
const MAX_NAMED = 1_000

/** Undefined if no tests are to run. */
export function createChangeTests({
  mode,
  store,
  runTests,
  limitMs = LIMIT_MS,
}: ChangeTestsOptions): ChangeTests | undefined {
  if (mode === 'off') return undefined
  return ({ testsOverride }) => {
    const severity: Lint['severity'] = mode === 'require' && testsOverride === undefined ? 'error' : 'warning'
    let left = limitMs
    let named = 0
    let count = 0
    let tested: ReadonlySet<string> | undefined

    const run = async (document: Json, text: string): Promise<readonly Lint[]> => {
      const { file, lints } = checkTestFile(JSON.parse(text))
      const wrong = lints.find((lint) => lint.severity === 'error')
      if (wrong !== undefined)
        return [{ path: 'tests', message: `The stored tests cannot run: ${wrong.message}`, severity }]
      const startMs = performance.now()
      const report = await runTests(document, file, { limitMs: Math.max(0, left) })
      left -= performance.now() - startMs
      return lintFailures(report)
    }

    const lintFailures = ({ tests }: TestReport): readonly Lint[] => {
      const failing = tests.flatMap((test, index) => (test.verdict === 'failed' ? [{ test, index }] : []))
      const shown = failing.slice(0, Math.max(0, MAX_NAMED - named))
      named += shown.length
      const hidden = failing.length - shown.length
      return [
        ...shown.map(
          ({ test, index }): Lint => ({ path: `tests[${index}]`, message: SENTENCES[severity](test), severity }),
        ),
        ...(hidden === 0 ? [] : [{ path: 'tests', message: `${hidden} more tests fail.`, severity }]),
      ]
    }

    const readTests = async (endpointId: string): Promise<string | undefined> => {
      count += 1
      // One read gives the ids of all endpoints with tests.
      if (count === 2) tested = await store.endpoints()
      return tested?.has(endpointId) === false ? undefined : await store.get(endpointId)
    }

    const runStored = async (endpointId: string, document: Json): Promise<readonly Lint[]> => {
      const text = await readTests(endpointId)
      if (text === undefined) return []
      try {
        return await run(document, text)
      } catch (thrown) {
        // An overload must not stop a change that its tests would not stop.
        if (severity === 'error' || !(thrown instanceof Failure)) throw thrown
        return [{ path: 'tests', message: `The tests did not run: ${thrown.message}`, severity }]
      }
    }

    return { run: runStored, readVersion: readTests }
  }
}

/** Warnings stand in a header and in the log, which quote no values; the details of a failure are for its caller alone. */
const SENTENCES: Readonly<Record<Lint['severity'], (test: TestResult) => string>> = {
  error: (test) => `${findFailure(test)}.${listValues(test.mismatches[0])}`,
  warning: (test) => `${findFailure(test)}; POST /endpoints/tests/run shows why.`,
}

function findFailure({ name, mismatches: [first, ...others] }: TestResult): string {
  const place = first === undefined || first.path === '' ? '' : ` at ${first.path}`
  if (others.length === 0) return `The test "${name}" fails${place}`
  return `The test "${name}" fails${place} and ${others.length === 1 ? 'one more place' : `${others.length} more places`}`
}

function listValues(mismatch: Mismatch | undefined): string {
  if (mismatch === undefined) return ''
  const { message, expected, actual } = mismatch
  const parts = [
    ...(expected === undefined ? [] : [`expected ${shortened(expected)}`]),
    ...(actual === undefined ? [] : [`actual ${shortened(actual)}`]),
  ]
  return parts.length === 0 ? ` ${message}` : ` ${message} (${parts.join(', ')})`
}

const SHOWN_CHARACTERS = 100

function shortened(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`
}
