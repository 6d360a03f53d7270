/** Schedules of endpoints: when they run, what a run is, what follows runs that take long or were missed, and what is reported. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { compileTimetable } from '../../../../src/language/timetable.ts'
import { describeDatabases, describeServices, openDatabase } from '../../../support/databases.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { json, type Received, type Service, startService, startUpstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

type Schedule = Readonly<{
  next?: string
  running?: Readonly<{ scheduledFor: string }>
  last?: Readonly<{ scheduledFor: string; startedAt: string; outcome: string; messageId?: string; code?: string }>
  overruns: number
  missed: number
}>

/** Sends when it was due to the upstream. */
const ticking = (schedule: JsonObject, url: string, fields: JsonObject = {}): JsonObject => ({
  endpoint: {},
  transformation: { output: 'JSON' },
  schedule,
  inputMapping: { 'timestamps.scheduledFor': 'due', requestBody: 'body' },
  requests: { response: [{ id: 'to', config: { method: 'POST', url } }] },
  ...fields,
})

const scheduleOf = async ({ adminUrl }: Service, id: string): Promise<Schedule> =>
  (await call(adminUrl, 'GET', `/endpoints/${id}/schedule`)).json<Schedule>()

const JSON_TYPE = { headers: { 'content-type': 'application/json' } }

const runNow = ({ adminUrl }: Service, id: string) => call(adminUrl, 'POST', `/endpoints/${id}/run`, JSON_TYPE)

const duesOf = (received: readonly Received[]): readonly number[] =>
  received.map(({ body }) => Date.parse((JSON.parse(body) as { due: string }).due))

/** An upstream that answers once `release` is called, and counts how many requests it has at once. */
async function startHeldUpstream() {
  let held = Promise.withResolvers<void>()
  let atOnce = 0
  let mostAtOnce = 0
  const upstream = await startUpstream(async () => {
    atOnce += 1
    mostAtOnce = Math.max(mostAtOnce, atOnce)
    await held.promise
    atOnce -= 1
    return {}
  })
  return {
    ...upstream,
    mostAtOnce: () => mostAtOnce,
    release: () => {
      held.resolve()
      held = Promise.withResolvers()
    },
    releaseAll: () => held.resolve(),
  }
}

describeServices('a schedule', {}, (stage) => {
  test('starts a message without a body at each of its times, and is reported', async () => {
    const { service } = stage
    const upstream = await startUpstream(() => ({}))
    const { _id, name } = await service.register(ticking({ every: '1s' }, upstream.url))
    const before = await scheduleOf(service, _id)
    assert.deepEqual([before.last, before.overruns, before.missed], [undefined, 0, 0])
    await until(
      () => upstream.received.length,
      (count) => count >= 3,
    )
    const [first = 0, second, third] = duesOf(upstream.received)
    assert.equal(before.next, new Date(first).toISOString())
    assert.deepEqual([second, third], [first + 1_000, first + 2_000])
    assert.deepEqual(JSON.parse(upstream.received[0]?.body ?? '').body, {})
    const after = await until(
      () => scheduleOf(service, _id),
      ({ last }) => last !== undefined,
    )
    assert.equal(after.last?.outcome, 'done')
    const list = (await call(service.adminUrl, 'GET', '/endpoints?view=summary')).json()
    const row = (list.endpoints as (JsonObject & { id: string })[]).find(({ id }) => id === _id)
    assert.equal(row?.timetable, 'every 1s')
    assert.ok(Date.parse((row?.schedule as Schedule | undefined)?.next ?? '') > first)
    const message = await until(
      () => call(service.adminUrl, 'GET', `/messages/${after.last?.messageId}`),
      ({ status }) => status === 200,
    )
    assert.deepEqual([message.json().source, message.json().outcome], ['schedule', 'done'])
    const { text } = await call(service.adminUrl, 'GET', '/metrics')
    assert.match(text, new RegExp(`crosswalk_schedule_runs_total{endpoint="${name}",outcome="done"} [1-9]`))
    assert.match(text, new RegExp(`crosswalk_schedule_next_run_seconds{endpoint="${name}"} `))
    await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
    assert.equal((await call(service.adminUrl, 'GET', `/endpoints/${_id}/schedule`)).status, 404)
    await upstream.stop()
  })

  test('moves with a change of its times, stays with any other, and ends with its field', async () => {
    const { service } = stage
    const document = ticking({ every: '1h' }, 'http://127.0.0.1:9')
    const { _id, name } = await service.register(document)
    const { next = '' } = await scheduleOf(service, _id)
    const replace = (fields: JsonObject) =>
      service.fetch(`/endpoints/${_id}`, json('PUT', { ...document, name, ...fields }))
    assert.equal((await replace({ description: 'Another.', schedule: { every: '60m', catchUp: 'one' } })).status, 200)
    assert.equal((await scheduleOf(service, _id)).next, next)
    assert.equal((await replace({ schedule: { cron: '0 0 1 1 *' } })).status, 200)
    const moved = await scheduleOf(service, _id)
    assert.match(moved.next ?? '', /-01-01T00:00:00.000Z$/)
    assert.equal((await replace({ schedule: { every: '2h' } })).status, 200)
    assert.ok(Date.parse((await scheduleOf(service, _id)).next ?? '') > Date.parse(next))
    assert.equal(
      (await replace({ endpoint: { pattern: '/was-scheduled', method: 'GET' }, schedule: null })).status,
      400,
    )
    const { schedule: _, ...without } = document
    const ended = { ...without, name, endpoint: { pattern: '/was-scheduled', method: 'GET' } }
    assert.equal((await service.fetch(`/endpoints/${_id}`, json('PUT', ended))).status, 200)
    const gone = await call(service.adminUrl, 'GET', `/endpoints/${_id}/schedule`)
    assert.deepEqual([gone.status, gone.json().code], [404, 'SCHEDULE_UNKNOWN'])
    assert.equal((await runNow(service, _id)).json().code, 'SCHEDULE_UNKNOWN')
  })

  test('runs when it is asked to, once at a time, and its times stay', async () => {
    const { service } = stage
    const upstream = await startHeldUpstream()
    const { _id } = await service.register(ticking({ cron: '0 0 1 1 *', timezone: 'Europe/Berlin' }, upstream.url))
    const { next } = await scheduleOf(service, _id)
    const running = runNow(service, _id)
    await until(
      () => scheduleOf(service, _id),
      (schedule) => schedule.running !== undefined,
    )
    const busy = await runNow(service, _id)
    assert.deepEqual([busy.status, busy.json().code], [409, 'SCHEDULE_BUSY'])
    upstream.releaseAll()
    const ran = await running
    assert.equal(ran.status, 200)
    const { messageId, outcome, scheduledFor } = ran.json<{
      messageId: string
      outcome: string
      scheduledFor: string
    }>()
    assert.equal(outcome, 'done')
    assert.deepEqual(duesOf(upstream.received), [Date.parse(scheduledFor)])
    const after = await scheduleOf(service, _id)
    assert.deepEqual([after.next, after.running, after.last?.messageId], [next, undefined, messageId])
    await upstream.stop()
    const failed = (await runNow(service, _id)).json()
    assert.deepEqual([failed.outcome, failed.code], ['failed', 'RESPONSE_UNREACHABLE'])
    assert.equal((await scheduleOf(service, _id)).last?.code, 'RESPONSE_UNREACHABLE')
    assert.equal((await runNow(service, '0'.repeat(24))).json().code, 'ENDPOINT_UNKNOWN')
  })

  test('is measured while a run is under way', async () => {
    const { service } = stage
    const upstream = await startHeldUpstream()
    const { _id, name } = await service.register(ticking({ every: '1s' }, upstream.url))
    await until(
      () => upstream.received.length,
      (count) => count > 0,
    )
    const { text } = await call(service.adminUrl, 'GET', '/metrics')
    upstream.releaseAll()
    await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
    await upstream.stop()
    assert.match(text, new RegExp(`crosswalk_schedule_next_run_seconds{endpoint="${name}"} `))
  })

  for (const catchUp of ['none', 'one'] as const) {
    test(`with runs that take longer than its period counts the times between, catching up ${catchUp}`, async () => {
      const { service } = stage
      const upstream = await startHeldUpstream()
      const { _id } = await service.register(ticking({ every: '1s', catchUp }, upstream.url))
      const { next = '' } = await scheduleOf(service, _id)
      const first = Date.parse(next)
      await until(
        () => Date.now(),
        (now) => now > first + 2_500,
      )
      upstream.releaseAll()
      await until(
        () => upstream.received.length,
        (count) => count >= 3,
      )
      const dues = duesOf(upstream.received)
      assert.equal(upstream.mostAtOnce(), 1)
      const second = dues[1] ?? 0
      const { overruns, missed } = await scheduleOf(service, _id)
      const skipped = (second - first) / 1_000 - 1
      assert.ok(skipped >= (catchUp === 'one' ? 1 : 2), `${skipped}`)
      assert.deepEqual([overruns, missed], [skipped, 0])
      await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
      await upstream.stop()
    })
  }

  test('of an endpoint with a route runs beside its requests; a replay has the time of the run', async () => {
    const { service } = stage
    const upstream = await startUpstream(() => ({}))
    const { _id } = await service.register({
      ...ticking({ every: '1h' }, upstream.url),
      endpoint: { pattern: '/scheduled-too' },
      transformation: { input: 'JSON', output: 'JSON' },
      messageLog: 'all',
    })
    assert.equal((await service.fetch('/scheduled-too', json('POST', { n: 1 }))).status, 200)
    const { messageId } = (await runNow(service, _id)).json<{ messageId: string }>()
    await until(
      () => call(service.adminUrl, 'GET', `/messages/${messageId}`),
      ({ status }) => status === 200,
    )
    const replayed = await call(service.adminUrl, 'POST', `/messages/${messageId}/replay`, JSON_TYPE)
    assert.equal(replayed.json().outcome, 'done')
    const [requested, run, replay] = upstream.received.map(({ body }) => JSON.parse(body) as JsonObject)
    assert.deepEqual(requested, { body: { n: 1 } })
    assert.deepEqual(replay, run)
    assert.ok(run?.due)
    await upstream.stop()
  })
})

describeDatabases('after a time without any instance', ({ withDatabase }) => {
  const cases = [
    ['none', '1h', 16_200_000, 0],
    ['one', '1h', 16_200_000, 1],
    // It was due a moment ago, so that nothing was missed.
    ['none', '1h', 2_000, 1],
  ] as const
  for (const [catchUp, every, agoMs, runs] of cases) {
    test(
      `a schedule that was due ${agoMs} ms ago runs ${runs} times, catching up ${catchUp}`,
      withDatabase(async (database) => {
        const upstream = await startUpstream(() => ({}))
        const before = await startService({ DATABASE_URL: database.url })
        const { _id } = await before.register(ticking({ every, catchUp }, upstream.url))
        await scheduleOf(before, _id)
        await before.stop()
        const store = await openDatabase(database)
        const stored = await store.schedules.get(_id)
        assert.ok(stored !== undefined)
        const dueMs = stored.nowMs - agoMs
        // As if the schedule had been stored long ago.
        await store.schedules.put({ endpointId: _id, version: 2, timetable: 'moved', dueMs })
        await store.schedules.put({ endpointId: _id, version: 3, timetable: stored.timetable, dueMs })
        await store.close()
        const service = await startService({ DATABASE_URL: database.url })
        const after = await until(
          () => scheduleOf(service, _id),
          ({ next = '', last }) => Date.parse(next) > Date.now() && (runs === 0 || last !== undefined),
        )
        const timetable = compileTimetable({ every })
        assert.ok(timetable.ok)
        const { count, latestMs, nextMs } = timetable.value.passed(dueMs, stored.nowMs)
        assert.equal(after.next, new Date(nextMs).toISOString())
        assert.equal(after.missed, count - runs)
        assert.deepEqual(duesOf(upstream.received), runs === 0 ? [] : [latestMs])
        await service.stop()
        await upstream.stop()
      }),
    )
  }
})

describe('a service that stops', () => {
  test('ends its run first', async () => {
    const upstream = await startHeldUpstream()
    const service = await startService()
    await service.register(
      ticking({ every: '1s' }, upstream.url, { inputMapping: { 'timestamps.scheduledFor': 'due' } }),
    )
    await until(
      () => upstream.received.length,
      (count) => count === 1,
    )
    const stopped = service.stop()
    upstream.releaseAll()
    await stopped
    assert.equal(upstream.received.length, 1)
    assert.deepEqual(
      service.log.filter(({ level }) => level === 'error' || level === 'warn').map(({ message }) => message),
      [],
    )
    await upstream.stop()
  })
})
