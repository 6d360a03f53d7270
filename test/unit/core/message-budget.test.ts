import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudgets } from '../../../src/core/message-budget.ts'

const KIB = 1024
const open = () => createBudgets({ parserLimitBytes: KIB, messageMaxBytes: 1000 * KIB, inFlightMaxBytes: 1200 * KIB })

test('what a message shares comes back when it ends, once, and it takes nothing afterwards', () => {
  const newBudget = open()
  for (let message = 0; message < 10; message += 1) {
    const budget = newBudget()
    assert.equal(budget.take(900 * KIB), true)
    budget.release()
    assert.equal(budget.take(1), false)
    budget.release()
  }
  const [one, other] = [newBudget(), newBudget()]
  assert.deepEqual([one.take(1000 * KIB), other.take(700 * KIB), other.take(13 * KIB)], [true, true, false])
})

test('a refusal for the shared bytes stays one, whatever is taken before it is asked for', () => {
  const newBudget = open()
  const [one, other] = [newBudget(), newBudget()]
  one.spend(1000 * KIB, 'a')
  assert.deepEqual([other.take(900 * KIB), other.take(10)], [false, true])
  assert.equal(other.refusal('requests.lookup[0]').code, 'BUDGET_EXHAUSTED')
})

test('a failure names the budget that did not suffice', () => {
  const newBudget = open()
  const [one, other] = [newBudget(), newBudget()]
  one.spend(1000 * KIB, 'a')
  const code = (bytes: number): string | undefined => {
    try {
      other.spend(bytes, 'requests.lookup[0]')
      return undefined
    } catch (thrown) {
      return (thrown as { code: string }).code
    }
  }
  assert.deepEqual([code(900 * KIB), code(1001 * KIB), code(10)], ['BUDGET_EXHAUSTED', 'MESSAGE_TOO_COSTLY', undefined])
})
