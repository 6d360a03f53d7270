/** Bodies as the author of a test would write them: read again, they are what came. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../../src/core/json.ts'
import { inlineBody, withAnyQuery } from '../../../../src/try/tests/given-of-record.ts'
import { collectLiterals } from '../../../../src/try/tests/pseudonyms.ts'
import fc from '../../../support/fast-check.ts'

describe('a body within a test', () => {
  const table: readonly (readonly [body: string, written: Json])[] = [
    ['{"a":1}', { a: 1 }],
    [' { "a" : [ 1, 2.5, -3, "x\\u00e4" ] }\n', { a: [1, 2.5, -3, 'xä'] }],
    ['{"a":1.0}', '{"a":1.0}'],
    ['{"a":12345678901234567890}', '{"a":12345678901234567890}'],
    ['{"a":1e3}', '{"a":1e3}'],
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
    ['{"a":', '{"a":'],
    ['{"$file":"x"}', '{"$file":"x"}'],
    ['{"a":"1.0"}', { a: '1.0' }],
    ['text', 'text'],
    ['"text"', '"text"'],
    ['<a/>', '<a/>'],
    ['', ''],
  ]
  for (const [body, written] of table) {
    test(JSON.stringify(body), () => assert.deepEqual(inlineBody(body), written))
  }

  test('is the same value again, or the same text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const body = text.replaceAll(',', `,${space}`)
        const written = inlineBody(body)
        if (typeof written === 'string') assert.equal(written, body)
        else assert.equal(JSON.stringify(written), JSON.stringify(JSON.parse(body)))
      }),
      { numRuns: 1_000 },
    )
  })
})

test('the expectation of a URL without its query is met by it with any query', () => {
  fc.assert(
    fc.property(fc.webUrl(), fc.webQueryParameters(), (url, query) => {
      const pattern = new RegExp(String(withAnyQuery(url).$matches))
      assert.match(url, pattern)
      assert.match(`${url}?${query}`, pattern)
      assert.doesNotMatch(`${url}/more`, pattern)
    }),
  )
})

test('the values that a document names are its enums, codes, constants and texts in expressions', () => {
  const literals = collectLiterals({
    inputValidation: { properties: { status: { enum: ['final', 7] }, kind: { const: 'lab' } } },
    inputMapping: {
      'requestBody.gender': {
        key: 'g',
        transform: { function: 'mapCodes', parameters: { F: 'female', '12': 'other' } },
      },
    },
    inputTransforms: { a: `$filter(list, function($i) { $i.code = "urgent" and $i.n > 250 or $i.x = 'plain' })` },
  })
  for (const text of ['final', '7', 'lab', 'F', 'female', '12', 'urgent', '250', 'plain', 'true', '[redacted]']) {
    assert.ok(literals.has(text), text)
  }
  assert.ok(!literals.has('status'))
})
