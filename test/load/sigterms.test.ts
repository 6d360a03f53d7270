/** A service that is stopped under load loses nothing: the short form of `sigterms.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../crash/random.ts'
import { stopOften } from './sigterms.ts'

test('stopped twice under load: what was answered is done and recorded, and nothing else was done', async () => {
  const { answered, refused, untaken, ...faults } = await stopOften(2, createRandom(3))
  assert.ok(answered + refused + untaken > 0)
  assert.deepEqual(faults, { lost: [], wrong: [], unrecorded: 0, badEnds: 0 })
})
