/** How much of the samples, and of the documents that people run where they are there, is found from 3 and from 10 pairs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONG } from '../../support/form.ts'
import { measure, NAMES } from './measure.ts'
import { SHAPES } from './shapes.ts'

/** Shares of the leaves of 20 further messages, as the mean of the documents. `wrong`: at places that pairs have, without a question. */
const GOALS = [
  { pairs: 3, right: 0.9, wrong: 0 },
  { pairs: 10, right: 0.97, wrong: 0 },
]

for (const { pairs, right, wrong } of GOALS) {
  test(`documents are found from ${pairs} pairs`, async (context) => {
    const shares: { name: string; right: number; wrong: number }[] = []
    for (const name of NAMES) {
      for (const seed of LONG && SHAPES[name] !== undefined ? [1, 2, 3] : [1]) {
        const found = await measure(name, pairs, seed)
        if (found === undefined) continue
        shares.push({
          name: `${name}, seed ${seed}`,
          right: found.right / found.leaves,
          wrong: (found.wrong - found.unseen) / found.leaves,
        })
      }
    }
    for (const one of shares) {
      context.diagnostic(`${one.name}: right ${percent(one.right)}, wrong without a question ${percent(one.wrong)}`)
    }
    const mean = (of: (one: (typeof shares)[number]) => number) =>
      shares.reduce((sum, one) => sum + of(one), 0) / shares.length
    assert.ok(mean((one) => one.right) >= right, `right: ${percent(mean((one) => one.right))}`)
    assert.ok(mean((one) => one.wrong) <= wrong, `wrong: ${percent(mean((one) => one.wrong))}`)
  })
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
