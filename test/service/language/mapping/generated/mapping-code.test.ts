import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../../../src/domain/json.ts'
import { collectInto } from '../../../../../src/domain/lint.ts'
import { compileMapping } from '../../../../../src/language/mapping/mapping.ts'
import { outcomeOf } from '../../../../support/language/mapping/any-mapping.ts'

const byClosures = (mapping: JsonObject) =>
  compileMapping(mapping, collectInto([], 'inputMapping'), Number.POSITIVE_INFINITY)
const byCode = (mapping: JsonObject) => compileMapping(mapping, collectInto([], 'inputMapping'), 0)

/** Also as text, so that the order of the fields counts. */
function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(actual, expected)
  assert.equal(JSON.stringify(actual, null, 1), JSON.stringify(expected, null, 1))
}

/** Writing to a frozen value throws, so a mapping that changes what it was given fails. */
function freeze<T extends Json>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(Object.freeze(value))) freeze(inner)
  return value
}

const codes = { function: 'mapCodes', parameters: { x: 'X', default: ['none'], null: 'N' } }
const all = { function: 'oneToAllElements' }

describe('a mapping that became a function of its own', () => {
  const rows = { 'r.rows[].a': 'out[].a', 'r.rows[].b.c': 'out[].deep.c', 'r.rows[].b.d': 'out[].deep.d' }
  const inner = { 'r.rows[].in[].a': 'out[].a', 'r.rows[].in[].b': 'out[].b[]' }
  const cases: readonly { why: string; mapping: JsonObject; bodies: readonly Json[] }[] = [
    {
      why: 'fields, in the order in which they are found',
      mapping: { 'r.a': 'x.a', 'r.b': 'y', 'r.c': 'x.c', 'r.d': 'y' },
      bodies: [{ a: 1, b: 2, c: 3, d: 4 }, { b: 2, c: 3 }, { c: 0, a: '', b: false }, {}, null, 7, 'text'],
    },
    {
      why: 'fields of arrays, which give one place each',
      mapping: { 'r.a.b': 'x.a', 'r.c': 'x.c' },
      bodies: [{ a: { b: 1 }, c: 2 }, { a: [{ b: 1 }, {}, { b: [2] }], c: 2 }, [{ c: 1 }, { c: 2 }]],
    },
    {
      why: 'elements by index',
      mapping: { 'r.a[1].b': 'x[1].b', 'r.a[0]': 'x[0]', 'r.c[0].d': 'x[1].c', 'r.e[0]': { key: 'n?' } },
      bodies: [
        { a: [{ b: 1 }, { b: 2 }], c: { d: 3 } },
        { a: { b: 1 }, e: null },
        { a: [], e: [null] },
      ],
    },
    {
      why: 'elements by number, which are fields of objects',
      mapping: {
        'r.a.1.b': 'x[1].b',
        'r.a.0.c': 'x[0]',
        'r.c.0': 'y',
        'r.a.1.d.0': { key: 'z?', transform: codes },
        'r.rows.0.in[].a.0': 'out[].a',
        'r.rows.0.in[].0': 'out[].b',
        'r.rows.0.in[].toString': 'out[].c',
        '0.a': 'w',
      },
      bodies: [
        { a: [{ c: 1 }, { b: 2, d: ['x'] }], c: [3], rows: [{ in: [{ a: [4], 0: 5 }, { a: { 0: 6 } }, {}] }] },
        { a: { 0: { c: 1 }, 1: { b: 2, d: { 0: 'x' } } }, c: { 0: 3 }, rows: { 0: { in: [[7], { a: [[8]] }] } } },
        { a: [[{ c: 1 }], [{ b: 2 }, { b: 3, d: [[4]] }]], c: 'text', rows: [[{ in: [{ a: 1 }] }]] },
        { a: [], c: [], rows: [{ in: { a: [9] } }] },
        [{ a: [0, { b: 1 }] }],
        {},
      ],
    },
    {
      why: 'a place within one that was written whole',
      mapping: { 'r.a': 'x', 'r.b': 'x.b', 'r.c': 'x.c[0]', 'r.d': 'y.d', 'r.e': 'y', 'r.f': 'y.f' },
      bodies: [
        { a: { b: 1, z: 0 }, b: 2, c: 3, d: 4, e: { f: 5 }, f: 6 },
        { b: 2, d: 4, f: 6 },
      ],
    },
    {
      why: 'what is appended',
      mapping: { 'r.a': 'x.l[]', 'r.b': 'x.l[]+', 'r.c': { key: 'x.l', transform: { function: 'appendArray' } } },
      bodies: [{ a: 1, b: [2], c: [3, 4] }, { b: 2 }, {}],
    },
    {
      why: 'functions, defaults and null',
      mapping: {
        'r.a': { key: 'x.a', transform: codes },
        'r.b': { key: 'x.b', default: { d: 1 } },
        'r.c': { key: 'x.c?', default: null },
        'r.d': 'x.d?',
        'r.e': ['y.e', { key: 'y.f', transform: { function: 'stringify' } }],
      },
      bodies: [{ a: 'x', b: 1, c: 2, d: 3, e: { g: 1 } }, { a: null, b: null, c: null, d: null, e: null }, {}],
    },
    {
      why: 'one value for all elements, and what comes after it',
      mapping: { 'r.a': 'x[0].a', 'r.b': 'x[1].b', 'r.c': { key: 'x[].c', transform: all }, 'r.d': 'x[0].d' },
      bodies: [{ a: 1, b: 2, c: 3, d: 4 }, { c: 3 }, { b: 2, c: 3, d: 4 }],
    },
    {
      why: 'fields passed through, and what comes after them',
      mapping: { 'r.a': 'x.a', 'r.o': { key: '_', transform: { function: 'passThroughObject' } }, 'r.b': 'x.b' },
      bodies: [
        { a: 1, b: 2 },
        { a: 1, b: 2, o: { x: { z: 1 }, b: 1 } },
      ],
    },
    {
      why: 'an array spread over another',
      mapping: { ...rows, 'r.n': 'n', 'r.rows[].e': { key: 'out[].e', transform: codes } },
      bodies: [
        { rows: [{ a: 1, b: { c: 2, d: 3 }, e: 'x' }, {}, null, 5, { b: { d: 3 } }, { a: null, b: null }], n: 1 },
        { rows: [], n: 1 },
        { rows: null },
        {},
      ],
    },
    {
      why: 'what is no array, or holds arrays, where elements are read',
      mapping: { ...rows, 'r.n': 'n', 'r.rows[].e[0]': 'out[].e' },
      bodies: [
        { rows: { b: { c: 2 }, e: [4] }, n: 1 },
        { rows: 'text', n: 1 },
        { rows: [{ a: 1 }, { a: [2, 3] }, { a: 4, b: [{ c: 1 }, { c: 2 }] }] },
        { rows: [[{ a: 1 }], { a: 2 }] },
        { rows: [{ b: [] }] },
        [{ rows: [{ a: 1 }] }],
      ],
    },
    {
      why: 'spread by the field that is found later, which decides the order of the fields',
      mapping: { 'r.rows[].a': 'out[].a', 'r.n': 'n', 'r.rows[].b': 'out[].b' },
      bodies: [{ rows: { b: 1 }, n: 1 }, { rows: [{ b: 1 }], n: 1 }, { n: 1 }],
    },
    {
      why: 'spread where there is no array, but a function makes something of nothing',
      mapping: { 'r.rows[].a': { key: 'out[].a', transform: codes }, 'r.rows[].b': 'out[].b' },
      bodies: [{}, { rows: null }, { rows: [{}] }, { rows: { a: 'x' } }],
    },
    {
      why: 'arrays within arrays',
      mapping: inner,
      bodies: [
        { rows: [{ in: [{ a: 1, b: 2 }, { b: 3 }] }, {}, { in: null }, { in: [] }, null, { in: [{ a: 4 }] }] },
        { rows: [{ in: { a: 1 } }, { in: [{ a: 2 }] }] },
        { rows: [{ in: [[{ a: 1 }], { a: [1] }] }] },
        { rows: [{ in: [] }] },
        { rows: [] },
      ],
    },
    {
      why: 'elements and those of arrays within them over one array',
      mapping: { 'r.rows[].a': 'out[].a', 'r.rows[].in[].b': 'out[].b', 'r.rows[].c': 'out[].c' },
      bodies: [
        {
          rows: [
            { a: 1, in: [{ b: 2 }, { b: 3 }] },
            { a: 4, c: 5 },
          ],
        },
      ],
    },
    {
      why: 'two arrays spread over one, defaults in elements, deeper places',
      mapping: {
        'r.rows[].a': 'out[].a',
        'r.more[].b': 'out[].b',
        'r.rows[].c': { key: 'd[].c', default: 0 },
        'r.rows[].d': 'e.f[].d',
        'r.rows[].e': 'g[0].h',
      },
      bodies: [{ rows: [{ a: 1 }, { c: 2, d: 3, e: 4 }], more: [{}, { b: 5 }, { b: 6 }] }],
    },
    {
      why: 'an element with one value over elements, and a value over an element',
      mapping: { 'r.rows[].a': 'out[].a', 'r.n': { key: 'out[].n', transform: all }, 'r.m': 'out[0].a' },
      bodies: [
        { rows: [{ a: 1 }, {}], n: { z: 1 }, m: 2 },
        { n: 1, m: 2 },
      ],
    },
    {
      why: 'names that objects inherit, and names that look like code',
      mapping: {
        'r.toString': 'x.toString',
        'r.constructor.name': 'y',
        'r.rows[].valueOf': 'out[].hasOwnProperty',
        'r.b0"\\]};throw 1//': 'b0"\\]};throw 1//.$source',
        'r.value': 'output.`',
        "r.a'\\];throw 1//": "it's.a'",
        'r.b\\': 'b\\.c\\',
        'r.d\n': "d\n.'",
        'r.first_name-2': 'last_name.9-b',
      },
      bodies: [
        { toString: 1, constructor: { name: 'c' }, rows: [{ valueOf: 2 }, {}], 'b0"]};throw 1//': 3, value: 4 },
        { "a'];throw 1//": 5, 'b\\': 6, 'd\n': 7, 'first_name-2': 8 },
        {},
        { rows: [{}] },
      ],
    },
    {
      why: 'places under inherited names, after closures mapped what is no array',
      mapping: {
        'r.rows[].a': { key: 'toString.out[].a', transform: { function: 'numberify' } },
        'r.a': { key: 'toString.valueOf', transform: codes },
        'r.list[].b': 'hasOwnProperty[0].isPrototypeOf[].b',
        'r.c': 'hasOwnProperty[0].toLocaleString.c',
      },
      bodies: [{}, { rows: [{ a: '1' }], a: 'x', c: 2 }, { rows: { a: 1 }, list: { b: 1 }, c: 2 }, { c: 2 }],
    },
    {
      why: 'values that no function converts, in several entries and elements',
      mapping: {
        'r.rows[].a': { key: 'out[].a', transform: { function: 'numberify' } },
        'r.n': { key: 'n', transform: { function: 'dateTimeToDate' } },
        'r.rows[].b': { key: 'out[].b', transform: { function: 'numberify' } },
      },
      bodies: [
        { rows: [{ a: 1, b: 2 }], n: 'xT' },
        { rows: [{ b: 'x' }, { a: 'x' }] },
        { rows: [{ b: 'x' }], n: true },
        { rows: { a: 'x' } },
        { n: {} },
      ],
    },
    {
      why: 'places that two entries write in other shapes',
      mapping: { 'r.a': 'x', 'r.b': 'x.b', 'r.c': 'y.c', 'r.d': 'y', 'r.e': 'z', 'r.f': 'z', 'r.rows[].a': 'y[].a' },
      bodies: [
        { a: { z: 1 }, b: 2 },
        { a: 1, b: 2 },
        { c: 3, d: { e: 4 } },
        { c: 3, d: 4 },
        { e: 1, f: 2 },
        { e: 1, f: [2] },
        { c: 3, rows: [{ a: 1 }] },
        { d: [], rows: [{ a: 1 }] },
      ],
    },
    { why: 'more entries than one function takes', mapping: many(501), bodies: [{ a0: 1, a500: 2 }] },
    { why: 'as many entries as one function takes', mapping: many(500), bodies: [{ a0: 1, a499: 2 }] },
  ]
  for (const { why, mapping, bodies } of cases) {
    it(`maps as closures do: ${why}`, () => {
      const [closures, code] = [byClosures(freeze(mapping)), byCode(mapping)]
      for (const r of bodies)
        assertSame(
          outcomeOf(() => code.apply(freeze({ r }))),
          outcomeOf(() => closures.apply({ r })),
        )
    })
  }

  it('starts after some messages, without a change that a message could see', () => {
    const mapping = compileMapping(rows, collectInto([]))
    const source = freeze({ r: { rows: [{ a: 1, b: { c: 2 } }, {}] } })
    const first = mapping.apply(source)
    for (let message = 0; message < 1000; message++) assertSame(mapping.apply(source), first)
  })

  it('does without, where Node.js must not make functions of text', () => {
    const program = `
      const { compileMapping } = await import(${JSON.stringify(new URL('../../../../../src/language/mapping/mapping.ts', import.meta.url))})
      const { collectInto } = await import(${JSON.stringify(new URL('../../../../../src/domain/lint.ts', import.meta.url))})
      console.log(JSON.stringify(compileMapping({ 'r.a': 'x.a' }, collectInto([]), 0).apply({ r: { a: 1 } })))`
    const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '--eval', program]
    const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' })
    assert.equal(stdout, '{"x":{"a":1}}\n', stderr)
  })
})

function many(entries: number): JsonObject {
  return Object.fromEntries(Array.from({ length: entries }, (_, at) => [`r.a${at}`, `x.y${at}`]))
}

describe('any mapping that became a function of its own', () => {
  const name = fc.constantFrom('a', 'b', 'c', '0', 'toString', "'", '-_')
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Json>(null, 0, '', 'x', false),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value
  /** What is mostly as the paths below expect it. */
  const row = fc.oneof(
    { weight: 8, arbitrary: fc.dictionary(name, fc.oneof(fc.integer(), value), { noNullPrototype: true }) },
    { weight: 1, arbitrary: value },
  )
  const rows = fc.oneof({ weight: 8, arbitrary: fc.array(row, { maxLength: 4 }) }, { weight: 1, arbitrary: value })
  const source = fc.record({ r: fc.dictionary(name, fc.oneof(rows, value), { noNullPrototype: true }) })

  const steps = (...brackets: readonly string[]) =>
    fc
      .array(
        fc.tuple(name, fc.constantFrom('', ...brackets)).map((parts) => parts.join('')),
        { minLength: 1, maxLength: 3 },
      )
      .map((parts) => parts.join('.'))
  const path = fc.oneof(steps('[]', '[0]', '[1]'), steps('[]')).map((rest) => `r.${rest}`)
  const key = fc
    .tuple(fc.oneof(steps('', '[]', '[0]', '[2]'), steps('[]')), fc.constantFrom('', '', '', '?', '[]', '[]+'))
    .map((parts) => parts.join(''))
  const transform = fc.constantFrom<Json>(
    codes,
    all,
    { function: 'stringify' },
    { function: 'numberify' },
    { function: 'appendArray' },
    { function: 'passThroughObject' },
  )
  const target: fc.Arbitrary<Json> = fc.oneof(
    { weight: 6, arbitrary: key },
    { weight: 1, arbitrary: fc.record({ key, transform }) },
    { weight: 1, arbitrary: fc.record({ key, default: value }) },
    { weight: 1, arbitrary: fc.array(key, { minLength: 1, maxLength: 2 }) },
  )
  const mapping = fc
    .array(fc.tuple(path, target), { minLength: 1, maxLength: 8 })
    .map((entries): JsonObject => Object.fromEntries(entries))

  it('gives what closures give, in the same order', () => {
    fc.assert(
      fc.property(mapping, fc.array(source, { minLength: 1, maxLength: 3 }), (inputMapping, sources) => {
        const [closures, code] = [byClosures(inputMapping), byCode(inputMapping)]
        for (const from of sources) {
          const expected = outcomeOf(() => closures.apply(freeze(from)))
          const outcome = outcomeOf(() => code.apply(from))
          assertSame(outcome, expected)
          outcomeOf(() => code.apply(from))
          assertSame(outcome, expected)
        }
      }),
      { numRuns: 5000, seed: -2097387276 },
    )
  })
})
