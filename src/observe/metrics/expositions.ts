/**
 * Writes Prometheus' text format, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/), in steps:
 * 1,000 endpoints have a hundred thousand lines. prom-client writes them in one step, during which no message is answered
 * (docs/decisions/speed.md).
 */
import { setImmediate as nextIteration } from 'node:timers/promises'

export type Sample = Readonly<{
  labels: Readonly<Record<string, string>>
  value: number
  /** Follows the name of the family: `_bucket`, `_sum` or `_count` of a histogram. */
  suffix?: string
}>

export type Family = Readonly<{
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  labels: readonly string[]
  samples(): Iterable<Sample>
}>

/** A family of one series without labels. */
export const single = (type: 'gauge' | 'counter', name: string, help: string, value: () => number): Family => ({
  name,
  help,
  type,
  labels: [],
  samples: () => [{ labels: {}, value: value() }],
})

/** A family as text: `head` and each line end in a line break; samples of one histogram follow each other. */
type FamilyText = Readonly<{ head: string; type: string; lines(): Iterable<string> }>

/** How many lines are written before the event loop continues. */
const LINES_PER_ITERATION = 500

/** The most bytes of an exposition. 1,000 endpoints whose names have 200 characters need about as much. */
const MAX_BYTES = 64 * 1024 * 1024

const OMITTED_NAME = 'crosswalk_metrics_omitted_samples'
const OMITTED_HEAD = `# HELP ${OMITTED_NAME} Samples for which the exposition had no room.\n# TYPE ${OMITTED_NAME} gauge\n`

/** The exposition in UTF-8, in chunks of some 500 lines; the next chunk is made when it is asked for. */
export const expose = (families: readonly Family[], maxBytes?: number): AsyncGenerator<Buffer> =>
  writeFamilies(families.map(toText), 0, maxBytes)

function toText({ name, help, type, samples }: Family): FamilyText {
  return {
    head: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
    type,
    *lines() {
      for (const { suffix = '', labels, value } of samples()) yield `${name}${suffix}${labelsText(labels)} ${value}\n`
    },
  }
}

/**
 * As `expose`. Samples beyond `maxBytes` are omitted, but no part of a histogram. The last family has their number, with
 * `omittedBefore`.
 */
export async function* writeFamilies(
  families: Iterable<FamilyText>,
  omittedBefore = 0,
  maxBytes = MAX_BYTES,
): AsyncGenerator<Buffer> {
  let text = ''
  let bytes = 0
  let seen = 0
  let omitted = 0
  for (const { head, type, lines } of families) {
    text += head
    let mayEnd = true
    for (const line of lines()) {
      if (omitted > 0 || (mayEnd && bytes + text.length + line.length > maxBytes)) omitted += 1
      else text += line
      mayEnd = type !== 'histogram' || LAST_OF_HISTOGRAM.test(line)
      seen += 1
      if (seen % LINES_PER_ITERATION !== 0) continue
      const chunk = Buffer.from(text)
      text = ''
      bytes += chunk.length
      if (chunk.length > 0) yield chunk
      await nextIteration()
    }
  }
  yield Buffer.from(`${text}${OMITTED_HEAD}${OMITTED_NAME} ${omittedBefore + omitted}\n`)
}

const LAST_OF_HISTOGRAM = /^\w+_count[{ ]/

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')

// Adds up the expositions of several processes, in steps: prom-client adds up in one step, during which no message is
// answered (docs/decisions/speed.md).

/** How many lines are read before the event loop continues. */
const LINES_READ_A_TURN = 2_000

type Combine = (one: number, other: number) => number
type ReadFamily = { head: string; type: string; combine: Combine; series: Map<string, number> }

/** True if a series of a lost process, given with its labels, counts. */
type Keeps = (series: string) => boolean

/** As `mergeExpositions`, as one text without the number of omitted samples. */
export async function addExpositions(...expositions: Parameters<typeof mergeExpositions>): Promise<string> {
  const parts: string[] = []
  for (const { head, lines } of (await mergeExpositions(...expositions)).families) {
    parts.push(head)
    for (const line of lines()) {
      parts.push(line)
      if (parts.length % LINES_READ_A_TURN === 0) await nextIteration()
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
  const families = new Map<string, ReadFamily>()
  for (const text of alive) await addTo(families, text, () => true)
  for (const text of lost) await addTo(families, text, (series, { type }) => COUNTED.has(type) && keeps(series))
  const omitted = families.get(OMITTED_NAME)?.series.get(OMITTED_NAME) ?? 0
  families.delete(OMITTED_NAME)
  return { families: [...families.values()].map(formatFamily), omitted }
}

const formatFamily = ({ head, type, series }: ReadFamily): FamilyText => ({
  head,
  type,
  *lines() {
    for (const [name, value] of series) yield `${name} ${value}\n`
  },
})

const COUNTED = new Set(['counter', 'histogram'])

async function addTo(
  families: Map<string, ReadFamily>,
  text: string,
  takes: (series: string, family: ReadFamily) => boolean,
): Promise<void> {
  let family: ReadFamily | undefined
  let lines = 0
  for (const line of text.split('\n')) {
    lines += 1
    if (lines % LINES_READ_A_TURN === 0) await nextIteration()
    const [, keyword, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword !== undefined && name !== undefined) {
      family = families.get(name)
      if (family === undefined) {
        family = { head: '', type: '', combine: chooseCombine(name), series: new Map() }
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
function chooseCombine(name: string): Combine {
  if (name === 'process_start_time_seconds') return Math.min
  return /_info$|^crosswalk_table_|^nodejs_eventloop_lag_|^process_max_fds$/.test(name) ? Math.max : sum
}

/** The value of the label `endpoint` of a series; undefined without that label. */
export function endpointLabel(series: string): string | undefined {
  const [, text] = /[{,]endpoint="((?:[^"\\]|\\.)*)"/.exec(series) ?? []
  return text?.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}
