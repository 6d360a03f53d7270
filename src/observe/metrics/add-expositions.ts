/**
 * Adds up the expositions of several processes, in steps: prom-client adds up in one step, during which no message is answered
 * (docs/decisions/speed.md).
 */
import { setImmediate as turn } from 'node:timers/promises'
import { type FamilyText, OMITTED_NAME } from './exposition.ts'

/** How many lines are read before the event loop continues. */
const LINES_A_TURN = 2_000

type Combine = (one: number, other: number) => number
type Family = { head: string; type: string; combine: Combine; series: Map<string, number> }

/** Whether a series of a lost process counts. In: the series with its labels. */
export type Keeps = (series: string) => boolean

/** As `mergeExpositions`, as one text without the number of omitted samples. */
export async function addExpositions(...expositions: Parameters<typeof mergeExpositions>): Promise<string> {
  const parts: string[] = []
  for (const { head, lines } of (await mergeExpositions(...expositions)).families) {
    parts.push(head)
    for (const line of lines()) {
      parts.push(line)
      if (parts.length % LINES_A_TURN === 0) await turn()
    }
  }
  return parts.join('')
}

/**
 * In: expositions of running processes and of `lost` ones, of which only counters and histograms count. Out: their sums, and
 * the number of samples that they omitted.
 */
export async function mergeExpositions(
  alive: readonly string[],
  lost: readonly string[] = [],
  keeps: Keeps = () => true,
): Promise<Readonly<{ families: readonly FamilyText[]; omitted: number }>> {
  const families = new Map<string, Family>()
  for (const text of alive) await addTo(families, text, () => true)
  for (const text of lost) await addTo(families, text, (series, { type }) => COUNTED.has(type) && keeps(series))
  const omitted = families.get(OMITTED_NAME)?.series.get(OMITTED_NAME) ?? 0
  families.delete(OMITTED_NAME)
  return { families: [...families.values()].map(writtenOf), omitted }
}

const writtenOf = ({ head, type, series }: Family): FamilyText => ({
  head,
  type,
  *lines() {
    for (const [name, value] of series) yield `${name} ${value}\n`
  },
})

const COUNTED = new Set(['counter', 'histogram'])

async function addTo(
  families: Map<string, Family>,
  text: string,
  takes: (series: string, family: Family) => boolean,
): Promise<void> {
  let family: Family | undefined
  let lines = 0
  for (const line of text.split('\n')) {
    lines += 1
    if (lines % LINES_A_TURN === 0) await turn()
    const [, keyword, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword !== undefined && name !== undefined) {
      family = families.get(name)
      if (family === undefined) {
        family = { head: '', type: '', combine: combineOf(name), series: new Map() }
        families.set(name, family)
      }
      if (keyword === 'TYPE' && family.type === '') family.type = rest ?? ''
      if (!family.head.includes(`# ${keyword} `)) family.head += `${line}\n`
    } else if (line !== '' && family !== undefined) {
      const end = line.lastIndexOf(' ')
      const series = line.slice(0, end)
      if (!takes(series, family)) continue
      const value = Number(line.slice(end + 1))
      const before = family.series.get(series)
      family.series.set(series, before === undefined ? value : family.combine(before, value))
    }
  }
}

const sum: Combine = (one, other) => one + other

/** Values that describe one process or a limit, not an amount, are not added: the highest one is the most useful. */
function combineOf(name: string): Combine {
  if (name === 'process_start_time_seconds') return Math.min
  return /_info$|^nodejs_eventloop_lag_|^process_max_fds$/.test(name) ? Math.max : sum
}

/** The value of the label `endpoint` of a series; undefined without that label. */
export function endpointOf(series: string): string | undefined {
  const [, text] = /[{,]endpoint="((?:[^"\\]|\\.)*)"/.exec(series) ?? []
  return text?.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}
