import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { all, append, freeze, type Row, source, through } from './frozen-source.ts'

describe('values that are shared', () => {
  const x = { y: 1, z: 2 }
  const list = [{ n: 1 }, { n: 2 }]
  const cases: readonly Row[] = [
    ['a field over an object', { 'b.object': 'a', 'b.name': 'a.n' }, { a: { x, list, n: 'Jane' } }],
    ['deeper', { 'b.object': 'a', 'b.name': 'a.x.y' }, { a: { x: { y: 'Jane', z: 2 }, list } }],
    ['twice', { 'b.object.x': 'a', 'b.name': 'a.y', 'b.age': 'a.z' }, { a: { y: 'Jane', z: '41' } }],
    ['an element over an array', { 'b.names': 'a', 'b.name': 'a[1]' }, { a: ['p', 'Jane'] }],
    ['appended to an array', { 'b.names': 'a', 'b.name': 'a[]+' }, { a: ['p', 'q', 'Jane'] }],
    ['an array appended', { 'b.names': ['a', { key: 'a', transform: append }] }, { a: ['p', 'q', 'p', 'q'] }],
    ['fields over elements', { 'b.object.list': 'a', 'b.names': 'a[].n' }, { a: [{ n: 'p' }, { n: 'q' }] }],
    [
      'fields over appended elements',
      { 'b.object.list': { key: 'a', transform: append }, 'b.name': 'a[1].n' },
      { a: [{ n: 1 }, { n: 'Jane' }] },
    ],
    [
      'one value over elements',
      { 'b.object.list': 'a', 'b.name': { key: 'a[].m', transform: all } },
      { a: list.map((element) => ({ ...element, m: 'Jane' })) },
    ],
    [
      'one object in all elements, then a field in each',
      { 'b.names': 'a[].n', 'b.object.x': { key: 'a[].x', transform: all }, 'b.rows[].id': 'a[].x.y' },
      { a: [{ n: 'p', x: { y: 1, z: 2 } }, { n: 'q', x: { y: 2, z: 2 } }, { x: { y: 3 } }] },
    ],
    [
      'a field in what was passed through',
      { 'b.object': { key: '_', transform: through }, 'b.name': 'x.y' },
      { x: { y: 'Jane', z: 2 }, list },
    ],
    [
      'a field in a default',
      { 'b.gone': { key: 'a', default: { d: 1 } }, 'b.name': 'a.n' },
      { a: { d: 1, n: 'Jane' } },
    ],
    [
      'a field in the value of a code',
      {
        'b.rows[0].code': { key: 'a', transform: { function: 'mapCodes', parameters: { F: { f: 1 } } } },
        'b.name': 'a.n',
      },
      { a: { f: 1, n: 'Jane' } },
    ],
    [
      'two targets, then a field in one',
      { 'b.object.x': ['a', 'c'], 'b.name': 'a.y' },
      { a: { y: 'Jane', z: 2 }, c: x },
    ],
  ]
  for (const [why, mapping, output] of cases) {
    it(why, () => {
      const lints: Lint[] = []
      const compiled = compileMapping(freeze(mapping), collectInto(lints))
      assert.deepEqual(lints, [])
      const first = compiled.apply(source)
      assert.deepEqual(first, output)
      assert.deepEqual(compiled.apply(source), output)
      assert.deepEqual(first, output)
    })
  }
})

describe('bounds of what a mapping adds', () => {
  const many = Array.from({ length: 20_000 }, (_, id) => id)
  const big = 'x'.repeat(100_000)
  const cases: readonly (readonly [why: string, mapping: JsonObject, blames: string])[] = [
    ['a high index in each element', { 'b.many': 'a[].x[10000]' }, 'b.many'],
    ['some low indexes in each element', { 'b.rows[].x': 'a[].x[100][100][100][100][100]' }, 'b.rows[].x'],
    [
      'low indexes in each element of arrays within arrays',
      { 'b.rows[].in[].y': 'a[].x[100].y[100][100].z[100][100]' },
      'b.rows[].in[].y',
    ],
    [
      'low indexes in the elements of several arrays',
      { 'b.rows[].x': ['a[].x[100][100][100]', 'c[].x[100][100][100]'] },
      'b.rows[].x',
    ],
    ['one large value in all elements', { 'b.many': 'a[].x', 'b.big': { key: 'a[].y', transform: all } }, 'b.big'],
    ['a large default in each element', { 'b.many[].x': { key: 'a[].x', default: [big] } }, 'b.many[].x'],
    [
      'copies of one array in all elements',
      {
        'b.many': ['a[].x', 'list'],
        'b.few': { key: 'a[].y', transform: all },
        'b.name': { key: 'a[].y[]', transform: all },
      },
      'b.name',
    ],
    [
      'copies of one object in all elements',
      { 'b.many': 'a[].x', 'b.wide': { key: 'a[].y', transform: all }, 'b.few[0]': { key: 'a[].y.z', transform: all } },
      'b.few[0]',
    ],
  ]
  const rows = many.map((x) => ({ x, in: [{ y: x }] }))
  const wide = Object.fromEntries(many.slice(0, 220).map((id) => [`f${id}`, 1]))
  for (const [why, mapping, blames] of cases) {
    it(why, () => {
      const compiled = compileMapping(mapping, collectInto([], 'inputMapping'))
      const message = { b: { rows, many, big, wide, few: many.slice(0, 300), name: 'x'.repeat(600) } }
      assert.throws(
        () => compiled.apply(message),
        (thrown) => {
          assert.ok(thrown instanceof Failure)
          assert.equal(thrown.code, 'OUTPUT_TOO_LARGE')
          assert.equal(thrown.options.path, `inputMapping.${blames.replaceAll('.', '\\.')}`)
          return true
        },
      )
      assert.doesNotThrow(() => compiled.apply({ b: { many: [1, 2], big, few: [1], wide: {}, name: 'y' } }))
    })
  }
})
