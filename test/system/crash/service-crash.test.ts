import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshFolder } from '../../support/spawned-service.ts'
import { runCrashRounds } from './crash-rounds.ts'
import { compileServiceSubject } from './service-subject.ts'

const rounds = 8

it(`the service loses nothing that it acknowledged when it is killed, ${rounds} times`, async (test) => {
  const seed = Date.now() % 2 ** 31
  const summary = await runCrashRounds(compileServiceSubject(freshFolder(test)), rounds, seed)
  assert.deepEqual(summary.violations, [], `seed ${seed}`)
  assert.equal(summary.rounds, rounds)
  assert.ok(summary.acknowledged >= rounds, `only ${summary.acknowledged} calls were acknowledged`)
})
