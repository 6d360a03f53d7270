/** What a run of the benchmark found, as data: bench/report.json is one of a whole run. */
import { fileURLToPath } from 'node:url'
import type { Results } from '../load/rounds.ts'
import { MAX_STOLEN, type Machine } from '../processes/machine.ts'
import type { Spread } from './spread.ts'

export const REPORT_FILE = fileURLToPath(new URL('../report.json', import.meta.url))

/** Reports of other runs that the docs quote. */
export const REPORTS_FOLDER = fileURLToPath(new URL('../reports', import.meta.url))

export type ServerName = 'bare' | 'fastify' | 'node-red' | 'crosswalk'

/** One server under one workload. `server` is one of ServerName, or says how Crosswalk was set up. */
export type Loaded = Readonly<{ workload: string; server: string }> & Results

/** A measurement other than a load: a time, a size or a rate, in its unit. `key` stays the same when the name changes. */
export type Figure = Readonly<{ key: string; name: string; server: string; unit: Unit; spread: Spread }>
export type Unit = 'ms' | 's' | 'bytes' | 'runs/s'

/** Why a measurement is missing. */
export type Missing = Readonly<{ workload: string; server: string; why: string }>

export type Findings = Readonly<{
  loads?: readonly Loaded[]
  figures?: readonly Figure[]
  missing?: readonly Missing[]
}>

/** When, where and how a run measured. */
export type Conditions = Readonly<{
  startedAt: string
  machine: Machine
  versions: Readonly<Record<string, string>>
  /** Processes that wanted to run in the minute before: near zero on a machine that is quiet enough. */
  loadAverageBefore: number
  /** Share of the processor time wanted during the run that the hypervisor gave to other machines; left out if the system does not count it. */
  stolenShare?: number
  /** Shows that everything works, not how fast it is. */
  quick: boolean
  rounds: number
  seconds: number
  connections: number
}>

export type Report = Conditions & Required<Findings>

/** Above this load average before the run, the machine had other work to do. */
const QUIET_LOAD_AVERAGE = 0.5

/** Why nothing in a report can be judged, as the end of a sentence; undefined if something can. */
export function flaw({ quick, loadAverageBefore, rounds }: Conditions): string | undefined {
  if (quick) return 'a quick run, which reports whether everything works and not how fast it is'
  if (rounds < 3) return 'a run of too few rounds to distinguish chance from speed'
  if (loadAverageBefore > QUIET_LOAD_AVERAGE) {
    return `a run on a machine that had other work to do (load average before: ${loadAverageBefore.toFixed(2)})`
  }
  return undefined
}

/** Why the docs must not quote a report, as the end of a sentence; undefined if they may. */
export function reservation(report: Conditions): string | undefined {
  const { stolenShare = 0 } = report
  if (stolenShare <= MAX_STOLEN) return flaw(report)
  const share = Math.round(100 * stolenShare)
  return (
    flaw(report) ??
    `a run on a machine whose hypervisor gave ${share} % of the processor time that it wanted to others; ratios are judged all the same where little of that was in their slices`
  )
}

/** As a file: numbers to six digits, and the values of the rounds on one line. */
export function asJson(report: Report): string {
  const rounded = (_name: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  const json = JSON.stringify(report, rounded, 2)
  return `${json.replaceAll(/\[[-\d.e+,\s]+\]/g, (values) => values.replaceAll(/\s+/g, ' '))}\n`
}
