/** Runs the stored tests of an endpoint against the document that is to replace its own (`TESTS_ON_CHANGE`). */
import { Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import type { Lint } from '../../domain/lint.ts'
import type { EndpointTestStore } from '../../domain/ports/endpoint-store-port.ts'
import type { ChangeTests } from '../../endpoints/endpoint-writer.ts'
import { checkTestFile } from '../check-test-file.ts'
import type { RunTests } from '../run-tests.ts'
import type { TestReport, TestResult } from '../test-report.ts'

export const TESTS_ON_CHANGE = ['off', 'warn', 'require'] as const

export type ChangeTestsOptions = Readonly<{
  mode: (typeof TESTS_ON_CHANGE)[number]
  store: EndpointTestStore
  runTests: RunTests
}>

/** The time for all tests of one change, of one endpoint or of many: the next change waits for it. */
export const CHANGE_TESTS_MS = 20_000

/** Of one change; the failing tests beyond are counted. */
const MOST_NAMED = 1_000

/** Undefined if no tests are to run. */
export function createChangeTests({ mode, store, runTests }: ChangeTestsOptions): ChangeTests | undefined {
  if (mode === 'off') return undefined
  return ({ testsOverride }) => {
    const severity = mode === 'require' && testsOverride === undefined ? 'error' : 'warning'
    let left = CHANGE_TESTS_MS
    let named = 0

    const run = async (document: Json, text: string): Promise<readonly Lint[]> => {
      const { file, lints } = checkTestFile(JSON.parse(text))
      const wrong = lints.find((lint) => lint.severity === 'error')
      if (wrong !== undefined) return [{ path: 'tests', message: `The stored tests cannot run: ${wrong.message}`, severity }]
      const startMs = performance.now()
      const report = await runTests(document, file, { limitMs: Math.max(0, left) })
      left -= performance.now() - startMs
      return failingOf(report)
    }

    const failingOf = ({ tests }: TestReport): readonly Lint[] => {
      const failing = tests.flatMap((test, index) => (test.verdict === 'failed' ? [{ test, index }] : []))
      const shown = failing.slice(0, Math.max(0, MOST_NAMED - named))
      named += shown.length
      const hidden = failing.length - shown.length
      return [
        ...shown.map(({ test, index }): Lint => ({ path: `tests[${index}]`, message: SENTENCES[severity](test), severity })),
        ...(hidden === 0 ? [] : [{ path: 'tests', message: `${hidden} more tests fail.`, severity }]),
      ]
    }

    return async (endpointId, document) => {
      const text = await store.get(endpointId)
      if (text === undefined) return []
      try {
        return await run(document, text)
      } catch (thrown) {
        // An overload must not stop a change that its tests would not stop.
        if (severity === 'error' || !(thrown instanceof Failure)) throw thrown
        return [{ path: 'tests', message: `The tests did not run: ${thrown.message}`, severity }]
      }
    }
  }
}

/** Warnings stand in a header and in the log, which quote no values; the details of a failure are for its caller alone. */
const SENTENCES: Readonly<Record<Lint['severity'], (test: TestResult) => string>> = {
  error: ({ name, mismatches: [first, ...others] }) =>
    `The test "${name}" fails${placeOf(first?.path)}${countOf(others.length)}: ${first?.message ?? ''}`.trimEnd(),
  warning: ({ name, mismatches: [first, ...others] }) =>
    `The test "${name}" fails${placeOf(first?.path)}${countOf(others.length)}; POST /endpoints/tests/run shows why.`,
}

const placeOf = (path: string | undefined): string => (path === undefined || path === '' ? '' : ` at ${path}`)

function countOf(others: number): string {
  if (others === 0) return ''
  return others === 1 ? ' and one more place' : ` and ${others} more places`
}
