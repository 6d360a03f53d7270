/** Runs checks on random inputs, and counts them. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { assertObjectsClean, assertPrototypesUnchanged } from './prototypes.ts'

/** All of them where everything is checked, a tenth of each kind otherwise. */
const SHARE = process.env.CI ? 1 : 0.1
let tried = 0

/**
 * Runs `check` on that many inputs, of which each run takes `each`. `check` gives whether the input came past the first
 * refusal; fails where a smaller share than `deep` did, for then hardly anything was tried.
 */
export async function fuzz<T>(
  { inputs, each = 1, deep = 0 }: Readonly<{ inputs: number; each?: number; deep?: number }>,
  arbitrary: fc.Arbitrary<T>,
  check: (input: T) => Promise<boolean>,
): Promise<void> {
  const numRuns = Math.round((inputs * SHARE) / each)
  let came = 0
  const property = fc.asyncProperty(arbitrary, async (input) => {
    tried += each
    if (await check(input)) came += 1
    assertObjectsClean()
  })
  await fc.assert(property, { numRuns })
  assert.ok(came / numRuns > deep, `only ${came} of ${numRuns} inputs came past the first refusal`)
}

/** Checks that as many inputs were tried as should have been, and left no trace; gives their number. */
export function finish(inputs: number): number {
  assertPrototypesUnchanged()
  assert.equal(tried, inputs * SHARE)
  return tried
}
