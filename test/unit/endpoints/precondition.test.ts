import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeEtag, isKnownEtag, matchesEtag } from '../../../src/endpoints/precondition.ts'

describe('etagOf', () => {
  const ordered = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ]
  const distinct = [{}, [], null, '', 0, { a: 1 }, { a: '1' }, { a: '\u00fc' }, { a: 'u\u0308' }, ...ordered]
  test('differs where the bytes differ', () => {
    assert.equal(new Set(distinct.map(computeEtag)).size, distinct.length)
  })
  test('is the same for the same bytes, and strong', () => {
    for (const value of distinct) {
      assert.equal(computeEtag(value), computeEtag(structuredClone(value)))
      assert.match(computeEtag(value), /^"[\x21\x23-\x7e]+"$/)
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

describe('isKnownEtag', () => {
  test('takes a list of tags, weak ones too, or any', () => {
    const holding = ['"a"', ' "a" ', 'W/"a"', '*', ' * ', '"b", "a"', '"b",W/"a"', 'W/"b", "a" , "c"']
    const others = [undefined, '', '"b"', 'W/"b"', '"A"', 'a', 'w/"a"', 'W/ "a"', '"ab"', '"*"', '"b, *, c"', '"b", *']
    for (const condition of holding) assert.ok(isKnownEtag(condition, '"a"'), condition)
    for (const condition of others) assert.ok(!isKnownEtag(condition, '"a"'), condition)
  })
})
