/**
 * Prometheus' text format, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/), written 500 lines
 * at a time: of 1,000 endpoints there are a hundred thousand lines, and prom-client, which writes them in one turn, stops
 * all messages about 30 times as long.
 */
import { setImmediate as turn } from 'node:timers/promises'

export type Sample = Readonly<{
  labels: Readonly<Record<string, string>>
  value: number
  /** Behind the name of the family: `_bucket`, `_sum` or `_count` of a histogram. */
  suffix?: string
}>

export type Family = Readonly<{
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  labels: readonly string[]
  samples(): Iterable<Sample>
}>

/** The lines that are written before messages get their turn. */
const LINES_A_TURN = 500

export async function expose(families: readonly Family[]): Promise<Buffer> {
  // As bytes: one long text would be joined in a single turn at the end.
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
