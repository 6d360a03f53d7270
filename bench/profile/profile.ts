/**
 * Where the time of a server goes under a workload: shares of its processor time by group and by function.
 * `node bin/node.js bench/profile/profile.ts [--workload W2] [--server bare] [--seconds 8] [--endpoints 10000] [--top 15] [--warm-up 4]`
 *
 * Needs `perf` and the right to use it. `--server`: `bare` or `fastify`, the workload by hand, else the service.
 * `--endpoints` registers so many, as W6 does, and asks the last.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startByHand, startUpstream } from '../experiments/side-by-side.ts'
import { loadForSeconds } from '../load/load.ts'
import { answerOf } from '../load/same-answers.ts'
import { onCores, stayOffTheServersCore } from '../processes/cores.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import { describeMachine, loadAverage } from '../processes/machine.ts'
import { runProgram } from '../processes/program.ts'
import { workloadOf } from '../workloads/all.ts'
import { flat, manyEndpoints } from '../workloads/flat.ts'
import { groupOf, readSamples, type Sample } from './profile-groups.ts'

const { values } = parseArgs({
  options: {
    workload: { type: 'string', default: 'W2' },
    server: { type: 'string', default: 'crosswalk' },
    seconds: { type: 'string', default: '8' },
    endpoints: { type: 'string' },
    top: { type: 'string', default: '15' },
    /** Seconds; on a busy machine, code needs longer until it is compiled. */
    'warm-up': { type: 'string', default: '4' },
  },
})
const [seconds, top] = [Number(values.seconds), Number(values.top)]
if (spawnSync('perf', ['--version']).status !== 0) throw new Error('There is no perf; install linux-tools or its like.')

const before = loadAverage()
stayOffTheServersCore()
// Exiting runs the handlers that stop the started servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
await using running = new AsyncDisposableStack()
const upstream = await startUpstream()
running.defer(() => upstream.stop())
const workload = values.endpoints === undefined ? workloadOf(values.workload) : flat
const byHand = values.server === 'bare' || values.server === 'fastify' ? values.server : undefined
const env = { NODE_OPTIONS: '--perf-basic-prof-only-functions' }
const server = await (byHand === undefined
  ? startCrosswalk('server', env)
  : startByHand(byHand, workload, upstream, 'server', env))
running.defer(() => server.stop())
const pid = server.pid()
running.defer(() => rmSync(join('/tmp', `perf-${pid}.map`), { force: true }))
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-profile-'))
running.defer(() => rmSync(folder, { recursive: true }))

const target = { url: await registerAll(), contentType: workload.contentType, body: workload.message }
const { status, body } = await answerOf(target)
if (status !== 200) throw new Error(`The answer was ${status}: ${body}`)
await loadForSeconds(target, Number(values['warm-up']))
const file = join(folder, 'perf.data')
const options = ['-q', '-F', '997', '-e', 'cpu-clock', '-p', String(pid), '-o', file, '--', 'sleep', String(seconds)]
const recording = runProgram(onCores('load', ['perf', 'record', ...options]))
const load = await loadForSeconds(target, seconds + 1)
await recording
report(readSamples(file))

async function registerAll(): Promise<string> {
  const document = workload.document(upstream)
  if (byHand !== undefined) return server.origin + document.endpoint.pattern
  if (values.endpoints === undefined) return register(server, document)
  const { documents, path } = manyEndpoints(Number(values.endpoints))
  for (const document of documents) await register(server, document)
  return server.origin + path
}

function report(samples: readonly Sample[]): void {
  const total = samples.reduce((sum, { count }) => sum + count, 0)
  const named = values.endpoints === undefined ? workload.id : `W6 with ${values.endpoints} endpoints`
  const perSecond = Math.round(load.messages / load.seconds).toLocaleString('en-GB')
  const lines = [
    `${named}, ${byHand ?? 'crosswalk'}: ${total} samples, ${perSecond} messages/s; load average before: ${before}; ${describeMachine().cpu}`,
    table('group', total, sharesBy(samples, groupOf)),
    table('function', total, sharesBy(samples, ({ symbol, place }) => `${symbol} (${place})`).slice(0, top)),
  ]
  process.stdout.write(`${lines.join('\n\n')}\n`)
}

type Share = readonly [name: string, count: number]

function sharesBy(samples: readonly Sample[], nameOf: (sample: Sample) => string): readonly Share[] {
  const counts = new Map<string, number>()
  for (const sample of samples) counts.set(nameOf(sample), (counts.get(nameOf(sample)) ?? 0) + sample.count)
  return [...counts].sort(([, one], [, other]) => other - one)
}

function table(head: string, total: number, shares: readonly Share[]): string {
  const rows = shares.map(([name, count]) => `| ${name} | ${((100 * count) / total).toFixed(1)} % |`)
  return [`| ${head} | share |`, '|---|---|', ...rows].join('\n')
}
