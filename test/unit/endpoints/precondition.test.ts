import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { etagOf, matchesEtag } from '../../../src/endpoints/precondition.ts'

describe('etagOf', () => {
  const distinct = [
    {},
    [],
    null,
    '',
    0,
    { a: 1 },
    { a: '1' },
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: '\u00fc' },
    { a: 'u\u0308' },
  ]
  test('differs where the bytes differ', () => {
    assert.equal(new Set(distinct.map(etagOf)).size, distinct.length)
  })
  test('is the same for the same bytes, and strong', () => {
    for (const value of distinct) {
      assert.equal(etagOf(value), etagOf(structuredClone(value)))
      assert.match(etagOf(value), /^"[\x21\x23-\x7e]+"$/)
    }
  })
})

describe('matchesEtag', () => {
  const cases: readonly { condition: string; holds: boolean }[] = [
    { condition: '"a"', holds: true },
    { condition: ' "a" ', holds: true },
    { condition: '*', holds: true },
    { condition: ' * ', holds: true },
    { condition: '"b", "a"', holds: true },
    { condition: '"a","b"', holds: true },
    { condition: 'W/"b", "a"', holds: true },
    { condition: '"b"', holds: false },
    { condition: '"A"', holds: false },
    { condition: 'a', holds: false },
    { condition: '', holds: false },
    { condition: 'W/"a"', holds: false },
    { condition: '"b", W/"a"', holds: false },
    { condition: '"ab"', holds: false },
    { condition: '"*"', holds: false },
  ]
  for (const { condition, holds } of cases) {
    test(`${condition} ${holds ? 'holds' : 'does not hold'} for "a"`, () => {
      assert.equal(matchesEtag(condition, '"a"'), holds)
    })
  }
})
