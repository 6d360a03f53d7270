/** What several runs of one draft say together of its mapping. */
import type { SampleField } from './field-tree.ts'

/** The parts of a report that count here. */
export type ReportedRun = Readonly<{
  ran: boolean
  mapping?: Readonly<{
    entries?: readonly ReportedEntry[]
    unread?: readonly Readonly<{ path: string; count: number }>[]
  }>
  fields?: Readonly<{
    source: Readonly<{ fields: readonly SampleField[]; cut: boolean }>
    output?: Readonly<{ fields: readonly SampleField[]; cut: boolean }>
  }>
}>

/** `path`: of the entry in the document. */
type ReportedEntry = Readonly<{ path?: string; source: string; found: boolean; targets: readonly ReportedTarget[] }>

type ReportedTarget = Readonly<{
  target: string
  wrote: 'value' | 'default' | 'null' | 'nothing'
  count: number
  places: readonly string[]
  samples?: readonly unknown[]
}>

/** What the runs did with one target of one entry. */
export type LineResult = Readonly<{
  /** Runs in which the source had a value, of those that reached the entry. */
  found: number
  runs: number
  /** Places that were written, in all runs. */
  written: number
  /** The best of what it wrote. */
  wrote: ReportedTarget['wrote']
  /** Of the first run that wrote something. */
  places: readonly string[]
  samples: readonly unknown[]
}>

export type Coverage = Readonly<{
  /** Runs that reached the mapping. */
  mapped: number
  /** By source and target, as `lineName` makes it. */
  lines: ReadonlyMap<string, LineResult>
  /** Of entries of an `each`, by the path of the entry and the target. */
  nested: ReadonlyMap<string, LineResult>
  /** Path → values that no run read. */
  unread: ReadonlyMap<string, number>
  source: readonly SampleField[]
  output: readonly SampleField[]
  /** Fields were left out of a report. */
  isCut: boolean
}>

export const lineName = (source: string, target: string): string => `${source}\n${target}`

const BEST = ['nothing', 'null', 'default', 'value']

export function computeCoverage(runs: readonly ReportedRun[]): Coverage {
  const lines = new Map<string, LineResult>()
  const nested = new Map<string, LineResult>()
  const unread = new Map<string, number>()
  const mapped = runs.filter(({ mapping }) => mapping !== undefined)
  for (const { mapping } of mapped) {
    for (const { path, source, found, targets } of mapping?.entries ?? []) {
      if (path !== undefined && !path.startsWith('inputMapping')) continue
      const isNested = path !== undefined && /[^\\]\.each\./.test(path)
      const results = isNested ? nested : lines
      for (const target of targets) {
        const name = lineName(isNested ? path : source, target.target)
        results.set(name, withRun(results.get(name), found, target))
      }
    }
    for (const { path, count } of mapping?.unread ?? []) unread.set(path, (unread.get(path) ?? 0) + count)
  }
  const fields = runs.flatMap((run) => run.fields ?? [])
  return {
    mapped: mapped.length,
    lines,
    nested,
    unread,
    source: fields.flatMap(({ source }) => source.fields),
    output: fields.flatMap(({ output }) => output?.fields ?? []),
    isCut: fields.some(({ source, output }) => source.cut || output?.cut === true),
  }
}

function withRun(before: LineResult | undefined, found: boolean, target: ReportedTarget): LineResult {
  const { wrote, count, places, samples = [] } = target
  const isFirst = before === undefined || before.written === 0
  return {
    found: (before?.found ?? 0) + (found ? 1 : 0),
    runs: (before?.runs ?? 0) + 1,
    written: (before?.written ?? 0) + count,
    wrote: before !== undefined && BEST.indexOf(before.wrote) > BEST.indexOf(wrote) ? before.wrote : wrote,
    places: isFirst ? places : before.places,
    samples: isFirst ? samples : before.samples,
  }
}

/** In words, for readers who do not see the line. */
export function describeResult({ found, runs, written, wrote }: LineResult): string {
  const some = runs > 1 ? ` in ${found} of ${runs} messages` : ''
  if (written === 0) return found === 0 ? 'found nothing' : `found a value${some}, wrote nothing`
  const places = written === 1 ? '' : ` at ${written.toLocaleString('en')} places`
  if (wrote === 'value') return `wrote${places}${found < runs ? some : ''}`
  return wrote === 'default' ? `wrote the default${places}` : `wrote null${places}`
}
