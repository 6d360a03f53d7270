import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { etagOf, matchesEtag } from '../../../src/endpoints/precondition.ts'

describe('etagOf', () => {
  const ordered = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ]
  const distinct = [{}, [], null, '', 0, { a: 1 }, { a: '1' }, { a: '\u00fc' }, { a: 'u\u0308' }, ...ordered]
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
  test('takes a list of strong tags, or any', () => {
    const holding = ['"a"', ' "a" ', '*', ' * ', '"b", "a"', '"a","b"', 'W/"b", "a"']
    const others = ['"b"', '"A"', 'a', '', 'W/"a"', '"b", W/"a"', '"ab"', '"*"']
    for (const condition of holding) assert.ok(matchesEtag(condition, '"a"'), condition)
    for (const condition of others) assert.ok(!matchesEtag(condition, '"a"'), condition)
  })
})
