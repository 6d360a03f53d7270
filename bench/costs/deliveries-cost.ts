/**
 * What the store of deliveries takes: acceptances a second beside a bare loop of inserts, empty and with a backlog, and how
 * long claims and ends take. On the PostgreSQL that DATABASE_URL names, else on a file:
 * `node bin/node.js bench/costs/deliveries-cost.ts [backlog]`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { NewDelivery } from '../../src/core/deliveries/delivery.ts'
import { createIds } from '../../src/core/id.ts'
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { silent } from '../../test/support/silent.ts'

/** Messages that wait for their acceptance at the same time. */
const WAITING = 64
const SECONDS = 5
const TARGETS = 4
const BODY = 'x'.repeat(500)
const MAX_BYTES = 1e12

const backlog = Number(process.argv[2] ?? 200_000)
const url = process.env.DATABASE_URL
const folder = mkdtempSync(join(tmpdir(), 'crosswalk-deliveries-'))
const logger = silent
const newId = createIds(Date.now, 1)

const delivery = (index: number): NewDelivery => ({
  id: newId(),
  messageId: newId(),
  endpointId: '0'.repeat(24),
  endpoint: 'bench',
  requestId: 'send',
  target: `https://target-${index % TARGETS}.example`,
  // A tenth is in order with others.
  ...(index % 10 === 0 ? { orderKey: `key ${index % 1_000}` } : {}),
  request: {
    to: { target: 'http', address: '', options: { retries: 0, redirects: 0, idempotent: true } },
    method: 'POST',
    url: 'https://target.example/path',
    headers: { 'content-type': 'application/json' },
    values: {},
    key: null,
    contentType: 'application/json',
    allowed: { any: false, ranges: [[200, 299]] },
    timeoutMs: 10_000,
    rules: { scheduleMs: [5_000, 300_000], giveUpAfterMs: 270_000_000 },
  },
  body: BODY,
})

/** How often `run` ends in a second, while so many wait for theirs. */
async function rate(run: (index: number) => Promise<unknown>, waiting: number): Promise<number> {
  const startedAt = performance.now()
  let count = 0
  const loop = async () => {
    while (performance.now() - startedAt < SECONDS * 1_000) await run(count++)
  }
  await Promise.all(Array.from({ length: waiting }, loop))
  return (count * 1_000) / (performance.now() - startedAt)
}

/** Rows that are inserted in a second: one table, one index, as many rows in a transaction as messages wait. */
async function bareRate(): Promise<number> {
  const table = 'create table if not exists bare (id text primary key, content text)'
  const places = Array.from({ length: WAITING }, (_, index) => `($${2 * index + 1}, $${2 * index + 2})`)
  const text = `insert into bare values ${places.join(', ')}`
  const values = () => Array.from({ length: WAITING }, () => [newId(), BODY]).flat()
  if (url === undefined) {
    const file = new DatabaseSync(join(folder, 'bare.db'))
    file.exec(`pragma journal_mode = wal; pragma synchronous = full; ${table}`)
    const insert = file.prepare(text.replaceAll(/\$\d+/g, '?'))
    const perSecond = await rate(async () => insert.run(...values()), 1)
    file.close()
    return perSecond * WAITING
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`${table}`)
  const perSecond = await rate(() => client.query({ name: 'bare', text, values: values() }), 1)
  await client.query('drop table bare')
  await client.end()
  return perSecond * WAITING
}

const show = (name: string, value: number, unit: string) =>
  console.log(`${name.padEnd(52)} ${value.toFixed(1)} ${unit}`)
const quantile = (times: readonly number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN

const store =
  url === undefined
    ? await openSqliteStore({ path: join(folder, 'bench.db'), logger })
    : await openPostgresStore({ url, poolSize: 10, timeoutMs: 60_000, startTimeoutMs: 5_000, logger })
const { deliveries } = store
const accept = (index: number) => deliveries.accept([delivery(index)], MAX_BYTES)

show('rows inserted by a bare loop', await bareRate(), '/s')
await rate(accept, WAITING)
const empty = await rate(accept, WAITING)
show('deliveries accepted, one of each message', empty, '/s')

for (let stored = 0; stored < backlog; stored += 1_000)
  await deliveries.accept(
    Array.from({ length: 1_000 }, (_, index) => delivery(stored + index)),
    MAX_BYTES,
  )
const filled = await rate(accept, WAITING)
show(`deliveries accepted with a backlog of ${backlog}`, filled, '/s')
show('  of that without one', (100 * filled) / empty, '%')
show('rows inserted by a bare loop, again', await bareRate(), '/s')

const times = { dueTargets: [] as number[], claim: [] as number[], end: [] as number[], totals: [] as number[] }
const timed = async <T>(name: keyof typeof times, work: () => Promise<T>): Promise<T> => {
  const startedAt = performance.now()
  const result = await work()
  times[name].push(performance.now() - startedAt)
  return result
}
for (let round = 0; round < 400; round += 1) {
  await timed('dueTargets', () => deliveries.dueTargets(100))
  const target = `https://target-${round % TARGETS}.example`
  const claimed = await timed('claim', () => deliveries.claim('bench', target, 32, 60_000))
  const ends = claimed.map(({ delivery: { id } }) => ({
    id,
    attempt: { at: new Date().toISOString(), ms: 1, status: 200 },
    state: 'delivered' as const,
  }))
  await timed('end', () => deliveries.end('bench', ends))
  if (round % 10 === 0) await timed('totals', () => deliveries.totals())
}
for (const [name, all] of Object.entries(times)) {
  show(`${name}, half within`, quantile(all, 0.5), 'ms')
  show(`${name}, 99 of 100 within`, quantile(all, 0.99), 'ms')
}
show('memory of the process', process.memoryUsage.rss() / 1e6, 'MB')
await store.close()
rmSync(folder, { recursive: true })
