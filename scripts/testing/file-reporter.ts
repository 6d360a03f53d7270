/**
 * A reporter of node:test for one process: a line of JSON for each thing that the run of the tests needs to know, in the file
 * that the query of this module's URL names. Each is written at once, so that it is there however the process ends.
 */
import { openSync, writeSync } from 'node:fs'
import { relative } from 'node:path'
import { Transform } from 'node:stream'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export type Counts = Readonly<
  Record<'tests' | 'suites' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>
>

export type Told = Readonly<
  | { kind: 'failure' | 'skipped'; test: string; where: string; what: string }
  | { kind: 'begun'; test: string }
  | { kind: 'note'; test: string; text: string }
  /** Of a suite that stands in no other, once all of it has ended; in a batch each file is one. */
  | { kind: 'suite'; name: string; ms: number; counts: Counts }
  | { kind: 'counts'; counts: Counts }
>

export const NONE: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 }

/** Values that were compared may be of any size. */
const MOST_TOLD = 5_000

/** The runner's own summary, which it tells as notes too. */
const SUMMARY = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

const report = openSync(new URL(import.meta.url).searchParams.get('report') ?? '/dev/null', 'w')
const tell = (told: Told): void => void writeSync(report, `${JSON.stringify(told)}\n`)

/** Of the test that is told of, and of the suites around it; and of the one that was begun last, which node tells of later. */
const names: string[] = []
const begun: string[] = []
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
    begun.splice(event.data.nesting, Number.POSITIVE_INFINITY, event.data.name)
    tell({ kind: 'begun', test: begun.join(' > ') })
  }
  if (event.type === 'test:start') names.splice(event.data.nesting, Number.POSITIVE_INFINITY, event.data.name)
  const told = toldOf(event)
  if (told !== undefined) tell(told)
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return
  counts = withEnded(counts, event)
  if (event.data.nesting > 0) return
  const { name, details } = event.data
  if (details.type === 'suite') tell({ kind: 'suite', name, ms: details.duration_ms, counts })
  counts = NONE
}

/** As node's own summary counts them. */
function withEnded(counts: Counts, { type, data }: TestEvent & { type: 'test:pass' | 'test:fail' }): Counts {
  if (data.details.type === 'suite') return { ...counts, suites: counts.suites + 1 }
  const how = data.skip !== undefined ? 'skipped' : data.todo !== undefined ? 'todo' : HOW[type]
  return { ...counts, tests: counts.tests + 1, [how]: counts[how] + 1 }
}

const HOW = { 'test:pass': 'passed', 'test:fail': 'failed' } as const

function toldOf({ type, data }: TestEvent): Told | undefined {
  switch (type) {
    case 'test:diagnostic':
      return SUMMARY.test(data.message) ? undefined : { kind: 'note', test: names.join(' > '), text: data.message }
    case 'test:summary':
      // The types leave out how many failed.
      return { kind: 'counts', counts: data.counts as unknown as Counts }
    case 'test:pass':
    case 'test:fail': {
      const test = [...names.slice(0, data.nesting), data.name].join(' > ')
      const where = data.file === undefined ? '' : `${relative('', data.file)}:${data.line}:${data.column}`
      if (data.skip !== undefined) return { kind: 'skipped', test, where, what: String(data.skip) }
      if (type === 'test:pass' || data.todo !== undefined) return undefined
      const { error } = data.details
      // A suite fails with its tests, which are told by themselves.
      if ('failureType' in error && error.failureType === 'subtestsFailed') return undefined
      return { kind: 'failure', test, where, what: shorten(inspect(error.cause ?? error)) }
    }
    default:
      return undefined
  }
}

/** The end of what went wrong tells where. */
const shorten = (text: string): string =>
  text.length <= MOST_TOLD ? text : `${text.slice(0, MOST_TOLD / 2)} … ${text.slice(-MOST_TOLD / 2)}`
