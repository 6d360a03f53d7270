/** How SQLite finds the rows of deliveries: a statement that reads all that wait holds up every message. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { deliveryOf, endOf, TARGET } from '../../../support/contracts/deliveries.ts'
import { idOf } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { freshPath } from '../../../support/store/folder.ts'

/** All that are stored or, by the state alone, all that wait. */
const READS_ALL = /^SCAN (deliver\w*|earlier|last)|deliveries_by_state \(state=\?\)/
/** The oldest of a state, the newest ones, and the sums. */
const STOPS_EARLY = /^\s*select (accepted|deliveries\.\*, case|sum\(bytes\)|endpoint_id, request_id)/

test('no statement of the store of deliveries reads all deliveries or lanes', async (context) => {
  const path = freshPath(context)
  const texts = new Set<string>()
  const { prepare } = DatabaseSync.prototype
  context.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    if (/deliver/.test(text)) texts.add(text)
    return prepare.call(this, text)
  })
  const store = await openSqliteStore({ path, logger: silent })
  const { deliveries } = store
  try {
    const ids = Array.from({ length: 9 }, (_, number) => idOf(number))
    await deliveries.accept(
      ids.map((_, number) => deliveryOf(number)),
      1e9,
    )
    await deliveries.dueTargets(10)
    const claimed = await deliveries.claim('sender', TARGET, 5, 30_000)
    const leases = claimed.map(({ delivery: { id }, lease }) => ({ id, lease }))
    await deliveries.renew(leases, 30_000)
    await deliveries.end(claimed.map((one) => endOf(one, 'delivered')))
    await deliveries.claim('sender', TARGET, 5, 30_000, 1)
    await deliveries.retry(ids, { body: 'other' })
    await deliveries.cancel(ids)
    await deliveries.get(idOf(1))
    await deliveries.content(idOf(1))
    await deliveries.totals()
    await deliveries.list({ state: 'pending' }, 10)
    await deliveries.purge(-1, 10)
  } finally {
    await store.close()
    context.mock.restoreAll()
  }
  assert.ok(texts.size > 20, `only ${texts.size} statements were seen`)

  const db = new DatabaseSync(path)
  const faults = [...texts].filter(
    (text) => !STOPS_EARLY.test(text) && plan(db, text).some((line) => READS_ALL.test(line)),
  )
  db.close()
  assert.deepEqual(faults, [])
})

const plan = (db: DatabaseSync, text: string): readonly string[] =>
  db
    .prepare(`explain query plan ${text}`)
    .all()
    .map(({ detail }) => String(detail))
