import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { mergePatch } from '../../../src/endpoints/parse-document.ts'

/** The examples of RFC 7396, appendix A, and one for each thing that they leave open. */
const cases: readonly { target: Json; patch: Json; gives: Json }[] = [
  { target: { a: 'b' }, patch: { a: 'c' }, gives: { a: 'c' } },
  { target: { a: 'b' }, patch: { b: 'c' }, gives: { a: 'b', b: 'c' } },
  { target: { a: 'b' }, patch: { a: null }, gives: {} },
  { target: { a: 'b', b: 'c' }, patch: { a: null }, gives: { b: 'c' } },
  { target: { a: ['b'] }, patch: { a: 'c' }, gives: { a: 'c' } },
  { target: { a: 'c' }, patch: { a: ['b'] }, gives: { a: ['b'] } },
  { target: { a: { b: 'c' } }, patch: { a: { b: 'd', c: null } }, gives: { a: { b: 'd' } } },
  { target: { a: [{ b: 'c' }] }, patch: { a: [1] }, gives: { a: [1] } },
  { target: ['a', 'b'], patch: ['c', 'd'], gives: ['c', 'd'] },
  { target: { a: 'b' }, patch: ['c'], gives: ['c'] },
  { target: { a: 'foo' }, patch: null, gives: null },
  { target: { a: 'foo' }, patch: 'bar', gives: 'bar' },
  { target: { e: null }, patch: { a: 1 }, gives: { e: null, a: 1 } },
  { target: [1, 2], patch: { a: 'b', c: null }, gives: { a: 'b' } },
  { target: {}, patch: { a: { bb: { ccc: null } } }, gives: { a: { bb: {} } } },
  { target: { a: 1 }, patch: {}, gives: { a: 1 } },
  { target: 'text', patch: {}, gives: {} },
  { target: { a: 1 }, patch: { a: [null] }, gives: { a: [null] } },
  { target: { a: 1 }, patch: { constructor: null, toString: null }, gives: { a: 1 } },
]

describe('mergePatch', () => {
  for (const { target, patch, gives } of cases) {
    test(`${JSON.stringify(target)} with ${JSON.stringify(patch)}`, () => {
      const [targetText, patchText] = [JSON.stringify(target), JSON.stringify(patch)]
      assert.deepEqual(mergePatch(target, patch), gives)
      assert.deepEqual([JSON.stringify(target), JSON.stringify(patch)], [targetText, patchText])
    })
  }

  test('keeps the order: what was there, then what is new', () => {
    const merged = mergePatch({ z: 1, b: 2, a: 3 }, { y: 4, b: 5, z: null })
    assert.equal(JSON.stringify(merged), '{"b":5,"a":3,"y":4}')
  })

  test('takes __proto__ for a plain name', () => {
    const patch = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":2}}}')
    const merged = mergePatch({ a: { b: 1 } }, patch)
    assert.equal(JSON.stringify(merged), '{"a":{"b":1,"__proto__":{"polluted":2}},"__proto__":{"polluted":1}}')
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.equal(
      JSON.stringify(mergePatch(merged, JSON.parse('{"__proto__":null}'))),
      '{"a":{"b":1,"__proto__":{"polluted":2}}}',
    )
  })
})
