/** Schedules of endpoints over several instances, some of which are killed: no time runs twice, and none waits for long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../../src/core/json.ts'
import { LONG } from '../../support/form.ts'
import { json, startUpstream } from '../../support/service.ts'
import { freshDatabase } from '../../support/services/postgres.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'
import { needsPostgres, startInstance, until } from './instances.ts'

const ENDPOINTS = LONG ? 200 : 20
const KILLS = LONG ? 4 : 1
/** So that some runs are under way when their instance is killed: their schedules wait for the lease. */
const RUN_MS = LONG ? 100 : 0
const LEASE_MS = 15_000
/** On a loaded machine, beside the lease: the store is read again, and the next time of a schedule is a second later. */
const SLACK_MS = 5_000

test('every time runs once, while instances are killed', needsPostgres, async (t) => {
  /** By the name of an endpoint: the due times in the order in which they arrived, and when they did. */
  const runs = new Map<string, { dueMs: number; at: number }[]>()
  const underWay = new Map<string, number>()
  const doubled: string[] = []
  const upstream = await startUpstream(async ({ body }) => {
    const { name, due } = JSON.parse(body) as { name: string; due: string }
    const known = runs.get(name) ?? []
    known.push({ dueMs: Date.parse(due), at: Date.now() })
    runs.set(name, known)
    const atOnce = (underWay.get(name) ?? 0) + 1
    if (atOnce > 1) doubled.push(name)
    underWay.set(name, atOnce)
    if (RUN_MS > 0) await pause(RUN_MS)
    underWay.set(name, (underWay.get(name) ?? 1) - 1)
    return {}
  })
  t.after(() => upstream.stop())
  const database = await freshDatabase(t)
  // Not one of the helper for instances, whose processes must end cleanly.
  const spawnVictim = () => spawnService(freshFolder(t), { env: { DATABASE_URL: database.url }, lifetimeMs: 300_000 })
  const survivor = await startInstance(t, database)
  let victims = await Promise.all([spawnVictim(), spawnVictim()])
  database.uses(async () => {
    for (const { child } of victims) child.kill('SIGKILL')
    await Promise.all(victims.map(({ ended }) => ended))
  })
  const ids: string[] = []
  for (let n = 0; n < ENDPOINTS; n += 1) {
    const name = `ticking ${n}`
    const { _id } = await survivor.register({
      name,
      endpoint: {},
      schedule: n % 2 === 0 ? { every: '1s' } : { cron: '* * * * * *' },
      transformation: { output: 'JSON' },
      constants: { name },
      inputMapping: { 'constants.name': 'name', 'timestamps.scheduledFor': 'due' },
      requests: { response: [{ id: 'to', config: { method: 'POST', url: upstream.url } }] },
      messageLog: 'off',
    })
    ids.push(_id)
  }
  const allHave = (count: number, sinceMs: number) =>
    runs.size === ENDPOINTS && [...runs.values()].every((all) => all.filter(({ at }) => at > sinceMs).length >= count)
  await until('every endpoint runs', 60_000, () => allHave(3, 0))
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [first, second] = victims as [(typeof victims)[0], (typeof victims)[0]]
    const killedAt = Date.now()
    first.child.kill('SIGKILL')
    await first.ended
    victims = [second, await spawnVictim()]
    await until('every endpoint runs again', 60_000, () => allHave(3, killedAt + 1_000))
  }
  const endedAt = Date.now()
  assert.deepEqual(doubled, [], 'two runs at once')
  let longest = 0
  for (const [name, all] of runs) {
    const dues = all.map(({ dueMs }) => dueMs)
    assert.equal(new Set(dues).size, dues.length, `${name} ran twice for one time`)
    assert.deepEqual(
      dues,
      dues.toSorted((a, b) => a - b),
      `${name} ran out of order`,
    )
    const times = [...all.map(({ at }) => at), endedAt]
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at))
    assert.ok(Math.max(...gaps) <= LEASE_MS + SLACK_MS, `${name} did not run for ${Math.max(...gaps)} ms`)
    longest = Math.max(longest, ...gaps)
  }
  t.diagnostic(`${[...runs.values()].flat().length} runs; the longest time without one: ${longest} ms`)
  // A deleted endpoint runs no more, on whatever instance.
  const [gone = ''] = ids
  assert.equal((await survivor.ask('DELETE', `/endpoints/${gone}`)).status, 200)
  const { body } = await survivor.ask('GET', '/endpoints?view=summary&limit=1')
  assert.equal(body.total, ENDPOINTS - 1)
  const [row] = body.endpoints as { schedule?: JsonObject }[]
  assert.ok(row?.schedule?.last)
})

test('a run on one instance is known to the other', needsPostgres, async (t) => {
  const released = Promise.withResolvers<void>()
  const upstream = await startUpstream(async () => {
    await released.promise
    return {}
  })
  t.after(() => upstream.stop())
  const database = await freshDatabase(t)
  const one = await startInstance(t, database)
  const other = await startInstance(t, database)
  const { _id } = await one.register({
    endpoint: {},
    schedule: { every: '1h' },
    transformation: { output: 'JSON' },
    requests: { response: [{ id: 'to', config: { method: 'POST', url: upstream.url } }] },
  })
  const path = `/endpoints/${_id}`
  await until('the other instance has it', 10_000, async () => (await other.ask('GET', path)).status === 200)
  const running = fetch(`${one.url}${path}/run`, json('POST', {}))
  await until('it runs', 10_000, () => upstream.received.length === 1)
  const busy = await until('the other instance has the schedule', 10_000, async () => {
    return (await other.ask('POST', `${path}/run`, {})).body.code === 'SCHEDULE_BUSY'
  })
  assert.ok(busy >= 0)
  const seen = await other.ask('GET', `${path}/schedule`)
  assert.ok((seen.body as { running?: JsonObject }).running)
  released.resolve()
  assert.equal((await running).status, 200)
  const after = (await other.ask('GET', `${path}/schedule`)).body as { last?: { outcome: string } }
  assert.equal(after.last?.outcome, 'done')
  assert.equal(upstream.received.length, 1)
})
