/** Both programs of this folder in short: that they work, and bounds that no other work on the machine explains. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runHostileCallers } from './hostile-callers.ts'
import { ROWS, runRow } from './hostile-costs/run.ts'

/** Before the bounds, the rows took seconds and gigabytes. */
const MAX_WAIT_MS = 1_000
const MAX_MORE_MB = 400

test('no message takes the service', { timeout: 240_000 }, async (t) => {
  for (const row of ROWS.filter(({ group }) => group === 'requests' || group === 'validation')) {
    const { result, maxMs, moreMb } = await runRow(row)
    t.diagnostic(`${row.name}: ${maxMs.toFixed(0)} ms, ${moreMb.toFixed(0)} MB, ${result}`)
    assert.ok(maxMs < MAX_WAIT_MS && moreMb < MAX_MORE_MB, `${row.name}: ${maxMs} ms, ${moreMb} MB`)
  }
})

test('hostile viewers, authors and senders get no answer that the docs do not explain', {
  timeout: 120_000,
}, async () => {
  const { unexplained, othersWrong, calls } = await runHostileCallers(8, 1)
  assert.deepEqual([unexplained, othersWrong], [[], []])
  assert.ok(calls.viewer > 0 && calls.author > 0 && calls.sender > 0, JSON.stringify(calls))
})
