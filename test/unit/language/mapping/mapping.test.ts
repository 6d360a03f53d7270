import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { collectInto, documentPath, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { outcomeOf } from '../../../support/any-mapping.ts'
import { all, append, freeze, type Row, source, through } from './frozen-source.ts'

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
  type Case = Readonly<{ why: string; mapping: JsonObject; output: JsonObject }>
  const { source, cases }: { source: JsonObject; cases: readonly Case[] } = JSON.parse(readFileSync(file, 'utf8'))
  freeze(source)
  assert.ok(cases.length >= 70)
  for (const { why, mapping, output } of cases) {
    it(why, () => assert.deepEqual(JSON.parse(JSON.stringify(apply(freeze(mapping), source))), output))
  }
})

const codes = { function: 'mapCodes', parameters: { F: 'female', M: 'male' } }

describe('mapping', () => {
  const cases: readonly Row[] = [
    ['nothing', {}, {}],
    ['the same shape again', { 'b.name': ['a', 'c.d'], 'b.age': ['a', 'c.d'] }, { a: '41', c: { d: '41' } }],
    ['null gives way', { 'b.nothing': 'a?', 'b.age': 'a.b' }, { a: { b: '41' } }],
    [
      'an entry with a default replaces what it meets',
      { 'b.name': 'a', 'b.age': { key: 'a.b', default: null } },
      { a: { b: '41' } },
    ],
    ['names that are inherited', { 'b.name': 'toString.valueOf' }, { toString: { valueOf: 'Jane' } }],
    ['a mark in a name', { 'b.nothing': 'a\\?', 'b.name': 'b\\?' }, { 'b?': 'Jane' }],
    ['an escaped backslash before the mark', { 'b.nothing': 'a\\\\?' }, { 'a\\': null }],
    ['missing is not null', { 'b.gone': 'a?' }, {}],
    ['null appended', { 'b.nothing': 'a[]?' }, { a: [null] }],
    ['null appended with +', { 'b.nothing': 'a[]+?' }, { a: [null] }],
    ['null not appended', { 'b.nothing': 'a[]', 'b.gone': 'a[]+' }, {}],
    ['null makes nothing on the way', { 'b.nothing': 'a.b[3].c' }, {}],
    ['a default over null', { 'b.nothing': { key: 'a?', default: 'D' } }, { a: 'D' }],
    ['null as default', { 'b.gone': { key: 'a?', default: null } }, { a: null }],
    ['a default of false', { 'b.gone': { key: 'a', default: false } }, { a: false }],
    ['a default past the function', { 'b.gone': [['a', 'numberify', '7']] }, { a: '7' }],
    ['a default where the function gives nothing', { 'b.name': [['a', 'numberify', 0]] }, { a: 0 }],
    ['null where the function gives null', { 'b.nothing': { key: 'a?', transform: codes } }, { a: null }],
    [
      'null as default where the function cannot convert',
      { 'b.name': ['a', 'c?'].map((key) => ({ key, transform: codes, default: null })) },
      { c: null },
    ],
    [
      'a default for a list with an element that the function cannot convert',
      { 'b.rows[].code': { key: 'a', transform: 'numberify', default: ['D'] } },
      { a: ['D'] },
    ],
    ['short form, function by name', { 'b.age': [['a', 'numberify']] }, { a: 41 }],
    ['short form, function with parameters', { 'b.age': [['a', { function: 'numberify' }, 1]] }, { a: 41 }],
    ['short form, key only', { 'b.age': [['a']] }, { a: '41' }],
    [
      'elements that lack the field keep their place',
      { 'b.rows[].code': 'a[].code' },
      { a: [{ code: 'F' }, null, { code: 'X' }] },
    ],
    [
      'and get the fields of other entries',
      { 'b.rows[].code': 'a[].code', 'b.rows[].id': 'a[].id' },
      { a: [{ code: 'F', id: 1 }, { id: 2 }, { code: 'X', id: 3 }] },
    ],
    ['null in elements', { 'b.rows[].code': 'a[].c?' }, { a: [{ c: 'F' }, { c: null }, { c: 'X' }] }],
    [
      'a default in elements',
      { 'b.rows[].code': { key: 'a[].c', default: '-' } },
      { a: [{ c: 'F' }, { c: '-' }, { c: 'X' }] },
    ],
    [
      'a function in elements, then the default',
      { 'b.rows[].code': { key: 'a[].c', transform: codes, default: '-' } },
      { a: [{ c: 'female' }, { c: '-' }, { c: '-' }] },
    ],
    ['stringify of the array', { 'b.nested': [['a', 'stringify']] }, { a: '[[1,2],[3]]' }],
    ['stringify in elements', { 'b.nested': [['a[].x', 'stringify']] }, { a: [{ x: '[1,2]' }, { x: '[3]' }] }],
    ['an array of none', { 'b.empty': 'a[].x' }, { a: [] }],
    ['a value into the first element', { 'b.name': 'a[].x' }, { a: [{ x: 'Jane' }] }],
    ['appended in each element', { 'b.names': 'a[].x[]' }, { a: [{ x: ['p'] }, { x: ['q'] }] }],
    ['an index in each element', { 'b.names': 'a[].x[1]' }, { a: [{ x: [null, 'p'] }, { x: [null, 'q'] }] }],
    [
      'the last [] of two that touch is the one to spread over',
      { 'b.names': 'a[].b[].c' },
      { a: [{ b: [{ c: 'p' }, { c: 'q' }] }] },
    ],
    ['spread over a matrix', { 'b.nested[]': 'a[].x' }, { a: [{ x: [1, 2] }, { x: [3] }] }],
    ['elements of elements', { 'b.name': 'a[1][0]' }, { a: [null, ['Jane']] }],
    ['oneToAllElements without elements', { 'b.name': { key: 'a[].x', transform: all } }, {}],
    ['oneToAllElements of none', { 'b.empty': 'a', 'b.name': { key: 'a[].x', transform: all } }, { a: [] }],
    [
      'oneToAllElements of an array, whole',
      { 'b.rows.id': 'a[].id', 'b.names': { key: 'a[].n', transform: all } },
      { a: [1, 2, 3].map((id) => ({ id, n: ['p', 'q'] })) },
    ],
    [
      'oneToAllElements at each level',
      { 'b.nested': 'a[].x', 'b.names': 'a[].y[].z', 'b.name': { key: 'a[].y[].n', transform: all } },
      {
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
    ],
    [
      'oneToAllElements appends in each',
      { 'b.names': 'a[].x[]', 'b.name': { key: 'a[].x[]', transform: all } },
      { a: [{ x: ['p', 'Jane'] }, { x: ['q', 'Jane'] }] },
    ],
    ['appendArray of a single value', { 'b.name': { key: 'a', transform: append } }, { a: ['Jane'] }],
    [
      'appendArray without []',
      {
        'b.names': [
          ['a', 'appendArray'],
          ['a', 'appendArray'],
        ],
      },
      { a: ['p', 'q', 'p', 'q'] },
    ],
    [
      'appendArray into the first element',
      { 'b.names': { key: 'a[].x[]', transform: append } },
      { a: [{ x: ['p', 'q'] }] },
    ],
    [
      'passThroughObject without a key',
      { 'b.object': { transform: through } },
      { x: { y: 1, z: 2 }, list: [{ n: 1 }, { n: 2 }] },
    ],
    ['passThroughObject of a default', { 'b.gone': { key: 'x', transform: through, default: { d: 1 } } }, { d: 1 }],
    ['passThroughObject leaves out refused names', { 'b.hostile': { key: 'x', transform: through } }, { a: 1 }],
  ]
  for (const [why, mapping, output] of cases) {
    it(why, () => assert.deepEqual(apply(freeze(mapping), source), output))
  }

  const ending: readonly (readonly [mapping: JsonObject, at: string, says: RegExp])[] = [
    [
      { 'b.name': 'a', 'b.age': 'a.b' },
      'b.age',
      /^The target "a.b" needs an object where .* a single value \(string\)\. /,
    ],
    [{ 'b.age': 'a.b', 'b.name': 'a' }, 'b.name', /"a" needs a single value .* an object \(object\)/],
    [{ 'b.age': 'a.b', 'b.name': 'a[]' }, 'b.name', /"a\[\]" needs a list .* an object/],
    [{ 'b.age': 'a[2]', 'b.name': 'a.b' }, 'b.name', /"a.b" needs an object .* a list/],
    [{ 'b.name': 'a', 'b.names': 'a' }, 'b.names', /"a" needs a list .* a single value/],
    [{ 'b.names': 'a', 'b.rows[].id': 'a[].b' }, 'b.rows[].id', /needs an object/],
    [{ 'b.names': 'a', 'b.name': { key: 'a[].n', transform: all } }, 'b.name', /needs an object/],
    [{ 'b.name': ['a', { key: 'a[].n', transform: all }] }, 'b.name', /needs a list/],
    [{ 'b.name': ['a', { key: 'a', transform: append }] }, 'b.name', /needs a list/],
    [{ 'b.name': 'x', 'b.object': { transform: through } }, 'b.object', /needs an object/],
    [{ 'b.name': 'toString', 'b.age': 'toString.a' }, 'b.age', /needs an object/],
    [
      { 'b.name': [['a', 'numberify']] },
      'b.name',
      /^numberify cannot convert the string "Jane" that "b.name" gave\. .*default\.$/,
    ],
    [{ 'b.rows[].code': [['a', 'numberify']] }, 'b.rows[].code', /the array that/],
    [{ 'b.rows[].code': [['a[].c', 'numberify']] }, 'b.rows[].code', /the string "F" that/],
    [{ 'b.object': { key: 'a?', transform: 'dateTimeToDate' } }, 'b.object', /the object that/],
    [{ 'b.name': { key: 'a', transform: codes } }, 'b.name', /"Jane".* Add the code, or "default", to its parameters/],
    [{ 'b.name': { transform: through } }, 'b.name', /^passThroughObject cannot/],
  ]
  for (const [mapping, at, says] of ending) {
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
