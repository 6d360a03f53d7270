/** Reports to test with: of servers that did so many messages a second in each round, and of other figures. */
import type { Conditions, Figure, Loaded, Report } from '../../../bench/report/report.ts'
import { spreadOf } from '../../../bench/report/spread.ts'

export const CONDITIONS: Conditions = {
  startedAt: '2026-03-04T05:06:07.000Z',
  machine: {
    cpu: 'A processor',
    cores: 2,
    memoryBytes: 8 * 1024 ** 3,
    system: 'Linux 6 x64',
    node: '24.0.0',
    loadTool: 'a tool',
    pinned: true,
  },
  versions: { Fastify: '5.0.0' },
  loadAverageBefore: 0.1,
  quick: false,
  rounds: 3,
  seconds: 2,
  connections: 32,
}

/** One second of processor time a second. `p99Ms`: of each round, 1 unless given. `stolenShare`: in every round. */
export function loaded(
  workload: string,
  server: string,
  rates: readonly number[],
  { p99Ms = rates.map(() => 1), stolenShare = 0 }: Readonly<{ p99Ms?: readonly number[]; stolenShare?: number }> = {},
): Loaded {
  const each = (value: (rate: number) => number) => spreadOf(rates.map(value))
  return {
    workload,
    server,
    messagesPerSecond: spreadOf(rates),
    cpuMicroseconds: each((rate) => 1e6 / rate),
    busy: each(() => 1),
    p50Ms: each(() => 0.5),
    p99Ms: spreadOf(p99Ms),
    residentBytes: each(() => 100e6),
    stolenShare: each(() => stolenShare),
  }
}

export const figure = (key: string, unit: Figure['unit'], values: readonly number[]): Figure => ({
  key,
  name: `the ${key}`,
  server: 'crosswalk',
  unit,
  spread: spreadOf(values),
})

export const reportOf = (found: Partial<Report>): Report => ({
  ...CONDITIONS,
  loads: [],
  figures: [],
  missing: [],
  ...found,
})
