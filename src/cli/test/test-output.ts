/** The results of tests as people read them, and as JUnit XML. */
import type { Mismatch, TestReport, TestResult } from '../../document-tests/test-report.ts'
import type { Json, JsonObject } from '../../domain/json.ts'
import { changeTexts } from '../../domain/json.ts'
import { buildXml } from '../../formats/xml-build.ts'
import { withoutForbidden } from '../../formats/xml-characters.ts'
import { lineOf } from '../project/placed-lint.ts'
import { printable } from '../terminal-text.ts'
import { countsOf, isError, type SuiteResult, type TestCounts, type WrittenSnapshot } from './test-options.ts'

export const textOf = (results: readonly SuiteResult[], isCoverageListed: boolean): string =>
  results.map((result) => suiteText(result, isCoverageListed)).join('')

function suiteText({ file, lints, report, snapshots, isCovered }: SuiteResult, isListed: boolean): string {
  const counts = report === undefined ? 'did not run' : countsText(report)
  const tests = (report?.tests ?? []).flatMap(testLines)
  const coverage = coverageLines(report?.coverage, isCovered, isListed)
  const lines = [
    `${file}: ${counts}`,
    ...lints.map((lint) => `  ${lineOf(lint)}`),
    ...tests,
    ...snapshots.flatMap(snapshotLines),
    ...coverage,
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}

export const countsText = ({ passed, failed, skipped }: TestCounts): string =>
  [`${passed} passed`, `${failed} failed`, ...(skipped === 0 ? [] : [`${skipped} skipped`])].join(', ')

function testLines({ name, verdict, mismatches, reason }: TestResult): readonly string[] {
  if (verdict === 'passed') return []
  if (verdict === 'skipped') return [`  skipped: ${name} (${reason})`]
  return [`  failed: ${name}`, ...mismatches.flatMap(mismatchLines)]
}

function mismatchLines({ path, expected, actual, message }: Mismatch): readonly string[] {
  return [
    `    ${path === '' ? '' : `${path}: `}${message}`,
    ...(expected === undefined ? [] : [`      expected: ${JSON.stringify(expected)}`]),
    ...(actual === undefined ? [] : [`      actual:   ${JSON.stringify(actual)}`]),
  ]
}

/** The parts that no test ran are listed if they are too many, or if that is asked for. */
function coverageLines(
  coverage: TestReport['coverage'],
  isCovered: boolean | undefined,
  isListed: boolean,
): readonly string[] {
  if (coverage === undefined) return []
  const { percent, total, missed } = coverage
  const line = `  coverage: ${percent} % of ${total}`
  if (missed.length === 0 || (isCovered !== false && !isListed)) return [line]
  const verdict = isCovered === false ? ', too low' : ''
  return [`${line}${verdict}; no test runs:`, ...missed.map(({ kind, path }) => `    ${kind} ${path}`)]
}

function snapshotLines({ test, differences }: WrittenSnapshot): readonly string[] {
  if (differences === undefined) return [`  snapshot written: ${test}`]
  return [`  snapshot replaced: ${test}`, ...differences.flatMap(mismatchLines)]
}

/** In the form that build servers read: a suite for each file of tests. */
export function junitOf(results: readonly SuiteResult[]): string {
  const { failed, skipped } = countsOf(results)
  const suites = results.map(suiteElement)
  const tests = suites.reduce((sum, { $ }) => sum + Number($.tests), 0)
  const root = { $: { tests: `${tests}`, failures: `${failed}`, skipped: `${skipped}` }, testsuite: suites }
  return buildXml(changeTexts({ testsuites: root }, withoutForbidden))
}

function suiteElement({ file, lints, report }: SuiteResult) {
  const notRun = {
    $: { name: 'the tests can run', classname: file, time: '0' },
    failure: failureElement(lints.filter(isError).map((lint) => lineOf(lint))),
  }
  const cases: readonly JsonObject[] =
    report === undefined ? [notRun] : report.tests.map((test) => caseElement(test, file))
  const failures = report === undefined ? 1 : report.failed
  const attributes = {
    name: file,
    tests: `${cases.length}`,
    failures: `${failures}`,
    skipped: `${report?.skipped ?? 0}`,
    time: seconds(report?.ms ?? 0),
  }
  return { $: attributes, testcase: cases }
}

function caseElement({ name, verdict, ms, mismatches, reason }: TestResult, file: string): JsonObject {
  const element = { $: { name, classname: file, time: seconds(ms) } }
  if (verdict === 'failed') return { ...element, failure: failureElement(mismatches.flatMap(mismatchLines)) }
  return verdict === 'skipped' ? { ...element, skipped: { $: { message: reason ?? '' } } } : element
}

const failureElement = (lines: readonly string[]): Json => ({
  $: { message: lines[0]?.trim() ?? '' },
  _: lines.map((line) => line.replace(/^ {4}/, '')).join('\n'),
})

const seconds = (ms: number): string => (ms / 1_000).toFixed(3)
