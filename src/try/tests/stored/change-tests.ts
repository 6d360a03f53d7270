/** Runs the stored tests of an endpoint against the document that is to replace its own (`TESTS_ON_CHANGE`). */
import { Failure } from '../../../core/failure.ts'
import type { Json } from '../../../core/json.ts'
import type { Lint } from '../../../core/lint.ts'
import type { ChangeTests } from '../../../endpoints/endpoint-writer.ts'
import type { EndpointTestStore } from '../../../store/sql/endpoint-store.ts'
import { checkTestFile } from '../check-test-file.ts'
import type { RunTests } from '../run-tests.ts'
import type { Mismatch, TestReport, TestResult } from '../test-report.ts'

export const TESTS_ON_CHANGE = ['off', 'warn', 'require'] as const

export type ChangeTestsOptions = Readonly<{
  mode: (typeof TESTS_ON_CHANGE)[number]
  store: EndpointTestStore
  runTests: RunTests
  /** Milliseconds for all tests of one change; 20,000 by default. */
  limitMs?: number
}>

/** Of one change, of one endpoint or of many: the next change waits for it. */
const LIMIT_MS = 20_000

/** Of one change; the failing tests beyond are counted. */
const MOST_NAMED = 1_000

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
      return failingOf(report)
    }

    const failingOf = ({ tests }: TestReport): readonly Lint[] => {
      const failing = tests.flatMap((test, index) => (test.verdict === 'failed' ? [{ test, index }] : []))
      const shown = failing.slice(0, Math.max(0, MOST_NAMED - named))
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

    return { run: runStored, versionOf: readTests }
  }
}

/** Warnings stand in a header and in the log, which quote no values; the details of a failure are for its caller alone. */
const SENTENCES: Readonly<Record<Lint['severity'], (test: TestResult) => string>> = {
  error: (test) => `${failureOf(test)}.${valuesOf(test.mismatches[0])}`,
  warning: (test) => `${failureOf(test)}; POST /endpoints/tests/run shows why.`,
}

function failureOf({ name, mismatches: [first, ...others] }: TestResult): string {
  const place = first === undefined || first.path === '' ? '' : ` at ${first.path}`
  if (others.length === 0) return `The test "${name}" fails${place}`
  return `The test "${name}" fails${place} and ${others.length === 1 ? 'one more place' : `${others.length} more places`}`
}

function valuesOf(mismatch: Mismatch | undefined): string {
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
