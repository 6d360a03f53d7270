/** The service holds no more after many messages and changes than before: a minute of `soak.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { riseOf } from './line-fit.ts'
import { soak } from './soak.ts'

test('a minute of messages and changes: every answer is right, and nothing is held', async () => {
  const report = await soak({ seconds: 60, messagesPerSecond: 50, changesPerSecond: 10, samples: 30, warmUpShare: 0.2 })
  const reported = JSON.stringify(report)
  assert.deepEqual(report.wrong, [], reported)
  assert.ok(report.sent > 0 && report.changes > 2, reported)
  // Code is still compiled in so short a time; what stays of a message would be far more than this.
  assert.ok(report.heapRiseMb < 10, reported)
  assert.ok(report.descriptorsRise < 16, reported)
})

test('the rise of a line is found under what varies around it', () => {
  const points = Array.from({ length: 60 }, (_, at) => ({ at, value: 100 + at / 10 + (at % 2) }))
  assert.ok(Math.abs(riseOf(points) - 5.9) < 0.1)
  assert.equal(riseOf(points.map(({ at }) => ({ at, value: 7 }))), 0)
  assert.equal(riseOf([{ at: 1, value: 1 }]), 0)
})
