/**
 * Ten times the messages that the service can do, at a fixed pace, and what becomes of them:
 * `node bin/node.js test/system/load/overload.ts [--seconds 60] [--times 10] [--kind upstream|processor] [--steps 3000]`. Exits with 1 where
 * something else than 200 or 503 with `Retry-After` came back, those that were let in took twice as long as without load (p99),
 * memory reached 512 MB, or the service needed more than 5 s to recover.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startUpstream } from '../../support/service.ts'
import { registerAt, startBundled } from './bundled-service.ts'
import { type GeneratorResult, type GeneratorSettings, percentile } from './generator.ts'
import { cpuSeconds, residentMb } from './process-memory.ts'

export type OverloadKind = Readonly<{
  name: string
  document: object
  /** Whose messages are all under way at once where the service is just busy. */
  connections: number
  stop(): Promise<void>
}>

const common = { endpoint: { pattern: '/busy' }, transformation: { input: 'JSON', output: 'JSON' } }

const PLACES = 10
const SERVICE_MS = 50

/** An upstream that works on ten calls at once, each for 50 ms; the endpoint says so. */
export async function boundByUpstream(): Promise<OverloadKind> {
  let busy = 0
  const waiting: (() => void)[] = []
  const upstream = await startUpstream(async () => {
    if (busy === PLACES) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy += 1
    await new Promise((resolve) => setTimeout(resolve, SERVICE_MS))
    const next = waiting.shift()
    if (next === undefined) busy -= 1
    else next()
    upstream.received.length = 0
    return { found: true }
  })
  return {
    name: 'upstream',
    document: {
      name: 'busy',
      ...common,
      limits: { concurrency: PLACES },
      requests: { lookup: [{ id: 'up', config: { url: upstream.url } }] },
    },
    connections: PLACES,
    stop: upstream.stop,
  }
}

/** An expression that takes some milliseconds; nothing is set for the endpoint. */
export async function boundByProcessor(steps: number): Promise<OverloadKind> {
  return {
    name: `processor, ${steps} steps`,
    document: {
      name: 'busy',
      ...common,
      inputTransforms: { sum: `$sum([1..${steps}].($ * $))` },
      inputMapping: { 'transforms.sum': 'sum' },
    },
    connections: 2,
    stop: async () => undefined,
  }
}

export type OverloadReport = Readonly<{
  kind: string
  /** Messages a second that were done where callers waited for each other. */
  capacityPerSecond: number
  unloadedP99Ms: number
  offeredPerSecond: number
  admittedPerSecond: number
  admittedP50Ms: number
  admittedP99Ms: number
  refused: number
  /** Everything else that came of a message; empty where all is well. */
  others: Readonly<Record<string, number>>
  mostResidentMb: number
  /** After the load, until no message was refused any more or took twice as long as without load. */
  recoveredAfterSeconds: number
  /** By how much the generator was late at p99, without load and under it. */
  lateP99Ms: readonly [unloaded: number, loaded: number]
  /** Of the service under load, in percent of one core. */
  cpuPercent: number
}>

/** In a process of its own, so that it neither waits for what it measures nor is waited for. */
async function generate(settings: GeneratorSettings): Promise<GeneratorResult> {
  const program = fileURLToPath(new URL('generator.ts', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: (settings.seconds + 60) * 1_000,
  })
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return JSON.parse(said) as GeneratorResult
}

/** Of the share of its capacity at which a service is not loaded. */
const UNLOADED_SHARE = 0.1
const MAX_CONNECTIONS = 4_000

export type OverloadOptions = Readonly<{ kind: OverloadKind; seconds: number; times: number; besideSeconds: number }>

export async function overload({ kind, seconds, times, besideSeconds }: OverloadOptions): Promise<OverloadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-overload-'))
  const service = await startBundled(folder, (seconds + besideSeconds * 6 + 120) * 1_000)
  try {
    await registerAt(service.url, kind.document)
    const common = { url: `${service.url}/busy`, body: '{"a":1}' }
    const closed = { ...common, seconds: besideSeconds, connections: kind.connections }
    await generate(closed)
    const capacityPerSecond = (await generate(closed)).admitted.length / besideSeconds
    const calm = { ...common, perSecond: capacityPerSecond * UNLOADED_SHARE, connections: MAX_CONNECTIONS }
    const unloaded = await generate({ ...calm, seconds: besideSeconds * 2 })
    const unloadedP99Ms = percentile(
      unloaded.admitted.map(({ tookMs }) => tookMs),
      0.99,
    )

    let mostResidentMb = 0
    const watch = setInterval(() => {
      mostResidentMb = Math.max(mostResidentMb, residentMb(service.pid))
    }, 200)
    const offeredPerSecond = capacityPerSecond * times
    const cpuBefore = cpuSeconds(service.pid)
    const loadedFrom = performance.now()
    const loaded = await generate({ ...common, perSecond: offeredPerSecond, seconds, connections: MAX_CONNECTIONS })
    const cpuPercent = ((cpuSeconds(service.pid) - cpuBefore) / (performance.now() - loadedFrom)) * 100_000
    const after = await generate({ ...calm, seconds: besideSeconds })
    clearInterval(watch)
    const slow = after.admitted.filter(({ tookMs }) => tookMs > 2 * unloadedP99Ms)
    // One of a hundred is as slow as that without load, too.
    const lastSlowAtMs = slow.length > after.admitted.length / 100 ? Math.max(...slow.map(({ atMs }) => atMs)) : 0
    return {
      kind: kind.name,
      capacityPerSecond,
      unloadedP99Ms,
      offeredPerSecond,
      admittedPerSecond: loaded.admitted.length / seconds,
      admittedP50Ms: percentile(
        loaded.admitted.map(({ tookMs }) => tookMs),
        0.5,
      ),
      admittedP99Ms: percentile(
        loaded.admitted.map(({ tookMs }) => tookMs),
        0.99,
      ),
      refused: loaded.refused,
      others: { ...loaded.others, ...after.others },
      mostResidentMb,
      recoveredAfterSeconds: Math.max(after.lastRefusedAtMs, lastSlowAtMs) / 1_000,
      lateP99Ms: [unloaded.lateP99Ms, loaded.lateP99Ms],
      cpuPercent,
    }
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
    await kind.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is not as it should be; empty where all is. */
export function faultsOf(report: OverloadReport): string[] {
  const { unloadedP99Ms, admittedP99Ms, others, mostResidentMb, recoveredAfterSeconds, refused } = report
  return [
    ...(admittedP99Ms < 2 * unloadedP99Ms ? [] : [`p99 ${admittedP99Ms} ms, without load ${unloadedP99Ms} ms`]),
    ...(Object.keys(others).length === 0 ? [] : [`other answers: ${JSON.stringify(others)}`]),
    ...(refused > 0 ? [] : ['none was refused']),
    ...(mostResidentMb < 512 ? [] : [`${mostResidentMb} MB`]),
    ...(recoveredAfterSeconds <= 5 ? [] : [`recovered after ${recoveredAfterSeconds} s`]),
  ]
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      times: { type: 'string', default: '10' },
      kind: { type: 'string' },
      steps: { type: 'string', default: '3000' },
    },
  })
  const kinds = { upstream: boundByUpstream, processor: () => boundByProcessor(Number(values.steps)) }
  for (const [name, make] of Object.entries(kinds)) {
    if (values.kind !== undefined && values.kind !== name) continue
    const options = { seconds: Number(values.seconds), times: Number(values.times), besideSeconds: 5 }
    const report = await overload({ kind: await make(), ...options })
    const faults = faultsOf(report)
    console.log(report, faults.length === 0 ? 'as it should be' : faults)
    if (faults.length > 0) process.exitCode = 1
  }
}
