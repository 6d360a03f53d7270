/** Lists of endpoints at the same time, of a store that fails. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEndpointReads } from '../../../src/endpoints/endpoint-reads.ts'
import type { EndpointStore } from '../../../src/store/sql/endpoint-store.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'

/** A store without endpoints whose first access rejects. */
function openReads(fault: Error) {
  const store = { accesses: 0 }
  const page = async () => {
    store.accesses += 1
    if (store.accesses === 1) throw fault
    return []
  }
  const reads = createEndpointReads({ page } as unknown as EndpointStore)
  const list = () => Array.fromAsync(reads.list([])).catch(({ code, message }) => code ?? message)
  return { store, list }
}

test('lists that wait behind one that finds the store unavailable fail with it; a later one asks again', async () => {
  const { store, list } = openReads(new StoreUnavailable('It did not answer.'))
  assert.deepEqual(await Promise.all([list(), list(), list(), list()]), Array(4).fill('STORE_UNAVAILABLE'))
  assert.equal(store.accesses, 1)
  assert.deepEqual(await list(), [])
})

test('any other fault is that of its list alone', async () => {
  const { list } = openReads(new Error('unreadable'))
  assert.deepEqual(await Promise.all([list(), list()]), ['unreadable', []])
})
