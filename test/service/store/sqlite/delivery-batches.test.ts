/** Messages that are accepted together, when the database fails for one of them. */
import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { deliveryOf } from '../../../support/contracts/deliveries.ts'
import { silent } from '../../../support/silent.ts'

test('each of a batch is settled if the size of the store cannot be read between two of them', async (context) => {
  const { prepare } = DatabaseSync.prototype
  let reads = 0
  context.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    const statement = prepare.call(this, text)
    if (!text.includes('select sum(bytes) as bytes')) return statement
    const all = statement.all.bind(statement)
    context.mock.method(statement, 'all', (...given: SQLInputValue[]) => {
      reads += 1
      if (reads === 2) throw new TypeError('no sum')
      return all(...given)
    })
    return statement
  })
  const { deliveries, close } = await openSqliteStore({ path: ':memory:', logger: silent })
  context.after(close)
  const rooms = [1e9, 1, 1e9]
  const results = await Promise.all(rooms.map((room, index) => deliveries.accept([deliveryOf(index + 1)], room)))
  assert.deepEqual(results, ['accepted', 'full', 'accepted'])
  assert.ok(reads > 2, `${reads} reads`)
})
