/** A service whose user may not change tables: what docs/scaling-out.md grants is enough, and none of it too much. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { UNSTARTED } from '../../../src/records/replay/plan-queue.ts'
import type { Store } from '../../../src/store/store.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import { recordedAt, withBodies } from '../../support/contracts/message-records.ts'
import { endpointOf, idOf, insertEndpoint, removeEndpoint, stateOf } from '../../support/contracts/records.ts'
import { openPostgres } from '../../support/contracts/stores.ts'
import { REQUEST } from '../../support/deliveries/delivery-stage.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { freshDatabase, type TestDatabase } from '../../support/services/postgres.ts'
import { freshFolder, startProgram } from '../../support/spawned-service.ts'
import { needsPostgres } from './instances.ts'

const page = readFileSync(new URL('../../../docs/scaling-out.md', import.meta.url), 'utf8')

/** The statements of the page. */
const GRANTS = [...page.matchAll(/^grant (.+) on (.+) to crosswalk;$/gm)].map(([, rights = '', on = '']) => ({
  rights,
  on,
}))

/** Each right by itself: on one table and, where columns are named, one column. */
const RIGHTS = GRANTS.flatMap(({ rights, on }) =>
  on.split(', ').flatMap((object) =>
    [...rights.matchAll(/(\w+)(?: \((.+?)\))?/g)].flatMap(([, right = '', columns]) => {
      if (columns === undefined) return [{ right, object }]
      return columns.split(', ').map((column) => ({ right: `${right} (${column})`, object }))
    }),
  ),
)

/** A user who may do nothing but connect. Out: their name, and the URL of the database for them. */
async function createRole({ url, query, uses }: TestDatabase): Promise<{ role: string; roleUrl: string }> {
  const role = `crosswalk_test_${randomBytes(6).toString('hex')}`
  await query(`create role ${role} login password 'restricted'`)
  uses(async () => {
    await query(`drop owned by ${role}`)
    await query(`drop role ${role}`)
  })
  const roleUrl = new URL(url)
  roleUrl.username = role
  roleUrl.password = 'restricted'
  return { role, roleUrl: roleUrl.href }
}

async function databaseWithTables(test: TestContext): Promise<TestDatabase> {
  const database = await freshDatabase(test)
  await (await openPostgres(database.url)).close()
  return database
}

/** The statuses of everything that a service does with its store; undefined where it does not start. */
async function useEverything(databaseUrl: string): Promise<readonly number[] | undefined> {
  const service = await startService({ DATABASE_URL: databaseUrl, MESSAGE_LOG: 'off' }).catch(() => undefined)
  if (service === undefined) return undefined
  // Whatever fails: a service that went on would keep the test from ending.
  const statuses = await useService(service).finally(service.stop)
  return [...statuses, await useLog(databaseUrl)]
}

async function useService(service: Service): Promise<readonly number[]> {
  const statuses: number[] = []
  const ask = async (method: string, path: string, body?: Parameters<typeof json>[1]) => {
    const reply = await service.fetch(path, json(method, body))
    statuses.push(reply.status)
    return reply
  }
  const document = {
    name: 'restricted',
    endpoint: { pattern: '/restricted' },
    transformation: { input: 'JSON', output: 'JSON' },
    state: { extract: { requestBody: { n: 'n' } } },
    inputMapping: { 'state.requestBody.n': 'previous' },
  }
  const { _id } = (await ask('POST', '/endpoints', document)).json()
  const path = `/endpoints/${_id}`
  for (const n of [1, 2, 3]) await ask('POST', '/restricted', { n })
  await ask('PATCH', path, { name: 'renamed', endpoint: { pattern: '/renamed' } })
  const answer = await ask('POST', '/renamed', { n: 4 })
  if (answer.status === 200) assert.deepEqual(answer.json(), { previous: 3 })
  await ask('GET', '/endpoints')
  await ask('GET', `${path}/versions`)
  await ask('GET', `${path}/stats`)
  await ask('PUT', `${path}/tests`, { tests: [] })
  await ask('PUT', `${path}/tests`, { tests: [{ name: 'one', given: {}, expect: {} }] })
  await ask('GET', `${path}/tests`)
  await ask('DELETE', `${path}/tests`)
  await ask('DELETE', path)
  statuses.push((await fetch(`${service.adminUrl}/health/ready`)).status)
  return statuses
}

const GROUP = { endpointId: undefined, stage: 'map', code: undefined, path: undefined }

/** The second plan removes the first. */
async function usePlans(plans: Store['replayPlans'], messageId: string): Promise<void> {
  const content = { createdAt: '', filter: {}, count: 1, groups: [], cannot: [] }
  for (let n = 0; n < 2; n += 1) {
    const id = randomBytes(12).toString('hex')
    assert.equal(await plans.insert({ id, content, progress: UNSTARTED }, [messageId], 1), true)
    const lease = { owner: 'me', ms: 60_000 }
    await plans.change(id, () => ({ state: 'running', progress: UNSTARTED, lease }))
    assert.deepEqual(await plans.messageIds(id), [messageId])
    assert.equal(await plans.save(id, 'me', UNSTARTED, 60_000), 'running')
    await plans.change(id, () => ({ state: 'paused', progress: UNSTARTED, lease: 'drop' }))
  }
}

async function useDeliveries(deliveries: Store['deliveries']): Promise<void> {
  const id = randomBytes(12).toString('hex')
  const names = { messageId: id, endpointId: idOf(1), endpoint: 'Lab', requestId: 'out', target: `http://${id}.test` }
  const delivery = { id, ...names, request: REQUEST, body: 'one' }
  assert.equal(await deliveries.accept([delivery], 1e9, stateOf('delivered', 200)), 'accepted')
  assert.deepEqual(await deliveries.retry([id], { body: 'another' }), [id])
  const [claimed] = await deliveries.claim('me', names.target, 1, 60_000)
  assert.equal(claimed?.body?.toString(), 'another')
  assert.deepEqual(await deliveries.end([{ id, lease: claimed.lease, attempt: undefined, state: 'delivered' }]), [id])
  assert.ok((await deliveries.totals()).counts.length > 0)
  assert.ok((await deliveries.purge(-60_000, 10)) > 0)
}

async function useTables({ tables, endpoints, unmapped }: Store): Promise<void> {
  const content = randomBytes(12).toString('hex')
  await tables.keep(content, randomBytes(10))
  const table = { head: { columns: ['code', 'text'], rows: 1, bytes: 10 }, content }
  const before = (await tables.versions('codes'))[0]?.version ?? 0
  const change = { method: 'replace', at: '', origin: {} } as const
  assert.equal(await endpoints.writeAll([], [{ name: 'codes', before, table, change }]), 'stored')
  assert.equal((await tables.read(content, 10))?.length, 10)
  await tables.removeUnused(Date.now())
  const miss = { table: 'codes', column: 'text', code: 'a', endpointId: idOf(1), count: 1, firstAt: 1, lastAt: 1 }
  for (let n = 0; n < 2; n += 1) await unmapped.add([{ ...miss, messages: [] }])
  assert.equal(await unmapped.count('codes', ['a']), 2)
  await unmapped.remove('codes')
}

/** Uses plans of replays, deliveries, the message log, keys, audit log and idempotency keys, none of which delays a response: 200, or 500 if a call fails. */
async function useLog(databaseUrl: string): Promise<number> {
  const store = await openPostgres(databaseUrl).catch(() => undefined)
  if (store === undefined) return 500
  const { endpoints, idempotency, messages, keys, audit, replayPlans, failureGroups, captures, schedules, close } =
    store
  try {
    const recorded = withBodies(recordedAt(0, { keys: { a: 'b' } }), { incoming: 'x' })
    await messages.append([recorded])
    assert.deepEqual(await messages.find({ key: [{ value: 'b' }] }, 1), [recorded.record])
    await messages.body(recorded.record.id, 'incoming')
    assert.equal(await messages.hold('plan', [recorded.record.id], 1e9), true)
    await messages.release([], 'q')
    assert.ok((await messages.purge(Number.MAX_SAFE_INTEGER, 0)) > 0)
    const key = { id: randomBytes(8).toString('hex'), name: 'k', roles: [], hash: '', createdAt: '' }
    await keys.insert(key)
    assert.equal(await keys.revoke(key.id, 'now'), true)
    assert.ok((await keys.list()).length > 0)
    const entry = {
      id: randomBytes(12).toString('hex'),
      at: recorded.record.startedAt,
      who: 'local',
      what: 'x',
      status: 200,
    }
    await audit.append(entry)
    assert.equal((await audit.find({}, 1)).length, 1)
    await audit.purge(Number.MAX_SAFE_INTEGER, 0)
    await usePlans(replayPlans, recorded.record.id)
    await failureGroups.put(GROUP, { state: 'open', by: 'local', at: recorded.record.startedAt }, 1)
    assert.equal((await failureGroups.list()).length, 1)
    await insertEndpoint(endpoints, endpointOf(1))
    const request = { endpointId: idOf(1), key: 'k', fingerprint: 'f' }
    for (const owner of ['one', 'other']) {
      assert.equal((await idempotency.claim(request, owner, 60_000)).kind, 'claimed')
      await idempotency.release(request, owner)
    }
    await idempotency.renew(['one'], 60_000)
    await useDeliveries(store.deliveries)
    await useTables(store)
    const capture = { endpointId: idOf(1), id: 'c', messages: 2, until: Date.now() + 60_000, startedAt: '', by: '' }
    assert.equal(await captures.put(capture), true)
    assert.equal((await captures.claim(capture, 1)).remaining, 1)
    const schedule = { endpointId: idOf(1), version: 1, timetable: 't', dueMs: 0 }
    assert.equal(await schedules.put(schedule), true)
    assert.equal(await schedules.remove(idOf(1), 2), true)
    assert.equal(await removeEndpoint(endpoints, endpointOf(1).document), 'stored')
    return 200
  } catch (thrown) {
    if (!(thrown instanceof StoreUnavailable)) throw thrown
    return 500
  } finally {
    await close()
  }
}

test('a user who may do what the page grants, and nothing else, is enough', needsPostgres, async (test) => {
  const database = await databaseWithTables(test)
  const { role, roleUrl } = await createRole(database)
  assert.equal(await useEverything(roleUrl), undefined, 'a user who may do nothing')
  for (const { rights, on } of GRANTS) await database.query(`grant ${rights} on ${on} to ${role}`)
  const empty = async () => {
    // A service that finds a key would ask for one.
    for (const table of ['endpoints', 'replay_plans', 'api_keys']) await database.query(`delete from ${table}`)
  }
  assert.deepEqual(await useEverything(roleUrl), [201, ...Array(15).fill(200)])

  assert.ok(RIGHTS.length >= 13, JSON.stringify(RIGHTS))
  for (const { right, object } of RIGHTS) {
    await empty()
    await database.query(`revoke ${right} on ${object} from ${role}`)
    // A service takes longer to start: it is asked only where the stores alone do not miss the right.
    let isNeeded = (await useLog(roleUrl)) >= 500
    if (!isNeeded) {
      await empty()
      isNeeded = (await useEverything(roleUrl))?.every((status) => status < 500) !== true
    }
    assert.ok(isNeeded, `${right} on ${object} is not needed`)
    await database.query(`grant ${right} on ${object} to ${role}`)
  }
})

test('the start is refused with one line where the user would have to make tables', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const { roleUrl } = await createRole(database)
  // As it is from PostgreSQL 15 on.
  await database.query('revoke create on schema public from public')
  const { output, ended } = startProgram(freshFolder(test), { env: { DATABASE_URL: roleUrl } })
  assert.deepEqual(await ended, { code: 1, signal: null })
  assert.match(output.stderr, /^crosswalk: The database of DATABASE_URL .* `npm start -- migrate` .*\n$/)
  assert.ok(!output.stderr.includes('restricted'))
})
