/**
 * Writes Prometheus' text format, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/), in steps:
 * 1,000 endpoints have a hundred thousand lines. prom-client writes them in one step, during which no message is answered
 * (docs/decisions/message-metrics-are-written-directly.md).
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

/** How many lines are written before the event loop continues. */
const LINES_A_TURN = 500

export async function expose(families: readonly Family[]): Promise<Buffer> {
  // As bytes, because joining one long text would take a single step at the end.
  const chunks: Buffer[] = []
  let text = ''
  let lines = 0
  for (const { name, help, type, samples } of families) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const { suffix = '', labels, value } of samples()) {
      text += `${name}${suffix}${labelsText(labels)} ${value}\n`
      lines += 1
      if (lines % LINES_A_TURN !== 0) continue
      chunks.push(Buffer.from(text))
      text = ''
      await turn()
    }
  }
  return Buffer.concat([...chunks, Buffer.from(text)])
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
