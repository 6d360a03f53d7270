/** The report of a test run: a line for each file, and a summary at the end. */
import type { Counts } from './file-reporter.ts'
import type { FileResult } from './run-file.ts'

const SLOWEST = 15
const MAX_NOTES = 5

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** One line for a file that passed; else also its failures and output. */
export function describeFile({ file, ms, counts, failures, skipped, notes, output }: FileResult): string {
  const head = `${failures.length > 0 ? 'FAILED' : 'ok'}  ${file}  ${counts.tests} tests, ${seconds(ms)}`
  const indented = (text: string) => text.trimEnd().replaceAll(/^/gm, '    ')
  const more = notes.length > MAX_NOTES ? [`(and ${notes.length - MAX_NOTES} notes more)`] : []
  return [
    head,
    ...[...notes.slice(0, MAX_NOTES), ...more].map(indented),
    ...skipped.map((one) => indented(`skipped: ${one}`)),
    ...failures.map(indented),
    ...(failures.length > 0 && output !== '' ? [indented(`It wrote:\n${output}`)] : []),
  ].join('\n')
}

export type RunSummary = Readonly<{ counts: Counts; ok: boolean; text: string }>

/** The slowest files, the failures, and the counts in the form of node's own summary. */
export function describeRun(results: readonly FileResult[], ms: number): RunSummary {
  const sum = (what: keyof Counts) => results.reduce((total, { counts }) => total + counts[what], 0)
  // A file whose process failed counts as one more failure.
  const failed = results.reduce((total, { failures, counts }) => total + Math.max(failures.length, counts.failed), 0)
  // Node counts neither a skipped suite nor its tests.
  const skippedInAll = results.reduce(
    (total, { skipped, counts }) => total + Math.max(skipped.length, counts.skipped),
    0,
  )
  const counts: Counts = {
    tests: sum('tests'),
    suites: sum('suites'),
    passed: sum('passed'),
    failed,
    cancelled: sum('cancelled'),
    skipped: skippedInAll,
    todo: sum('todo'),
  }
  const slowest = results.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST)
  const broken = results.filter(({ failures }) => failures.length > 0)
  const lines = [
    '',
    'The slowest files:',
    ...slowest.map((one) => `  ${seconds(one.ms).padStart(8)}  ${one.file}`),
    ...(broken.length > 0 ? ['', 'Failed:', ...broken.map(({ file }) => `  ${file}`)] : []),
    '',
    `ℹ tests ${counts.tests}`,
    `ℹ suites ${counts.suites}`,
    `ℹ pass ${counts.passed}`,
    `ℹ fail ${counts.failed}`,
    `ℹ cancelled ${counts.cancelled}`,
    `ℹ skipped ${counts.skipped}`,
    `ℹ todo ${counts.todo}`,
    `ℹ files ${results.length}`,
    `ℹ minutes ${(ms / 60_000).toFixed(1)}`,
  ]
  return { counts, ok: failed === 0 && counts.cancelled === 0 && counts.tests > 0, text: lines.join('\n') }
}
