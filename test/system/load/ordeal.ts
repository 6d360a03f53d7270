/**
 * Everything at once, for long: all faults of upstreams in random order, all hostile documents, and messages whose answers are
 * known, on one service: `node bin/node.js test/system/load/ordeal.ts [--seconds 1200] [--hostile 2] [--faults 20] [--seed 1]`;
 * `--hostile` and `--faults` are messages under way at once. Exits with 1 if an acknowledged message was lost, an answer was wrong,
 * the heap rises by 10 MB or 99 of 100 messages of another endpoint take more than 50 ms.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Hostile } from '../hostile/expressions.ts'
import { attack, HOSTILE, introduceOthers, percentile, steadyLoad } from '../hostile/run.ts'
import { ANSWER_LIMIT } from '../process/faults.ts'
import type { Plan, Report, Service } from '../process/meet-faults.ts'
import { startBundled } from './bundled-service.ts'
import { startDeliveries } from './deliveries.ts'
import type { FaultsTask } from './faults-thread.ts'
import { type Point, readHeapOf, residentMb, riseOf } from './process-memory.ts'

export type OrdealOptions = Readonly<{
  seconds: number
  hostile: number
  faults: number
  seed: number
  cases: readonly Hostile[]
}>

export type OrdealReport = Readonly<{
  /** Messages of each kind. */
  sent: Readonly<{ others: number; deliveries: number; hostile: number; faults: number }>
  /** Ids of messages that were answered with success, and whose effect was not at the upstream, or was there twice. */
  lost: readonly string[]
  wrong: readonly string[]
  /** Messages that the service refused because it was full: it said so, and had no effect. */
  refused: number
  /** Of the messages to an endpoint beside all that, in milliseconds. */
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** From the start to the end of the straight line through the samples after the first fifth. */
  heapRiseMb: number
  residentRiseMb: number
  residentMb: number
}>

const SAMPLES = 20
const WARM_UP = 0.2
const REFUSED = /OVERLOADED|DEADLINE_EXCEEDED/

export async function ordeal({ seconds, hostile, faults, seed, cases }: OrdealOptions): Promise<OrdealReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-ordeal-'))
  const env = { ANSWER_LIMIT, CIRCUIT_BREAKER_FAILURES: '0' }
  const service = await startBundled(folder, (seconds + 300) * 1_000, env, true)
  const agents = Array.from({ length: 2 }, () => new Agent({ keepAlive: true }))
  const [hostileAgent, otherAgent] = agents as [Agent, Agent]
  let isAlive = true
  void service.ended.then(() => {
    isAlive = false
  })
  try {
    await using heap = await readHeapOf(() => service.output.stderr)
    await using deliveries = await startDeliveries(service.url)
    await introduceOthers(otherAgent, service.url)
    const load = steadyLoad(otherAgent, service.url, 20)
    const startedAt = performance.now()
    const plan = { timeoutMs: 1_000, patientMs: 5_000, messages: 0, concurrency: faults, random: { seconds, seed } }
    const running = Promise.all([
      meetFaultsApart({ url: service.url, pid: service.pid }, plan),
      attack(hostileAgent, service.url, { cases, concurrency: hostile, seconds, times: 0 }, () => isAlive),
    ])
    const heaps: Point[] = []
    const residents: Point[] = []
    for (let at = 1; at <= SAMPLES; at += 1) {
      await pause(Math.max(0, startedAt + (at * seconds * 1_000) / SAMPLES - performance.now()))
      if (at <= SAMPLES * WARM_UP) continue
      // It collects garbage on the thread of messages.
      heaps.push({ at, value: await load.pauseFor(heap.usedMb) })
      residents.push({ at, value: residentMb(service.pid) })
    }
    const [{ met, leaked }, attacked] = await running
    const { times, faults: othersWrong } = await load.stop()
    const { sent, acknowledged, lost, wrong: notDelivered } = await deliveries.stop()
    const sorted = times.toSorted((a, b) => a - b)
    const sentences = [
      ...met.flatMap(({ fault, wrong }) => wrong.map((sentence) => `${fault}: ${sentence}`)),
      ...attacked.wrong.map((sentence) => `hostile: ${sentence}`),
      ...othersWrong.map((sentence) => `others: ${sentence}`),
      ...notDelivered.map((sentence) => `delivery: ${sentence}`),
      ...(leaked.connections === 0 ? [] : [`left open to faulty upstreams: ${leaked.connections}`]),
      ...(isAlive ? [] : ['the service ended']),
      ...(acknowledged === 0 ? ['no message was delivered'] : []),
    ]
    return {
      sent: {
        others: times.length,
        deliveries: sent,
        hostile: attacked.hostile,
        faults: met.reduce((sum, { messages }) => sum + messages, 0),
      },
      lost,
      wrong: sentences.filter((sentence) => !REFUSED.test(sentence)),
      refused: sentences.filter((sentence) => REFUSED.test(sentence)).length,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      maxMs: percentile(sorted, 1),
      heapRiseMb: riseOf(heaps),
      residentRiseMb: riseOf(residents),
      residentMb: residents.at(-1)?.value ?? Number.NaN,
    }
  } finally {
    for (const agent of agents) agent.destroy()
    service.child.kill('SIGTERM')
    await service.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

async function meetFaultsApart(service: Service, plan: Plan): Promise<Report> {
  const task: FaultsTask = { service, plan }
  const thread = new Worker(new URL('faults-thread.ts', import.meta.url), { workerData: task })
  try {
    const [report] = await once(thread, 'message')
    return report
  } finally {
    await thread.terminate()
  }
}

const MAX_RISE_MB = 10
const MAX_P99_MS = 50

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '1200' },
      hostile: { type: 'string', default: '2' },
      faults: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
    },
  })
  const report = await ordeal({
    seconds: Number(values.seconds),
    hostile: Number(values.hostile),
    faults: Number(values.faults),
    seed: Number(values.seed),
    cases: HOSTILE,
  })
  const { lost, wrong, heapRiseMb, p99Ms } = report
  console.log(
    JSON.stringify(
      { ...report, lost: lost.length, wrong: wrong.length, some: [...lost, ...wrong].slice(0, 20) },
      undefined,
      2,
    ),
  )
  const holds = lost.length + wrong.length === 0 && heapRiseMb <= MAX_RISE_MB && p99Ms <= MAX_P99_MS
  console.log(holds ? 'holds' : 'does not hold')
  if (!holds) process.exitCode = 1
}
