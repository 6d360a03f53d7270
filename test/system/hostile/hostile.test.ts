/** The documents of run.ts, once each, in both modes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOSTILE, NO_ROOM, runHostile } from './run.ts'

describe('hostile documents', { concurrency: true }, () => {
  for (const isolation of ['none', 'process'] as const) {
    test(`with ISOLATION=${isolation} are answered truthfully, and so are the others`, async () => {
      const options = { isolation, cases: HOSTILE, concurrency: 20, seconds: 0, secondsAlone: 0, everyMs: 20 }
      const { wrong, others, othersWrong, exited } = await runHostile(options)
      // Without isolation, hostile messages delay the others, so the service may refuse some of these, and says so.
      const untrue = isolation === 'none' ? othersWrong.filter((answer) => !NO_ROOM.test(answer)) : othersWrong
      assert.deepEqual([exited, wrong, untrue], [undefined, [], []])
      assert.ok(others.length > 0)
    })
  }
})
