/** The documents of run.ts, once each, in both modes: some of them in the short form, all in the long one, for some seconds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LONG } from '../../support/form.ts'
import { BOMBS, HOSTILE, NO_ROOM, percentile, runHostile } from './run.ts'

const SOME = [
  'a call of itself without end',
  'a text that doubles',
  '$pad of a billion',
  'the engine, through its functions',
  'an error that is huge',
  'references that double',
  'alternatives that double',
  'a fault for each value',
  'a message made of the message',
  'code in names',
]

const SOME_BOMBS = ['$map in $map', 'a matcher that never ends', 'a product of lists', '500 patterns for names']

describe('hostile documents', () => {
  for (const isolation of ['none', 'process'] as const) {
    test(`ISOLATION=${isolation}: are answered truthfully, and so are the others`, {
      timeout: LONG ? 240_000 : 120_000,
    }, async () => {
      const some = HOSTILE.filter(({ name }) => SOME.includes(name))
      assert.equal(some.length, SOME.length)
      const [cases, seconds] = LONG ? [HOSTILE, 10] : [some, 0]
      const options = { isolation, cases, concurrency: 20, seconds, secondsAlone: 0, everyMs: 20 }
      const { wrong, others, othersWrong, exited } = await runHostile(options)
      // Without isolation, hostile messages delay the others, so the service may refuse some of these, and says so.
      const untrue = isolation === 'none' ? othersWrong.filter((answer) => !NO_ROOM.test(answer)) : othersWrong
      assert.deepEqual([exited, wrong, untrue], [undefined, [], []])
      assert.ok(others.length > 0)
    })
  }

  test('ISOLATION=none: those that cost the most, and the others, are answered truthfully', {
    timeout: 240_000,
  }, async (t) => {
    assert.equal(BOMBS.length, 30)
    const cases = LONG ? BOMBS : BOMBS.filter(({ name }) => SOME_BOMBS.includes(name))
    const options = { cases, concurrency: 3, times: 3, seconds: 0, secondsAlone: 0, everyMs: 10 }
    const { wrong, others, othersWrong, exited } = await runHostile({ isolation: 'none', ...options })
    // On a machine without a free processor, the service may refuse some, and says so.
    const untrue = othersWrong.filter((answer) => !NO_ROOM.test(answer))
    assert.deepEqual([exited, wrong, untrue], [undefined, [], []])
    assert.ok(others.length > 0)
    // Judged by run.ts alone, on a machine with nothing else to do.
    t.diagnostic(`p99 of ${others.length} messages of the others: ${percentile(others, 0.99).toFixed(1)} ms`)
  })
})
