/** What `crosswalk test` is asked for and what it finds, as its parts pass them on. */

import type { Mismatch, TestReport } from '../../document-tests/test-report.ts'
import type { ProjectArguments } from '../command-process.ts'
import type { PlacedLint } from '../project/placed-lint.ts'

/** As commander gives them. */
export type TestOptions = ProjectArguments &
  Readonly<{
    filter?: string
    update?: true
    watch?: true
    junit?: string
    json?: true
    minCoverage?: string
    /** Lists the parts of each document that no test runs; writes no snapshots. */
    coverage?: true
    target?: string
  }>

/** A snapshot that was written; without `differences`, there was none before. */
export type WrittenSnapshot = Readonly<{ test: string; step: number; differences?: readonly Mismatch[] }>

/** The results of one file of tests. With `--min-coverage`, `isCovered` says whether the tests run enough of the document. */
export type SuiteResult = Readonly<{
  /** As shown to people. */
  file: string
  /** Of the document; undefined if there is none. */
  document: string | undefined
  /** Faults and warnings of the tests and of the document. */
  lints: readonly PlacedLint[]
  /** Undefined if the tests or the document have errors. */
  report: TestReport | undefined
  snapshots: readonly WrittenSnapshot[]
  isCovered?: boolean
}>

/** `failed` counts the files that could not run, too, and those whose coverage is too low. */
export type TestCounts = Readonly<{ passed: number; failed: number; skipped: number }>

export const isError = ({ severity }: PlacedLint): boolean => severity === 'error'

export function countsOf(results: readonly SuiteResult[]): TestCounts {
  const sum = (name: keyof TestCounts) => results.reduce((total, { report }) => total + (report?.[name] ?? 0), 0)
  const notRun = results.filter(({ report, isCovered }) => report === undefined || isCovered === false).length
  return { passed: sum('passed'), failed: sum('failed') + notRun, skipped: sum('skipped') }
}
