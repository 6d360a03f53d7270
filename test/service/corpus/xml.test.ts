/** The corpus of XML: what is not well-formed and every DOCTYPE is refused, what is well-formed is read. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { type Corpus, repeatedNames, startCorpus } from './corpus.ts'
import { XML_ACCEPTED } from './xml-accepted.ts'
import { XML_DOCTYPES, XML_MALFORMED } from './xml-refused.ts'

let corpus: Corpus
before(async () => {
  corpus = await startCorpus()
})
after(() => corpus.stop())

test('has as many cases of each kind as docs/reliability.md says', () => {
  assert.deepEqual([XML_MALFORMED.length, XML_DOCTYPES.length, XML_ACCEPTED.length], [139, 26, 32])
  assert.deepEqual(repeatedNames([...XML_MALFORMED, ...XML_DOCTYPES, ...XML_ACCEPTED]), [])
})

describe('XML that must be taken', () => {
  for (const one of XML_ACCEPTED) {
    test(one.name, async () => {
      const reply = await corpus.xml(one)
      assert.deepEqual([reply.status, reply.text], [200, one.gives])
    })
  }
})

describe('XML that must be refused', () => {
  for (const one of [...XML_MALFORMED, ...XML_DOCTYPES]) {
    test(one.name, async () => {
      const reply = await corpus.xml(one)
      const { code, stage, path, error } = reply.json<Record<string, string>>()
      const expected = one.name.startsWith('nesting') ? 'BODY_TOO_DEEP' : 'BODY_UNREADABLE'
      assert.deepEqual([reply.status, code, stage, path], [400, expected, 'parse', 'transformation.input'])
      assert.match(error ?? '', /at (?:line \d+, column \d+|byte \d+)|declares the encoding|charset "/)
    })
  }
})

const WHOLE = Buffer.from(
  '<?xml version="1.0" encoding="UTF-8"?><!-- ü --><p:a xmlns:p="urn:p" b="1&amp;2"><?pi x?><c>😀&#x41;</c><![CDATA[<d>]]><e/></p:a>',
)

test('every first part of a small XML document is refused, and the service goes on', async () => {
  for (let length = 1; length < WHOLE.length; length++) {
    const reply = await corpus.xml({ name: 'cut', body: WHOLE.subarray(0, length) })
    assert.equal(reply.status, 400, `${length} bytes: ${reply.text}`)
  }
  assert.equal((await corpus.xml({ name: 'whole', body: WHOLE })).status, 200)
})

test('no change of some bytes of it makes more than a refusal', async () => {
  const change = fc.tuple(fc.nat(WHOLE.length - 1), fc.nat(255))
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      const body = Buffer.from(WHOLE)
      for (const [at, value] of changes) body[at] = value
      const { status } = await corpus.xml({ name: 'changed', body })
      return status === 200 || status === 400
    }),
    { numRuns: LONG ? 300 : 100 },
  )
})
