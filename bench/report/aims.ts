/** The aims of the service, as ratios within one run where possible, and the verdict on each for a report. */

import { quotient, ratio } from '../load/rounds.ts'
import { MAX_STOLEN } from '../processes/machine.ts'
import type { Figure, Loaded, Report } from './report.ts'
import type { Spread } from './spread.ts'
import { fraction, megabytes, milliseconds, perSecond, seconds } from './units.ts'

export type Aim = Readonly<{
  what: string
  /** One of the two: the median is to be at least, or at most, this. */
  least?: number
  most?: number
  format: (value: number) => string
  /** Undefined where the report does not have it. */
  read(report: Report): Measured | undefined
}>

/** `stolenShare`: of the processor time wanted while it was measured, what the host gave to others. */
export type Measured = Readonly<{ spread: Spread; stolenShare: number }>

export const AIMS: readonly Aim[] = [
  rate('W1 to `node:http`', 0.8, 'W1', 'crosswalk', 'bare'),
  {
    what: 'p99 of W1 to that of `node:http`',
    most: 1.5,
    format: fraction,
    read: (report) =>
      between(loadOf(report, 'W1', 'crosswalk'), loadOf(report, 'W1', 'bare'), (of, to) =>
        quotient(of.p99Ms, to.p99Ms),
      ),
  },
  rate('W1 to Node-RED', 2.3, 'W1', 'crosswalk', 'node-red'),
  rate('W2 to `node:http`', 0.45, 'W2', 'crosswalk', 'bare'),
  rate('W3 to `node:http`', 0.8, 'W3', 'crosswalk', 'bare'),
  rate('W4 in to `node:http`', 0.5, 'W4 in', 'crosswalk', 'bare'),
  rate('W4 out to `node:http`', 0.5, 'W4 out', 'crosswalk', 'bare'),
  rate('W5 to `node:http`', 0.6, 'W5', 'crosswalk', 'bare'),
  {
    what: 'W6: the most endpoints to one',
    least: 0.95,
    format: fraction,
    read: ({ loads }) => {
      const counts = loads.filter(({ workload }) => workload === 'W6')
      return between(counts.at(-1), counts[0], (of, to) => ratio(of, to).byMessagesPerSecond)
    },
  },
  atMost('W6: registering them, one after another', 60, seconds, 'registering'),
  atMost('W6: the longest message meanwhile', 20, milliseconds, 'message-meanwhile'),
  rate('W7: with state to without', 0.5, 'W7', 'with state', 'without state'),
  atLeast('mapping alone, W1', 1e6, perSecond, 'mapping-W1'),
  atLeast('mapping alone, W5', 40e3, perSecond, 'mapping-W5'),
  {
    what: 'memory under the load of W1',
    most: 120e6,
    format: megabytes,
    read: (report) => alone(report, loadOf(report, 'W1', 'crosswalk')?.residentBytes),
  },
  atMost('memory, idle with the endpoints of W9', 150e6, megabytes, 'idle-stored'),
  atMost('W9: start to first answer, no endpoint', 400, milliseconds, 'start-empty'),
  atMost('W9: start to first answer, its endpoints', 1_200, milliseconds, 'start-stored'),
]

function rate(what: string, least: number, workload: string, of: string, to: string): Aim {
  const read = (report: Report) =>
    between(
      loadOf(report, workload, of),
      loadOf(report, workload, to),
      (one, other) => ratio(one, other).byMessagesPerSecond,
    )
  return { what, least, format: fraction, read }
}

function atLeast(what: string, least: number, format: Aim['format'], key: string): Aim {
  return { what, least, format, read: (report) => alone(report, figureOf(report, key)?.spread) }
}

function atMost(what: string, most: number, format: Aim['format'], key: string): Aim {
  return { what, most, format, read: (report) => alone(report, figureOf(report, key)?.spread) }
}

export const loadOf = ({ loads }: Report, workload: string, server: string): Loaded | undefined =>
  loads.find((one) => one.workload === workload && one.server === server)

export const figureOf = ({ figures }: Report, key: string): Figure | undefined =>
  figures.find((figure) => figure.key === key)

/** The ratio of two loads that took turns. */
function between(
  of: Loaded | undefined,
  to: Loaded | undefined,
  relate: (of: Loaded, to: Loaded) => Spread,
): Measured | undefined {
  if (of === undefined || to === undefined) return undefined
  return { spread: relate(of, to), stolenShare: Math.max(of.stolenShare.median, to.stolenShare.median) }
}

/** A figure that is no ratio: its own stolen time is not known, so that of the whole run counts. */
function alone({ stolenShare = 0 }: Report, spread: Spread | undefined): Measured | undefined {
  return spread && { spread, stolenShare }
}

/**
 * Judges by the whole range: `met` where every round reaches the aim, `missed: 93 % of it` (the median) where no round does,
 * `neither met nor missed` where the aim lies between the lowest and the highest, `not judged` where the host took too much
 * processor time from the machine.
 */
export function verdict({ least, most }: Aim, { spread: { median, min, max }, stolenShare }: Measured): string {
  if (stolenShare > MAX_STOLEN) return NOT_JUDGED
  const bound = (least ?? most) as number
  const reaches = (value: number): boolean => (least === undefined ? value <= bound : value >= bound)
  if (reaches(min) && reaches(max)) return 'met'
  if (reaches(min) || reaches(max)) return 'neither met nor missed'
  return `missed: ${percent(median / bound)} of it`
}

export const NOT_JUDGED = 'not judged'

/** Never 100 % for an aim that is missed. */
function percent(share: number): string {
  return `${share < 1 ? Math.floor(share * 100) : Math.ceil(share * 100)} %`
}

/** `≥ 0.80` or `≤ 120 MB`. */
export function bound({ least, most, format }: Aim): string {
  return least === undefined ? `≤ ${format(most as number)}` : `≥ ${format(least)}`
}
