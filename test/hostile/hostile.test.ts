/** The short form of run.ts: some of the documents, once each, in both modes. What it measures is judged in the long form. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOSTILE, runHostile } from './run.ts'

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

describe('hostile documents', () => {
  for (const isolation of ['none', 'process'] as const) {
    test(`ISOLATION=${isolation}: are answered truthfully, and so are the others`, { timeout: 120_000 }, async () => {
      const cases = HOSTILE.filter(({ name }) => SOME.includes(name))
      assert.equal(cases.length, SOME.length)
      const options = { isolation, cases, concurrency: 20, seconds: 0, secondsAlone: 0, everyMs: 20 }
      const { wrong, others, othersWrong, exited } = await runHostile(options)
      assert.deepEqual([exited, wrong, othersWrong], [undefined, [], []])
      assert.ok(others.length > 0)
    })
  }
})
