/** The short form of ../load/full-load.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeDatabases } from '../../../support/databases.ts'
import { assertKept, logManyMessages } from '../../load/full-load.ts'

describeDatabases('at full load', ({ withDatabase }) => {
  test(
    'the log keeps its size, by removing the oldest records alone, and the heap comes back',
    withDatabase(async (database) => {
      const report = await logManyMessages(database, 5_000, 2)
      assertKept(report)
      assert.ok(report.failuresKept > 0 && report.failuresKept < report.failures, JSON.stringify(report))
    }),
  )
})
