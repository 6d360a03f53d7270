/** A report as Markdown: the aims, each load, everything else, and what it was measured on. */

import { ratio } from '../load/rounds.ts'
import { WORKLOADS } from '../workloads/all.ts'
import { AIMS, bound, loadOf, NOT_JUDGED, verdict } from './aims.ts'
import { type Conditions, flaw, type Loaded, type Report, reservation, type ServerName, type Unit } from './report.ts'
import type { Spread } from './spread.ts'
import * as units from './units.ts'

const SERVERS: Readonly<Record<ServerName, string>> = {
  bare: '`node:http`',
  fastify: 'Fastify',
  'node-red': 'Node-RED',
  crosswalk: 'Crosswalk',
}

const UNITS: Readonly<Record<Unit, (value: number) => string>> = {
  ms: units.milliseconds,
  s: units.seconds,
  bytes: units.megabytes,
  'runs/s': (value) => `${units.whole(value)}/s`,
}

const OTHER_TITLES: Readonly<Record<string, string>> = {
  W6: 'W1 with many endpoints registered, half with parameters, asking the last',
  W9: 'starts',
  WORKERS: 'W1 on two cores, which the load shares with the service',
}

const title = (id: string): string => OTHER_TITLES[id] ?? WORKLOADS.find((workload) => workload.id === id)?.title ?? ''

const serverTitle = (server: string): string => SERVERS[server as ServerName] ?? server

/** All of it, as docs/performance.md has it. */
export function asMarkdown(report: Report): string {
  const parts = [
    conditions(report),
    aimsTable(report),
    loadsTable(report.loads),
    figuresTable(report),
    missingList(report),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The sentence of the README: the range of the ratios to the bare server, over all workloads that it takes part in. */
export function asSentence({ loads }: Report): string {
  const ratios = loads.flatMap((load) => {
    const bare = loads.find(({ workload, server }) => workload === load.workload && server === 'bare')
    return load.server !== 'crosswalk' || bare === undefined ? [] : [ratio(load, bare).byMessagesPerSecond.median]
  })
  const [lowest, highest] = [Math.min(...ratios), Math.max(...ratios)].map(units.fraction)
  return [
    `Depending on the workload, Crosswalk handles ${lowest} to ${highest} times the messages per second of a bare \`node:http\` server with code`,
    'for that one workload and nothing else: see [Performance](docs/performance.md).',
  ].join('\n')
}

/**
 * W1 beside the bare server, one row a report, newest first: a ratio means little without the rate of the bare server,
 * which shows how fast the machine was. Reports that are not to be quoted, or have no W1, have no row.
 */
export function runsTable(reports: readonly Report[]): string {
  const newestFirst = reports.toSorted((one, other) => other.startedAt.localeCompare(one.startedAt))
  const rows = newestFirst.flatMap((report) => {
    const [crosswalk, bare] = [loadOf(report, 'W1', 'crosswalk'), loadOf(report, 'W1', 'bare')]
    if (crosswalk === undefined || bare === undefined || reservation(report) !== undefined) return []
    const { byMessagesPerSecond } = ratio(crosswalk, bare)
    return [
      [
        `${report.startedAt.slice(0, 16).replace('T', ' ')}, ${report.machine.cpu}`,
        units.whole(bare.messagesPerSecond.median),
        units.whole(crosswalk.messagesPerSecond.median),
        units.fraction(byMessagesPerSecond.median),
        range(byMessagesPerSecond, units.fraction),
      ],
    ]
  })
  const head = ['W1, messages/s', 'bare `node:http`', 'Crosswalk', 'ratio', 'lowest to highest']
  return table(head, rows)
}

/** When, where and how something was measured, and why it is not to be quoted, where that is so. */
export function conditions(report: Conditions): string {
  const { machine, versions, rounds, seconds, connections, loadAverageBefore, stolenShare, startedAt } = report
  const { cpu, cores, memoryBytes, system, node, loadTool, pinned } = machine
  const gigabytes = Math.round(memoryBytes / 1024 ** 3)
  const software = Object.entries({ 'Node.js': node, ...versions }).map(([name, version]) => `${name} ${version}`)
  const placing = pinned ? 'the server on one core and the load on another' : 'the server and the load not kept apart'
  const stolen =
    stolenShare === undefined ? '' : `; processor time that other machines took: ${Math.round(100 * stolenShare)} %`
  const words = [
    `${startedAt.slice(0, 10)}; ${cpu}, ${cores} cores, ${gigabytes} GB, ${system};`,
    `${software.join(', ')};`,
    `${connections} connections by ${loadTool}, ${placing},`,
    `${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${seconds} s; load average before: ${loadAverageBefore.toFixed(2)}${stolen}.`,
  ]
  const doubt = reservation(report)
  return doubt === undefined ? words.join('\n') : `**Not to be quoted:** this is ${doubt}.\n\n${words.join('\n')}`
}

function aimsTable(report: Report): string {
  const rows = AIMS.map((aim) => {
    const found = aim.read(report)
    if (found === undefined) return [aim.what, bound(aim), 'not measured', '', '']
    const { spread } = found
    const judged = flaw(report) === undefined ? verdict(aim, found) : NOT_JUDGED
    return [aim.what, bound(aim), aim.format(spread.median), range(spread, aim.format), judged]
  })
  return table(['aim', '', 'median', 'lowest to highest', ''], rows)
}

/** Each load beside the first of its workload. */
export function loadsTable(loads: readonly Loaded[]): string {
  if (loads.length === 0) return ''
  const head = ['workload', 'messages/s', 'lowest to highest', 'to the first', 'by processor time']
  const rows = [...Map.groupBy(loads, ({ workload }) => workload)].flatMap(([id, [first, ...others]]) => [
    [`**${id}**: ${title(id)}`, ...Array(8).fill('')],
    ...[first as Loaded, ...others].map((load) => loadRow(load, first as Loaded)),
  ])
  return table([...head, 'core in use', 'p50', 'p99', 'memory'], rows)
}

function loadRow(load: Loaded, first: Loaded): string[] {
  const { messagesPerSecond, busy, p50Ms, p99Ms, residentBytes } = load
  const { byMessagesPerSecond, byCpu } = ratio(load, first)
  const related = load === first ? ['', ''] : [units.fraction(byMessagesPerSecond.median), units.fraction(byCpu.median)]
  return [
    serverTitle(load.server),
    units.whole(messagesPerSecond.median),
    range(messagesPerSecond, units.whole),
    ...related,
    units.percent(busy.median),
    units.exactMilliseconds(p50Ms.median),
    units.exactMilliseconds(p99Ms.median),
    units.megabytes(residentBytes.median),
  ]
}

function figuresTable({ figures }: Report): string {
  if (figures.length === 0) return ''
  const rows = figures.map(({ name, server, unit, spread }) => {
    const format = UNITS[unit]
    return [name, serverTitle(server), format(spread.median), spread.values.length === 1 ? '' : range(spread, format)]
  })
  return table(['measured', 'of', 'median', 'lowest to highest'], rows)
}

function missingList({ missing }: Report): string {
  return missing.map(({ workload, server, why }) => `- ${workload}, without ${serverTitle(server)}: ${why}.`).join('\n')
}

const range = ({ min, max }: Spread, format: (value: number) => string): string => `${format(min)} to ${format(max)}`

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
