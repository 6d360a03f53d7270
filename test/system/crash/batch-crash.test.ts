import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshFolder } from '../../support/spawned-service.ts'
import { compileBatchSubject } from './batch-subject.ts'
import { runCrashRounds } from './crash-rounds.ts'

const rounds = 10

it(`a service that is killed has all of a batch or nothing of it, ${rounds} times`, async (test) => {
  const seed = Date.now() % 2 ** 31
  const summary = await runCrashRounds(compileBatchSubject(freshFolder(test)), rounds, seed)
  assert.deepEqual(summary.violations, [], `seed ${seed}`)
  assert.equal(summary.rounds, rounds)
  assert.ok(summary.acknowledged >= rounds, `only ${summary.acknowledged} batches were acknowledged`)
})
