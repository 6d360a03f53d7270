/** The service holds no more after many messages and changes than before: some seconds of `soak.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { soak } from './soak.ts'

test('messages and changes: every answer is right, and nothing is held', async () => {
  const report = await soak({ seconds: 16, messagesPerSecond: 50, changesPerSecond: 10, samples: 16, warmUpShare: 0.2 })
  const reported = JSON.stringify(report)
  assert.deepEqual(report.wrong, [], reported)
  assert.ok(report.sent > 0 && report.changes > 2, reported)
  // Code is still compiled in so short a time; what stays of a message would be far more than this.
  assert.ok(report.heapRiseMb < 10, reported)
  assert.ok(report.descriptorsRise < 16, reported)
})
