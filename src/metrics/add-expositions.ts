/**
 * Adds up the metrics of several processes to those of one service, in Prometheus' text format. Series that are no amounts,
 * as their names say, give their highest value. Done 2,000 lines at a time: prom-client adds up in one turn, in which no
 * message is answered.
 */
import { setImmediate as turn } from 'node:timers/promises'

/** The lines that are read before messages get their turn. */
const LINES_A_TURN = 2_000

type Add = (one: number, other: number) => number
type Family = { head: string; type: string; add: Add; series: Map<string, number> }

/** Which series of a lost process are kept. In: the series with its labels. */
export type Keeps = (series: string) => boolean

/**
 * In: expositions of running processes and of `lost` ones. Of a lost process only counters and histograms count, not its
 * last state.
 */
export async function addExpositions(
  alive: readonly string[],
  lost: readonly string[] = [],
  keeps: Keeps = () => true,
): Promise<string> {
  const families = new Map<string, Family>()
  for (const text of alive) await addTo(families, text, () => true)
  for (const text of lost) await addTo(families, text, (series, { type }) => COUNTED.has(type) && keeps(series))
  return textOf(families.values())
}

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
    const [, what, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (what !== undefined && name !== undefined) {
      family = families.get(name)
      if (family === undefined) {
        family = { head: '', type: '', add: addOf(name), series: new Map() }
        families.set(name, family)
      }
      if (what === 'TYPE' && family.type === '') family.type = rest ?? ''
      if (!family.head.includes(`# ${what} `)) family.head += `${line}\n`
    } else if (line !== '' && family !== undefined) {
      const end = line.lastIndexOf(' ')
      const series = line.slice(0, end)
      if (!takes(series, family)) continue
      const value = Number(line.slice(end + 1))
      const before = family.series.get(series)
      family.series.set(series, before === undefined ? value : family.add(before, value))
    }
  }
}

const sum: Add = (one, other) => one + other

/** A value that all share, or the state of one process, is not added: the highest value is the most useful. */
function addOf(name: string): Add {
  if (name === 'process_start_time_seconds') return Math.min
  return /_info$|^nodejs_eventloop_lag_|^process_max_fds$/.test(name) ? Math.max : sum
}

async function textOf(families: Iterable<Family>): Promise<string> {
  const parts: string[] = []
  for (const { head, series } of families) {
    parts.push(head)
    for (const [name, value] of series) {
      parts.push(`${name} ${value}\n`)
      if (parts.length % LINES_A_TURN === 0) await turn()
    }
  }
  return parts.join('')
}

/** The value of the label `endpoint` of a series; undefined where it has none. */
export function endpointOf(series: string): string | undefined {
  const [, text] = /[{,]endpoint="((?:[^"\\]|\\.)*)"/.exec(series) ?? []
  return text?.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}
