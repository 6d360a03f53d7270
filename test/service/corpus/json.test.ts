/** The corpus of JSON: `y_` must be taken, `n_` must be refused, `i_` may be either. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Corpus, repeatedNames, startCorpus } from './corpus.ts'
import { JSON_ACCEPTED } from './json-accepted.ts'
import { JSON_EITHER, JSON_REFUSED } from './json-refused.ts'

let corpus: Corpus
before(async () => {
  corpus = await startCorpus()
})
after(() => corpus.stop())

test('has as many cases of each kind as docs/reliability.md says', () => {
  assert.deepEqual([JSON_ACCEPTED.length, JSON_REFUSED.length, JSON_EITHER.length], [74, 120, 17])
  assert.deepEqual(repeatedNames([...JSON_ACCEPTED, ...JSON_REFUSED, ...JSON_EITHER]), [])
})

describe('JSON that must be taken', () => {
  for (const one of JSON_ACCEPTED) {
    test(one.name, async () => {
      const reply = await corpus.json(one)
      assert.deepEqual([reply.status, reply.text], [200, one.gives ?? one.body])
      assert.equal(({} as Record<string, unknown>).polluted, undefined)
    })
  }
})

describe('JSON that must be refused', () => {
  for (const one of JSON_REFUSED) {
    test(one.name, async () => {
      const reply = await corpus.json(one)
      const { code, stage, path, error } = reply.json<Record<string, string>>()
      const expected = one.name.startsWith('n_nesting') ? 'BODY_TOO_DEEP' : 'BODY_UNREADABLE'
      assert.deepEqual([reply.status, code, stage, path], [400, expected, 'parse', 'transformation.input'])
      assert.match(error ?? '', /at (?:line \d+, column \d+|byte \d+)/)
    })
  }
})

describe('JSON that may be taken or refused', () => {
  for (const one of JSON_EITHER) {
    test(one.name, async (context) => {
      const reply = await corpus.json(one)
      assert.ok(reply.status === 200 || reply.status === 400, reply.text)
      const answer = reply.json()
      if (reply.status === 400) assert.equal(answer.code, 'BODY_UNREADABLE')
      else assert.doesNotMatch(reply.text, /null/, 'a value was lost')
      context.diagnostic(`${reply.status} ${reply.text.slice(0, 60)}`)
    })
  }
})

test('every first part of a small JSON document is refused, and the service goes on', async () => {
  const body = Buffer.from('{"a":[1,-2.5e3,true,null],"ü\\u00fc\\n":{"b":"😀 \\"c\\" "}}')
  for (let length = 1; length < body.length; length++) {
    const reply = await corpus.json({ name: 'cut', body: body.subarray(0, length) })
    assert.equal(reply.status, 400, `${length} bytes: ${reply.text}`)
  }
  assert.equal((await corpus.json({ name: 'whole', body })).status, 200)
})
