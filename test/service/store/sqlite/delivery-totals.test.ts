/** The rows of the totals: they are as many as there are kinds of deliveries. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { deliveryOf, endOf } from '../../../support/contracts/deliveries.ts'
import { silent } from '../../../support/silent.ts'
import { freshPath } from '../../../support/store/folder.ts'

test('a purge deletes the totals of what is gone, whichever process counted it', async (context) => {
  const path = freshPath(context)
  const { deliveries, close } = await openSqliteStore({ path, logger: silent })
  context.after(close)
  const other = new DatabaseSync(path)
  context.after(() => other.close())
  const numbers = [1, 2, 3, 4]
  const targetOf = (number: number) => `http://${number}.example`
  await deliveries.accept(
    numbers.map((number) => deliveryOf(number, { target: targetOf(number) })),
    1e9,
  )
  other.exec('update delivery_totals set slot = 5')
  for (const number of numbers.slice(0, 3)) {
    const claimed = await deliveries.claim('a', targetOf(number), 1, 30_000)
    await deliveries.end(claimed.map((one) => endOf(one, number === 3 ? 'undeliverable' : 'delivered')))
  }
  await deliveries.purge(60_000, 10)
  const { counts } = await deliveries.totals()
  assert.deepEqual(
    other
      .prepare('select target, state, slot from delivery_totals order by target')
      .all()
      .map((row) => ({ ...row })),
    [
      { target: targetOf(1), state: 'delivered', slot: 0 },
      { target: targetOf(2), state: 'delivered', slot: 0 },
      { target: targetOf(3), state: 'undeliverable', slot: 0 },
      { target: targetOf(4), state: 'pending', slot: 5 },
    ],
  )
  assert.equal(counts.length, 4)
  await deliveries.purge(-60_000, 10)
  assert.equal(other.prepare('select count(*) as rows from delivery_totals').get()?.rows, 2)
})
