import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshPath } from '../../support/store/folder.ts'
import { runCrashRounds } from './crash-rounds.ts'
import { compileStoreSubject } from './store-subject.ts'

const rounds = 10

it(`loses nothing that was acknowledged when it is killed, ${rounds} times`, async (test) => {
  const seed = Date.now() % 2 ** 31
  const summary = await runCrashRounds(compileStoreSubject(freshPath(test)), rounds, seed)
  assert.deepEqual(summary.violations, [], `seed ${seed}`)
  assert.equal(summary.rounds, rounds)
  assert.ok(summary.acknowledged >= rounds, `only ${summary.acknowledged} operations were acknowledged`)
})
