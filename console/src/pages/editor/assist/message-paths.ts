/** The paths of a loaded message, as mappings and expressions read it. */
import type { RunReport } from '../../../api/run-calls.ts'
import type { MessagePath } from './document-words.ts'

const MAX_PATHS = 2_000
const MAX_LEVELS = 12
const SAMPLE_CHARACTERS = 40

/** In: the report of a run. Out: paths of what its last stages could read; an array is one `[]`. */
export function messagePaths(report: RunReport | undefined): readonly MessagePath[] {
  const found = new Map<string, string>()
  for (const { input, output } of (report?.stages ?? []).toReversed()) {
    for (const [root, value] of [...Object.entries(input), ...Object.entries(output ?? {})])
      collect(root, value, found, 0)
  }
  return [...found].map(([path, sample]) => ({ path, sample }))
}

function collect(path: string, value: unknown, found: Map<string, string>, level: number): void {
  if (found.size >= MAX_PATHS || level > MAX_LEVELS) return
  if (!found.has(path)) found.set(path, formatSample(value))
  if (Array.isArray(value)) {
    const item: unknown = value.find((one) => typeof one === 'object' && one !== null) ?? value[0]
    if (item !== undefined) collect(`${path}[]`, item, found, level + 1)
  } else if (typeof value === 'object' && value !== null && !('cut' in value)) {
    for (const [name, inner] of Object.entries(value)) {
      collect(`${path}.${name.replaceAll('.', '\\.')}`, inner, found, level + 1)
    }
  }
}

function formatSample(value: unknown): string {
  if (Array.isArray(value)) return `${value.length} elements`
  if (typeof value === 'object' && value !== null) return ''
  const text = JSON.stringify(value) ?? ''
  return text.length > SAMPLE_CHARACTERS ? `${text.slice(0, SAMPLE_CHARACTERS)}…` : text
}
