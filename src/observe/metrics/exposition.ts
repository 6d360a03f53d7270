/**
 * Writes Prometheus' text format, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/), in steps:
 * 1,000 endpoints have a hundred thousand lines. prom-client writes them in one step, during which no message is answered
 * (docs/decisions/speed.md).
 */
import { setImmediate as turn } from 'node:timers/promises'

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

/** A family as text: `head` and each line end in a line break; samples of one histogram follow each other. */
export type FamilyText = Readonly<{ head: string; type: string; lines(): Iterable<string> }>

/** How many lines are written before the event loop continues. */
const LINES_A_TURN = 500

/** The most bytes of an exposition. 1,000 endpoints whose names have 200 characters need about as much. */
const MOST_BYTES = 64 * 1024 * 1024

export const OMITTED_NAME = 'crosswalk_metrics_omitted_samples'
const OMITTED_HEAD = `# HELP ${OMITTED_NAME} Samples for which the exposition had no room.\n# TYPE ${OMITTED_NAME} gauge\n`

/** The exposition in UTF-8, in chunks of some 500 lines; the next chunk is made when it is asked for. */
export const expose = (families: readonly Family[], mostBytes?: number): AsyncGenerator<Buffer> =>
  writeFamilies(families.map(textOf), 0, mostBytes)

function textOf({ name, help, type, samples }: Family): FamilyText {
  return {
    head: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
    type,
    *lines() {
      for (const { suffix = '', labels, value } of samples()) yield `${name}${suffix}${labelsText(labels)} ${value}\n`
    },
  }
}

/**
 * As `expose`. Samples beyond `mostBytes` are omitted, but no part of a histogram. The last family has their number, with
 * `omittedBefore`.
 */
export async function* writeFamilies(
  families: Iterable<FamilyText>,
  omittedBefore = 0,
  mostBytes = MOST_BYTES,
): AsyncGenerator<Buffer> {
  let text = ''
  let bytes = 0
  let seen = 0
  let omitted = 0
  for (const { head, type, lines } of families) {
    text += head
    let mayEnd = true
    for (const line of lines()) {
      if (omitted > 0 || (mayEnd && bytes + text.length + line.length > mostBytes)) omitted += 1
      else text += line
      mayEnd = type !== 'histogram' || LAST_OF_HISTOGRAM.test(line)
      seen += 1
      if (seen % LINES_A_TURN !== 0) continue
      const chunk = Buffer.from(text)
      text = ''
      bytes += chunk.length
      if (chunk.length > 0) yield chunk
      await turn()
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
