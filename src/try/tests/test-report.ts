/** What running the tests of a document gives. */
import type { Json } from '../../core/json.ts'
import type { Lint } from '../../core/lint.ts'
import type { Coverage } from '../dry-run/report/coverage.ts'

export type TestVerdict = 'passed' | 'failed' | 'skipped'

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
  coverage?: Coverage & Readonly<{ percent: number }>
  /** What the tests with `expect.snapshot` do now, if that was asked for. */
  snapshots?: Snapshots
  /** Of the document. */
  lint: Readonly<{ errors: readonly ShownLint[]; warnings: readonly ShownLint[] }>
}>

export type ShownLint = Pick<Lint, 'path' | 'message'>

/** By the name of the test; for a test with steps an array with an item for each step, null for one without a snapshot. */
export type Snapshots = Readonly<Record<string, Json>>
