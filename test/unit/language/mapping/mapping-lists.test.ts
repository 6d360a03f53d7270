/** Targets with several lists: which of them an array is spread over, whichever way a mapping is run. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping } from '../../../../src/language/mapping/mapping.ts'
import { all, append, freeze } from './frozen-source.ts'

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
  const cases: readonly { target: Json; gives: Json; from?: string }[] = [
    { target: 'a[].b', gives: { a: [{ b: 'p' }, { b: 'q' }] } },
    { target: 'a[].b[].c', gives: { a: [{ b: [{ c: 'p' }, { c: 'q' }] }] } },
    { target: 'a[].b.c[].d', gives: { a: [{ b: { c: [{ d: 'p' }] } }, { b: { c: [{ d: 'q' }] } }] } },
    { target: 'a[].b.c.d[].e', gives: { a: [{ b: { c: { d: [{ e: 'p' }] } } }, { b: { c: { d: [{ e: 'q' }] } } }] } },
    { target: 'a[].b[].c[].d', gives: { a: [{ b: [{ c: [{ d: 'p' }, { d: 'q' }] }] }] } },
    {
      target: 'a[].b[].c.d[].e[].f',
      gives: { a: [{ b: [{ c: { d: [{ e: [{ f: 'p' }] }] } }, { c: { d: [{ e: [{ f: 'q' }] }] } }] }] },
    },
    { target: 'a[0].b[].c', gives: { a: [{ b: [{ c: 'p' }, { c: 'q' }] }] } },
    { target: 'a[1].b.c[].d', gives: { a: [null, { b: { c: [{ d: 'p' }, { d: 'q' }] } }] } },
    { target: 'a[].b[0].c', gives: { a: [{ b: [{ c: 'p' }] }, { b: [{ c: 'q' }] }] } },
    { target: 'a[].b[0].c[].d', gives: { a: [{ b: [{ c: [{ d: 'p' }] }] }, { b: [{ c: [{ d: 'q' }] }] }] } },
    { target: 'a[].b[0][].c', gives: { a: [{ b: [[{ c: 'p' }, { c: 'q' }]] }] } },
    { target: 'a[].b[][0].c', gives: { a: [{ b: [[{ c: 'p' }], [{ c: 'q' }]] }] } },
    { target: 'a[][].b', gives: { a: [[{ b: 'p' }, { b: 'q' }]] } },
    { target: 'a[][].b.c[].d', gives: { a: [[{ b: { c: [{ d: 'p' }] } }, { b: { c: [{ d: 'q' }] } }]] } },
    { target: 'a[][0].b.c[].d', gives: { a: [[{ b: { c: [{ d: 'p' }] } }], [{ b: { c: [{ d: 'q' }] } }]] } },
    { target: 'a[].b[]', gives: { a: [{ b: ['p'] }, { b: ['q'] }] } },
    { target: 'a[][]', gives: { a: [['p'], ['q']] } },
    { target: 'a[].b.c[]+', gives: { a: [{ b: { c: ['p'] } }, { b: { c: ['q'] } }] } },
    { target: 'a[].b[].c[]', gives: { a: [{ b: [{ c: ['p'] }, { c: ['q'] }] }] } },
    { target: 'a[].b.c[].d[]', gives: { a: [{ b: { c: [{ d: ['p'] }] } }, { b: { c: [{ d: ['q'] }] } }] } },
    { target: 'a.b[]', gives: { a: { b: [['p', 'q']] } } },
    { target: 'a[].b.c[].d', from: 'b.one', gives: { a: [{ b: { c: [{ d: 'x' }] } }] } },
    { target: 'a[].b.c[].d', from: 'b.gone', gives: {} },
    {
      target: 'a[].b.c[].d',
      from: 'b.matrix',
      gives: { a: [{ b: { c: [{ d: [1, 2] }] } }, { b: { c: [{ d: [3] }] } }] },
    },
    {
      target: 'a[].b.c[].d',
      from: 'b.rows[].in[].v',
      gives: { a: [1, 2, null, 3].map((d) => (d === null ? null : { b: { c: [{ d }] } })) },
    },
    {
      target: 'a[].b.c[].d',
      from: 'b.rows[].in[]',
      gives: { a: [{ b: { c: [{ d: [{ v: 1 }, { v: 2 }] }] } }, null, { b: { c: [{ d: [{ v: 3 }] }] } }] },
    },
    {
      target: 'a[].b.c[].d?',
      from: 'b.rows[].code',
      gives: { a: ['F', null, 'X'].map((d) => ({ b: { c: [{ d }] } })) },
    },
    {
      target: { key: 'a[].b.c[].d', default: '-' },
      from: 'b.rows[].code',
      gives: { a: ['F', '-', 'X'].map((d) => ({ b: { c: [{ d }] } })) },
    },
    { target: { key: 'a[].b.c[].d', default: '-' }, from: 'b.gone', gives: { a: [{ b: { c: [{ d: '-' }] } }] } },
    {
      target: { key: 'a[].b.c[].d', transform: codes, default: '-' },
      from: 'b.rows[].code',
      gives: { a: ['female', '-', '-'].map((d) => ({ b: { c: [{ d }] } })) },
    },
    {
      target: { key: 'a[].b.c[].d', transform: 'stringify' },
      from: 'b.matrix',
      gives: { a: ['[1,2]', '[3]'].map((d) => ({ b: { c: [{ d }] } })) },
    },
    {
      target: { key: 'a[].b.c[].d', transform: 'numberify', default: null },
      from: 'b.texts',
      gives: { a: [{ b: { c: [{ d: 7 }] } }, null] },
    },
    { target: { key: 'a[].b.c[].d[]', transform: append }, gives: { a: [{ b: { c: [{ d: ['p', 'q'] }] } }] } },
    { target: { key: 'a[].b.c[].d', transform: all }, gives: {} },
  ]
  for (const { target, from = 'b.two', gives } of cases)
    agrees(`${from} to ${JSON.stringify(target)}`, { [from]: target }, gives)
})

describe('several entries over lists within lists', () => {
  const cases: readonly { why: string; mapping: JsonObject; gives: JsonObject }[] = [
    {
      why: 'fields at several depths of one element',
      mapping: {
        'b.rows[].id': 'a[].value',
        'b.rows[].code': ['a[].type.coding[].code', 'a[].type.coding[0].display'],
        'b.one': { key: 'a[].type.coding[].system', transform: all },
      },
      gives: {
        a: [
          { value: 1, type: { coding: [{ code: 'F', display: 'F', system: 'x' }] } },
          { value: 2 },
          { value: 3, type: { coding: [{ code: 'X', display: 'X', system: 'x' }] } },
        ],
      },
    },
    {
      why: 'one list spread at two depths',
      mapping: { 'b.rows[].id': 'a[].b.c[].d', 'b.two': 'a[].x[].y' },
      gives: {
        a: [{ b: { c: [{ d: 1 }] }, x: [{ y: 'p' }, { y: 'q' }] }, { b: { c: [{ d: 2 }] } }, { b: { c: [{ d: 3 }] } }],
      },
    },
    {
      why: 'fields written into elements that are part of the message',
      mapping: { 'b.rows': 'a', 'b.two': 'a[].more.x[].v', 'b.texts': 'a[].in[].v' },
      gives: {
        a: [
          { id: 1, code: 'F', in: [{ v: '7' }, { v: 'y' }], more: { x: [{ v: 'p' }] } },
          { id: 2, more: { x: [{ v: 'q' }] } },
          { id: 3, code: 'X', in: [{ v: 3 }] },
        ],
      },
    },
    {
      why: 'appended at the end of two lists',
      mapping: { 'b.two': ['a[].b.c[]', 'a[].b.c[]+'], 'b.rows[].code': 'a[].b.c[]' },
      gives: { a: [{ b: { c: ['p', 'p', 'F'] } }, { b: { c: ['q', 'q'] } }, { b: { c: ['X'] } }] },
    },
  ]
  for (const { why, mapping, gives } of cases) agrees(why, mapping, gives)

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
