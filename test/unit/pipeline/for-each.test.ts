import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mapItems, settleAll } from '../../../src/pipeline/requests/for-each.ts'
import fc from '../../support/fast-check.ts'

/** Work of which each piece takes as many turns of the event loop as its item says. */
async function take(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

const turns = fc.array(fc.nat({ max: 4 }), { maxLength: 20 })
const concurrency = fc.integer({ min: 1, max: 25 })

describe('mapItems', () => {
  it('gives results in the order of the items, and works on as many at once as it may', async () => {
    await fc.assert(
      fc.asyncProperty(turns, concurrency, async (items, most) => {
        let underWay = 0
        let highest = 0
        const started: number[] = []
        const results = await mapItems(items, most, async (item, index) => {
          started.push(index)
          underWay += 1
          highest = Math.max(highest, underWay)
          await take(item)
          underWay -= 1
          return `${index}: ${item}`
        })
        assert.deepEqual(
          results,
          items.map((item, index) => `${index}: ${item}`),
        )
        assert.deepEqual(started, [...items.keys()])
        assert.equal(highest, Math.min(items.length, most))
      }),
      { numRuns: 60 },
    )
  })

  it('starts nothing after a failure, waits for what is under way, and throws for the first item that failed', async () => {
    const pieces = fc.array(fc.record({ turns: fc.nat({ max: 4 }), fails: fc.boolean() }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(pieces, concurrency, async (items, most) => {
        const failed: number[] = []
        let underWay = 0
        let failureIsKnown = false
        let startedAfterFailure = false
        const pending = mapItems(items, most, async ({ turns, fails }, index) => {
          startedAfterFailure ||= failureIsKnown
          underWay += 1
          await take(turns)
          underWay -= 1
          if (!fails) return
          failed.push(index)
          setImmediate(() => {
            failureIsKnown = true
          })
          throw new Error(`item ${index}`)
        })
        const outcome = await pending.then(
          () => 'done',
          (error: Error) => error.message,
        )
        assert.equal(underWay, 0)
        assert.equal(startedAfterFailure, false)
        assert.equal(outcome, failed.length === 0 ? 'done' : `item ${Math.min(...failed)}`)
        assert.equal(
          failed.length === 0,
          items.every(({ fails }) => !fails),
        )
      }),
      { numRuns: 60 },
    )
  })
})

describe('settleAll', () => {
  it('waits for all, and throws for the first in the order given', async () => {
    const done: string[] = []
    const piece = async (name: string, turns: number, fails: boolean) => {
      await take(turns)
      done.push(name)
      if (fails) throw new Error(name)
      return name
    }
    const join = (results: readonly string[]) => results.join()
    assert.equal(await settleAll([piece('a', 3, false), piece('b', 1, false)], join), 'a,b')
    assert.equal(await settleAll([piece('only', 1, false)], join), 'only')
    const failing = [piece('c', 1, false), piece('d', 4, true), piece('e', 2, true), piece('f', 6, false)]
    await assert.rejects(settleAll(failing, join), { message: 'd' })
    assert.deepEqual(done, ['b', 'a', 'only', 'c', 'e', 'd', 'f'])
    assert.equal(await settleAll([], join), '')
    const refuse = () => assert.fail('refused')
    for (const pending of [[piece('g', 1, false)], [piece('h', 1, false), piece('i', 1, false)]]) {
      await assert.rejects(settleAll(pending, refuse), { message: 'refused' })
    }
  })
})
