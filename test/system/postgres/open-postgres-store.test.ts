/** What the suite for every store does not ask: many instances at once, other writers, and the end of connections. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import pg from 'pg'
import { Connections, prepareText } from '../../../src/store/postgres/connection-pool.ts'
import { MIGRATIONS } from '../../../src/store/sql/migrations.ts'
import type { ChangeFeed } from '../../../src/store/store.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import {
  EVERYTHING,
  endpointOf,
  filterOf,
  idOf,
  insertEndpoint,
  removeEndpoint,
  replaceEndpoint,
  stateOf,
} from '../../support/contracts/records.ts'
import { openPostgres } from '../../support/contracts/stores.ts'
import { freshDatabase, postgresMissing, type TestDatabase } from '../../support/services/postgres.ts'
import { silent } from '../../support/silent.ts'

/** Sessions that wait for what another one holds. */
const WAITS = `datname = current_database() and wait_event_type = 'Lock'`

const needsPostgres = { skip: postgresMissing() ?? false }

/** A store that is closed before its database goes. */
async function openStore(database: TestDatabase) {
  const store = await openPostgres(database.url)
  database.uses(store.close)
  return store
}

/** A connection of another client, in a transaction. */
async function openTransaction(database: TestDatabase) {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  database.uses(() => client.end())
  await client.query('begin')
  return client
}

test('ten instances that start at once make the tables once', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const reported: object[] = []
  const logger = { ...silent, info: (fields: object) => void reported.push(fields) }
  const stores = await Promise.all(Array.from({ length: 10 }, () => openPostgres(database.url, logger)))
  assert.deepEqual(reported, [{ migrations: MIGRATIONS.map(({ name }) => name) }])
  assert.equal((await database.query('select 1 from schema_version')).length, MIGRATIONS.length)
  for (const store of stores) {
    assert.deepEqual(await store.endpoints.list(), [])
    await store.close()
  }
})

test('refuses a database of a newer version, and of version 0.1', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  await (await openPostgres(database.url)).close()
  await database.query(`insert into schema_version values (${MIGRATIONS.length + 1}, 'later')`)
  await assert.rejects(openPostgres(database.url), /was written by a newer version/)
  await database.query(`update schema_version set name = 'endpoints and states' where version = 1`)
  await assert.rejects(openPostgres(database.url), /was written by version 0\.1, which this version cannot open/)
})

test('reports each change its version, once for all instances', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const one = await openStore(database)
  const other = await openStore(database)
  const start = (await other.changes.since(0)).version
  const reported = versionsNotified(other.changes)
  await reported.reach(start)
  await insertEndpoint(one.endpoints, endpointOf(1))
  await insertEndpoint(one.endpoints, endpointOf(2))
  await reported.reach(start + 2)
  assert.equal(await insertEndpoint(one.endpoints, endpointOf(3, { name: 'endpoint 1' })), 'name')

  const since = await other.changes.since(start)
  assert.equal(since.version, start + 2)
  assert.deepEqual(since.documents, [endpointOf(1).document, endpointOf(2).document])
  assert.deepEqual(
    since.versions,
    new Map([
      [idOf(1), 1],
      [idOf(2), 1],
    ]),
  )
  // Not even the ids of what there is, where nothing is new.
  const nothing = { version: start + 2, documents: [], versions: new Map(), ids: new Set() }
  assert.deepEqual(await other.changes.since(start + 2), nothing)
  assert.deepEqual(since.ids, new Set([idOf(1), idOf(2)]))
  await removeEndpoint(one.endpoints, endpointOf(1).document)
  const { document } = endpointOf(2, { changed: true })
  await replaceEndpoint(one.endpoints, { document, claims: [{ key: 'POST /route-2' }] }, endpointOf(2).document)
  assert.deepEqual(await other.changes.since(start + 2), {
    version: start + 4,
    documents: [document],
    versions: new Map([[idOf(2), 2]]),
    ids: new Set([idOf(2)]),
  })
})

/** Watches a feed; `reach` resolves when that version was reported. */
function versionsNotified(changes: ChangeFeed) {
  let highest = 0
  let check = () => {}
  changes.watch((version) => {
    highest = Math.max(highest, version)
    check()
  })
  return {
    reach: (version: number) =>
      new Promise<void>((resolve) => {
        check = () => highest >= version && resolve()
        check()
      }),
  }
}

test('a state is not seen before its commit, and waits for a change of its endpoint', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const { endpoints, states } = await openStore(database)
  await insertEndpoint(endpoints, endpointOf(1))
  const other = await openTransaction(database)
  await other.query('select 1 from endpoints for update')
  const written = states.append(idOf(1), stateOf('waits', 200))
  for (let turn = 0; turn < 20; turn += 1) assert.equal(await states.newest(idOf(1), EVERYTHING), undefined)
  await other.query('commit')
  await written
  assert.deepEqual(await states.newest(idOf(1), EVERYTHING), stateOf('waits', 200))
})

test(
  'writers of states and a removal on other instances never stop each other for good',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(database)))
    const [first] = stores
    assert.ok(first)
    const numbers = Array.from({ length: 8 }, (_, n) => n)
    for (const n of numbers) await insertEndpoint(first.endpoints, endpointOf(n))
    async function write({ states, endpoints }: (typeof stores)[number], side: number): Promise<void> {
      for (let round = 0; round < 60; round += 1) {
        const keys = numbers.flatMap((n) => [200, 201, 202].map((status) => ({ n, status })))
        // Each instance in another order.
        if (side % 2 === 1) keys.reverse()
        await Promise.all(keys.map(({ n, status }) => states.append(idOf(n), stateOf(`${side} ${round}`, status))))
        if (round === 30) assert.equal(await removeEndpoint(endpoints, endpointOf(side).document), 'stored')
      }
    }
    await Promise.all(stores.map(write))
    assert.equal(await first.states.newest(idOf(0), EVERYTHING), undefined)
    assert.ok(await first.states.newest(idOf(7), EVERYTHING))
  },
)

test('an older state never takes the place of a newer one', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const { endpoints, states } = await openStore(database)
  await insertEndpoint(endpoints, endpointOf(1))
  await states.append(idOf(1), stateOf('newer', 200))
  // As if its writer had drawn its number later than the one that comes now.
  await database.query(`update states set sequence = sequence + 100`)
  await states.append(idOf(1), stateOf('older', 200))
  assert.deepEqual(await states.newest(idOf(1), filterOf([[200, 200]])), stateOf('newer', 200))
})

for (const { clash, columns, record } of [
  { clash: 'name', columns: ['taken', 'GET /x'], record: endpointOf(1, { name: 'taken' }) },
  { clash: 'claim', columns: ['x', 'POST /taken/:'], record: endpointOf(1, {}, 'POST /taken/:') },
]) {
  test(
    `the unique index of each ${clash} decides, also against who does not ask first`,
    needsPostgres,
    async (test) => {
      const database = await freshDatabase(test)
      const { endpoints } = await openStore(database)
      await endpoints.list()
      const other = await openTransaction(database)
      await other.query('alter table endpoints disable trigger configuration_changed')
      await other.query(`insert into endpoints (id, name, document) values ('x', $1, '{}')`, columns.slice(0, 1))
      await other.query(`insert into endpoint_claims (endpoint_id, key) values ('x', $1)`, columns.slice(1))
      const inserted = insertEndpoint(endpoints, record)
      // It has found both free by then.
      while ((await database.query(`select 1 from pg_stat_activity where ${WAITS}`)).length === 0);
      await other.query('commit')
      assert.equal(await inserted, clash)
    },
  )
}

test('of two stores that take one route at once exactly one gets it', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const stores = await Promise.all([openStore(database), openStore(database)])
  const takeBoth = (n: number) =>
    Promise.all(
      stores.map((store, side) => insertEndpoint(store.endpoints, endpointOf(2 * n + side, {}, `POST /one/${n}/:`))),
    )
  // No more at once than stores have connections: on a busy machine others would wait for one for too long.
  for (let from = 0; from < 100; from += 10) {
    const pairs = await Promise.all(Array.from({ length: 10 }, (_, index) => takeBoth(from + index)))
    for (const results of pairs) assert.deepEqual(results.toSorted(), ['claim', 'stored'])
  }
  assert.equal((await database.query('select 1 from endpoints')).length, 100)
})

test('a lost connection costs the call that was on it, and no other', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const { endpoints } = await openStore(database)
  const other = await openTransaction(database)
  await other.query('select version from configuration for update')
  const lost = assert.rejects(insertEndpoint(endpoints, endpointOf(1)), StoreUnavailable)
  while ((await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${WAITS}`)).length === 0);
  await lost
  await other.query('rollback')
  assert.equal(await insertEndpoint(endpoints, endpointOf(1)), 'stored')
})

test('a lock that is held for too long is no hang', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const { endpoints } = await openStore(database)
  await insertEndpoint(endpoints, endpointOf(1))
  const other = await openTransaction(database)
  await other.query('lock table endpoints')
  await assert.rejects(endpoints.list(), StoreUnavailable)
  await other.query('rollback')
  assert.equal((await endpoints.list()).length, 1)
})

test(
  'a connection that breaks between two queries of a transaction ends nothing but that',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const connections = new Connections({ url: database.url, poolSize: 1, timeoutMs: 5_000, logger: silent })
    database.uses(() => connections.close())
    const backend = prepareText<undefined, { pid: number }>('select pg_backend_pid() as pid', () => [])
    const lost = connections.transaction(async (run) => {
      const [row] = await run(backend, undefined)
      await database.query('select pg_terminate_backend($1, 5000)', [row?.pid])
      // The end of the connection arrives while others are made.
      for (let turn = 0; turn < 20; turn += 1) await database.query('select 1')
      return run(backend, undefined)
    })
    await assert.rejects(lost, StoreUnavailable)
    assert.equal((await connections.run(backend, undefined)).length, 1)
  },
)

test('a call that waits for a connection waits for a new one when all are renewed', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const connections = new Connections({ url: database.url, poolSize: 1, timeoutMs: 5_000, logger: silent })
  database.uses(() => connections.close())
  const one = prepareText<undefined, { n: number }>('select 1 as n', () => [])
  const held = Promise.withResolvers<void>()
  database.uses(held.resolve)
  const holding = Promise.withResolvers<void>()
  const holder = connections.transaction(async (run) => {
    await run(one, undefined)
    holding.resolve()
    await held.promise
    return run(one, undefined)
  })
  await holding.promise
  const waiters = [1, 2, 3].map(() => connections.run(one, undefined))
  connections.renew()
  connections.renew()
  assert.deepEqual(await Promise.all(waiters), [[{ n: 1 }], [{ n: 1 }], [{ n: 1 }]])
  // What was under way goes on where it was.
  held.resolve()
  assert.deepEqual(await holder, [{ n: 1 }])
})

test(
  'connections that are ended at rest, at work and while they are made end nothing else',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const reported: string[] = []
    const logger = { ...silent, warn: (_: object, message: string) => void reported.push(message) }
    const connections = new Connections({ url: database.url, poolSize: 5, timeoutMs: 5_000, logger })
    database.uses(() => connections.close())
    const work = prepareText<undefined, never>('select pg_sleep(0.05)', () => [])
    const five = () => Promise.allSettled(Array.from({ length: 5 }, () => connections.run(work, undefined)))
    const endAll = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
    for (let round = 0; round < 10; round += 1) {
      await five()
      await database.query(endAll)
      const working = five()
      await database.query(endAll)
      for (const result of await working)
        assert.ok(result.status === 'fulfilled' || result.reason instanceof StoreUnavailable, inspect(result))
    }
    assert.ok(reported.includes('A connection to the store was lost'))
    // One that has just been ended may not know it yet.
    for (let attempt = 0; (await five()).some(({ status }) => status === 'rejected'); attempt += 1)
      assert.ok(attempt < 5, `attempt ${attempt}`)
  },
)
