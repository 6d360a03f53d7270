/** What a process hears of the changes that others make to a file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import type { Store, StoreChanges } from '../../../../src/store/store.ts'
import {
  endpointOf,
  idOf,
  insertEndpoint,
  removeEndpoint,
  replaceEndpoint,
} from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { freshPath, lookInto } from '../../../support/store/folder.ts'

type Shared = Required<Store>

async function open(path: string): Promise<Shared> {
  const store = await openSqliteStore({ path, logger: silent, shared: true })
  assert.ok(store.changes)
  return { ...store, changes: store.changes }
}

const brief = ({ documents, versions, ids }: StoreChanges) => ({
  changed: documents.map(({ _id, description }) => [Number.parseInt(_id, 16), description, versions.get(_id)]),
  ids: [...ids].map((id) => Number.parseInt(id, 16)),
})

test('reports each change that another process has made, and nothing where there is none', async (t) => {
  const path = freshPath(t)
  const [one, other] = [await open(path), await open(path)] as const
  const start = await one.changes.since(0)
  assert.deepEqual(brief(start), { changed: [], ids: [] })
  assert.ok(start.version > 0)

  for (const number of [1, 2, 3]) await insertEndpoint(other.endpoints, endpointOf(number))
  const first = await one.changes.since(start.version)
  assert.deepEqual(brief(first), {
    changed: [
      [1, undefined, 1],
      [2, undefined, 1],
      [3, undefined, 1],
    ],
    ids: [1, 2, 3],
  })
  assert.deepEqual(brief(await one.changes.since(first.version)), { changed: [], ids: [] })

  const changed = endpointOf(2, { description: 'changed' })
  await replaceEndpoint(other.endpoints, changed, endpointOf(2).document)
  await removeEndpoint(other.endpoints, endpointOf(1).document)
  const second = await one.changes.since(first.version)
  assert.deepEqual(brief(second), { changed: [[2, 'changed', 2]], ids: [2, 3] })
  assert.ok(second.version > first.version)
  // Everything, for an instance that knows nothing, and the same in the process that made the changes.
  for (const store of [one, other]) {
    const all = {
      changed: [
        [2, 'changed', 2],
        [3, undefined, 1],
      ],
      ids: [2, 3],
    }
    assert.deepEqual(brief(await store.changes.since(0)), all)
  }
  await removeEndpoint(other.endpoints, changed.document)
  await removeEndpoint(other.endpoints, endpointOf(3).document)
  const last = await one.changes.since(second.version)
  assert.deepEqual([brief(last), last.version > second.version], [{ changed: [], ids: [] }, true])
  await Promise.all([one.close(), other.close()])
})

test('a change that failed is none, and a state is none', async (t) => {
  const store = await open(freshPath(t))
  await insertEndpoint(store.endpoints, endpointOf(1))
  const { version } = await store.changes.since(0)
  assert.equal(await insertEndpoint(store.endpoints, endpointOf(2, { name: 'endpoint 1' })), 'name')
  await store.states.append(idOf(1), { values: {}, lookupStatus: 200, networkError: false })
  assert.equal((await store.changes.since(version)).version, version)
  await store.close()
})

test('an endpoint whose versions were removed is reported to an instance that knows nothing', async (t) => {
  const path = freshPath(t)
  const store = await open(path)
  await insertEndpoint(store.endpoints, endpointOf(1))
  lookInto(path, (db) => db.exec('delete from endpoint_versions'))
  assert.deepEqual(brief(await store.changes.since(0)), { changed: [[1, undefined, 1]], ids: [1] })
  await store.close()
})

test('reports by itself what no other process has reported, until it is closed', async (t) => {
  const path = freshPath(t)
  const [one, other] = [await open(path), await open(path)] as const
  const reported: number[] = []
  t.mock.timers.enable({ apis: ['setInterval'] })
  one.changes.watch((version) => reported.push(version))
  await insertEndpoint(other.endpoints, endpointOf(1))
  assert.deepEqual(reported, [])
  t.mock.timers.tick(5_000)
  assert.deepEqual(reported, [(await other.changes.since(0)).version])
  await Promise.all([one.close(), other.close()])
  t.mock.timers.tick(5_000)
  assert.equal(reported.length, 1)
})

test('a file that is not shared has no feed', async (t) => {
  const store = await openSqliteStore({ path: freshPath(t), logger: silent })
  assert.equal(store.changes, undefined)
  await store.close()
})
