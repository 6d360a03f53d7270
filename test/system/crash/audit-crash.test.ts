import assert from 'node:assert/strict'
import { it } from 'node:test'
import { describeDatabases } from '../../support/databases.ts'
import { compileAuditSubject } from './audit-subject.ts'
import { runCrashRounds } from './crash-rounds.ts'

const rounds = 5

describeDatabases('The audit log of a service that is killed', ({ withDatabase }) => {
  it(
    `has the entry of every change and no other, ${rounds} times`,
    withDatabase(async (database) => {
      const seed = Date.now() % 2 ** 31
      const summary = await runCrashRounds(compileAuditSubject(database), rounds, seed)
      assert.deepEqual(summary.violations, [], `seed ${seed}`)
      assert.equal(summary.rounds, rounds)
      assert.ok(summary.acknowledged >= rounds, `only ${summary.acknowledged} changes were acknowledged`)
    }),
  )
})
