import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { EVERYTHING, endpointOf, filterOf, idOf, insertEndpoint, stateOf } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { assertSound, freshPath } from '../../../support/store/folder.ts'

/** A store with one endpoint, and the write lock of its file in other hands. */
async function lockedStore(test: TestContext, busyTimeoutMs: number) {
  const path = freshPath(test)
  const store = await openSqliteStore({ path, logger: silent, busyTimeoutMs })
  await insertEndpoint(store.endpoints, endpointOf(1))
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  return { path, store, other }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

it('waits for the lock of another connection without holding up the thread', async (test) => {
  const { path, store, other } = await lockedStore(test, 30_000)
  let done = 0
  const writes = [store.states.append(idOf(1), stateOf('waited', 200)), insertEndpoint(store.endpoints, endpointOf(2))]
  for (const write of writes) write.then(() => done++)
  const started = performance.now()
  for (let turn = 0; turn < 50; turn++) {
    await tick()
    assert.equal(await store.states.newest(idOf(1), EVERYTHING), undefined)
  }
  assert.ok(performance.now() - started < 15_000, 'a write that waits must not block the thread')
  assert.equal(done, 0)
  other.exec('COMMIT')
  await Promise.all(writes)
  assert.deepEqual(await store.states.newest(idOf(1), EVERYTHING), stateOf('waited', 200))
  other.close()
  await store.close()
  assertSound(path)
})

it('gives up on a lock in time, and goes on when it is free', async (test) => {
  const { path, store, other } = await lockedStore(test, 100)
  const writes = [1, 2, 3].map((n) => store.states.append(idOf(1), stateOf(`given up ${n}`, n)))
  for (const result of await Promise.allSettled(writes)) {
    assert.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable)
    assert.match(result.reason.message, /another process has held its lock for 100 ms/)
  }
  other.exec('ROLLBACK')
  other.close()
  await store.states.append(idOf(1), stateOf('free', 200))
  assert.deepEqual(await store.states.newest(idOf(1), EVERYTHING), stateOf('free', 200))
  assert.equal(await store.states.newest(idOf(1), filterOf([[1, 3]])), undefined)
  await store.close()
  assertSound(path)
})

it('closes within the timeout while the lock is in other hands', async (test) => {
  const { store, other } = await lockedStore(test, 100)
  const write = assert.rejects(store.states.append(idOf(1), stateOf('given up', 200)), StoreUnavailable)
  await store.close()
  await write
  other.close()
})

it('waits for a lock at the start, and says so where it stays', async (test) => {
  const path = freshPath(test)
  const other = new DatabaseSync(path)
  // Not in WAL mode yet: SQLite answers the change to it with `busy` at once.
  other.exec('CREATE TABLE other (n INTEGER); BEGIN IMMEDIATE; INSERT INTO other VALUES (1)')
  await assert.rejects(openSqliteStore({ path, logger: silent, busyTimeoutMs: 100 }), (thrown) => {
    assert.ok(thrown instanceof StoreUnavailable)
    assert.match(thrown.message, /cannot be opened: another process holds its lock; /)
    return true
  })
  const opening = openSqliteStore({ path, logger: silent })
  other.exec('ROLLBACK')
  other.close()
  const store = await opening
  await store.endpoints.ping()
  await store.close()
})

it('sees what another store on the file wrote, and orders states over both', async (test) => {
  const path = freshPath(test)
  const one = await openSqliteStore({ path, logger: silent })
  const other = await openSqliteStore({ path, logger: silent })
  await insertEndpoint(one.endpoints, endpointOf(1))
  assert.equal(await insertEndpoint(other.endpoints, endpointOf(2, { name: 'endpoint 1' })), 'name')
  for (let n = 0; n < 20; n++) {
    const writing = n % 2 === 0 ? one : other
    await writing.states.append(idOf(1), stateOf(`${n}`, 200 + n))
    for (const store of [one, other])
      assert.deepEqual(await store.states.newest(idOf(1), EVERYTHING), stateOf(`${n}`, 200 + n))
  }
  await Promise.all([one.close(), other.close()])
  assertSound(path)
})

it('lets several processes start at once on a new file and write together', async (test) => {
  const path = freshPath(test)
  const writer = fileURLToPath(new URL('../../../support/store/writing-process.ts', import.meta.url))
  const processes = [1, 2, 3].map((number) =>
    spawn(process.execPath, [writer, path, `${number * 1_000}`, '30'], { stdio: ['ignore', 'inherit', 'inherit'] }),
  )
  const codes = await Promise.all(processes.map(async (each) => (await once(each, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0, 0])
  const store = await openSqliteStore({ path, logger: silent })
  const ids = (await store.endpoints.list()).map(({ _id }) => _id)
  assert.deepEqual(
    ids,
    [1_000, 2_000, 3_000].flatMap((from) => Array.from({ length: 30 }, (_, n) => idOf(from + n))),
  )
  for (const id of ids) assert.deepEqual(await store.states.newest(id, EVERYTHING), stateOf(id, 200))
  await store.close()
  assertSound(path)
})
