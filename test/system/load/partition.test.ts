/** What becomes of an instance that loses its way to PostgreSQL, and of the others. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { freshDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy, type TcpProxyOptions } from '../../support/services/tcp-proxy.ts'
import { type Instance, needsPostgres, startInstance, until } from '../instances/instances.ts'

/** Longer than every timeout on the way. */
const PARTITION_MS = 12_000

/** What the service promises after a lost connection or a lost notification. */
const LIMIT_MS = 10_000

const CHANGES = 'crosswalk changes'

const shownBy = async (instance: Instance) => (await instance.ask('POST', '/p', {})).body.n

/** Two instances with an endpoint that shows `n`; the way of the other one to the database can be cut. */
async function startPair(test: TestContext, options?: TcpProxyOptions) {
  const database = await freshDatabase(test)
  const proxy = await startTcpProxy(database.url, options)
  database.uses(proxy.stop)
  const [one, other] = (await Promise.all([
    startInstance(test, database),
    startInstance(test, database, { DATABASE_URL: proxy.url }),
  ])) as [Instance, Instance]
  const document = { endpoint: { pattern: '/p' }, constants: { n: 0 }, inputMapping: { 'constants.n': 'n' } }
  const { _id } = await one.register(document)
  await until('the first version', LIMIT_MS, async () => (await shownBy(other)) === 0)
  return {
    proxy,
    one,
    other,
    /** Out: the status of the answer. */
    change: async (instance: Instance, n: number) =>
      (await instance.ask('PATCH', `/endpoints/${_id}`, { constants: { n } })).status,
    /** Ends connections of the other instance, as the server sees them: all, or those of one name. */
    end: (name = '%') =>
      database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and client_port = any($1::integer[]) and application_name like $2`,
        [proxy.ports(), name],
      ),
  }
}

type Pair = Awaited<ReturnType<typeof startPair>>
const nothing = async () => {}

/** `again` keeps up what `cut` started. */
const ways: readonly { name: string; cut(pair: Pair): unknown; again(pair: Pair): unknown }[] = [
  { name: 'is refused', cut: ({ proxy }) => proxy.refuse(), again: nothing },
  { name: 'hangs', cut: ({ proxy }) => proxy.stall(), again: nothing },
  { name: 'is ended by the server', cut: ({ end }) => end(), again: ({ end }) => end() },
]

const listenerWays: typeof ways = [
  { name: 'hangs', cut: ({ proxy }) => proxy.stall(), again: nothing },
  { name: 'is ended by the server', cut: ({ end }) => end(CHANGES), again: ({ end }) => end(CHANGES) },
]

describe('an instance whose way to PostgreSQL is cut', { concurrency: true }, () => {
  for (const { name, cut, again } of ways) {
    test(
      `goes on while it ${name} for ${PARTITION_MS / 1_000} s, and catches up after`,
      needsPostgres,
      async (test) => {
        const pair = await startPair(test)
        const { proxy, one, other, change } = pair
        await cut(pair)
        const cutAt = performance.now()
        let n = 0
        while (performance.now() - cutAt < PARTITION_MS) {
          n += 1
          assert.equal(await change(one, n), 200)
          assert.equal(await shownBy(one), n)
          // Cut off, but still answering, with what it knew.
          const shown = Number(await shownBy(other))
          assert.ok(again === nothing ? shown === 0 : shown <= n, `${shown} is shown`)
          await again(pair)
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        await proxy.heal()
        const caughtUpMs = await until('the last version', LIMIT_MS, async () => (await shownBy(other)) === n)
        test.diagnostic(`${n} changes were made; all in force ${caughtUpMs.toFixed(0)} ms after the way was free again`)
        await until('readiness', LIMIT_MS, async () => (await other.ready()).status === 200)
        assert.equal((await other.ready()).body.configurationVersion, (await one.ready()).body.configurationVersion)
        await until(
          'a change of the instance that was cut off',
          LIMIT_MS,
          async () => (await change(other, -1)) === 200,
        )
        await until('the same on the other one', 2_000, async () => (await shownBy(one)) === -1)
      },
    )
  }

  for (const { name, cut, again } of listenerWays) {
    test(
      `hears of changes and is managed while only the connection for changes ${name} for ${PARTITION_MS / 1_000} s`,
      needsPostgres,
      async (test) => {
        const pair = await startPair(test, { only: CHANGES })
        const { proxy, one, other, change } = pair
        await cut(pair)
        const cutAt = performance.now()
        const delays: number[] = []
        let n = 0
        while (performance.now() - cutAt < PARTITION_MS) {
          n += 2
          await again(pair)
          assert.equal(await change(one, n - 1), 200)
          delays.push(await until(`change ${n - 1}`, LIMIT_MS, async () => (await shownBy(other)) === n - 1))
          assert.equal(await change(other, n), 200)
          assert.equal(await shownBy(other), n)
          assert.equal((await other.ready()).status, 200)
          // Leaves the machine to the other cases, which run at the same time.
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        test.diagnostic(`${delays.length} changes, in force after at most ${Math.max(...delays).toFixed(0)} ms`)
        await proxy.heal()
        await until('the connection', LIMIT_MS, () => other.output.stdout.includes('are received again'))
        assert.equal(await change(one, -1), 200)
        await until('a change after', 2_000, async () => (await shownBy(other)) === -1)
      },
    )
  }

  test('is managed at once when only its connection for changes hangs', needsPostgres, async (test) => {
    const { proxy, other, change } = await startPair(test, { only: CHANGES })
    proxy.stall()
    for (const n of [1, 2, 3]) assert.equal(await change(other, n), 200)
  })

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
})
