import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { all, append, type Case, freeze, source, through } from './frozen-source.ts'

describe('values that are shared', () => {
  const x = { y: 1, z: 2 }
  const list = [{ n: 1 }, { n: 2 }]
  const cases: readonly Case[] = [
    {
      why: 'a field over an object',
      mapping: { 'b.object': 'a', 'b.name': 'a.n' },
      output: { a: { x, list, n: 'Jane' } },
    },
    { why: 'deeper', mapping: { 'b.object': 'a', 'b.name': 'a.x.y' }, output: { a: { x: { y: 'Jane', z: 2 }, list } } },
    {
      why: 'twice',
      mapping: { 'b.object.x': 'a', 'b.name': 'a.y', 'b.age': 'a.z' },
      output: { a: { y: 'Jane', z: '41' } },
    },
    { why: 'an element over an array', mapping: { 'b.names': 'a', 'b.name': 'a[1]' }, output: { a: ['p', 'Jane'] } },
    { why: 'appended to an array', mapping: { 'b.names': 'a', 'b.name': 'a[]+' }, output: { a: ['p', 'q', 'Jane'] } },
    {
      why: 'an array appended',
      mapping: { 'b.names': ['a', { key: 'a', transform: append }] },
      output: { a: ['p', 'q', 'p', 'q'] },
    },
    {
      why: 'fields over elements',
      mapping: { 'b.object.list': 'a', 'b.names': 'a[].n' },
      output: { a: [{ n: 'p' }, { n: 'q' }] },
    },
    {
      why: 'fields over appended elements',
      mapping: { 'b.object.list': { key: 'a', transform: append }, 'b.name': 'a[1].n' },
      output: { a: [{ n: 1 }, { n: 'Jane' }] },
    },
    {
      why: 'one value over elements',
      mapping: { 'b.object.list': 'a', 'b.name': { key: 'a[].m', transform: all } },
      output: { a: list.map((element) => ({ ...element, m: 'Jane' })) },
    },
    {
      why: 'one object in all elements, then a field in each',
      mapping: { 'b.names': 'a[].n', 'b.object.x': { key: 'a[].x', transform: all }, 'b.rows[].id': 'a[].x.y' },
      output: { a: [{ n: 'p', x: { y: 1, z: 2 } }, { n: 'q', x: { y: 2, z: 2 } }, { x: { y: 3 } }] },
    },
    {
      why: 'a field in what was passed through',
      mapping: { 'b.object': { key: '_', transform: through }, 'b.name': 'x.y' },
      output: { x: { y: 'Jane', z: 2 }, list },
    },
    {
      why: 'a field in a default',
      mapping: { 'b.gone': { key: 'a', default: { d: 1 } }, 'b.name': 'a.n' },
      output: { a: { d: 1, n: 'Jane' } },
    },
    {
      why: 'a field in the value of a code',
      mapping: {
        'b.rows[0].code': { key: 'a', transform: { function: 'mapCodes', parameters: { F: { f: 1 } } } },
        'b.name': 'a.n',
      },
      output: { a: { f: 1, n: 'Jane' } },
    },
    {
      why: 'two targets, then a field in one',
      mapping: { 'b.object.x': ['a', 'c'], 'b.name': 'a.y' },
      output: { a: { y: 'Jane', z: 2 }, c: x },
    },
  ]
  for (const { why, mapping, output } of cases) {
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
  const cases: readonly { why: string; mapping: JsonObject; blames: string }[] = [
    { why: 'a high index in each element', mapping: { 'b.many': 'a[].x[10000]' }, blames: 'b.many' },
    {
      why: 'some low indexes in each element',
      mapping: { 'b.rows[].x': 'a[].x[100][100][100][100][100]' },
      blames: 'b.rows[].x',
    },
    {
      why: 'low indexes in each element of arrays within arrays',
      mapping: { 'b.rows[].in[].y': 'a[].x[100].y[100][100].z[100][100]' },
      blames: 'b.rows[].in[].y',
    },
    {
      why: 'low indexes in the elements of several arrays',
      mapping: { 'b.rows[].x': ['a[].x[100][100][100]', 'c[].x[100][100][100]'] },
      blames: 'b.rows[].x',
    },
    {
      why: 'one large value in all elements',
      mapping: { 'b.many': 'a[].x', 'b.big': { key: 'a[].y', transform: all } },
      blames: 'b.big',
    },
    {
      why: 'a large default in each element',
      mapping: { 'b.many[].x': { key: 'a[].x', default: [big] } },
      blames: 'b.many[].x',
    },
    {
      why: 'copies of one array in all elements',
      mapping: {
        'b.many': ['a[].x', 'list'],
        'b.few': { key: 'a[].y', transform: all },
        'b.name': { key: 'a[].y[]', transform: all },
      },
      blames: 'b.name',
    },
    {
      why: 'copies of one object in all elements',
      mapping: {
        'b.many': 'a[].x',
        'b.wide': { key: 'a[].y', transform: all },
        'b.few[0]': { key: 'a[].y.z', transform: all },
      },
      blames: 'b.few[0]',
    },
  ]
  const rows = many.map((x) => ({ x, in: [{ y: x }] }))
  const wide = Object.fromEntries(many.slice(0, 220).map((id) => [`f${id}`, 1]))
  for (const { why, mapping, blames } of cases) {
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
