/** The results of tests that this page ran, kept while the console is open. Tests use no network and change nothing. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type ApiFailure, asFailure } from '../../api/api-failure.ts'
import { answerKey, keyed } from '../../api/query-keys.ts'
import { runTests, type StoredTest, type StoredTests, type TestReport } from '../../api/run-calls.ts'
import { useEndpointRow } from '../../ui/endpoint/endpoint-page.tsx'

export type TestResult = TestReport['tests'][number]
/** `version`: of the document when the run started; undefined if it was not known. */
export type TestRunResult = Readonly<{ result: TestResult; at: number; version: number | undefined }>
export type TestRuns = Readonly<{
  isRunning: boolean
  /** Why the last run gave no results. */
  failure: ApiFailure | undefined
  /** Faults of the document, with which no test runs. */
  faults: TestReport['lint']['errors']
  /** The version that is active now. */
  current: number | undefined
  all: readonly TestRunResult[]
  findResult(name: string): TestRunResult | undefined
  runAll(): void
  runOne(test: StoredTest): void
  /** The result of a test that is another one now says nothing any more. */
  forget(name: string | undefined): void
}>

type Kept = Readonly<{ results: ReadonlyMap<string, TestRunResult>; faults: TestReport['lint']['errors'] }>
const NOTHING: Kept = { results: new Map(), faults: [] }

/** `mayRun`: whether the user has the role for it. */
export function useTestRuns(id: string, file: StoredTests['file'] | undefined, mayRun: boolean): TestRuns {
  const client = useQueryClient()
  const queryKey = answerKey<Kept>('test-results', 'of', id)
  const { data: kept = NOTHING } = useQuery({
    ...keyed(queryKey, () => NOTHING),
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  })
  const { data: row, refetch } = useEndpointRow(id)
  const [isRunning, setRunning] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const update = (change: (before: Kept) => Kept) =>
    client.setQueryData<Kept>(queryKey, (before) => change(before ?? NOTHING))
  const run = async (tests: readonly StoredTest[] | undefined) => {
    if (!mayRun || isRunning || file === undefined) return
    setRunning(true)
    setFailure(undefined)
    try {
      const { version } = row ?? (await refetch({ cancelRefetch: false })).data ?? {}
      const given = tests === undefined ? {} : { tests: { ...file, tests } }
      const report = await runTests(JSON.stringify({ endpointId: id, ...given }))
      const at = Date.now()
      const results = report.tests.map((result) => [result.name, { result, at, version }] as const)
      const { errors } = report.lint
      update((before) => ({
        results: new Map([...(tests === undefined ? [] : before.results), ...results]),
        faults: report.ran ? [] : errors,
      }))
    } catch (thrown) {
      setFailure(asFailure(thrown))
    }
    setRunning(false)
  }
  return {
    isRunning,
    failure,
    faults: kept.faults,
    current: row?.version,
    all: [...kept.results.values()],
    findResult: (name) => kept.results.get(name),
    runAll: () => void run(undefined),
    runOne: (test) => void run([test]),
    forget: (name) =>
      update(({ results, faults }) => ({ results: new Map([...results].filter(([one]) => one !== name)), faults })),
  }
}
