/** The lease of a run: once another instance may run the schedule, what waits for room starts no message, and a message ends. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../../../../src/inbound/completed-message.ts'
import { RunningLease } from '../../../../src/inbound/schedule/running-lease.ts'
import { LEASE_MS, ScheduleRunner } from '../../../../src/inbound/schedule/schedule-runner.ts'
import type { ScheduleStore } from '../../../../src/store/sql/schedule-store.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { endpointOf, idOf, insertEndpoint } from '../../../support/contracts/records.ts'
import { openDatabase } from '../../../support/databases.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { startService, startUpstream } from '../../../support/service.ts'
import { silent } from '../../../support/silent.ts'
import { freshFolder } from '../../../support/spawned-service.ts'
import { until } from '../../../support/until.ts'

test('a run whose lease is lost while it waits for room starts no message', async (t) => {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  await insertEndpoint(store.endpoints, endpointOf(1))
  const compiled = {
    document: { _id: idOf(1), name: 'Poll' },
    endpoint: { schedule: { every: '1h' } },
    version: 1,
  } as unknown as CompiledEndpoint
  let asked = 0
  let isFull = true
  let renewals = 0
  let started = 0
  const runner = new ScheduleRunner({
    registry: { get: () => compiled, all: () => [compiled], watch: () => undefined },
    isOwn: () => true,
    store: {
      ...store.schedules,
      renew: async () => {
        renewals += 1
        return false
      },
    },
    intake: {
      refusal: () => {
        asked += 1
        return asked > 1 && isFull ? new Failure('OVERLOADED', 'There is no room.') : undefined
      },
      accept: () => {
        started += 1
        return Promise.reject(new Error('It was started without a lease.'))
      },
    },
    newId: () => idOf(9),
    logger: silent,
  })
  t.mock.timers.enable({ apis: ['setInterval'] })
  const running = runner.runNow(idOf(1)).catch((thrown: unknown) => thrown)
  await until(
    () => asked,
    (count) => count > 2,
  )
  t.mock.timers.tick(LEASE_MS / 3)
  await until(
    () => renewals,
    (count) => count === 1,
  )
  isFull = false
  const ended = await running
  assert.ok(ended instanceof Failure)
  assert.deepEqual([ended.code, started], ['SCHEDULE_BUSY', 0])
  await runner.stop()
  await store.close()
})

for (const [what, isMade] of [
  ['was stored', true],
  ['was not stored', false],
] as const)
  test(`a claim that ${what} before the store went away becomes one run, and none counts as interrupted`, async (t) => {
    const store = await openSqliteStore({ path: ':memory:', logger: silent })
    await insertEndpoint(store.endpoints, endpointOf(1))
    const compiled = {
      document: { _id: idOf(1), name: 'Poll' },
      endpoint: { schedule: { every: '1s' } },
      version: 1,
    } as unknown as CompiledEndpoint
    const away = (): never => {
      throw new StoreUnavailable('The store is away.')
    }
    const claimed: string[] = []
    const accepted: (string | undefined)[] = []
    let answersLost = 3
    const runner = new ScheduleRunner({
      registry: { get: () => compiled, all: () => [compiled], watch: () => undefined },
      isOwn: () => true,
      store: {
        ...store.schedules,
        claim: async (...given) => {
          claimed.push(given[1].run.scheduledFor)
          if (claimed.length > 1) return store.schedules.claim(...given)
          if (isMade) await store.schedules.claim(...given)
          return away()
        },
        renew: (...given) => (answersLost-- > 0 ? away() : store.schedules.renew(...given)),
      },
      intake: {
        refusal: () => undefined,
        accept: (_, { scheduledFor, lease }) => {
          accepted.push(lease?.isHeld ? scheduledFor : undefined)
          return { outcome: 'done', messageId: idOf(2), code: '' } as CompletedMessage
        },
      },
      newId: () => idOf(9),
      logger: silent,
    })
    t.after(async () => {
      await runner.stop()
      await store.close()
    })
    runner.start()
    await until(
      () => accepted.length,
      (count) => count >= 2,
      LEASE_MS / 2,
    )
    assert.deepEqual(accepted.slice(0, 2), (isMade ? claimed : claimed.slice(1)).slice(0, 2))
    assert.deepEqual([...(runner.counts.all()[0]?.runs.keys() ?? [])], ['done'])
  })

const RUN = { scheduledFor: '2027-01-01T00:00:00.000Z', startedAt: '2027-01-01T00:00:00.100Z' }
const SCHEDULE = { endpointId: idOf(1) } as Awaited<ReturnType<ScheduleStore['get']>>

const RENEWALS = [
  ['is renewed', async () => true, true, true],
  ['is another one’s', async () => false, true, false],
  ['is of an endpoint that was deleted', async () => false, false, true],
  ['cannot be renewed', async () => Promise.reject(new StoreUnavailable('The store is away.')), true, false],
  ['has no answer', () => new Promise<boolean>(() => undefined), true, false],
] as const

for (const [what, renew, isThere, isHeld] of RENEWALS) {
  test(`a lease that ${what} ${isHeld ? 'is held beyond its time' : 'is given up before others can take it'}`, async () => {
    const leaseMs = 400
    const store = { renew, get: async () => (isThere ? SCHEDULE : undefined) } as unknown as ScheduleStore
    const lease = new RunningLease({ endpointId: idOf(1), owner: 'one', run: RUN }, { store, logger: silent, leaseMs })
    const startedAt = performance.now()
    lease.hold()
    assert.ok(lease.isHeld)
    await until(
      () => lease.signal.aborted || performance.now() - startedAt > 1.5 * leaseMs,
      (isOver) => isOver,
    )
    assert.equal(lease.isHeld, isHeld)
    assert.equal(lease.signal.aborted, !isHeld)
    if (!isHeld) assert.ok(performance.now() - startedAt < leaseMs, 'Others could take it.')
    lease.close()
  })
}

test('a message whose lease is lost ends its calls, makes no other, and leaves nothing', async (t) => {
  const folder = freshFolder(t)
  const path = `${folder}/test.db`
  const database = { DATABASE_URL: `sqlite:${path}` }
  const service = await startService(database)
  const asked = Promise.withResolvers<void>()
  const lookup = await startUpstream(() => {
    asked.resolve()
    return new Promise(() => undefined)
  })
  const sink = await startUpstream(() => ({}))
  const { _id } = await service.register({
    endpoint: {},
    schedule: { every: '1h' },
    transformation: { output: 'JSON' },
    requests: {
      lookup: { id: 'lab', optional: true, config: { method: 'GET', url: lookup.url } },
      response: [{ id: 'to', config: { method: 'POST', url: sink.url } }],
    },
    state: { extract: { lookupRequests: { lab: { at: 'at' } } } },
  })
  const run = call(service.adminUrl, 'POST', `/endpoints/${_id}/run`, {
    headers: { 'content-type': 'application/json' },
  })
  await asked.promise
  const other = new DatabaseSync(path)
  other.exec(`update schedules set owner = 'another'`)
  other.close()
  const ended = (await run).json()
  assert.deepEqual([ended.outcome, ended.code], ['failed', 'SCHEDULE_LEASE_LOST'])
  assert.equal(sink.received.length, 0)
  await service.stop()
  const store = await openDatabase({ url: database.DATABASE_URL })
  assert.equal(
    await store.states.newest(_id, { networkErrors: 'include', statuses: { any: true, ranges: [] } }),
    undefined,
  )
  await store.close()
  await lookup.stop()
  await sink.stop()
})

test('a run whose schedule another instance has taken by the time it ends leaves nothing', async (t) => {
  const folder = freshFolder(t)
  const path = `${folder}/test.db`
  const service = await startService({ DATABASE_URL: `sqlite:${path}` })
  const other = new DatabaseSync(path)
  t.after(() => Promise.all([service.stop(), other.close()]))
  let isTaken = false
  const lookup = await startUpstream(() => {
    if (isTaken) other.exec(`update schedules set owner = 'another'`)
    return { at: isTaken ? 'late' : 'first' }
  })
  t.after(() => lookup.stop())
  const run = async (id: string) =>
    (
      await call(service.adminUrl, 'POST', `/endpoints/${id}/run`, { headers: { 'content-type': 'application/json' } })
    ).json()
  const register = async (response: readonly JsonObject[]) =>
    (
      await service.register({
        name: `with ${response.length} requests`,
        endpoint: {},
        schedule: { every: '1h' },
        transformation: { output: 'JSON' },
        requests: { lookup: { id: 'lab', config: { method: 'GET', url: lookup.url } }, response: [...response] },
        state: { extract: { lookupRequests: { lab: { at: 'at' } } } },
      })
    )._id
  const ids = [
    await register([]),
    await register([{ id: 'to', config: { method: 'POST', url: 'http://127.0.0.1:9' }, delivery: {} }]),
  ]
  for (const id of ids) assert.equal((await run(id)).outcome, 'done')
  const count = () =>
    other
      .prepare('select (select count(*) from deliveries) as deliveries, group_concat(state) as states from states')
      .get()
  const before = count()
  isTaken = true
  for (const id of ids) {
    const ended = await run(id)
    assert.deepEqual([ended.outcome, ended.code], ['failed', 'SCHEDULE_LEASE_LOST'])
  }
  assert.deepEqual(count(), before)
})
