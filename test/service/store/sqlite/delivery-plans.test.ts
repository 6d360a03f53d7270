/** How SQLite finds the rows of deliveries: a statement that reads all that wait holds up every message. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { DeliveryFilter } from '../../../../src/store/sql/delivery-store.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { deliveryOf, endOf, TARGET } from '../../../support/contracts/deliveries.ts'
import { idOf } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { freshPath } from '../../../support/store/folder.ts'

/** All that are stored or, by the state alone, all that wait. */
const READS_ALL = /^SCAN (deliver\w*|earlier|last)|deliveries_by_state \(state=\?\)/
/** The oldest of a state, a part of a list, and the sums. */
const STOPS_EARLY = /^\s*select (accepted|min\(sequence\)|sum\(bytes\)|endpoint_id, request_id)|as part cross join/

const FILTERS: readonly DeliveryFilter[] = [
  {},
  { state: 'pending' },
  { endpointId: idOf(1), state: 'undeliverable', target: TARGET },
  { endpointId: idOf(1), messageId: idOf(2) },
]

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
    for (const filter of FILTERS) await deliveries.list(filter, 10)
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
  const parts = [...texts].filter((text) => text.includes('as part cross join'))
  const plans = parts.map((text) => plan(db, text))
  db.close()
  assert.deepEqual(faults, [])
  assert.equal(plans.length, FILTERS.length)
  for (const lines of plans)
    assert.ok(lines.includes('SEARCH deliveries USING INTEGER PRIMARY KEY (rowid=?)'), `${lines}`)
  assert.ok(
    plans.at(-1)?.some((line) => line.includes('deliveries_of_message (message_id=?)')),
    `${plans.at(-1)}`,
  )
})

test('other work runs while a list looks for what is not there', async () => {
  const { deliveries, close } = await openSqliteStore({ path: ':memory:', logger: silent })
  const many = Array.from({ length: 500 }, (_, number) => deliveryOf(number))
  await deliveries.accept(many, 1e9)
  let turns = 0
  const count = (): void => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  try {
    assert.deepEqual(await deliveries.list({ target: 'none' }, 10), [])
    assert.ok(turns >= 3, `${turns} turns of the event loop`)
  } finally {
    clearImmediate(next)
    await close()
  }
})

const plan = (db: DatabaseSync, text: string): readonly string[] =>
  db
    .prepare(`explain query plan ${text}`)
    .all()
    .map(({ detail }) => String(detail))
