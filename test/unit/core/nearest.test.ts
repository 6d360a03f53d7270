import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { didYouMean, nearest } from '../../../src/core/nearest.ts'
import fc from '../../support/fast-check.ts'

describe('nearest', () => {
  const cases: readonly { name: string; known: readonly string[]; expect: string | undefined }[] = [
    { name: 'transfrom', known: ['transform', 'transforms'], expect: 'transform' },
    { name: 'Name', known: ['name'], expect: 'name' },
    { name: 'ID', known: ['id'], expect: 'id' },
    { name: 'a', known: ['b'], expect: undefined },
    { name: 'ab', known: ['ac'], expect: undefined },
    { name: 'abc', known: ['abd'], expect: 'abd' },
    { name: 'abc', known: ['xyz'], expect: undefined },
    { name: 'concurency', known: ['concurrency'], expect: 'concurrency' },
    { name: 'allowedStatusses', known: ['allowedStatuses'], expect: 'allowedStatuses' },
    { name: 'lookups', known: ['response', 'lookup'], expect: 'lookup' },
    { name: 'code', known: ['coda', 'codes'], expect: 'coda' },
    { name: 'codes', known: ['coder', 'codes'], expect: 'codes' },
    { name: 'colour', known: ['name', 'endpoint'], expect: undefined },
    { name: '', known: ['a', 'b'], expect: undefined },
    { name: 'x'.repeat(65), known: ['x'.repeat(64)], expect: undefined },
  ]
  for (const { name, known, expect } of cases) {
    test(`of "${name.slice(0, 20)}" among ${known.join(', ').slice(0, 40)} is ${expect}`, () => {
      assert.equal(nearest(name, known), expect)
    })
  }

  test('one slip in a name of three or more characters is found', () => {
    const word = fc.stringMatching(/^[a-z]{3,20}$/)
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom('drop', 'double', 'swap', 'replace'), (known, at, slip) => {
        const index = at % known.length
        const [before, character, after] = [known.slice(0, index), known[index] ?? '', known.slice(index + 1)]
        const written = {
          drop: before + after,
          double: before + character + character + after,
          swap: before + after.slice(0, 1) + character + after.slice(1),
          replace: `${before}#${after}`,
        }[slip]
        fc.pre(written.length >= 3)
        assert.equal(nearest(written, ['0123456789', known]), known)
      }),
    )
  })

  test('what is found is known, and a known name finds itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.uniqueArray(fc.string()), (name, known) => {
        const found = nearest(name, known)
        assert.ok(found === undefined || known.includes(found))
        if (known.includes(name) && name.length <= 64) assert.equal(found?.toLowerCase(), name.toLowerCase())
      }),
    )
  })

  test('ends a sentence', () => {
    assert.equal(`x${didYouMean('naem', ['name'])}`, 'x; did you mean "name"?')
    assert.equal(`x${didYouMean('colour', ['name'])}`, 'x.')
    assert.equal(`x${didYouMean('body', ['id', 'requestBody'])}`, 'x; did you mean "requestBody"?')
    assert.equal(`x${didYouMean('fhir', ['JSON', 'FHIR+JSON'])}`, 'x; did you mean "FHIR+JSON"?')
    assert.equal(`x${didYouMean('body', ['antibody', 'bodyShape'])}`, 'x.')
    assert.equal(`x${didYouMean('', ['a', '+'])}`, 'x.')
  })
})
