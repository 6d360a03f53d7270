/** What is killed at any moment, again and again: all that it acknowledged is there afterwards, and nothing in part. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { freshFolder } from '../../support/spawned-service.ts'
import { freshPath } from '../../support/store/folder.ts'
import { compileBatchSubject } from './batch-subject.ts'
import { type CrashSubject, runCrashRounds } from './crash-rounds.ts'
import { compileServiceSubject } from './service-subject.ts'
import { compileStoreSubject } from './store-subject.ts'

const SUBJECTS: readonly Readonly<{ name: string; rounds: number; subject(test: TestContext): CrashSubject }>[] = [
  {
    name: 'a batch is there whole or not at all',
    rounds: 10,
    subject: (test) => compileBatchSubject(freshFolder(test)),
  },
  { name: 'the service has lost nothing', rounds: 8, subject: (test) => compileServiceSubject(freshFolder(test)) },
  { name: 'the store has lost nothing', rounds: 10, subject: (test) => compileStoreSubject(freshPath(test)) },
]
for (const { name, rounds, subject } of SUBJECTS) {
  it(`killed ${rounds} times, ${name}`, async (test) => {
    const seed = Date.now() % 2 ** 31
    const summary = await runCrashRounds(subject(test), rounds, seed)
    assert.deepEqual(summary.violations, [], `seed ${seed}`)
    assert.equal(summary.rounds, rounds)
    assert.ok(summary.acknowledged >= rounds, `only ${summary.acknowledged} operations were acknowledged`)
  })
}
