/** The tests of an endpoint document, as its author writes them: `x.tests.json` beside `x.json`, or stored on the server. */
import type { Json, JsonObject } from '../../core/json.ts'
import type { Lint } from '../../core/lint.ts'
import type { CannedAnswers, DryRunRequest } from '../../document/checks/dry-run-request.ts'
import type { Coverage } from '../dry-run/dry-run-report.ts'

export const MAX_TESTS = 200
export const MAX_STEPS = 50
/** The most bytes of a file of tests, as UTF-8. */
export const MAX_TEST_BYTES = 1_048_576

/** The time of a test that gives none: a message of a test is always as old as its expectations. */
export const DEFAULT_NOW = '2026-01-01T00:00:00.000Z'

/** A checked file; `checkTestFile` makes it. */
export type TestFile = Readonly<{
  /** The name of the endpoint, for a file that does not stand beside its document. */
  endpoint?: string
  /** JSON Pointers (RFC 6901) into the body of the answer: these places are not compared. */
  ignore: readonly string[]
  tests: readonly DocumentTest[]
}>

export type DocumentTest = Readonly<{
  /** Unique within the file. */
  name: string
  /** The message that the test was made from. Nothing reads it. */
  source?: JsonObject
  /** The reason for which the test does not run. */
  skip?: string
  /** Whether the test is an example of the published description of the endpoint. */
  publish?: boolean
  /** At least one; each sees the state that the one before it left. */
  steps: readonly TestStep[]
  /** Whether the file has `steps`, not `given` and `expect`: places in mismatches then start with the step. */
  hasSteps: boolean
}>

export type TestStep = Readonly<{ given: Given; expect: Expectation }>

/** The message, and what stands in for everything else that it could depend on. */
export type Given = Readonly<{
  message: Omit<DryRunRequest['message'], 'state'>
  lookups: CannedAnswers
  responses: CannedAnswers
  /** The root `state` that the message sees; undefined for what the step before it left. */
  state?: JsonObject
  /** Milliseconds since the epoch. */
  nowMs: number
  /** Values of secrets by name: NAME of `${env:NAME}`, or the path of `${file:/path}`. */
  secrets: Readonly<Record<string, string>>
  /** By name, as `readTableValue` takes them. */
  tables: Readonly<Record<string, Json>>
}>

/** Members that are left out are not checked. Values are plain JSON or operators (match.ts). */
export type Expectation = Readonly<{
  outcome?: Json
  answer?: Readonly<{ status?: Json; headers?: JsonObject; body?: Json }>
  /** All calls that the message makes, or an operator on the array of them. */
  calls?: Json
  /** In the same way, all requests that it stores to be delivered. */
  deliveries?: Json
  failure?: Json
  /** By name; transforms without an expectation are not checked. */
  transforms?: JsonObject
  /** The mapped output, before it is serialised. */
  mapped?: Json
  /** By the names in the root `state` that the next message would see; others are not checked. */
  state?: JsonObject
  /** Whether everything that the message did equals the stored snapshot of the test. */
  snapshot?: boolean
  /** The test fails until its author replaces this by what is expected. */
  todo?: boolean
}>

// What running the tests of a document gives.

type TestVerdict = 'passed' | 'failed' | 'skipped'

/** A place where the message did something else than its test expects. */
export type Mismatch = Readonly<{
  /** JSON Pointer (RFC 6901) from `expect` on: `/answer/body/code`. Starts with `/steps/0` and so on in a test with steps. */
  path: string
  /** Left out if the test expects nothing there. Long values are cut. */
  expected?: Json
  /** Left out if there is nothing. Long values are cut. */
  actual?: Json
  /** One sentence. */
  message: string
}>

export type TestResult = Readonly<{
  name: string
  verdict: TestVerdict
  /** Milliseconds. */
  ms: number
  /** Of a failed test, at least one. */
  mismatches: readonly Mismatch[]
  /** The reason of a skipped test. */
  reason?: string
}>

/** `ran` is false if the document or the tests have errors: `lint` has them, and `tests` is empty. */
export type TestReport = Readonly<{
  ran: boolean
  passed: number
  failed: number
  skipped: number
  ms: number
  tests: readonly TestResult[]
  /** Which parts of the document the tests ran, if that was asked for; `percent` is from 0 to 100, rounded down to a tenth. */
  coverage?: Coverage & Readonly<{ percent: number; tables: readonly TableCoverage[] }>
  /** What the tests with `expect.snapshot` do now, if that was asked for. */
  snapshots?: Snapshots
  /** Of the document. */
  lint: Readonly<{ errors: readonly ShownLint[]; warnings: readonly ShownLint[] }>
}>

/** `used`: how many of its rows the tests found. */
export type TableCoverage = Readonly<{ table: string; rows: number; used: number }>

export type ShownLint = Pick<Lint, 'path' | 'message'>

/** By the name of the test; for a test with steps an array with an item for each step, null for one without a snapshot. */
export type Snapshots = Readonly<Record<string, Json>>
