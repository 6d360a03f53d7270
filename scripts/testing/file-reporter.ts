/** A reporter of node:test for one test file: one line of JSON for each thing that whoever runs the file must know. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export type Counts = Readonly<
  Record<'tests' | 'suites' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>
>

export type Told = Readonly<
  | { kind: 'failure' | 'skipped'; test: string; where: string; what: string }
  | { kind: 'begun'; test: string }
  | { kind: 'note'; text: string }
  | { kind: 'counts'; counts: Counts }
>

/** Values that were compared may be of any size. */
const MOST_TOLD = 5_000

/** The runner's own summary, which it tells as notes too. */
const SUMMARY = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

export default async function* tell(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = []
  for await (const event of events) {
    if (event.type === 'test:start') names.splice(event.data.nesting, Number.POSITIVE_INFINITY, event.data.name)
    const told = toldOf(event, names)
    if (told !== undefined) yield `${JSON.stringify(told)}\n`
  }
}

/** `names`: of the test that was begun last and of the suites around it. */
function toldOf({ type, data }: TestEvent, names: readonly string[]): Told | undefined {
  switch (type) {
    case 'test:start':
      return { kind: 'begun', test: names.join(' > ') }
    case 'test:diagnostic':
      return SUMMARY.test(data.message) ? undefined : { kind: 'note', text: data.message }
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
