/** One key at several processes, which may die: one works on the message, and another takes its place. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Held, keyed, passingOn, REPLAYED, startHeld } from '../../support/idempotency/keys.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { freshDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'
import { isAlive, startCrew } from '../app/workers/crew.ts'
import { needsPostgres, startInstance, until } from '../instances/instances.ts'

type Reported = Readonly<{ status: number; text: string; repeats: boolean }>

const send = async (url: string, key = 'one', body = { a: 1 }): Promise<Reported> => {
  const response = await fetch(`${url}/orders`, {
    ...keyed(key, body),
    headers: { ...keyed(key).headers, connection: 'close' },
  })
  return { status: response.status, text: await response.text(), repeats: response.headers.has(REPLAYED) }
}

async function held(test: { after(work: () => Promise<void>): void }): Promise<Held> {
  const target = await startHeld()
  test.after(target.stop)
  return target
}

const register = async (url: string, target: Held): Promise<void> => {
  const reply = await fetch(`${url}/endpoints`, json('POST', endpointDocument(passingOn(target.url))))
  assert.equal(reply.status, 201, await reply.text())
}

/** The process that had it is dead: its claim lapses 10 s later, and here at once. */
const LAPSE = `update kept_answers set until = 0 where owner <> ''`

test(
  'of 100 twins at two instances one is worked on, and the claim of a slow one is renewed',
  needsPostgres,
  async (test) => {
    const target = await held(test)
    const database = await freshDatabase(test)
    const instances = await Promise.all([startInstance(test, database), startInstance(test, database)])
    await register(instances[0].url, target)
    await until('the route', 60_000, async () => (await instances[1].ask('PUT', '/orders', {})).status === 405)
    const twins = Array.from({ length: 100 }, (_, n) => send((instances[n % 2] as { url: string }).url))
    await target.called(1)
    const claims = () => database.query<{ until: string }>(`select until from kept_answers where owner <> ''`)
    const [first] = await claims()
    const [now] = await database.query<{ now: string }>('select extract(epoch from clock_timestamp()) * 1000 as now')
    assert.ok(Number(first?.until) - Number(now?.now) <= 10_000)
    await until('the renewal', 60_000, async () => Number((await claims())[0]?.until) > Number(first?.until))
    assert.equal(target.received.length, 1)
    target.letGo()
    const reported = await Promise.all(twins)
    assert.deepEqual([...new Set(reported.map(({ status, text }) => `${status} ${text}`))], ['200 {"call":1}'])
    assert.equal(reported.filter(({ repeats }) => repeats).length, 99)
    assert.equal(target.received.length, 1)
    for (const { url } of instances) assert.equal((await send(url, 'one', { a: 2 })).status, 422)
  },
)

test('what an instance was at that was killed is worked on by another', needsPostgres, async (test) => {
  const target = await held(test)
  const database = await freshDatabase(test)
  const [dying, other] = await Promise.all([
    spawnService(freshFolder(test), { env: { DATABASE_URL: database.url } }),
    startInstance(test, database, { MESSAGE_TIMEOUT_MS: '3000' }),
  ])
  await register(other.url, target)
  await until('the route', 60_000, async () => (await fetch(`${dying.url}/orders`, { method: 'PUT' })).status === 405)
  const broken = send(dying.url).catch(() => undefined)
  await target.called(1)
  dying.child.kill('SIGKILL')
  await dying.ended
  assert.equal(await broken, undefined)
  const waited = await fetch(`${other.url}/orders`, keyed('one', { a: 1 }))
  assert.deepEqual([waited.status, waited.headers.get('retry-after')], [409, '1'])
  assert.match(await waited.text(), /"IDEMPOTENCY_KEY_IN_USE"/)
  const retry = send(other.url)
  await database.query(LAPSE)
  await target.called(2)
  target.letGo()
  assert.deepEqual(await retry, { status: 200, text: '{"call":2}', repeats: false })
  assert.deepEqual(await send(other.url), { status: 200, text: '{"call":2}', repeats: true })
})

test('a service that was killed works on it again at once, and gives again what it had answered', async (test) => {
  const target = await held(test)
  const folder = freshFolder(test)
  const first = await spawnService(folder)
  await register(first.url, target)
  const broken = send(first.url, 'under way').catch(() => undefined)
  await target.called(1)
  target.letGo()
  const answered = await send(first.url, 'answered')
  target.hold()
  const late = send(first.url, 'late').catch(() => undefined)
  await target.called(3)
  first.child.kill('SIGKILL')
  await first.ended
  assert.equal(await late, undefined)
  const before = await broken
  target.letGo()

  const second = await spawnService(folder)
  test.after(async () => {
    second.child.kill('SIGTERM')
    await second.ended
  })
  assert.deepEqual(await send(second.url, 'answered'), { ...answered, repeats: true })
  assert.deepEqual(await send(second.url, 'under way'), { ...before, repeats: true })
  assert.equal(target.received.length, 3)
  assert.deepEqual(await send(second.url, 'late'), { status: 200, text: '{"call":4}', repeats: false })
})

test('of 100 twins at two workers one is worked on; a worker that dies leaves its key to the other', async (test) => {
  const target = await held(test)
  const crew = await startCrew(test)
  await crew.register(passingOn(target.url))
  await crew.register({ endpoint: { pattern: '/any' } })
  const [one, other] = await crew.connectToEach('/any')
  assert.ok(one !== undefined && other !== undefined)
  const header = (key: string) => ({ 'idempotency-key': `"${key}"` })
  const pair = [one, other].map((caller) => caller.call('POST', '/orders', {}, header('one')))
  const twins = Array.from({ length: 98 }, () => crew.call('POST', '/orders', {}, header('one')))
  await target.called(1)
  target.letGo()
  const answers = await Promise.all([...pair, ...twins])
  assert.deepEqual(
    [...new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`))],
    ['200 {"call":1}'],
  )
  assert.equal(target.received.length, 1)

  target.hold()
  const pids = crew.workerPids()
  const broken = one.call('POST', '/orders', {}, header('two')).catch(() => undefined)
  await target.called(2)
  // Which of them has the message is seen by whose connection breaks.
  const retry = other.call('POST', '/orders', {}, header('two')).catch(() => undefined)
  const [victim] = pids
  process.kill(victim as number, 'SIGKILL')
  await until('the end of the worker', 60_000, () => !isAlive(victim as number))
  const file = new DatabaseSync(join(crew.folder, 'data/crosswalk.db'), { timeout: 5_000 })
  const isLeft = (await Promise.race([broken, new Promise((resolve) => setImmediate(resolve, 'waits'))])) === undefined
  if (isLeft) file.exec(LAPSE)
  file.close()
  target.letGo()
  const survivor = (await Promise.all([broken, retry])).filter((answer) => answer !== undefined)
  assert.equal(survivor.length, 1)
  assert.deepEqual([survivor[0]?.status, target.received.length], [200, survivor[0]?.body.call])
  one.end()
  other.end()
})

test(
  'while the store is away nothing is started, and what could not be kept is reported',
  needsPostgres,
  async (test) => {
    const target = await held(test)
    const database = await freshDatabase(test)
    const proxy = await startTcpProxy(database.url)
    database.uses(proxy.stop)
    const one = await startInstance(test, database, { DATABASE_URL: proxy.url })
    await register(one.url, target)
    const begun = send(one.url)
    await target.called(1)
    await proxy.refuse()
    const refused = await send(one.url, 'two')
    assert.equal(refused.status, 503)
    assert.match(refused.text, /"IDEMPOTENCY_UNAVAILABLE"/)
    assert.match(refused.text, /was not started/)
    target.letGo()
    const notKept = await begun
    assert.equal(notKept.status, 503)
    assert.match(notKept.text, /its requests may already have arrived/)
    assert.equal(target.received.length, 1)

    await proxy.heal()
    await database.query(LAPSE)
    await until('the store', 60_000, async () => (await send(one.url, 'two')).status === 200)
    assert.equal((await send(one.url)).repeats, false)
  },
)
