import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { collectInto, documentPath, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { outcomeOf } from '../../../support/any-mapping.ts'
import { all, append, type Case, freeze, source, through } from './frozen-source.ts'

function apply(inputMapping: JsonObject, source: JsonObject): JsonObject {
  const lints: Lint[] = []
  const mapping = compileMapping(inputMapping, collectInto(lints, 'inputMapping'))
  assert.deepEqual(
    lints.filter(({ severity }) => severity === 'error'),
    [],
  )
  return mapping.apply(source)
}

describe('worked examples of the contract', () => {
  const file = new URL('../../../data/mapping.json', import.meta.url)
  const { source, cases }: { source: JsonObject; cases: readonly Case[] } = JSON.parse(readFileSync(file, 'utf8'))
  freeze(source)
  assert.ok(cases.length >= 70)
  for (const { why, mapping, output } of cases) {
    it(why, () => assert.deepEqual(JSON.parse(JSON.stringify(apply(freeze(mapping), source))), output))
  }
})

const codes = { function: 'mapCodes', parameters: { F: 'female', M: 'male' } }

describe('mapping', () => {
  const cases: readonly Case[] = [
    { why: 'nothing', mapping: {}, output: {} },
    {
      why: 'the same shape again',
      mapping: { 'b.name': ['a', 'c.d'], 'b.age': ['a', 'c.d'] },
      output: { a: '41', c: { d: '41' } },
    },
    { why: 'null gives way', mapping: { 'b.nothing': 'a?', 'b.age': 'a.b' }, output: { a: { b: '41' } } },
    {
      why: 'an entry with a default replaces what it meets',
      mapping: { 'b.name': 'a', 'b.age': { key: 'a.b', default: null } },
      output: { a: { b: '41' } },
    },
    {
      why: 'names that are inherited',
      mapping: { 'b.name': 'toString.valueOf' },
      output: { toString: { valueOf: 'Jane' } },
    },
    { why: 'a mark in a name', mapping: { 'b.nothing': 'a\\?', 'b.name': 'b\\?' }, output: { 'b?': 'Jane' } },
    { why: 'an escaped backslash before the mark', mapping: { 'b.nothing': 'a\\\\?' }, output: { 'a\\': null } },
    { why: 'missing is not null', mapping: { 'b.gone': 'a?' }, output: {} },
    { why: 'null appended', mapping: { 'b.nothing': 'a[]?' }, output: { a: [null] } },
    { why: 'null appended with +', mapping: { 'b.nothing': 'a[]+?' }, output: { a: [null] } },
    { why: 'null not appended', mapping: { 'b.nothing': 'a[]', 'b.gone': 'a[]+' }, output: {} },
    { why: 'null makes nothing on the way', mapping: { 'b.nothing': 'a.b[3].c' }, output: {} },
    { why: 'a default over null', mapping: { 'b.nothing': { key: 'a?', default: 'D' } }, output: { a: 'D' } },
    { why: 'null as default', mapping: { 'b.gone': { key: 'a?', default: null } }, output: { a: null } },
    { why: 'a default of false', mapping: { 'b.gone': { key: 'a', default: false } }, output: { a: false } },
    { why: 'a default past the function', mapping: { 'b.gone': [['a', 'numberify', '7']] }, output: { a: '7' } },
    {
      why: 'a default where the function gives nothing',
      mapping: { 'b.name': [['a', 'numberify', 0]] },
      output: { a: 0 },
    },
    {
      why: 'null where the function gives null',
      mapping: { 'b.nothing': { key: 'a?', transform: codes } },
      output: { a: null },
    },
    {
      why: 'null as default where the function cannot convert',
      mapping: { 'b.name': ['a', 'c?'].map((key) => ({ key, transform: codes, default: null })) },
      output: { c: null },
    },
    {
      why: 'a default for a list with an element that the function cannot convert',
      mapping: { 'b.rows[].code': { key: 'a', transform: 'numberify', default: ['D'] } },
      output: { a: ['D'] },
    },
    { why: 'short form, function by name', mapping: { 'b.age': [['a', 'numberify']] }, output: { a: 41 } },
    {
      why: 'short form, function with parameters',
      mapping: { 'b.age': [['a', { function: 'numberify' }, 1]] },
      output: { a: 41 },
    },
    { why: 'short form, key only', mapping: { 'b.age': [['a']] }, output: { a: '41' } },
    {
      why: 'elements that lack the field keep their place',
      mapping: { 'b.rows[].code': 'a[].code' },
      output: { a: [{ code: 'F' }, null, { code: 'X' }] },
    },
    {
      why: 'and get the fields of other entries',
      mapping: { 'b.rows[].code': 'a[].code', 'b.rows[].id': 'a[].id' },
      output: { a: [{ code: 'F', id: 1 }, { id: 2 }, { code: 'X', id: 3 }] },
    },
    {
      why: 'null in elements',
      mapping: { 'b.rows[].code': 'a[].c?' },
      output: { a: [{ c: 'F' }, { c: null }, { c: 'X' }] },
    },
    {
      why: 'a default in elements',
      mapping: { 'b.rows[].code': { key: 'a[].c', default: '-' } },
      output: { a: [{ c: 'F' }, { c: '-' }, { c: 'X' }] },
    },
    {
      why: 'a function in elements, then the default',
      mapping: { 'b.rows[].code': { key: 'a[].c', transform: codes, default: '-' } },
      output: { a: [{ c: 'female' }, { c: '-' }, { c: '-' }] },
    },
    { why: 'stringify of the array', mapping: { 'b.nested': [['a', 'stringify']] }, output: { a: '[[1,2],[3]]' } },
    {
      why: 'stringify in elements',
      mapping: { 'b.nested': [['a[].x', 'stringify']] },
      output: { a: [{ x: '[1,2]' }, { x: '[3]' }] },
    },
    { why: 'an array of none', mapping: { 'b.empty': 'a[].x' }, output: { a: [] } },
    { why: 'a value into the first element', mapping: { 'b.name': 'a[].x' }, output: { a: [{ x: 'Jane' }] } },
    { why: 'appended in each element', mapping: { 'b.names': 'a[].x[]' }, output: { a: [{ x: ['p'] }, { x: ['q'] }] } },
    {
      why: 'an index in each element',
      mapping: { 'b.names': 'a[].x[1]' },
      output: { a: [{ x: [null, 'p'] }, { x: [null, 'q'] }] },
    },
    {
      why: 'the last [] of two that touch is the one to spread over',
      mapping: { 'b.names': 'a[].b[].c' },
      output: { a: [{ b: [{ c: 'p' }, { c: 'q' }] }] },
    },
    { why: 'spread over a matrix', mapping: { 'b.nested[]': 'a[].x' }, output: { a: [{ x: [1, 2] }, { x: [3] }] } },
    { why: 'elements of elements', mapping: { 'b.name': 'a[1][0]' }, output: { a: [null, ['Jane']] } },
    { why: 'oneToAllElements without elements', mapping: { 'b.name': { key: 'a[].x', transform: all } }, output: {} },
    {
      why: 'oneToAllElements of none',
      mapping: { 'b.empty': 'a', 'b.name': { key: 'a[].x', transform: all } },
      output: { a: [] },
    },
    {
      why: 'oneToAllElements of an array, whole',
      mapping: { 'b.rows.id': 'a[].id', 'b.names': { key: 'a[].n', transform: all } },
      output: { a: [1, 2, 3].map((id) => ({ id, n: ['p', 'q'] })) },
    },
    {
      why: 'oneToAllElements at each level',
      mapping: { 'b.nested': 'a[].x', 'b.names': 'a[].y[].z', 'b.name': { key: 'a[].y[].n', transform: all } },
      output: {
        a: [
          {
            x: [1, 2],
            y: [
              { z: 'p', n: 'Jane' },
              { z: 'q', n: 'Jane' },
            ],
          },
          { x: [3] },
        ],
      },
    },
    {
      why: 'oneToAllElements appends in each',
      mapping: { 'b.names': 'a[].x[]', 'b.name': { key: 'a[].x[]', transform: all } },
      output: { a: [{ x: ['p', 'Jane'] }, { x: ['q', 'Jane'] }] },
    },
    {
      why: 'appendArray of a single value',
      mapping: { 'b.name': { key: 'a', transform: append } },
      output: { a: ['Jane'] },
    },
    {
      why: 'appendArray without []',
      mapping: {
        'b.names': [
          ['a', 'appendArray'],
          ['a', 'appendArray'],
        ],
      },
      output: { a: ['p', 'q', 'p', 'q'] },
    },
    {
      why: 'appendArray into the first element',
      mapping: { 'b.names': { key: 'a[].x[]', transform: append } },
      output: { a: [{ x: ['p', 'q'] }] },
    },
    {
      why: 'passThroughObject without a key',
      mapping: { 'b.object': { transform: through } },
      output: { x: { y: 1, z: 2 }, list: [{ n: 1 }, { n: 2 }] },
    },
    {
      why: 'passThroughObject of a default',
      mapping: { 'b.gone': { key: 'x', transform: through, default: { d: 1 } } },
      output: { d: 1 },
    },
    {
      why: 'passThroughObject leaves out refused names',
      mapping: { 'b.hostile': { key: 'x', transform: through } },
      output: { a: 1 },
    },
  ]
  for (const { why, mapping, output } of cases) {
    it(why, () => assert.deepEqual(apply(freeze(mapping), source), output))
  }

  const ending: readonly Readonly<{ mapping: JsonObject; at: string; says: RegExp }>[] = [
    {
      mapping: { 'b.name': 'a', 'b.age': 'a.b' },
      at: 'b.age',
      says: /^The target "a.b" needs an object where .* a single value \(string\)\. /,
    },
    {
      mapping: { 'b.age': 'a.b', 'b.name': 'a' },
      at: 'b.name',
      says: /"a" needs a single value .* an object \(object\)/,
    },
    { mapping: { 'b.age': 'a.b', 'b.name': 'a[]' }, at: 'b.name', says: /"a\[\]" needs a list .* an object/ },
    { mapping: { 'b.age': 'a[2]', 'b.name': 'a.b' }, at: 'b.name', says: /"a.b" needs an object .* a list/ },
    { mapping: { 'b.name': 'a', 'b.names': 'a' }, at: 'b.names', says: /"a" needs a list .* a single value/ },
    { mapping: { 'b.names': 'a', 'b.rows[].id': 'a[].b' }, at: 'b.rows[].id', says: /needs an object/ },
    { mapping: { 'b.names': 'a', 'b.name': { key: 'a[].n', transform: all } }, at: 'b.name', says: /needs an object/ },
    { mapping: { 'b.name': ['a', { key: 'a[].n', transform: all }] }, at: 'b.name', says: /needs a list/ },
    { mapping: { 'b.name': ['a', { key: 'a', transform: append }] }, at: 'b.name', says: /needs a list/ },
    { mapping: { 'b.name': 'x', 'b.object': { transform: through } }, at: 'b.object', says: /needs an object/ },
    { mapping: { 'b.name': 'toString', 'b.age': 'toString.a' }, at: 'b.age', says: /needs an object/ },
    {
      mapping: { 'b.name': [['a', 'numberify']] },
      at: 'b.name',
      says: /^numberify cannot convert the string "Jane" that "b.name" gave\. .*default\.$/,
    },
    { mapping: { 'b.rows[].code': [['a', 'numberify']] }, at: 'b.rows[].code', says: /the array that/ },
    { mapping: { 'b.rows[].code': [['a[].c', 'numberify']] }, at: 'b.rows[].code', says: /the string "F" that/ },
    { mapping: { 'b.object': { key: 'a?', transform: 'dateTimeToDate' } }, at: 'b.object', says: /the object that/ },
    {
      mapping: { 'b.name': { key: 'a', transform: codes } },
      at: 'b.name',
      says: /"Jane".* Add the code, or "default", to its parameters/,
    },
    { mapping: { 'b.name': { transform: through } }, at: 'b.name', says: /^passThroughObject cannot/ },
  ]
  for (const { mapping, at, says } of ending) {
    it(`ends the message: ${JSON.stringify(mapping)}`, () => {
      const { apply } = compileMapping(freeze(mapping), collectInto([], 'inputMapping'))
      const outcome = outcomeOf(() => apply(source))
      assert.ok('failure' in outcome, JSON.stringify(outcome))
      const [code, path, sentence] = outcome.failure
      assert.deepEqual([code, path], ['MAPPING_FAILED', documentPath('inputMapping', at)])
      assert.match(sentence, says)
    })
  }

  it('writes index 10,000', () => {
    const { a } = apply({ 'b.name': 'a[10000]' }, source)
    assert.ok(Array.isArray(a))
    assert.equal(a.length, 10_001)
    assert.equal(a[10_000], 'Jane')
    assert.equal(a[0], null)
  })

  it('maps more elements than a call takes arguments', () => {
    const ids = Array.from({ length: 300_000 }, (_, id) => id)
    const rows = ids.map((id) => ({ ids: [id] }))
    const output = apply(
      { 'b.rows.ids': ['a', 'c[].id'], 'b.ids': { key: 'a', transform: append } },
      { b: { rows, ids } },
    )
    assert.ok(Array.isArray(output.a) && Array.isArray(output.c))
    assert.equal(output.a.length, 600_000)
    assert.deepEqual(output.c.at(-1), { id: 299_999 })
  })
})
