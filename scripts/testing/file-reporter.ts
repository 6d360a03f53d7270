/**
 * A reporter of node:test for one process: it writes one line of JSON for each entry that the test run needs, to the file that
 * the query of this module's URL names. Each line is written at once, so that none is lost if the process crashes.
 */
import { openSync, writeSync } from 'node:fs'
import { relative } from 'node:path'
import { Transform } from 'node:stream'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export type Counts = Readonly<
  Record<'tests' | 'suites' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>
>

export type ReportEntry = Readonly<
  | { kind: 'failure' | 'skipped'; test: string; where: string; what: string }
  | { kind: 'started'; test: string }
  | { kind: 'note'; test: string; text: string }
  /** A top-level suite that has finished; in a batch each file is one. */
  | { kind: 'suite'; name: string; ms: number; counts: Counts }
  | { kind: 'counts'; counts: Counts }
>

export const NONE: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 }

/** In characters; a failure may quote values of any size. */
const MAX_FAILURE_CHARACTERS = 5_000

/** The runner's own summary, which it also reports as notes. */
const SUMMARY = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

const report = openSync(new URL(import.meta.url).searchParams.get('report') ?? '/dev/null', 'w')
const write = (entry: ReportEntry): void => void writeSync(report, `${JSON.stringify(entry)}\n`)

/** The names of the reported test and its suites, and of the test that started last, which node reports later. */
const names: string[] = []
const started: string[] = []
let counts = NONE

export default new Transform({
  writableObjectMode: true,
  transform: (event: TestEvent, _encoding, done) => {
    note(event)
    done()
  },
})

function note(event: TestEvent): void {
  if (event.type === 'test:dequeue') {
    started.splice(event.data.nesting, Number.POSITIVE_INFINITY, event.data.name)
    write({ kind: 'started', test: started.join(' > ') })
  }
  if (event.type === 'test:start') names.splice(event.data.nesting, Number.POSITIVE_INFINITY, event.data.name)
  const entry = entryOf(event)
  if (entry !== undefined) write(entry)
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return
  counts = countResult(counts, event)
  if (event.data.nesting > 0) return
  const { name, details } = event.data
  if (details.type === 'suite') write({ kind: 'suite', name, ms: details.duration_ms, counts })
  counts = NONE
}

/** Counts as node's own summary does. */
function countResult(counts: Counts, { type, data }: TestEvent & { type: 'test:pass' | 'test:fail' }): Counts {
  if (data.details.type === 'suite') return { ...counts, suites: counts.suites + 1 }
  const how = data.skip !== undefined ? 'skipped' : data.todo !== undefined ? 'todo' : HOW[type]
  return { ...counts, tests: counts.tests + 1, [how]: counts[how] + 1 }
}

const HOW = { 'test:pass': 'passed', 'test:fail': 'failed' } as const

function entryOf({ type, data }: TestEvent): ReportEntry | undefined {
  switch (type) {
    case 'test:diagnostic':
      return SUMMARY.test(data.message) ? undefined : { kind: 'note', test: names.join(' > '), text: data.message }
    case 'test:summary':
      // The types lack the number of failures.
      return { kind: 'counts', counts: data.counts as unknown as Counts }
    case 'test:pass':
    case 'test:fail': {
      const test = [...names.slice(0, data.nesting), data.name].join(' > ')
      const where = data.file === undefined ? '' : `${relative('', data.file)}:${data.line}:${data.column}`
      if (data.skip !== undefined) return { kind: 'skipped', test, where, what: String(data.skip) }
      if (type === 'test:pass' || data.todo !== undefined) return undefined
      const { error } = data.details
      // A suite fails with its tests, which have entries of their own.
      if ('failureType' in error && error.failureType === 'subtestsFailed') return undefined
      return { kind: 'failure', test, where, what: shorten(inspect(error.cause ?? error)) }
    }
    default:
      return undefined
  }
}

/** Keeps the end, which shows where the failure happened. */
const shorten = (text: string): string =>
  text.length <= MAX_FAILURE_CHARACTERS
    ? text
    : `${text.slice(0, MAX_FAILURE_CHARACTERS / 2)} … ${text.slice(-MAX_FAILURE_CHARACTERS / 2)}`
