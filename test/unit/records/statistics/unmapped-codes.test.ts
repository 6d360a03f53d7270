/** The counts of missed codes before they are stored. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MissCounts } from '../../../../src/records/statistics/unmapped-codes.ts'
import type { Misses } from '../../../../src/store/sql/unmapped-store.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'
import { idOf } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'

test('misses add up until they are stored, in bounded space', async (test) => {
  const stored: (readonly Misses[])[] = []
  let isAway = true
  const add = async (misses: readonly Misses[]) => {
    if (isAway) throw new StoreUnavailable('away')
    stored.push(misses)
  }
  const counts = new MissCounts({ add }, silent)
  test.after(() => counts.close())
  const miss = (code: string, number = 1) =>
    counts.count({ id: idOf(number), endpointId: idOf(9), missed: [{ table: 'sex', column: 'fhir', code }] })
  for (let number = 1; number <= 30; number += 1) miss('M', number)
  await assert.rejects(counts.write(), StoreUnavailable)
  for (let code = 0; code < 10_000; code += 1) miss(`${code}`)
  miss('M', 31)
  miss('further')
  isAway = false
  await counts.write()
  await counts.write()
  assert.equal(stored.length, 1)
  const [misses = []] = stored
  const [first] = misses
  assert.deepEqual([first?.code, first?.count, first?.messages.length, first?.messages[0]], ['M', 31, 20, idOf(31)])
  const rest = misses.filter(({ column }) => column === '')
  assert.deepEqual(
    rest.map(({ count, messages }) => [count, messages]),
    [[2, []]],
  )
  assert.equal(misses.length, 10_001)
  assert.deepEqual([...counts.totals], [['sex', 10_032]])
})
