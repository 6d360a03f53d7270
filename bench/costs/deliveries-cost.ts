/**
 * Messages with one durable request that are accepted a second, and those that are accepted and delivered, beside a bare loop of
 * inserts and a bare HTTP server. Each server has one core; the load, the target and PostgreSQL have the other.
 * `npm run -s bundle && node bin/node.js bench/costs/deliveries-cost.ts [rounds] [seconds]`
 */

import { until } from '../../test/support/until.ts'
import { startByHand } from '../experiments/side-by-side.ts'
import { built } from '../load/built.ts'
import { CONNECTIONS, openLoad } from '../load/load.ts'
import { onCores, stayOffTheServersCore } from '../processes/cores.ts'
import { loadAverage } from '../processes/machine.ts'
import { startProgram } from '../processes/program.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import { spreadOf } from '../report/spread.ts'
import { flat } from '../workloads/flat.ts'
import { AWAY, DATABASES, type DatabaseName, Databases, startDurable, startSink } from './deliveries.ts'

const [rounds = 5, seconds = 5] = process.argv.slice(2).map(Number)
/** Of a stored request and its body in JSON. */
const STORED_BYTES = 600
const DRAIN_MS = 120_000

/** What was done, in how many seconds, and in how many seconds of processor time of the server. */
type Done = readonly [count: number, seconds: number, cpuSeconds: number]

const show = (text: string): void => void process.stdout.write(`${text}\n`)
const whole = (value: number): string => Math.round(value).toLocaleString('en')

function row(what: string, all: readonly Done[]): string {
  const { median, min, max } = spreadOf(all.map(([count, passed]) => count / passed))
  const byCpu = spreadOf(all.map(([count, , cpuSeconds]) => count / cpuSeconds))
  return `| ${what} | ${whole(median)} | ${whole(min)} to ${whole(max)} | ${whole(byCpu.median)} |`
}

stayOffTheServersCore()
show(`load average before: ${loadAverage().toFixed(2)}; ${rounds} rounds of ${seconds} s, ${CONNECTIONS} connections\n`)
await using databases = new Databases()
for (const name of DATABASES) await measure(name)

async function measure(name: DatabaseName): Promise<void> {
  await using open = new AsyncDisposableStack()
  const sink = open.use(await startSink())
  const inserts = startProgram(
    onCores('server', [
      process.execPath,
      built('bare-inserts'),
      await databases.create(name),
      String(CONNECTIONS),
      String(STORED_BYTES),
    ]),
  )
  open.defer(() => inserts.end())
  const bare = await startByHand('bare', flat, { origin: '' }, 'server')
  open.defer(() => bare.stop())
  const accepts = await startDurable(await databases.create(name), AWAY)
  open.defer(() => accepts.server.stop())
  const delivers = await startDurable(await databases.create(name), sink.origin)
  open.defer(() => delivers.server.stop())
  const loadOf = (target: typeof accepts.target) => open.use(openLoad(target, seconds))
  const bareLoad = loadOf({ ...accepts.target, url: `${bare.origin}/people` })
  const [acceptLoad, deliverLoad] = [loadOf(accepts.target), loadOf(delivers.target)]
  for (const load of [bareLoad, acceptLoad, deliverLoad]) await load.run(2, 'anew')
  let stored = await drained(sink)

  const done: Record<'inserts' | 'http' | 'accepted' | 'meanwhile' | 'through', Done[]> = {
    inserts: [],
    http: [],
    accepted: [],
    meanwhile: [],
    through: [],
  }
  const run = async (load: typeof bareLoad, server: ServerProcess): Promise<Done> => {
    const before = server.cpuSeconds()
    const { messages, seconds: passed } = await load.run(seconds, 'anew')
    return [messages, passed, server.cpuSeconds() - before]
  }
  for (let round = 0; round < rounds; round += 1) {
    inserts.write(`${seconds}\n`)
    done.inserts.push(JSON.parse(await inserts.nextLine()))
    done.http.push(await run(bareLoad, bare))
    done.accepted.push(await run(acceptLoad, accepts.server))
    const [startedAt, before] = [performance.now(), delivers.server.cpuSeconds()]
    const meanwhile = await run(deliverLoad, delivers.server)
    done.meanwhile.push(meanwhile)
    await until(sink.count, (count) => count >= stored + meanwhile[0], DRAIN_MS)
    const passed = (performance.now() - startedAt) / 1000
    done.through.push([meanwhile[0], passed, delivers.server.cpuSeconds() - before])
    stored = await drained(sink)
  }
  show(`| ${name} | a second | lowest to highest | a second of processor time |\n|---|---|---|---|`)
  show(row('rows inserted by a bare loop', done.inserts))
  show(row('messages answered by bare `node:http`', done.http))
  show(row('accepted while the target is away', done.accepted))
  show(row('accepted while the target takes all', done.meanwhile))
  show(row('accepted and delivered, until the last has arrived', done.through))
  show('')
}

/** What the target has when nothing more arrives for a second. */
async function drained(sink: Readonly<{ count(): number }>): Promise<number> {
  for (;;) {
    const before = sink.count()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    if (sink.count() === before) return before
  }
}
