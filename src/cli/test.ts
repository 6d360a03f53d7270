/** `crosswalk test` and `crosswalk coverage`: find tests and documents, run them, keep snapshots, and report. */
import { resolve } from 'node:path'
import { createOfflineTests } from '../app/offline.ts'
import { Failure } from '../core/failure.ts'
import { changeTexts, type Json, type JsonObject } from '../core/json.ts'
import { isError, type Lint } from '../core/lint.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import { buildXml } from '../formats/xml-build.ts'
import { withoutForbidden } from '../formats/xml-characters.ts'
import { createLogger } from '../observe/log/logger.ts'
import type { RunTests } from '../try/tests/run-tests.ts'
import type { Mismatch, TestReport, TestResult } from '../try/tests/test-file.ts'
import { CommandFault, requireSettings, shownPath, type Terminal, writeText } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { formatLint, type LocatedLint, locateLints } from './project/located-lint.ts'
import { readWritten } from './project/project-documents.ts'
import { chooseTarget, openProject, type Project } from './project/project-file.ts'
import { readTablesFor, toTableSet } from './project/project-tables.ts'
import { openSnapshots, type SnapshotMode, type WrittenSnapshot } from './snapshot-file.ts'
import { findSuites, type Suite } from './test-suites.ts'
import { watchFiles } from './watch-files.ts'

type TestExit = Ending<'test'>

/** `isCoverage`: lists the parts of each document that no test runs, and writes no snapshots. */
type TestGiven = Given<'test'> & Readonly<{ isCoverage?: true }>

/** The results of one file of tests. With `--min-coverage`, `isCovered` says whether the tests run enough of the document. */
export type SuiteResult = Readonly<{
  /** As shown to people. */
  file: string
  /** Of the document. */
  document: string | undefined
  /** Faults and warnings of the tests and of the document. */
  lints: readonly LocatedLint[]
  /** There is none if the tests or the document have errors. */
  report: TestReport | undefined
  snapshots: readonly WrittenSnapshot[]
  isCovered?: boolean
}>

/** `failed` counts the files that could not run, too, and those whose coverage is too low. */
type TestCounts = Readonly<{ passed: number; failed: number; skipped: number }>

function countTests(results: readonly SuiteResult[]): TestCounts {
  const sum = (name: keyof TestCounts) => results.reduce((total, { report }) => total + (report?.[name] ?? 0), 0)
  const notRun = results.filter(({ report, isCovered }) => report === undefined || isCovered === false).length
  return { passed: sum('passed'), failed: sum('failed') + notRun, skipped: sum('skipped') }
}

export async function run(given: TestGiven, terminal: Terminal): Promise<TestExit> {
  if (given.minCoverage !== undefined && given.filter !== undefined) {
    throw new CommandFault('--min-coverage is about all tests; leave out --filter.')
  }
  const settings = requireSettings(terminal)
  const runTests = createOfflineTests(settings, createLogger({ ...settings, logLevel: 'error' }))
  const once = () => runOnce(given, runTests, terminal)
  if (!given.watch) return once()
  const { suites, unreadable, project } = collectSuites(given)
  const tables = await readSuiteTables(suites, project)
  const files = [
    ...suites.flatMap((suite) => suite.files),
    ...unreadable.map(({ file }) => resolve(file)),
    ...tables.map(({ path }) => path),
  ]
  return watchFiles(files, terminal, once)
}

export const runCoverage = (given: Given<'coverage'>, terminal: Terminal): Promise<TestExit> =>
  run({ ...NO_TEST_OPTIONS, ...given, isCoverage: true }, terminal)

const NO_TEST_OPTIONS = { filter: undefined, update: false, watch: false, junit: undefined, minCoverage: undefined }

function collectSuites({ files: given, ...options }: TestGiven) {
  const project = openProject(given, options)
  const found = findSuites({ given, project, target: chooseTarget(project, options.target) })
  const unreadable = found.untested.flatMap(unreadableResult)
  if (found.suites.length === 0 && unreadable.length === 0) {
    throw new CommandFault('There are no tests: files that end in .tests.json.')
  }
  return { ...found, unreadable, project }
}

const readSuiteTables = (suites: readonly Suite[], project: Project | undefined) =>
  readTablesFor(
    suites.map(({ document }) => document?.document),
    project,
  )

async function runOnce(given: TestGiven, runTests: RunTests, terminal: Terminal): Promise<TestExit> {
  const { suites, untested, unreadable, project } = collectSuites(given)
  const tables = toTableSet(await readSuiteTables(suites, project))
  const isReadOnly = given.isCoverage === true || ['true', '1'].includes(terminal.env.CI ?? '')
  const mode = given.update ? 'all' : isReadOnly ? 'none' : 'missing'
  const progress = terminal.progress('files of tests')
  const results: SuiteResult[] = []
  for (const suite of suites) {
    const result = await runSuite(suite, runTests, mode, given, tables)
    if (result !== undefined) results.push(result)
    progress(results.length, suites.length)
  }
  results.push(...unreadable)
  if (results.length === 0) throw new CommandFault(`No test has a name with ${JSON.stringify(given.filter)}.`)
  if (results.every(({ report }) => report?.tests.length === 0)) {
    throw new CommandFault(results.map(({ file }) => `${file} has no tests.`))
  }
  report(results, untested, given, terminal)
  const isTooLow = untested.length > 0 && (given.minCoverage ?? 0) > 0
  return countTests(results).failed > 0 || isTooLow ? 'findings' : 'done'
}

/** A document that no test could run. */
function unreadableResult(path: string): readonly SuiteResult[] {
  const { file, written, lints, positions } = readWritten(path)
  if (written !== undefined) return []
  return [{ file, document: file, lints: locateLints(file, lints, positions), report: undefined, snapshots: [] }]
}

/** A suite runs only if the filter leaves a test of it. */
async function runSuite(
  suite: Suite,
  runTests: RunTests,
  mode: SnapshotMode,
  { filter, minCoverage, isCoverage }: TestGiven,
  tables: TableSet,
): Promise<SuiteResult | undefined> {
  const { path, file, document, lints } = suite
  const shown = { file, document: document?.file, snapshots: [] }
  if (lints.some(isError) || document?.document === undefined) return { ...shown, lints, report: undefined }
  const wanted = filter?.toLowerCase() ?? ''
  const tests = suite.tests.tests.filter(({ name }) => name.toLowerCase().includes(wanted))
  if (tests.length === 0 && filter !== undefined) return undefined
  const snapshots = openSnapshots(path, suite.tests, mode)
  const report = await runDocument(
    runTests,
    document.document,
    { ...suite.tests, tests },
    {
      get snapshots() {
        return snapshots.current()
      },
      onSnapshot: snapshots.take,
      tables,
      coverage: minCoverage !== undefined || isCoverage === true,
    },
  )
  snapshots.save(filter === undefined)
  const all = [...lints, ...locateLints(document.file, readLints(report), document.positions)]
  const { coverage } = report
  const covered =
    coverage === undefined || minCoverage === undefined ? {} : { isCovered: coverage.percent >= minCoverage }
  return { ...shown, lints: all, report: report.ran ? report : undefined, snapshots: snapshots.written(), ...covered }
}

/** A document that is too large to be compiled has this fault. */
async function runDocument(
  runTests: RunTests,
  ...[document, file, options]: Parameters<RunTests>
): Promise<TestReport> {
  try {
    return await runTests(document, file, options)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const lint = { errors: [{ path: '', message: thrown.message }], warnings: [] }
    return { ran: false, passed: 0, failed: 0, skipped: 0, ms: 0, tests: [], lint }
  }
}

const readLints = ({ lint: { errors, warnings } }: TestReport): readonly Lint[] => [
  ...errors.map((lint) => ({ ...lint, severity: 'error' as const })),
  ...warnings.map((lint) => ({ ...lint, severity: 'warning' as const })),
]

function report(
  results: readonly SuiteResult[],
  untested: readonly string[],
  { json, junit, minCoverage, isCoverage }: TestGiven,
  terminal: Terminal,
): void {
  const counts = countTests(results)
  if (json) terminal.writeJson({ ...counts, untested: untested.length, files: results })
  else for (const result of results) for (const line of suiteLines(result, isCoverage === true)) terminal.print(line)
  if (junit !== undefined) writeText(junit, formatJunit(results))
  const without = untested.length === 0 ? '' : `; ${untested.length} documents have no tests`
  terminal.note(`${countsText(counts)}${without}`)
  if (isCoverage === undefined && minCoverage === undefined) return
  for (const path of untested) terminal.note(`${shownPath(path)}: no tests`)
}

function suiteLines({ file, lints, report, snapshots, isCovered }: SuiteResult, isListed: boolean): readonly string[] {
  const counts = report === undefined ? 'did not run' : countsText(report)
  const tests = (report?.tests ?? []).flatMap(testLines)
  const coverage = coverageLines(report?.coverage, isCovered, isListed)
  return [
    `${file}: ${counts}`,
    ...lints.map((lint) => `  ${formatLint(lint)}`),
    ...tests,
    ...snapshots.flatMap(snapshotLines),
    ...coverage,
  ]
}

const countsText = ({ passed, failed, skipped }: TestCounts): string =>
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
  const { percent, total, missed, tables } = coverage
  const line = `  coverage: ${percent} % of ${total}`
  const rows = tables.map(({ table, used, rows: all }) => `  table ${table}: ${used} of ${all} rows used`)
  if (missed.length === 0 || (isCovered !== false && !isListed)) return [line, ...rows]
  const verdict = isCovered === false ? ', too low' : ''
  return [`${line}${verdict}; no test runs:`, ...missed.map(({ kind, path }) => `    ${kind} ${path}`), ...rows]
}

function snapshotLines({ test, differences }: WrittenSnapshot): readonly string[] {
  if (differences === undefined) return [`  snapshot written: ${test}`]
  return [`  snapshot replaced: ${test}`, ...differences.flatMap(mismatchLines)]
}

/** In the form that build servers read: a suite for each file of tests. */
function formatJunit(results: readonly SuiteResult[]): string {
  const { failed, skipped } = countTests(results)
  const suites = results.map(suiteElement)
  const tests = suites.reduce((sum, { $ }) => sum + Number($.tests), 0)
  const root = { $: { tests: `${tests}`, failures: `${failed}`, skipped: `${skipped}` }, testsuite: suites }
  return buildXml(changeTexts({ testsuites: root }, withoutForbidden))
}

function suiteElement({ file, lints, report }: SuiteResult) {
  const notRun = {
    $: { name: 'the tests can run', classname: file, time: '0' },
    failure: failureElement(lints.filter(isError).map((lint) => formatLint(lint))),
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
