import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping, type Mapping } from '../../../../src/language/mapping/mapping.ts'

function compile(inputMapping: JsonObject): { mapping: Mapping; lints: readonly Lint[] } {
  const lints: Lint[] = []
  return { mapping: compileMapping(inputMapping, collectInto(lints, 'inputMapping')), lints }
}

const all = { function: 'oneToAllElements' }
const append = { function: 'appendArray' }
describe('mappings at fault', () => {
  type Fault = readonly [place: string, says: RegExp]
  const cases: readonly { why: string; mapping: JsonObject; errors?: readonly Fault[]; warnings?: readonly Fault[] }[] =
    [
      { why: 'a source', mapping: { 'b..c': 'x' }, errors: [['b\\.\\.c', /lacks a name/]] },
      {
        why: 'source and target at once',
        mapping: { '': 'x.' },
        errors: [
          ['', /empty text/],
          ['', /lacks a name/],
        ],
      },
      { why: 'an empty target', mapping: { b: '' }, errors: [['b', /empty text/]] },
      { why: 'a target of ?', mapping: { b: '?' }, errors: [['b', /empty text/]] },
      { why: 'a target of []', mapping: { b: '[].x' }, errors: [['b', /lacks a name/]] },
      { why: 'brackets', mapping: { b: 'x[0' }, errors: [['b', /without its "\]"/]] },
      { why: 'a + within', mapping: { b: 'x[]+.y' }, errors: [['b', /continues after "\]"/]] },
      { why: 'a star', mapping: { b: 'x.*' }, errors: [['b', /which only a source can have/]] },
      { why: 'an index', mapping: { b: 'x[10001]' }, errors: [['b', /index above 10000/]] },
      { why: '__proto__', mapping: { b: 'x.__proto__.y' }, errors: [['b', /"__proto__", which is refused/]] },
      { why: 'constructor', mapping: { b: 'constructor' }, errors: [['b', /refused/]] },
      { why: 'prototype', mapping: { b: { key: 'a[].prototype[]+?' } }, errors: [['b.key', /refused/]] },
      {
        why: 'every target of an array',
        mapping: { b: ['x.', 'y', 'z['] },
        errors: [
          ['b[0]', /lacks/],
          ['b[2]', /without/],
        ],
      },
      { why: 'no target', mapping: { b: [] }, errors: [['b', /names no target/]] },
      { why: 'a number', mapping: { b: 1 }, errors: [['b', /this is number/]] },
      { why: 'null', mapping: { b: null }, errors: [['b', /this is null/]] },
      { why: 'null in an array', mapping: { b: ['x', null, 'D'] }, errors: [['b[1]', /short form/]] },
      { why: 'an empty short form', mapping: { b: [[]] }, errors: [['b[0][0]', /this is nothing/]] },
      {
        why: 'a long short form',
        mapping: { b: [['x', null, 1, 2]] },
        errors: [['b[0]', /remove the other elements/]],
      },
      { why: 'no key', mapping: { b: {} }, errors: [['b.key', /this is nothing/]] },
      {
        why: 'a slip in a key',
        mapping: { b: { key: 'x', defualt: 1 } },
        errors: [['b.defualt', /did you mean "default"\?/]],
      },
      {
        why: 'an unknown key',
        mapping: { b: { key: 'x', zzz: 1 } },
        errors: [['b.zzz', /the keys are key, default, transform\./]],
      },
      {
        why: 'a slip in a transform',
        mapping: { b: { key: 'x', transform: { function: 'mapCodes', parameter: {} } } },
        errors: [
          ['b.transform.parameter', /"parameters"/],
          ['b.transform.parameters', /needs/],
        ],
      },
      {
        why: 'a transform of another type',
        mapping: { b: { key: 'x', transform: 1 } },
        errors: [['b.transform', /this is number/]],
      },
      {
        why: 'no function',
        mapping: { b: { key: 'x', transform: {} } },
        errors: [['b.transform.function', /this is nothing/]],
      },
      {
        why: 'a slip in a function',
        mapping: { b: [['x', 'strngify']] },
        errors: [['b[0][1].function', /did you mean "stringify"\?/]],
      },
      {
        why: 'everything at once',
        mapping: { b: { key: 'x[', transform: { function: 'f' }, d: 1 }, c: 'ok', 'd[': 'y]' },
        errors: [
          ['b.d', /./],
          ['b.key', /./],
          ['b.transform.function', /./],
          ['d[', /./],
          ['d[', /./],
        ],
      },
      {
        why: 'one target twice',
        mapping: { b: 'x.y', c: { key: 'x.y?' } },
        warnings: [['c', /same target as inputMapping\.b/]],
      },
      {
        why: 'the object around an earlier target',
        mapping: { b: 'x.y', c: 'x' },
        warnings: [['c', /replaces what inputMapping\.b/]],
      },
      { why: 'the list around it', mapping: { 'b[].a': 'e[].a', c: 'e' }, warnings: [['c', /replaces what/]] },
      {
        why: 'a default that may replace',
        mapping: { b: 'x.y', c: { key: 'x[0]', default: 1 }, d: { key: 'x', default: 1 } },
      },
      { why: 'a target within an earlier one', mapping: { b: 'x', c: 'x.y', d: 'x.z', e: 'xy' } },
      { why: 'a list to append to', mapping: { b: 'x[0]', c: 'x[]', d: { key: 'x', transform: 'appendArray' } } },
      { why: 'an object and a list', mapping: { b: 'x.y', c: 'x[0]' }, warnings: [['c', /never both be written/]] },
      { why: 'an object and a spread list', mapping: { b: 'a.x[].z', c: 'a.x.y' }, warnings: [['c', /never both/]] },
      { why: 'one target twice by escapes', mapping: { b: 'x+', c: 'x\\+' }, warnings: [['c', /same target/]] },
      {
        why: 'targets that add',
        mapping: { b: 'x[]', c: 'x[]+', d: { key: 'y', transform: append }, e: { key: 'y', transform: append } },
      },
      {
        why: 'a default of null',
        mapping: { b: { key: 'x', default: null } },
        warnings: [['b.key', /writes nothing/]],
      },
      {
        why: 'oneToAllElements of one place',
        mapping: { b: { key: 'x', transform: all } },
        warnings: [['b.key', /writes one value/]],
      },
      {
        why: 'parameters that are not read',
        mapping: { b: [['x', { function: 'stringify', parameters: { a: 1 } }]] },
        warnings: [['b[0][1].parameters', /reads no/]],
      },
    ]
  for (const { why, mapping, errors = [], warnings = [] } of cases) {
    it(why, () => {
      const { mapping: compiled, lints } = compile(mapping)
      const expected = [
        ...errors.map((fault) => ['error', ...fault] as const),
        ...warnings.map((fault) => ['warning', ...fault] as const),
      ]
      assert.deepEqual(
        lints.map(({ severity, path }) => [severity, path]),
        expected.map(([severity, place]) => [severity, `inputMapping${place === '' ? '.' : `.${place}`}`]),
      )
      for (const [at, [, , says]] of expected.entries()) assert.match(lints[at]?.message ?? '', says)
      if (errors.length > 0) assert.deepEqual(compiled.apply({ b: 1, c: 2 }), 'c' in mapping ? { ok: 2 } : {})
    })
  }

  it('lists the paths that it reads', () => {
    const { mapping } = compile({ 'constants.a': 'x', 'query.q[0]': 'y[', '.': 'z' })
    assert.deepEqual(
      mapping.sources.map(({ root, text }) => [root, text]),
      [
        ['constants', 'constants.a'],
        ['query', 'query.q[0]'],
      ],
    )
  })
})

describe('what indexes alone make of the output', () => {
  const cases: readonly { why: string; targets: readonly JsonObject[]; refused: Record<number, RegExp> }[] = [
    {
      why: 'an index in as many elements as another makes',
      targets: [{ key: 'a[1000].x' }, { key: 'a[].y[100]', transform: all }, { key: 'a[].z', transform: all }],
      refused: { 1: /"a\[\]\.y\[100\]" write 102102 elements/ },
    },
    {
      why: 'in the order written',
      targets: [
        { key: 'a[].y[10000]', transform: all },
        { key: 'a[9999].x' },
        { key: 'a[].x[10]', transform: all },
        { key: 'a[].y[0]', transform: all },
      ],
      refused: { 2: /write 120000 elements/ },
    },
    {
      why: 'elements within elements',
      targets: [{ key: 'a[99].w' }, { key: 'a[].x[998]', transform: all }, { key: 'a[].x[].y[1]', transform: all }],
      refused: { 2: /write 299800 elements/ },
    },
    {
      why: 'one element at a time',
      targets: [{ key: 'a[10000].x' }, { key: 'a[10000].y[10000]' }, { key: 'a[].z[10000]' }],
      refused: {},
    },
    {
      why: 'as much as may be',
      targets: [{ key: 'a[999].w' }, { key: 'a[].x[98]', transform: all }],
      refused: {},
    },
  ]
  for (const { why, targets, refused } of cases) {
    it(why, () => {
      const { mapping, lints } = compile(Object.fromEntries(targets.map((target, at) => [`b.n${at}`, target])))
      assert.deepEqual(
        lints.map(({ severity, path }) => [severity, path]),
        Object.keys(refused).map((at) => ['error', `inputMapping.b\\.n${at}`]),
      )
      for (const [at, says] of Object.values(refused).entries()) assert.match(lints[at]?.message ?? '', says)
      const values = Object.fromEntries(targets.map((_, at) => [`n${at}`, 1]))
      assert.doesNotThrow(() => mapping.apply({ b: values }))
    })
  }
})
