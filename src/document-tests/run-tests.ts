/** Runs the tests of a document: the same compiler, intake and canned answers as a dry run, with time and chance fixed. */
import type { Json } from '../domain/json.ts'
import type { TestFile } from './test-file.ts'
import type { Snapshots, TestReport } from './test-report.ts'

export type RunTestsOptions = Readonly<{
  /** The snapshots that `expect.snapshot` compares with; a test without one fails. */
  snapshots?: Snapshots
  /** Called with what the message of a step did, if its test expects a snapshot: `step` counts from 0. */
  onSnapshot?: (test: string, step: number, snapshot: Json) => void
  /** Milliseconds for all tests; those that have not started by then fail. */
  limitMs?: number
}>

/** In: a document as JSON, and its checked tests (`checkTestFile`). Out: the report. Never calls another system. */
export type RunTests = (document: Json, file: TestFile, options?: RunTestsOptions) => Promise<TestReport>
