/**
 * What a backlog costs: messages that are accepted a second and memory, with it beside without it; how long claims take; and how
 * long lists and counts hold up messages.
 * `npm run -s bundle && node bin/node.js bench/costs/deliveries-backlog-cost.ts [SQLite | PostgreSQL] [backlog] [rounds] [seconds]`
 * The backlog waits for its next attempt at first; then all of it is due, and each of its thousand targets is away.
 */
import type { ClaimedDelivery } from '../../src/core/deliveries/delivery.ts'
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { endOf } from '../../test/support/contracts/deliveries.ts'
import { silent } from '../../test/support/silent.ts'
import { openLoad, startSingleLoad } from '../load/load.ts'
import { quotient } from '../load/rounds.ts'
import { answerOf } from '../load/same-answers.ts'
import { stayOffTheServersCore } from '../processes/cores.ts'
import { loadAverage } from '../processes/machine.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import { AWAY, DATABASES, Databases, type Service, startDurable } from './deliveries.ts'
import { addBacklog, addressOf, KEYED_TARGET, moveDue, ONE_TARGET } from './delivery-backlog.ts'

const [database = 'SQLite', ...numbers] = process.argv.slice(2)
const [backlog = 1_000_000, rounds = 5, seconds = 4] = numbers.map(Number)
const name = DATABASES.find((one) => one === database)
if (name === undefined) throw new Error(`The databases are ${DATABASES.join(' and ')}.`)
/** For each kind of target. */
const CLAIMS = 300
const CALLS = 5
const LEASE_MS = 60_000
const HOUR_MS = 3_600_000

const show = (text: string): void => void process.stdout.write(`${text}\n`)
const spread = ({ median, min, max }: Spread, digits = 0): string =>
  [median, min, max].map((value) => value.toFixed(digits)).join(' | ')
const quantile = (times: readonly number[], part: number): string =>
  (times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN).toFixed(1)

stayOffTheServersCore()
show(
  `load average before: ${loadAverage().toFixed(2)}; ${name}, ${backlog} deliveries, ${rounds} rounds of ${seconds} s\n`,
)
await using databases = new Databases()
const [emptyUrl, fullUrl] = [await databases.create(name), await databases.create(name)]
const first = await startDurable(fullUrl, AWAY)
await answerOf(first.target)
await first.server.stop()
await addBacklog(fullUrl, backlog)
await moveDue(fullUrl, HOUR_MS)
const empty = await startDurable(emptyUrl, AWAY)
const full = await startDurable(fullUrl, AWAY, true)
try {
  await compareAccepting('which waits')
  await watchCalls()
  await moveDue(fullUrl, -HOUR_MS)
  await compareAccepting('which is due')
} finally {
  await Promise.all([empty.server.stop(), full.server.stop()])
}
await timeClaims()

/** Each stands still while the other is measured, so that what the backlog makes it do costs the other nothing. */
async function compareAccepting(backlogThat: string): Promise<void> {
  const measured = [empty, full].map((service) => ({ ...service, perSecond: [] as number[], byCpu: [] as number[] }))
  const signal = ({ server }: Service, name: 'SIGSTOP' | 'SIGCONT') => process.kill(server.pid(), name)
  const loads = measured.map(({ target }) => openLoad(target, seconds))
  for (const load of loads) await load.run(5, 'anew')
  for (const one of measured) signal(one, 'SIGSTOP')
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, one] of measured.entries()) {
      signal(one, 'SIGCONT')
      const before = one.server.cpuSeconds()
      const result = await loads[index]?.run(seconds, 'anew')
      if (result === undefined) continue
      one.perSecond.push(result.messages / result.seconds)
      one.byCpu.push(result.messages / (one.server.cpuSeconds() - before))
      signal(one, 'SIGSTOP')
    }
  }
  for (const one of measured) signal(one, 'SIGCONT')
  for (const load of loads) await load[Symbol.asyncDispose]()
  show('| accepted a second | median | lowest | highest |\n|---|---|---|---|')
  const [without, beside] = measured as [(typeof measured)[number], (typeof measured)[number]]
  const [rates, ratesBeside] = [spreadOf(without.perSecond), spreadOf(beside.perSecond)]
  show(`| without a backlog | ${spread(rates)} |`)
  show(`| with it, ${backlogThat} | ${spread(ratesBeside)} |`)
  show(`| ratio | ${spread(quotient(ratesBeside, rates), 2)} |`)
  show(`| ratio by processor time | ${spread(quotient(spreadOf(beside.byCpu), spreadOf(without.byCpu)), 2)} |`)
  const [bytes = 0, bytesBeside = 0] = measured.map(({ server }) => server.residentBytes() / 1e6)
  show(`\nmemory: ${bytes.toFixed(0)} MB without it, ${bytesBeside.toFixed(0)} MB with it\n`)
}

/** The longest of the messages that one client sends one after another, while each call is made. */
async function watchCalls(): Promise<void> {
  const day = new Date(Date.now() - 86_400_000).toISOString()
  const calls = [
    '',
    '/deliveries',
    '/deliveries?limit=500',
    '/deliveries?state=pending',
    '/deliveries?state=undeliverable',
    '/deliveries?endpoint=Durable&state=delivered',
    `/deliveries?target=${encodeURIComponent(ONE_TARGET)}`,
    '/deliveries?target=none',
    '/deliveries?request=none',
    '/deliveries?key=all',
    '/deliveries?key=none',
    '/deliveries?endpoint=Durable&state=pending&key=none',
    `/deliveries?to=${day}`,
    `/deliveries?message=${'0'.repeat(20)}ffff`,
    '/deliveries/counts',
    '/deliveries/groups',
    '/metrics',
  ]
  show(`| call, ${CALLS} times | longest, ms | messages meanwhile: p99, ms | longest, ms |\n|---|---|---|---|`)
  for (const path of calls) {
    const times: number[] = []
    await using load = startSingleLoad(full.target)
    for (let call = 0; call < CALLS; call += 1) {
      const startedAt = performance.now()
      if (path === '') await new Promise((resolve) => setTimeout(resolve, 200))
      else {
        const answer = await fetch(`http://127.0.0.1:${full.adminPort}${path}`)
        if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`)
        await answer.arrayBuffer()
      }
      times.push(performance.now() - startedAt)
    }
    const { p99Ms, maxMs } = await load.stop()
    show(`| ${path || 'none'} | ${Math.max(...times).toFixed(0)} | ${p99Ms.toFixed(0)} | ${maxMs.toFixed(0)} |`)
  }
  show('')
}

async function timeClaims(): Promise<void> {
  const logger = silent
  const options = { poolSize: 10, timeoutMs: 60_000, startTimeoutMs: 5_000, logger }
  const store = await (name === 'SQLite'
    ? openSqliteStore({ path: fullUrl.slice('sqlite:'.length), logger })
    : openPostgresStore({ url: fullUrl, ...options }))
  const { deliveries } = store
  show('| | p50, ms | p99, ms | longest, ms |\n|---|---|---|---|')
  const times = new Map<string, number[]>()
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now()
    const result = await work()
    const all = times.get(what) ?? []
    times.set(what, all)
    all.push(performance.now() - startedAt)
    return result
  }
  const end = (claimed: readonly ClaimedDelivery[], state: 'delivered' | 'pending', what: string) =>
    timed(`end of ${what}`, () => deliveries.end(claimed.map((one) => endOf(one, state, 0))))
  for (let round = 0; round < CLAIMS; round += 1) {
    await timed('due targets', () => deliveries.dueTargets(256))
    const targets = { 'one target': ONE_TARGET, 'one key': KEYED_TARGET, '1,000 targets': addressOf(round) }
    for (const [what, target] of Object.entries(targets)) {
      const claimed = await timed(`claim of ${what}`, () => deliveries.claim('bench', target, 32, LEASE_MS))
      await end(claimed, round % 4 === 0 ? 'pending' : 'delivered', what)
    }
    const back = Date.now()
    const waiting = await timed('claim of what waits', () => deliveries.claim('bench', ONE_TARGET, 32, LEASE_MS, back))
    await end(waiting, 'pending', 'what waits')
    if (round % 10 === 0) await timed('totals', () => deliveries.totals())
    if (round % 10 === 0) await timed('purge', () => deliveries.purge(-1, 500))
  }
  for (const [what, all] of times)
    show(`| ${what} | ${quantile(all, 0.5)} | ${quantile(all, 0.99)} | ${Math.max(...all).toFixed(1)} |`)
  await store.close()
}
