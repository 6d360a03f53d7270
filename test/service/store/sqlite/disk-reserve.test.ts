/** The message log on a disk with less free space than its reserve: the free space of this disk, compared with reserves around it. */
import assert from 'node:assert/strict'
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createMessageStore, messagePath } from '../../../../src/store/sqlite/message-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { recordedAt, withBodies } from '../../../support/contracts/message-records.ts'
import { freshPath } from '../../../support/store/folder.ts'

const RECORDS = 60
const BODY = 'x'.repeat(64 * 1024)
const NO_LIMIT = 1e12

/** `share`: the reserve as a share of the free space; one above 1 is not met, one of 2 or more is missing by half. */
function openAt(test: TestContext, path: string, share: number) {
  const { bavail, bsize } = statfsSync(dirname(path))
  const store = createMessageStore(path, bavail * bsize * share)
  test.after(store.close)
  return { store, file: messagePath(path) }
}

const batch = (from: number) =>
  Array.from({ length: RECORDS }, (_, at) => withBodies(recordedAt(from + at), { request: BODY }))

test('below the reserve the oldest records go and the disk gets their space; new ones are stored', async (test) => {
  const path = freshPath(test)
  const roomy = openAt(test, path, 0.5)
  await roomy.store.append(batch(0))
  assert.equal(await roomy.store.purge(0, NO_LIMIT), 0)
  await roomy.store.close()
  const before = statSync(roomy.file).size
  const { store, file } = openAt(test, path, 1.3)
  let removed = 0
  for (let count = -1; count !== 0; removed += count) count = await store.purge(0, NO_LIMIT)
  assert.ok(removed > RECORDS / 2, `removed ${removed}`)
  assert.ok(statSync(file).size < before / 2, `${statSync(file).size} of ${before} bytes`)
  await store.append(batch(RECORDS).slice(0, 1))
  await store.ping()
})

test('below half of it no new record is stored, and those that are there can be read', async (test) => {
  const path = freshPath(test)
  const roomy = openAt(test, path, 0.5)
  await roomy.store.append(batch(0).slice(0, 1))
  await roomy.store.close()
  const { store } = openAt(test, path, 3)
  await assert.rejects(store.append(batch(1)), StoreUnavailable)
  await assert.rejects(store.appendDone(Buffer.from('')), StoreUnavailable)
  await assert.rejects(store.ping(), /MESSAGE_LOG_DISK_RESERVE_MB/)
  assert.equal((await store.find({}, 10)).length, 1)
})
