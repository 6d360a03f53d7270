/** A target that is away for seven days, by the clocks of the store and of the sender. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDeliveryService } from '../../../src/deliveries/delivery-service.ts'
import { createEndpointRegistry } from '../../../src/endpoints/endpoint-registry.ts'
import { CONCURRENCY, SCHEDULE_MS, startSimulatedSender } from '../../support/deliveries/simulated-sender.ts'
import { LONG } from '../../support/form.ts'
import { readTestSettings } from '../../support/service.ts'
import { postgresMissing } from '../../support/services/postgres.ts'
import { type ClockedDatabase, clockedPostgres, clockedSqlite } from '../../support/store/database-clock.ts'
import { startHttp } from '../outbound/http/upstream.ts'

const START_MS = Date.parse('2027-01-01T00:00:00.000Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ANSWER_MS = 100

type Arrival = Readonly<{ at: number; id: string; isTaken: boolean }>

/** A target that is away until `isAway` is false, and its sender. */
async function openStage(test: TestContext, database: ClockedDatabase) {
  const target = { isAway: true }
  const arrivals: Arrival[] = []
  const upstream = await startHttp(test, (request, response) => {
    const id = String(request.headers['idempotency-key'])
    arrivals.push({ at: stage.timers.now(), id, isTaken: !target.isAway })
    response.writeHead(target.isAway ? 503 : 200).end()
  })
  const stage = await startSimulatedSender(database, START_MS, () => ({
    answersMs: target.isAway ? 0 : ANSWER_MS,
  }))
  return { ...stage, target, arrivals, url: `${upstream.url}/in` }
}

/** The most that arrived within a second. */
function mostPerSecond(arrivals: readonly Arrival[]): number {
  let first = 0
  return arrivals.reduce((most, { at }, last) => {
    while ((arrivals[first]?.at ?? at) <= at - 1_000) first += 1
    return Math.max(most, last - first + 1)
  }, 0)
}

/** Each has arrived once, those of a key in the order of `sent`. */
function assertInOrder(
  arrivals: readonly Arrival[],
  sent: readonly (readonly [id: string, key: string | undefined])[],
) {
  const taken = arrivals.filter(({ isTaken }) => isTaken).map(({ id }) => id)
  assert.deepEqual(taken.toSorted(), sent.map(([id]) => id).toSorted())
  const numbers = new Map(sent.map(([id], number) => [id, number]))
  const last = new Map<string, number>()
  const keys = new Map(sent)
  for (const id of taken) {
    const [key, number = -1] = [keys.get(id), numbers.get(id)]
    if (key === undefined) continue
    assert.ok(number > (last.get(key) ?? -1), `${id} has overtaken one of its key.`)
    last.set(key, number)
  }
}

const keysFrom = (count: number, keys: number) =>
  Array.from({ length: count }, (_, number) => (number % 10 === 9 ? undefined : `k${number % keys}`))

async function arrivesAfterAWeek(test: TestContext, database: ClockedDatabase, count: number): Promise<void> {
  const { store, timers, accept, target, arrivals, url } = await openStage(test, database)
  const rules = { scheduleMs: SCHEDULE_MS, giveUpAfterMs: 30 * DAY_MS }
  const sent: (readonly [string, string | undefined])[] = []
  const add = async (keys: readonly (string | undefined)[]) => {
    const ids = await accept(url, keys, rules)
    sent.push(...ids.map((id, index) => [id, keys[index]] as const))
  }
  for (let stored = 0; stored < count; stored += 500) await add(keysFrom(Math.min(500, count - stored), 97))
  await timers.pass(10 * 60_000)
  assert.ok(mostPerSecond(arrivals) <= 6, `Five open its circuit, one looks after it: ${mostPerSecond(arrivals)}`)
  assert.ok(mostPerSecond(arrivals.filter(({ at }) => at > 10_000)) <= 1, 'One finds out whether it is back.')
  while (timers.now() < 7 * DAY_MS) {
    await timers.pass(12 * HOUR_MS, HOUR_MS / 2)
    await add(keysFrom(20, 19))
  }
  assert.ok(arrivals.every(({ isTaken }) => !isTaken))
  target.isAway = false
  const backAt = timers.now()
  await timers.pass(5 * 60_000)
  const after = arrivals.filter(({ at }) => at >= backAt)
  assertInOrder(arrivals, sent)
  assert.ok((after.at(-1)?.at ?? Number.POSITIVE_INFINITY) <= backAt + HOUR_MS)
  assert.ok(mostPerSecond(after) <= (CONCURRENCY * 1_000) / ANSWER_MS, `${mostPerSecond(after)} in a second`)
  assert.ok(mostPerSecond(after.filter(({ at }) => at < (after[0]?.at ?? 0) + ANSWER_MS)) <= 4, 'It starts with few.')
  assert.equal((await store.list({ state: 'pending' }, 1)).length, 0)
  test.diagnostic(
    `${sent.length} deliveries, ${arrivals.length - after.length} attempts while it was away; all there ${(after.at(-1)?.at ?? 0) - backAt} ms after it was back, ${mostPerSecond(after)} in a second at most`,
  )
}

async function isRetriedInBulk(test: TestContext, database: ClockedDatabase, count: number): Promise<void> {
  const { store, timers, sender, accept, target, arrivals, url } = await openStage(test, database)
  const rules = { scheduleMs: SCHEDULE_MS, giveUpAfterMs: 75 * HOUR_MS }
  const keys = keysFrom(count, 7)
  const ids = await accept(url, keys, rules)
  await timers.pass(74 * HOUR_MS, HOUR_MS)
  assert.equal((await store.list({ state: 'undeliverable' }, 1)).length, 0)
  while ((await store.list({ state: 'pending' }, 1)).length > 0) {
    assert.ok(timers.now() < 7 * DAY_MS)
    await timers.pass(10 * 60_000, 5_000)
  }
  await timers.pass(7 * DAY_MS - timers.now(), HOUR_MS)
  const service = createDeliveryService({
    store,
    registry: createEndpointRegistry(),
    records: { search: { get: () => assert.fail() }, replayByHand: () => assert.fail() },
    settings: readTestSettings({}),
    clock: () => START_MS + timers.now(),
  })
  const { groups } = await service.groups({})
  assert.deepEqual(
    groups.map((group) => [group.status, group.count]),
    [[503, count]],
  )
  target.isAway = false
  const backAt = timers.now()
  const retried = await service.changeAll('retry', { target: new URL(url).origin }, 10_000)
  assert.deepEqual([retried.count, retried.more], [count, false])
  sender.wake()
  await timers.pass(60_000)
  assertInOrder(
    arrivals,
    ids.map((id, index) => [id, keys[index]]),
  )
  const after = arrivals.filter(({ at }) => at >= backAt)
  assert.ok(mostPerSecond(after) <= (CONCURRENCY * 1_000) / ANSWER_MS)
  assert.equal((await store.list({ state: 'delivered' }, 1_000)).length, count)
}

const CASES = [
  ['everything arrives in order, without a storm, soon after a week', arrivesAfterAWeek, 2_000, 300],
  ['what was given up after 75 hours is a group, and a retry in bulk delivers it', isRetriedInBulk, 100, 30],
] as const

// PostgreSQL calls the clock of the test for each row, so it has fewer.
for (const [name, run, count, fewer] of CASES) {
  test(`${name}, from SQLite`, (context) => run(context, clockedSqlite(context, START_MS), count))
  if (LONG)
    test(`${name}, from PostgreSQL`, { skip: postgresMissing() ?? false }, async (context) =>
      run(context, await clockedPostgres(context, START_MS), fewer),
    )
}
