/** Faults of upstreams beside hostile documents lose no message: a short form of `ordeal.ts`, which judges times and memory too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOSTILE } from '../hostile/run.ts'
import { ordeal } from './ordeal.ts'

test('all faults and hostile documents at once: what is acknowledged has arrived, and every answer is right', async () => {
  // Compiling all of them takes longer than what is shown here; ../hostile/ sends each.
  const cases = HOSTILE.filter((_, at) => at % 6 === 0)
  const report = await ordeal({ seconds: 8, hostile: 2, faults: 20, seed: 1, cases })
  assert.deepEqual([report.lost, report.wrong], [[], []], JSON.stringify(report))
  const { others, deliveries, hostile, faults } = report.sent
  assert.ok(Math.min(others, deliveries, hostile, faults) > 0, JSON.stringify(report.sent))
})
