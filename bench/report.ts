/** What a run of the benchmark found, as data and as the table of the README. */
import type { FirstMessages } from './first-messages.ts'
import type { Machine } from './machine.ts'
import type { Ratio, Results } from './rounds.ts'
import type { Spread } from './spread.ts'

export type Report = Readonly<{
  startedAt: string
  machine: Machine
  loadAverageBefore: number
  rounds: number
  seconds: number
  connections: number
  crosswalk: Results
  bare: Results
  /** Crosswalk to bare node:http. */
  ratio: Ratio
  withState: Results
  ratioOfStateToNone: Ratio
}> &
  FirstMessages

type Row = readonly [what: string, spread: Spread, format: (value: number) => string]

const whole = (value: number): string => Math.round(value).toLocaleString('en-GB')
const milliseconds = (value: number): string => `${whole(value)} ms`
const megabytes = (value: number): string => `${whole(value / 1e6)} MB`
const fraction = (value: number): string => value.toFixed(2)
const exactMilliseconds = (value: number): string => `${value.toFixed(2)} ms`
const microseconds = (value: number): string => `${value.toFixed(1)} µs`

/** The table of the README, what it was measured on, and a second table for docs/performance.md. */
export function asMarkdown(report: Report): string {
  const { crosswalk, bare, ratio, withState, ratioOfStateToNone } = report
  const readme = table([
    ['start to first answer', report.startMs, milliseconds],
    ['resident memory after 10,000 messages', report.residentBytes, megabytes],
    ['requests/s, Crosswalk', crosswalk.messagesPerSecond, whole],
    ['requests/s, bare `node:http`', bare.messagesPerSecond, whole],
    ['ratio', ratio.byMessagesPerSecond, fraction],
  ])
  const more = table([
    ['start to first answer, without the launcher', report.startDirectlyMs, milliseconds],
    ['processor time a message, Crosswalk', crosswalk.cpuMicroseconds, microseconds],
    ['processor time a message, bare `node:http`', bare.cpuMicroseconds, microseconds],
    ['ratio by processor time', ratio.byCpu, fraction],
    ['latency p50, Crosswalk', crosswalk.p50Ms, exactMilliseconds],
    ['latency p99, Crosswalk', crosswalk.p99Ms, exactMilliseconds],
    ['latency p50, bare `node:http`', bare.p50Ms, exactMilliseconds],
    ['latency p99, bare `node:http`', bare.p99Ms, exactMilliseconds],
    ['requests/s, Crosswalk with state', withState.messagesPerSecond, whole],
    ['latency p99, Crosswalk with state', withState.p99Ms, exactMilliseconds],
    ['ratio of state to none', ratioOfStateToNone.byMessagesPerSecond, fraction],
    ['ratio of state to none by processor time', ratioOfStateToNone.byCpu, fraction],
  ])
  return `${readme}\n${conditions(report)}\n\n${more}`
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ([what, { median, min, max }, format]) => `| ${what} | ${format(median)} | ${format(min)} to ${format(max)} |`,
  )
  return `${['| measured | median | lowest to highest |', '|---|---|---|', ...lines].join('\n')}\n`
}

function conditions({ machine, rounds, seconds, connections, loadAverageBefore }: Report): string {
  const { cpu, cores, memoryBytes, system, node, loadTool, pinned } = machine
  const gigabytes = Math.round(memoryBytes / 1024 ** 3)
  const placing = pinned ? 'the server on one core and the load on another' : 'the server and the load not kept apart'
  return [
    `${cpu}, ${cores} cores, ${gigabytes} GB, ${system}, Node.js ${node}; ${connections} connections by ${loadTool},`,
    `${placing}, ${rounds} rounds of ${seconds} s; load average before: ${loadAverageBefore.toFixed(2)}.`,
  ].join('\n')
}
