/** A service that is stopped under load loses nothing: some rounds of ../load/sigterms.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../crash/random.ts'
import { stopOften } from '../load/sigterms.ts'

const ROUNDS = 6

test(`stopped ${ROUNDS} times under load: what was answered is done and recorded, and nothing else was done`, async () => {
  const { answered, idleRounds, refused, untaken, ...faults } = await stopOften(ROUNDS, createRandom(3))
  // A service that refused everything would lose nothing either.
  assert.ok(idleRounds <= ROUNDS / 2, `in ${idleRounds} rounds nothing was answered before the signal`)
  assert.ok(answered >= ROUNDS, `${answered} were answered, ${refused} refused, ${untaken} not taken`)
  assert.deepEqual(faults, { lost: [], wrong: [], unrecorded: 0, badEnds: 0 })
})
