/** What `crosswalk test` does: finds tests and documents, runs them, keeps snapshots, and reports. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createLogger } from '../../adapters/log/logger.ts'
import type { RunTests } from '../../document-tests/run-tests.ts'
import type { TestReport } from '../../document-tests/test-report.ts'
import { Failure } from '../../domain/failure.ts'
import { writeFault } from '../../domain/files/files.ts'
import type { Lint } from '../../domain/lint.ts'
import { createOfflineTests } from '../../wiring/offline-tests.ts'
import {
  CommandImpossible,
  type CommandProcess,
  EXIT,
  type ExitCode,
  runCommand,
  settingsOf,
} from '../command-process.ts'
import { openProject } from '../open-project.ts'
import { progressOf } from '../progress.ts'
import { placeLints, shownPath } from '../project/placed-lint.ts'
import { readWritten } from '../project/project-documents.ts'
import { chooseTarget } from '../project/project-file.ts'
import { watchFiles } from '../run/watch-files.ts'
import { openSnapshots, type SnapshotMode } from './snapshot-file.ts'
import { countsOf, isError, type SuiteResult, type TestOptions } from './test-options.ts'
import { countsText, junitOf, textOf } from './test-output.ts'
import { findSuites, type Suite } from './test-suites.ts'

/** Out: the exit code of the command. */
export function runTestCommand(
  files: readonly string[],
  options: TestOptions,
  process: CommandProcess,
): Promise<ExitCode> {
  return runCommand(process, async () => {
    const wrong = faultOf(options)
    if (wrong !== undefined) throw new CommandImpossible(wrong)
    const settings = settingsOf(process.env)
    const run = createOfflineTests(settings, createLogger({ ...settings, logLevel: 'error' }))
    if (options.watch === undefined) return runOnce(files, options, run, process)
    const { suites, unreadable } = suitesOf(files, options)
    return watchFiles(
      [...suites.flatMap((suite) => suite.files), ...unreadable.map(({ file }) => resolve(file))],
      async () => {
        // A file that cannot be used now may be corrected: the faults are on standard error.
        await runCommand(process, () => runOnce(files, options, run, process))
      },
    )
  })
}

function faultOf({ minCoverage, filter }: TestOptions): string | undefined {
  if (minCoverage === undefined) return undefined
  if (!/^\d+(?:\.\d+)?$/.test(minCoverage) || Number(minCoverage) > 100) {
    return '--min-coverage is wrong. Give a number from 0 to 100.'
  }
  return filter === undefined ? undefined : '--min-coverage is about all tests; leave out --filter.'
}

type FoundSuites = ReturnType<typeof findSuites> & Readonly<{ unreadable: readonly SuiteResult[] }>

function suitesOf(given: readonly string[], options: TestOptions): FoundSuites {
  const project = openProject(given, options)
  const target = chooseTarget(project, options.target)
  if (!target.ok) throw new CommandImpossible(target.message)
  const found = findSuites({ given, project, target: target.value })
  const unreadable = found.untested.flatMap(unreadableResult)
  if (found.suites.length === 0 && unreadable.length === 0) {
    throw new CommandImpossible('There are no tests: files that end in .tests.json.')
  }
  return { ...found, unreadable }
}

async function runOnce(
  given: readonly string[],
  options: TestOptions,
  run: RunTests,
  process: CommandProcess,
): Promise<ExitCode> {
  const { suites, untested, unreadable } = suitesOf(given, options)
  const isReadOnly = options.coverage === true || ['true', '1'].includes(process.env.CI ?? '')
  const mode: SnapshotMode = options.update === true ? 'all' : isReadOnly ? 'none' : 'missing'
  const progress = progressOf('files of tests', process.stderr)
  const results: SuiteResult[] = []
  for (const suite of suites) {
    const result = await runSuite(suite, run, mode, options)
    if (result !== undefined) results.push(result)
    progress(results.length, suites.length)
  }
  results.push(...unreadable)
  if (results.length === 0) throw new CommandImpossible(`No test has a name with ${JSON.stringify(options.filter)}.`)
  if (results.every(({ report }) => report?.tests.length === 0)) {
    throw new CommandImpossible(...results.map(({ file }) => `${file} has no tests.`))
  }
  report(results, untested, options, process)
  const isTooLow = untested.length > 0 && Number(options.minCoverage ?? 0) > 0
  return countsOf(results).failed > 0 || isTooLow ? EXIT.findings : EXIT.fine
}

/** A document that no test could run. */
function unreadableResult(path: string): readonly SuiteResult[] {
  const { file, written, lints, positions } = readWritten(path)
  if (written !== undefined) return []
  return [{ file, document: file, lints: placeLints(file, lints, positions), report: undefined, snapshots: [] }]
}

/** Undefined if the filter leaves no test of it. */
async function runSuite(
  suite: Suite,
  run: RunTests,
  mode: SnapshotMode,
  { filter, minCoverage, coverage: isListed }: TestOptions,
): Promise<SuiteResult | undefined> {
  const { path, file, document, lints } = suite
  const shown = { file, document: document?.file, snapshots: [] }
  if (lints.some(isError) || document?.document === undefined) return { ...shown, lints, report: undefined }
  const wanted = filter?.toLowerCase() ?? ''
  const tests = suite.tests.tests.filter(({ name }) => name.toLowerCase().includes(wanted))
  if (tests.length === 0 && filter !== undefined) return undefined
  const snapshots = openSnapshots(path, suite.tests, mode)
  const report = await runDocument(
    run,
    document.document,
    { ...suite.tests, tests },
    {
      get snapshots() {
        return snapshots.current()
      },
      onSnapshot: snapshots.take,
      coverage: minCoverage !== undefined || isListed === true,
    },
  )
  snapshots.save(filter === undefined)
  const all = [...lints, ...placeLints(document.file, lintsOf(report), document.positions)]
  const { coverage } = report
  const covered =
    coverage === undefined || minCoverage === undefined ? {} : { isCovered: coverage.percent >= Number(minCoverage) }
  return { ...shown, lints: all, report: report.ran ? report : undefined, snapshots: snapshots.written(), ...covered }
}

/** A document that is too large to be compiled has this fault. */
async function runDocument(run: RunTests, ...[document, file, options]: Parameters<RunTests>): Promise<TestReport> {
  try {
    return await run(document, file, options)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const lint = { errors: [{ path: '', message: thrown.message }], warnings: [] }
    return { ran: false, passed: 0, failed: 0, skipped: 0, ms: 0, tests: [], lint }
  }
}

const lintsOf = ({ lint: { errors, warnings } }: TestReport): readonly Lint[] => [
  ...errors.map((lint) => ({ ...lint, severity: 'error' as const })),
  ...warnings.map((lint) => ({ ...lint, severity: 'warning' as const })),
]

function report(
  results: readonly SuiteResult[],
  untested: readonly string[],
  { json, junit, minCoverage, coverage }: TestOptions,
  { stdout, stderr }: CommandProcess,
): void {
  const counts = countsOf(results)
  stdout.write(
    json === true
      ? `${JSON.stringify({ ...counts, untested: untested.length, files: results }, undefined, 2)}\n`
      : textOf(results, coverage === true),
  )
  if (junit !== undefined) {
    try {
      writeFileSync(junit, junitOf(results))
    } catch (thrown) {
      throw new CommandImpossible(writeFault(junit, thrown))
    }
  }
  const without = untested.length === 0 ? '' : `; ${untested.length} documents have no tests`
  stderr.write(`${countsText(counts)}${without}\n`)
  if (coverage === undefined && minCoverage === undefined) return
  for (const path of untested) stderr.write(`${shownPath(path)}: no tests\n`)
}
