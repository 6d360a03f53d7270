/** What becomes of an instance that loses its way to PostgreSQL, and of the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '../services/postgres.ts'
import { startTcpProxy } from '../services/tcp-proxy.ts'
import { type Instance, needsPostgres, startInstance, until } from './instances.ts'

/** Longer than every timeout on the way. Where nobody waits for the result, as long as a real one. */
const PARTITION_MS = process.env.CI === 'true' ? 30_000 : 8_000

/** What the service promises after a lost connection or a lost notification. */
const LIMIT_MS = 10_000

const ways = [
  { name: 'is refused', cut: 'refuse' },
  { name: 'hangs', cut: 'stall' },
] as const

for (const { name, cut } of ways) {
  test(
    `an instance whose way to PostgreSQL ${name} for ${PARTITION_MS / 1_000} s goes on, and catches up after`,
    needsPostgres,
    async (test) => {
      const database = await freshDatabase(test)
      const proxy = await startTcpProxy(database.url)
      database.uses(proxy.stop)
      const [one, other] = (await Promise.all([
        startInstance(test, database),
        startInstance(test, database, { DATABASE_URL: proxy.url }),
      ])) as [Instance, Instance]
      const document = { endpoint: { pattern: '/p' }, constants: { n: 0 }, inputMapping: { 'constants.n': 'n' } }
      const { _id } = await one.register(document)
      const shows = async (instance: Instance, n: number) => (await instance.ask('POST', '/p', {})).body.n === n
      await until('the first version', LIMIT_MS, () => shows(other, 0))

      await proxy[cut]()
      const cutAt = performance.now()
      let n = 0
      while (performance.now() - cutAt < PARTITION_MS) {
        n += 1
        assert.equal((await one.ask('PATCH', `/endpoints/${_id}`, { constants: { n } })).status, 200)
        assert.ok(await shows(one, n))
        // Cut off, but still answering, with what it knew.
        assert.ok(await shows(other, 0))
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      await proxy.heal()
      const caughtUpMs = await until('the last version', LIMIT_MS, () => shows(other, n))
      test.diagnostic(`${n} changes were missed; all in force ${caughtUpMs.toFixed(0)} ms after the way was free again`)
      await until('readiness', LIMIT_MS, async () => (await other.ready()).status === 200)
      assert.equal((await other.ready()).body.configurationVersion, (await one.ready()).body.configurationVersion)
      const { body } = await other.ask('PATCH', `/endpoints/${_id}`, { constants: { n: -1 } })
      assert.deepEqual(body.constants, { n: -1 })
      await until('a change of the instance that was cut off', 2_000, () => shows(one, -1))
    },
  )
}

test('an instance whose connections are ended by the server hears of changes again', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const [one, other] = (await Promise.all([startInstance(test, database), startInstance(test, database)])) as [
    Instance,
    Instance,
  ]
  const { _id } = await one.register({
    endpoint: { pattern: '/t' },
    constants: { n: 0 },
    inputMapping: { 'constants.n': 'n' },
  })
  const delays: number[] = []
  for (let n = 1; n <= 10; n += 1) {
    const [ended] = await database.query<{ count: string }>(
      `select count(pg_terminate_backend(pid)) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
    )
    assert.ok(Number(ended?.count) >= 2)
    await until('a change', LIMIT_MS, async () => {
      const { status } = await one.ask('PATCH', `/endpoints/${_id}`, { constants: { n } })
      assert.ok(status === 200 || status === 503, `status ${status}`)
      return status === 200
    })
    delays.push(await until(`change ${n}`, LIMIT_MS, async () => (await other.ask('POST', '/t', {})).body.n === n))
  }
  test.diagnostic(`in force on the other instance after at most ${Math.max(...delays).toFixed(0)} ms`)
})

test('a change whose notification is lost is found by asking', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const one = await startInstance(test, database)
  const { _id } = await one.register({
    endpoint: { pattern: '/q' },
    constants: { n: 0 },
    inputMapping: { 'constants.n': 'n' },
  })
  // As the trigger does it, but silently.
  await database.query(`alter table endpoints disable trigger configuration_changed`)
  await database.query(
    `with next as (update configuration set version = version + 1 returning version)
    update endpoints set document = replace(document, '"n":0', '"n":1'), revision = (select version from next)`,
  )
  const foundMs = await until('the change', LIMIT_MS, async () => (await one.ask('POST', '/q', {})).body.n === 1)
  test.diagnostic(`found after ${foundMs.toFixed(0)} ms`)
  assert.equal((await one.ask('GET', `/endpoints/${_id}`)).status, 200)
})
