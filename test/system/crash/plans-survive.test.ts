/** A plan goes on when the process that runs it ends, however it ends; and any instance shows it and stops it. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { PlanView } from '../../../src/records/replay/replay-plans.ts'
import { DATABASES, type Database } from '../../support/databases.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { freshDatabase } from '../../support/services/postgres.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'
import { startCrew } from '../app/workers/crew.ts'
import { needsPostgres } from '../instances/instances.ts'

const MESSAGES = 30
const CONCURRENCY = 3
/** The upstream holds back its answers after so many. */
const ANSWERED = 8

type Admin = Readonly<{ adminUrl: string; url: string }>
const ENV = { MESSAGE_LOG: 'all', CIRCUIT_BREAKER_FAILURES: '0' }

const post = ({ adminUrl }: Admin, path: string, body?: Json) =>
  call(adminUrl, 'POST', path, {
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const viewOf = async ({ adminUrl }: Admin, id: string) =>
  (await call(adminUrl, 'GET', `/messages/replay/${id}`)).json<PlanView & JsonObject>()

type Target = Readonly<{ upstream: Upstream; open(): void; numbers(): readonly number[] }>

/** Fails at first; then answers the first messages, and the others when it is opened. */
async function startTarget(test: TestContext): Promise<Target & { away: boolean }> {
  const gate = Promise.withResolvers<void>()
  const target = { away: true }
  let answered = 0
  const upstream = await startUpstream(async (_request, response) => {
    if (target.away) {
      response.destroy()
      return undefined
    }
    answered += 1
    if (answered > ANSWERED) await gate.promise
    return {}
  })
  test.after(() => {
    gate.resolve()
    return upstream.stop()
  })
  const numbers = () => upstream.received.map(({ body }) => (JSON.parse(body) as { n: number }).n)
  return Object.assign(target, { upstream, open: gate.resolve, numbers })
}

/** Registers the endpoint, lets messages fail, and plans their replay. */
async function planFailures(service: Admin, target: Awaited<ReturnType<typeof startTarget>>): Promise<PlanView> {
  const document = endpointDocument({
    endpoint: { pattern: '/orders' },
    requests: { response: [{ id: 'target', config: { method: 'POST', url: target.upstream.url } }] },
  })
  const registered = await fetch(`${service.url}/endpoints`, json('POST', document))
  assert.equal(registered.status, 201, await registered.text())
  for (let n = 0; n < MESSAGES; n += 1) {
    assert.equal((await fetch(`${service.url}/orders`, json('POST', { n }))).status, 502)
  }
  target.away = false
  target.upstream.received.length = 0
  const plan = await until(
    async () => (await post(service, '/messages/replay', {})).json<PlanView & JsonObject>(),
    ({ count }) => count === MESSAGES,
  )
  return plan
}

async function runUntilHeld(service: Admin, { id }: PlanView, { upstream }: Target): Promise<void> {
  assert.equal((await post(service, `/messages/replay/${id}/run`, { concurrency: CONCURRENCY })).status, 202)
  await until(
    () => upstream.received.length,
    (count) => count === ANSWERED + CONCURRENCY,
  )
}

async function assertFinished(service: Admin, { id }: PlanView, target: Target, mostTwice: number): Promise<void> {
  const finished = await until(
    () => viewOf(service, id),
    ({ state }) => state !== 'running',
  )
  assert.deepEqual([finished.state, finished.left, finished.failed], ['finished', 0, 0])
  // A replay that the first process has logged, but not counted in the plan, is not repeated.
  assert.ok(finished.skippedFor.every(({ reason }) => reason === 'replayed'))
  assert.ok(finished.skipped <= mostTwice, `${finished.skipped} messages were left out`)
  const numbers = target.numbers()
  assert.equal(new Set(numbers).size, MESSAGES)
  assert.ok(numbers.length <= MESSAGES + mostTwice, `${numbers.length - MESSAGES} messages were sent twice`)
}

// Leases lapse after ten seconds each: they wait more than they work.
describe('plans', { concurrency: 4 }, () => {
  for (const kind of DATABASES) {
    describe(`a plan of a process that ends, over ${kind.name}`, { skip: kind.missing ?? false }, () => {
      const withDatabase = async (test: TestContext): Promise<Database> => {
        const database = await kind.create()
        test.after(database.drop)
        return database
      }

      test('goes on after a restart, each message once', async (test) => {
        const { url } = await withDatabase(test)
        const target = await startTarget(test)
        const first = await startService({ ...ENV, DATABASE_URL: url })
        const plan = await planFailures(first, target)
        await runUntilHeld(first, plan, target)
        const stopped = first.stop()
        target.open()
        await stopped
        const second = await startService({ ...ENV, DATABASE_URL: url })
        try {
          await assertFinished(second, plan, target, 0)
        } finally {
          await second.stop()
        }
      })

      test('goes on after kill -9, and repeats no more than what was in flight', async (test) => {
        const { url } = await withDatabase(test)
        const target = await startTarget(test)
        const start = () => spawnService(freshFolder(test), { env: { ...ENV, DATABASE_URL: url } })
        const first = await start()
        const plan = await planFailures(first, target)
        await runUntilHeld(first, plan, target)
        first.child.kill('SIGKILL')
        await first.ended
        const second = await start()
        try {
          target.open()
          await assertFinished(second, plan, target, CONCURRENCY)
        } finally {
          second.child.kill('SIGTERM')
          assert.deepEqual(await second.ended, { code: 0, signal: null }, second.output.stdout)
        }
      })

      if (!kind.shared) return
      test('is shown, paused and taken over by another instance', async (test) => {
        const { url } = await withDatabase(test)
        const target = await startTarget(test)
        const [first, second] = await Promise.all(
          [0, 1].map(() => startService({ ...ENV, DATABASE_URL: url, SHUTDOWN_TIMEOUT_MS: '10000' })),
        )
        assert.ok(first !== undefined && second !== undefined)
        let running = [first, second]
        try {
          const plan = await planFailures(first, target)
          await runUntilHeld(first, plan, target)
          const seen = await until(
            () => viewOf(second, plan.id),
            ({ done }) => done === ANSWERED,
          )
          assert.equal(seen.state, 'running')
          // Only one instance runs it.
          assert.equal((await post(second, `/messages/replay/${plan.id}/run`)).status, 409)
          const paused = await post(second, `/messages/replay/${plan.id}/pause`)
          assert.deepEqual([paused.status, paused.json().state], [200, 'paused'])
          const busy = await post(second, `/messages/replay/${plan.id}/run`)
          assert.deepEqual([busy.status, busy.json().code], [409, 'REPLAY_PLAN_BUSY'])
          assert.match(String(busy.json().error), /in flight/)
          target.open()
          // What was in flight is counted, wherever it ran.
          await until(
            () => viewOf(second, plan.id),
            ({ done }) => done >= ANSWERED + CONCURRENCY,
          )
          const resumed = await until(
            () => post(second, `/messages/replay/${plan.id}/run`, { perSecond: 20 }),
            ({ status }) => status === 202,
          )
          assert.equal(resumed.json().state, 'running')
          await second.stop()
          running = [first]
          await assertFinished(first, plan, target, 0)
        } finally {
          await Promise.all(running.map(({ stop }) => stop()))
        }
      })
    })
  }

  test('a plan goes on in new workers when all are killed', async (test) => {
    const target = await startTarget(test)
    const crew = await startCrew(test, { env: ENV })
    const plan = await planFailures(crew, target)
    await runUntilHeld(crew, plan, target)
    for (const pid of crew.workerPids()) process.kill(pid, 'SIGKILL')
    target.open()
    // Nobody has the admin port for a moment.
    await until(
      () => viewOf(crew, plan.id).catch(() => undefined),
      (view) => view?.state === 'finished',
    )
    await assertFinished(crew, plan, target, CONCURRENCY)
  })

  test(
    'an instance that stands still loses its plan, and starts nothing of it when it wakes',
    needsPostgres,
    async (test) => {
      const database = await freshDatabase(test)
      const target = await startTarget(test)
      const start = () => spawnService(freshFolder(test), { env: { ...ENV, DATABASE_URL: database.url } })
      const services = await Promise.all([start(), start()])
      database.uses(async () => {
        for (const { child } of services) child.kill('SIGTERM')
        await Promise.all(services.map(({ ended }) => ended))
      })
      const [first, second] = services
      const plan = await planFailures(first, target)
      await runUntilHeld(first, plan, target)
      first.child.kill('SIGSTOP')
      await until(
        () => second.output.stdout,
        (text) => text.includes('A replay plan continues here'),
      )
      first.child.kill('SIGCONT')
      target.open()
      await assertFinished(second, plan, target, CONCURRENCY)
      // The first one has noticed, and both show the same.
      await until(
        () => first.output.stdout,
        (text) => text.includes('its lease could not be renewed'),
      )
      assert.deepEqual(await viewOf(first, plan.id), await viewOf(second, plan.id))
    },
  )

  for (const kind of DATABASES) {
    test(`a plan is never cut short by kill -9 at any moment, over ${kind.name}`, {
      skip: kind.missing ?? false,
    }, async (test) => {
      const database = await kind.create()
      test.after(database.drop)
      const target = await startTarget(test)
      target.open()
      const start = () =>
        spawnService(freshFolder(test), { env: { ...ENV, DATABASE_URL: database.url }, lifetimeMs: 600_000 })
      let service = await start()
      const plan = await planFailures(service, target)
      assert.equal((await post(service, `/messages/replay/${plan.id}/run`, { perSecond: 10 })).status, 202)
      let kills = 0
      for (let wanted = 10; wanted < MESSAGES; wanted += 10) {
        await until(
          () => target.upstream.received.length,
          (count) => count >= wanted,
        )
        service.child.kill('SIGKILL')
        await service.ended
        kills += 1
        service = await start()
      }
      try {
        await assertFinished(service, plan, target, kills)
      } finally {
        service.child.kill('SIGTERM')
        await service.ended
      }
    })
  }
})
