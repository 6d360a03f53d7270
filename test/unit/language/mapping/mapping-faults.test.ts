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
const table = (parameters: JsonObject) => ({
  key: String(parameters.table),
  transform: { function: 'table', parameters },
})
const append = { function: 'appendArray' }
describe('mappings at fault', () => {
  type Fault = readonly [place: string, says: RegExp]
  type Case = readonly [why: string, mapping: JsonObject, errors?: readonly Fault[], warnings?: readonly Fault[]]
  const cases: readonly Case[] = [
    ['a source', { 'b..c': 'x' }, [['b\\.\\.c', /lacks a name/]]],
    [
      'source and target at once',
      { '': 'x.' },
      [
        ['', /empty text/],
        ['', /lacks a name/],
      ],
    ],
    ['an empty target', { b: '' }, [['b', /empty text/]]],
    ['a target of ?', { b: '?' }, [['b', /empty text/]]],
    ['a target of []', { b: '[].x' }, [['b', /lacks a name/]]],
    ['brackets', { b: 'x[0' }, [['b', /without its "\]"/]]],
    ['a + within', { b: 'x[]+.y' }, [['b', /continues after "\]"/]]],
    ['a star', { b: 'x.*' }, [['b', /which only a source can have/]]],
    ['an index', { b: 'x[10001]' }, [['b', /index above 10000/]]],
    ['__proto__', { b: 'x.__proto__.y' }, [['b', /"__proto__", which is refused/]]],
    ['constructor', { b: 'constructor' }, [['b', /refused/]]],
    ['prototype', { b: { key: 'a[].prototype[]+?' } }, [['b.key', /refused/]]],
    [
      'every target of an array',
      { b: ['x.', 'y', 'z['] },
      [
        ['b[0]', /lacks/],
        ['b[2]', /without/],
      ],
    ],
    ['no target', { b: [] }, [['b', /names no target/]]],
    ['a number', { b: 1 }, [['b', /this is number/]]],
    ['null', { b: null }, [['b', /this is null/]]],
    ['null in an array', { b: ['x', null, 'D'] }, [['b[1]', /short form/]]],
    ['an empty short form', { b: [[]] }, [['b[0][0]', /this is nothing/]]],
    ['a long short form', { b: [['x', null, 1, 2]] }, [['b[0]', /remove the other elements/]]],
    ['no key', { b: {} }, [['b.key', /this is nothing/]]],
    ['a slip in a key', { b: { key: 'x', defualt: 1 } }, [['b.defualt', /did you mean "default"\?/]]],
    ['an unknown key', { b: { key: 'x', zzz: 1 } }, [['b.zzz', /the keys are key, default, transform, each, when\./]]],
    [
      'a slip in a transform',
      { b: { key: 'x', transform: { function: 'mapCodes', parameter: {} } } },
      [
        ['b.transform.parameter', /"parameters"/],
        ['b.transform.parameters', /needs/],
      ],
    ],
    ['a transform of another type', { b: { key: 'x', transform: 1 } }, [['b.transform', /this is number/]]],
    ['no function', { b: { key: 'x', transform: {} } }, [['b.transform.function', /this is nothing/]]],
    ['a slip in a function', { b: [['x', 'strngify']] }, [['b[0][1].function', /did you mean "stringify"\?/]]],
    ['a table without a name', { b: table({ column: 'c' }) }, [['b.transform.parameters.table', /this is null/]]],
    ['a table whose name is none', { b: table({ table: 1 }) }, [['b.transform.parameters.table', /this is number/]]],
    [
      'a slip in a parameter of table',
      { b: table({ table: 't', colum: 'c', zzz: 1, column: '' }) },
      [
        ['b.transform.parameters.colum', /did you mean "column"\?/],
        ['b.transform.parameters.zzz', /it has table, column and missing/],
        ['b.transform.parameters.column', /the name of a column, a text/],
      ],
    ],
    ['table without parameters', { b: [['x', 'table']] }, [['b[0][1].parameters', /such as \{ "table": "sex" \}/]]],
    [
      'a "missing" in other letters',
      {
        b: table({ table: 't', missing: 'Fail' }),
        c: { ...table({ table: 't', missing: 'KEEP' }), key: 'y' },
        d: { ...table({ table: 't', missing: 'no' }), key: 'z' },
      },
      [],
      [
        ['b.transform.parameters.missing', /writes "Fail" .* "fail"/],
        ['c.transform.parameters.missing', /writes "KEEP" .* "keep"/],
      ],
    ],
    [
      'a default beside a table without "missing"',
      { b: { ...table({ table: 't' }), default: 'u' }, c: { ...table({ table: 'u', missing: 'fail' }), default: 'u' } },
      [],
      [['b.transform', /The default is for a message without a code/]],
    ],
    [
      'everything at once',
      { b: { key: 'x[', transform: { function: 'f' }, d: 1 }, c: 'ok', 'd[': 'y]' },
      [
        ['b.d', /./],
        ['b.key', /./],
        ['b.transform.function', /./],
        ['d[', /./],
        ['d[', /./],
      ],
    ],
    ['one target twice', { b: 'x.y', c: { key: 'x.y?' } }, [], [['c', /same target as inputMapping\.b/]]],
    ['the object around an earlier target', { b: 'x.y', c: 'x' }, [], [['c', /replaces what inputMapping\.b/]]],
    ['the list around it', { 'b[].a': 'e[].a', c: 'e' }, [], [['c', /replaces what/]]],
    ['a default that may replace', { b: 'x.y', c: { key: 'x[0]', default: 1 }, d: { key: 'x', default: 1 } }],
    ['a target within an earlier one', { b: 'x', c: 'x.y', d: 'x.z', e: 'xy' }],
    ['a list to append to', { b: 'x[0]', c: 'x[]', d: { key: 'x', transform: 'appendArray' } }],
    ['an object and a list', { b: 'x.y', c: 'x[0]' }, [], [['c', /never both be written/]]],
    ['an object and a spread list', { b: 'a.x[].z', c: 'a.x.y' }, [], [['c', /never both/]]],
    ['one target twice by escapes', { b: 'x+', c: 'x\\+' }, [], [['c', /same target/]]],
    [
      'targets that add',
      { b: 'x[]', c: 'x[]+', d: { key: 'y', transform: append }, e: { key: 'y', transform: append } },
    ],
    ['a default of null', { b: { key: 'x', default: null } }, [], [['b.key', /writes nothing/]]],
    ['oneToAllElements of one place', { b: { key: 'x', transform: all } }, [], [['b.key', /writes one value/]]],
    [
      'parameters that are not read',
      { b: [['x', { function: 'stringify', parameters: { a: 1 } }]] },
      [],
      [['b[0][1].parameters', /reads no/]],
    ],
  ]
  for (const [why, mapping, errors = [], warnings = []] of cases) {
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
  const cases: readonly (readonly [why: string, targets: readonly JsonObject[], refused: Record<number, RegExp>])[] = [
    [
      'an index in as many elements as another makes',
      [{ key: 'a[1000].x' }, { key: 'a[].y[100]', transform: all }, { key: 'a[].z', transform: all }],
      { 1: /"a\[\]\.y\[100\]" write 102102 elements/ },
    ],
    [
      'in the order written',
      [
        { key: 'a[].y[10000]', transform: all },
        { key: 'a[9999].x' },
        { key: 'a[].x[10]', transform: all },
        { key: 'a[].y[0]', transform: all },
      ],
      { 2: /write 120000 elements/ },
    ],
    [
      'elements within elements',
      [{ key: 'a[99].w' }, { key: 'a[].x[998]', transform: all }, { key: 'a[].x[].y[1]', transform: all }],
      { 2: /write 299800 elements/ },
    ],
    ['one element at a time', [{ key: 'a[10000].x' }, { key: 'a[10000].y[10000]' }, { key: 'a[].z[10000]' }], {}],
    ['as much as may be', [{ key: 'a[999].w' }, { key: 'a[].x[98]', transform: all }], {}],
  ]
  for (const [why, targets, refused] of cases) {
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
