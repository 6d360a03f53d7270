import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logManyMessages } from './full-load.ts'

test('at full load no record of a failure is missing', async () => {
  const { failures, failuresKept } = await logManyMessages(10_000, 1_024)
  assert.ok(failures >= 1_000)
  assert.equal(failuresKept, failures)
})

test('at full load the log keeps its size, by removing the oldest records alone, and the heap comes back', async () => {
  const report = await logManyMessages(20_000, 4)
  assert.equal(report.failuresMissing, 0)
  assert.ok(report.failuresKept > 0 && report.failuresKept < report.failures, JSON.stringify(report))
  // The log beside its file takes what SQLite writes between two checkpoints.
  assert.ok(report.logMb < 4 + 8, JSON.stringify(report))
  assert.ok(report.heapGrowthMb < 20, JSON.stringify(report))
})
