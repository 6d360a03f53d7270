/**
 * Messages of all kinds for long, with an endpoint created, replaced or deleted each second, and a look at what the service
 * holds: `node bin/node.js test/system/load/soak.ts [--seconds 1800] [--messages 100] [--changes 1] [--samples 60]`. `--messages` and
 * `--changes` are a second. Exits with 1 where an answer was wrong, or the heap or the descriptors rise.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startUpstream } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'
import { startBundled } from './bundled-service.ts'
import { type Point, riseOf } from './line-fit.ts'
import { cpuSeconds, descriptors, readHeapOf, residentMb } from './process-memory.ts'
import { startTraffic } from './soak-traffic.ts'

export type Sample = Readonly<{ seconds: number; heapMb: number; residentMb: number; descriptors: number }>

export type SoakReport = Readonly<{
  seconds: number
  sent: number
  changes: number
  /** Answers that were not the ones expected. */
  wrong: readonly string[]
  /** Rise of the straight line through all samples after the warm-up, from its start to its end. */
  heapRiseMb: number
  residentRiseMb: number
  descriptorsRise: number
  /** Of the service's processor time, in percent of one core. */
  cpuPercent: number
  samples: readonly Sample[]
}>

export type SoakOptions = Readonly<{
  seconds: number
  messagesPerSecond: number
  changesPerSecond: number
  samples: number
  /** Samples before it are left out: code is compiled, and buffers grow to their size. */
  warmUpShare: number
  report?: (sample: Sample) => void
}>

export async function soak({
  seconds,
  samples: count,
  warmUpShare,
  report,
  ...pace
}: SoakOptions): Promise<SoakReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-soak-'))
  const upstream = await startUpstream(() => ({ found: true }))
  const service = await startBundled(folder, (seconds + 120) * 1_000, {}, true)
  try {
    await using heap = await readHeapOf(() => service.output.stderr)
    const traffic = await startTraffic({ url: service.url, upstream: upstream.url, nowhere: await nowhere(), ...pace })
    const startedAt = performance.now()
    const cpuBefore = cpuSeconds(service.pid)
    const samples: Sample[] = []
    for (let at = 1; at <= count; at += 1) {
      await pause(startedAt + (at * seconds * 1_000) / count - performance.now())
      upstream.received.length = 0
      const sample = {
        seconds: (performance.now() - startedAt) / 1_000,
        heapMb: await heap.usedMb(),
        residentMb: residentMb(service.pid),
        descriptors: descriptors(service.pid),
      }
      samples.push(sample)
      report?.(sample)
    }
    const cpuPercent = ((cpuSeconds(service.pid) - cpuBefore) / (performance.now() - startedAt)) * 100_000
    await traffic.stop()
    const measured = samples.filter((sample) => sample.seconds > seconds * warmUpShare)
    const rise = (of: (sample: Sample) => number): number =>
      riseOf(measured.map((sample): Point => ({ at: sample.seconds, value: of(sample) })))
    return {
      seconds,
      ...traffic.counts,
      heapRiseMb: rise(({ heapMb }) => heapMb),
      residentRiseMb: rise((sample) => sample.residentMb),
      descriptorsRise: rise((sample) => sample.descriptors),
      cpuPercent,
      samples,
    }
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
    await upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What counts as flat over half an hour. */
const MOST_HEAP_RISE_MB = 2
const MOST_DESCRIPTORS_RISE = 2

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '1800' },
      messages: { type: 'string', default: '100' },
      changes: { type: 'string', default: '1' },
      samples: { type: 'string', default: '60' },
    },
  })
  const report = await soak({
    seconds: Number(values.seconds),
    messagesPerSecond: Number(values.messages),
    changesPerSecond: Number(values.changes),
    samples: Number(values.samples),
    warmUpShare: 0.2,
    report: (sample) => console.log(JSON.stringify(sample)),
  })
  const { samples: _, ...reported } = report
  console.log(
    JSON.stringify({ ...reported, wrong: report.wrong.slice(0, 10), wrongAnswers: report.wrong.length }, undefined, 2),
  )
  const flat = report.heapRiseMb <= MOST_HEAP_RISE_MB && report.descriptorsRise <= MOST_DESCRIPTORS_RISE
  console.log(flat ? 'flat' : 'not flat')
  if (!flat || report.wrong.length > 0) process.exitCode = 1
}
