/** Targets with several lists: which of them an array is spread over, whichever way a mapping is run. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { all, append, freeze, type Row } from './frozen-source.ts'

const source: JsonObject = freeze({
  b: {
    one: 'x',
    two: ['p', 'q'],
    rows: [{ id: 1, code: 'F', in: [{ v: 1 }, { v: 2 }] }, { id: 2 }, { id: 3, code: 'X', in: [{ v: 3 }] }],
    matrix: [[1, 2], [3]],
    texts: ['7', 'y'],
  },
})

const codes = { function: 'mapCodes', parameters: { F: 'female' } }

describe('the list that an array is spread over', () => {
  const cases: readonly (readonly [target: Json, gives: Json, from?: string])[] = [
    ['a[].b', { a: [{ b: 'p' }, { b: 'q' }] }],
    ['a[].b[].c', { a: [{ b: [{ c: 'p' }, { c: 'q' }] }] }],
    ['a[].b.c[].d', { a: [{ b: { c: [{ d: 'p' }] } }, { b: { c: [{ d: 'q' }] } }] }],
    ['a[].b.c.d[].e', { a: [{ b: { c: { d: [{ e: 'p' }] } } }, { b: { c: { d: [{ e: 'q' }] } } }] }],
    ['a[].b[].c[].d', { a: [{ b: [{ c: [{ d: 'p' }, { d: 'q' }] }] }] }],
    ['a[].b[].c.d[].e[].f', { a: [{ b: [{ c: { d: [{ e: [{ f: 'p' }] }] } }, { c: { d: [{ e: [{ f: 'q' }] }] } }] }] }],
    ['a[0].b[].c', { a: [{ b: [{ c: 'p' }, { c: 'q' }] }] }],
    ['a[1].b.c[].d', { a: [null, { b: { c: [{ d: 'p' }, { d: 'q' }] } }] }],
    ['a[].b[0].c', { a: [{ b: [{ c: 'p' }] }, { b: [{ c: 'q' }] }] }],
    ['a[].b[0].c[].d', { a: [{ b: [{ c: [{ d: 'p' }] }] }, { b: [{ c: [{ d: 'q' }] }] }] }],
    ['a[].b[0][].c', { a: [{ b: [[{ c: 'p' }, { c: 'q' }]] }] }],
    ['a[].b[][0].c', { a: [{ b: [[{ c: 'p' }], [{ c: 'q' }]] }] }],
    ['a[][].b', { a: [[{ b: 'p' }, { b: 'q' }]] }],
    ['a[][].b.c[].d', { a: [[{ b: { c: [{ d: 'p' }] } }, { b: { c: [{ d: 'q' }] } }]] }],
    ['a[][0].b.c[].d', { a: [[{ b: { c: [{ d: 'p' }] } }], [{ b: { c: [{ d: 'q' }] } }]] }],
    ['a[].b[]', { a: [{ b: ['p'] }, { b: ['q'] }] }],
    ['a[][]', { a: [['p'], ['q']] }],
    ['a[].b.c[]+', { a: [{ b: { c: ['p'] } }, { b: { c: ['q'] } }] }],
    ['a[].b[].c[]', { a: [{ b: [{ c: ['p'] }, { c: ['q'] }] }] }],
    ['a[].b.c[].d[]', { a: [{ b: { c: [{ d: ['p'] }] } }, { b: { c: [{ d: ['q'] }] } }] }],
    ['a.b[]', { a: { b: [['p', 'q']] } }],
    ['a[].b.c[].d', { a: [{ b: { c: [{ d: 'x' }] } }] }, 'b.one'],
    ['a[].b.c[].d', {}, 'b.gone'],
    ['a[].b.c[].d', { a: [{ b: { c: [{ d: [1, 2] }] } }, { b: { c: [{ d: [3] }] } }] }, 'b.matrix'],
    ['a[].b.c[].d', { a: [1, 2, null, 3].map((d) => (d === null ? null : { b: { c: [{ d }] } })) }, 'b.rows[].in[].v'],
    [
      'a[].b.c[].d',
      { a: [{ b: { c: [{ d: [{ v: 1 }, { v: 2 }] }] } }, null, { b: { c: [{ d: [{ v: 3 }] }] } }] },
      'b.rows[].in[]',
    ],
    ['a[].b.c[].d?', { a: ['F', null, 'X'].map((d) => ({ b: { c: [{ d }] } })) }, 'b.rows[].code'],
    [{ key: 'a[].b.c[].d', default: '-' }, { a: ['F', '-', 'X'].map((d) => ({ b: { c: [{ d }] } })) }, 'b.rows[].code'],
    [{ key: 'a[].b.c[].d', default: '-' }, { a: [{ b: { c: [{ d: '-' }] } }] }, 'b.gone'],
    [
      { key: 'a[].b.c[].d', transform: codes, default: '-' },
      { a: ['female', '-', '-'].map((d) => ({ b: { c: [{ d }] } })) },
      'b.rows[].code',
    ],
    [
      { key: 'a[].b.c[].d', transform: 'stringify' },
      { a: ['[1,2]', '[3]'].map((d) => ({ b: { c: [{ d }] } })) },
      'b.matrix',
    ],
    [{ key: 'a[].b.c[].d', transform: 'numberify', default: null }, { a: [{ b: { c: [{ d: 7 }] } }, null] }, 'b.texts'],
    [{ key: 'a[].b.c[].d[]', transform: append }, { a: [{ b: { c: [{ d: ['p', 'q'] }] } }] }],
    [{ key: 'a[].b.c[].d', transform: all }, {}],
  ]
  for (const [target, gives, from = 'b.two'] of cases)
    agrees(`${from} to ${JSON.stringify(target)}`, { [from]: target }, gives)
})

describe('several entries over lists within lists', () => {
  const cases: readonly Row[] = [
    [
      'fields at several depths of one element',
      {
        'b.rows[].id': 'a[].value',
        'b.rows[].code': ['a[].type.coding[].code', 'a[].type.coding[0].display'],
        'b.one': { key: 'a[].type.coding[].system', transform: all },
      },
      {
        a: [
          { value: 1, type: { coding: [{ code: 'F', display: 'F', system: 'x' }] } },
          { value: 2 },
          { value: 3, type: { coding: [{ code: 'X', display: 'X', system: 'x' }] } },
        ],
      },
    ],
    [
      'one list spread at two depths',
      { 'b.rows[].id': 'a[].b.c[].d', 'b.two': 'a[].x[].y' },
      {
        a: [{ b: { c: [{ d: 1 }] }, x: [{ y: 'p' }, { y: 'q' }] }, { b: { c: [{ d: 2 }] } }, { b: { c: [{ d: 3 }] } }],
      },
    ],
    [
      'fields written into elements that are part of the message',
      { 'b.rows': 'a', 'b.two': 'a[].more.x[].v', 'b.texts': 'a[].in[].v' },
      {
        a: [
          { id: 1, code: 'F', in: [{ v: '7' }, { v: 'y' }], more: { x: [{ v: 'p' }] } },
          { id: 2, more: { x: [{ v: 'q' }] } },
          { id: 3, code: 'X', in: [{ v: 3 }] },
        ],
      },
    ],
    [
      'appended at the end of two lists',
      { 'b.two': ['a[].b.c[]', 'a[].b.c[]+'], 'b.rows[].code': 'a[].b.c[]' },
      { a: [{ b: { c: ['p', 'p', 'F'] } }, { b: { c: ['q', 'q'] } }, { b: { c: ['X'] } }] },
    ],
  ]
  for (const row of cases) agrees(...row)

  it('warns of two ways to write one target', () => {
    const lints: Lint[] = []
    compileMapping({ 'b.two': 'a[].b.c[].d', 'b.texts': 'a[].b.c[0].d', 'b.one': 'a[0].b.c[].d' }, collectInto(lints))
    assert.deepEqual(
      lints.map(({ severity, path, message }) => [severity, path, message.slice(0, 39)]),
      ['b\\.texts', 'b\\.one'].map((path) => ['warning', path, 'This writes the same target as b\\.two, ']),
    )
  })
})

function agrees(title: string, mapping: JsonObject, gives: Json): void {
  it(title, () => {
    const lints: Lint[] = []
    const compiled = compileMapping(freeze(mapping), collectInto(lints))
    assert.deepEqual(
      lints.filter(({ severity }) => severity === 'error'),
      [],
    )
    const first = compiled.apply(source)
    assert.deepEqual(JSON.parse(JSON.stringify(first)), gives)
    assert.deepEqual(compiled.apply(source), first)
    assert.deepEqual(JSON.parse(JSON.stringify(first)), gives)
  })
}
