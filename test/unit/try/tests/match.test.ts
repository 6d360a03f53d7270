/** The truth table of the matchers, what they report, and that no expectation costs more than others. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { shownMismatch } from '../../../../src/try/tests/judge-step.ts'
import { createMatcher, ignoredPaths, TooManyComparisons } from '../../../../src/try/tests/match.ts'
import { lintExpectation } from '../../../../src/try/tests/operators.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'

/** The truth table of the matchers, as JSON text: what is expected, what it takes, and what it refuses. NOTHING: there is no value. */
const NOTHING = undefined
type Row = readonly [expected: string, takes: readonly (string | undefined)[], refuses: readonly (string | undefined)[]]
const TABLE: Readonly<Record<string, readonly Row[]>> = {
  'plain scalars': [
    ['1', ['1'], ['2', '"1"', 'true', NOTHING]],
    ['1.0', ['1'], []],
    ['100', ['1E2'], []],
    ['-0', ['0'], []],
    ['"1"', [], ['1']],
    ['false', [], ['0']],
    ['0', [], ['null']],
    ['null', ['null'], [NOTHING]],
    ['"a"', [], ['"A"', '"a "', '{"a":1}']],
    ['"é"', ['"\\u00e9"'], ['"e\\u0301"']],
    ['9007199254740993', ['9007199254740992'], []],
  ],
  'plain arrays': [
    ['[]', ['[]'], ['{}', '[1]']],
    ['[1,2]', ['[1,2]'], ['[2,1]', '[1,2,3]']],
    ['[1,null]', [], ['[1]']],
    ['[null]', ['[null]'], []],
    ['[[1],[2]]', [], ['[[1,2]]']],
    ['[{"a":1}]', ['[{"a":1.0}]'], []],
    ['[1]', [], ['{"0":1}']],
  ],
  'plain objects': [
    ['{}', ['{}'], ['{"a":1}', '{"a":null}']],
    ['{"a":1,"b":2}', ['{"b":2,"a":1}'], []],
    ['{"a":1}', [], ['{"a":1,"b":2}']],
    ['{"a":null}', ['{"a":null}'], ['{}']],
    ['{"a":{"b":[1]}}', [], ['{"a":{"b":[1,1]}}']],
    ['{"a/b":1,"c~d":2}', ['{"a/b":1,"c~d":2}'], []],
    ['{"":1}', ['{"":1}'], []],
    ['{"toString":1}', [], ['{}']],
    ['{"hasOwnProperty":1}', ['{"hasOwnProperty":1}'], []],
  ],
  'operators beside other members are plain': [
    ['{"$any":true,"a":1}', ['{"$any":true,"a":1}'], ['{"a":1}']],
    ['{"$contains":{},"b":1}', [], ['{"b":1}']],
    ['{"$other":1}', ['{"$other":1}'], []],
  ],
  $contains: [
    ['{"$contains":{}}', ['{}', '{"a":1}'], ['[]', NOTHING]],
    ['{"$contains":{"a":1}}', ['{"a":1,"b":2}'], ['{"a":2}']],
    ['{"$contains":{"a":null}}', [], ['{}']],
    ['{"$contains":{"a":{"b":1}}}', ['{"a":{"b":1,"c":2},"d":3}'], []],
    ['{"$contains":{"a":[{"b":1}]}}', ['{"a":[{"b":1,"c":2}]}'], ['{"a":[{"b":1},{"b":2}]}']],
    ['{"$contains":{"a":[1,2]}}', [], ['{"a":[2,1]}']],
    ['{"$contains":{"a":{"$absent":true}}}', ['{"b":1}'], ['{"a":null}']],
    ['{"$contains":{"a":{"$literal":{"b":1}}}}', ['{"a":{"b":1},"c":2}'], ['{"a":{"b":1,"c":2}}']],
    ['{"$contains":[]}', ['[1]'], []],
    ['{"$contains":[3,1]}', ['[1,2,3]'], []],
    ['{"$contains":[1,1]}', ['[1,2,1]'], ['[1,2]']],
    ['{"$contains":[{"a":1}]}', ['[{"a":1,"b":2}]'], []],
    ['{"$contains":[{"a":1},{"b":2}]}', [], ['[{"a":1,"b":2}]']],
    ['{"$contains":[{"$any":true},1]}', ['[1,2]'], ['[1]']],
    ['{"$contains":[{"$oneOf":[1,2]},{"$oneOf":[2,3]},2]}', ['[3,2,1]'], []],
    ['{"$contains":"b"}', ['"abc"'], ['["b"]']],
    ['{"$contains":""}', ['"abc"'], []],
    ['{"$contains":"B"}', [], ['"abc"']],
  ],
  $items: [
    ['{"$items":1}', ['[]', '[1,1.0]'], ['[1,2]', '1', NOTHING]],
    ['{"$items":{"$type":"string"}}', [], ['["a",null]']],
    ['{"$items":{"a":1}}', [], ['[{"a":1,"b":2}]']],
    ['{"$items":{"$contains":{"a":1}}}', ['[{"a":1,"b":2}]'], []],
    ['{"$items":{"$items":1}}', ['[[1],[]]'], []],
    ['{"$items":{"$absent":true}}', ['[]'], []],
  ],
  $type: [
    ['{"$type":"string"}', ['""'], ['1']],
    ['{"$type":"number"}', ['1.5'], []],
    ['{"$type":"integer"}', ['1'], ['1.5']],
    ['{"$type":"boolean"}', ['false'], []],
    ['{"$type":"null"}', ['null'], [NOTHING]],
    ['{"$type":"object"}', [], ['[]', 'null']],
    ['{"$type":"array"}', ['[]'], []],
    ['{"$type":["string","null"]}', ['null'], ['1']],
  ],
  $matches: [
    ['{"$matches":"b"}', ['"abc"'], []],
    ['{"$matches":"^b"}', [], ['"abc"']],
    ['{"$matches":"^[0-9]+$"}', [], ['12']],
    ['{"$matches":""}', ['""'], []],
    ['{"$matches":"a"}', [], [NOTHING]],
    ['{"$matches":"^(a+)+$"}', [], ['"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"']],
    ['{"$matches":"\\\\d{4}-\\\\d{2}"}', ['"on 2026-01"'], []],
  ],
  '$any and $absent': [
    ['{"$any":true}', ['null'], [NOTHING]],
    ['{"$absent":true}', [NOTHING], ['null']],
    ['{"a":1,"b":{"$absent":true}}', ['{"a":1}'], ['{"a":1,"b":null}']],
    ['{"a":1,"b":{"$any":true}}', ['{"a":1,"b":null}'], []],
  ],
  $oneOf: [
    ['{"$oneOf":[1,2]}', ['2'], ['3']],
    ['{"$oneOf":[null,"a"]}', ['null'], [NOTHING]],
    ['{"$oneOf":[{"$absent":true},"a"]}', [NOTHING], ['null']],
    ['{"$oneOf":[{"$type":"string"},[1]]}', ['[1]'], []],
    ['{"$oneOf":[[1,2]]}', [], ['1']],
    ['{"$contains":{"x":{"$oneOf":[{"a":1}]}}}', ['{"x":{"a":1,"b":2}}'], []],
  ],
  $near: [
    ['{"$near":{"value":1,"within":0.1}}', ['1.1', '"1.05"'], ['1.11', '"1,05"']],
    ['{"$near":{"value":0.3,"within":0}}', ['0.30000000000000004'], []],
    ['{"$near":{"value":0,"within":1}}', [], ['""']],
    ['{"$near":{"value":1,"within":1}}', [], ['true', NOTHING]],
    [
      '{"$near":{"value":"2026-01-01T00:00:00Z","within":1000}}',
      ['"2026-01-01T00:00:01.000Z"'],
      ['"2025-12-31T23:59:58.999Z"', '"2026-01-01T00:00:00"'],
    ],
    ['{"$near":{"value":"2026-01-01T00:00:00Z","within":0}}', ['"2026-01-01T02:00:00+02:00"'], []],
  ],
  $text: [
    ['{"$text":"a"}', ['"a"'], [NOTHING]],
    ['{"$text":"1.5"}', ['1.5'], []],
    ['{"$text":"null"}', ['null'], []],
    ['{"$text":{"$matches":"^[0-9]+$"}}', ['12'], []],
    ['{"$text":{"$contains":"b"}}', ['"abc"'], []],
    ['{"$text":{"$contains":"\\"a\\":1"}}', ['{"a":1}'], []],
  ],
  $literal: [
    ['{"$literal":null}', ['null'], [NOTHING]],
    ['{"$literal":{"$any":true}}', ['{"$any":true}'], ['1']],
    ['{"$literal":{"$literal":1}}', ['{"$literal":1}'], []],
    ['{"$literal":{"a":[{"$absent":true}]}}', ['{"a":[{"$absent":true}]}'], []],
    ['{"$literal":[1,2]}', [], ['[1,2,3]', '{"0":1,"1":2}']],
    ['{"a":{"$literal":{"$oneOf":[1]}}}', ['{"a":{"$oneOf":[1]}}'], []],
  ],
}

const parsed = (text: string | undefined): Json | undefined => (text === undefined ? undefined : JSON.parse(text))
const mismatches = (expected: Json, actual: Json | undefined, ignored: readonly string[] = []) =>
  createMatcher().mismatches(expected, actual, { pointer: '', ignored: ignoredPaths(ignored) })

for (const [group, rows] of Object.entries(TABLE)) {
  describe(group, () => {
    for (const [expected, ...sides] of rows) {
      test(expected, () => {
        for (const [side, all] of sides.entries()) {
          for (const actual of all) {
            const found = mismatches(JSON.parse(expected), parsed(actual))
            assert.equal(found.length === 0, side === 0, `${actual}: ${JSON.stringify(found)}`)
          }
        }
      })
    }
  })
}

describe('mismatches', () => {
  const cases: readonly Readonly<{ name: string; expected: Json; actual?: Json; gives: readonly object[] }>[] = [
    {
      name: 'another value',
      expected: { a: [1, { b: 2 }] },
      actual: { a: [1, { b: 3 }] },
      gives: [{ path: '/a/1/b', expected: 2, actual: 3, message: 'The value differs.' }],
    },
    {
      name: 'another type',
      expected: { a: 1 },
      actual: { a: '1' },
      gives: [{ path: '/a', expected: 1, actual: '1', message: 'The value is a string, not a number.' }],
    },
    {
      name: 'too little and too much',
      expected: { a: 1, 'b/c': 2 },
      actual: { a: 1, 'd~e': null },
      gives: [
        { path: '/b~1c', expected: 2, message: 'There is no value.' },
        { path: '/d~0e', actual: null, message: 'The value is not expected.' },
      ],
    },
    {
      name: 'a shorter and a longer array',
      expected: [[1, 2], [3]],
      actual: [[1], [3, 4]],
      gives: [
        { path: '/0/1', expected: 2, message: 'There is no value.' },
        { path: '/1/1', actual: 4, message: 'The value is not expected.' },
      ],
    },
    {
      name: 'within $contains and $items',
      expected: { $contains: { list: { $items: { $type: 'string' } } } },
      actual: { list: ['a', 1], more: true },
      gives: [{ path: '/list/1', expected: { $type: 'string' }, actual: 1, message: 'The value is a number.' }],
    },
    {
      name: 'an item that is not there',
      expected: { $contains: [1, 5] },
      actual: [1, 2],
      gives: [
        {
          path: '',
          expected: 5,
          message: 'No item of the array matches, or each matching item is already used for another.',
        },
      ],
    },
  ]
  for (const { name, expected, actual, gives } of cases) {
    test(name, () => assert.deepEqual(mismatches(expected, actual), gives))
  }

  test('are not of ignored places', () => {
    const actual = { a: 1, meta: { at: 'now', by: 'x' }, list: [1, 2] }
    assert.deepEqual(mismatches({ a: 1, meta: { by: 'x' }, list: [1, 3] }, actual, ['/meta/at', '/list/1']), [])
    assert.deepEqual(
      mismatches({ a: 1, meta: { at: 'x', by: 'x' }, list: [1, 3, 4] }, actual, ['/meta/at', '/list/1', '/list/2']),
      [],
    )
    assert.deepEqual(
      mismatches({ $literal: { a: 1, meta: { by: 'x' }, list: [1] } }, actual, ['/meta/at', '/list/1']),
      [],
    )
    assert.deepEqual(mismatches({ a: 2 }, actual, ['']), [])
  })

  test('name the place of what takes too long', () => {
    const many = Array.from({ length: 2_500 }, (_, index) => index)
    const others = many.map((n) => n + 0.5)
    assert.throws(() => mismatches({ 'a/b': [{ $contains: many }] }, { 'a/b': [others] }), {
      name: 'TooManyComparisons',
      pointer: '/a~1b/0',
    })
  })
})

describe('hostile expectations cost no more than others', () => {
  const list = (length: number, item: (index: number) => Json): Json[] =>
    Array.from({ length }, (_, index) => item(index))
  const b = (length: number) => 'a'.repeat(length)
  const cases: readonly Readonly<{ name: string; expected: Json; actual: Json; isTooMuch: boolean }>[] = [
    {
      name: 'the same item many times',
      expected: { $contains: list(1_400, () => 1) },
      actual: list(1_400, () => 1),
      isTooMuch: false,
    },
    {
      name: 'items that give theirs up to others',
      expected: { $contains: list(600, (n) => ({ $oneOf: [599 - n, 600 - n] })) },
      actual: list(601, (n) => n),
      isTooMuch: true,
    },
    {
      name: 'long texts of the same start',
      expected: { $contains: list(900, (n) => `${b(1_000)}${n + 1_000}`) },
      actual: list(900, (n) => `${b(1_000)}${n + 3_000}`),
      isTooMuch: true,
    },
    {
      name: 'a long text that is nearly within a longer one',
      expected: { $contains: `${b(30_000)}b${b(30_000)}` },
      actual: b(300_000),
      isTooMuch: false,
    },
    {
      name: 'patterns that go through all texts',
      expected: { $oneOf: list(40, (n) => ({ $matches: `a[ab]{${100 + n}}[cd]` })) },
      actual: 'ab'.repeat(10_000),
      isTooMuch: true,
    },
    {
      name: 'the text of a large value for each alternative',
      expected: { $oneOf: list(1_000, () => ({ $text: { $contains: 'z' } })) },
      actual: list(20_000, (n) => n),
      isTooMuch: true,
    },
  ]
  const usual = list(30_000, (n) => n)
  for (const { name, expected, actual, isTooMuch } of cases) {
    test(name, async () => {
      let thrown: unknown
      const compare = () => {
        try {
          mismatches(expected, actual)
        } catch (error) {
          thrown = error
        }
      }
      const ratio = await timesAsCostly(compare, () => mismatches(usual, usual))
      assert.ok(ratio < 15, `${ratio.toFixed(1)} times the processor time`)
      assert.equal(thrown instanceof TooManyComparisons, isTooMuch, String(thrown))
    })
  }

  test('mismatches of a large value show its start only', async () => {
    const large = list(100_000, (n) => n)
    const shown = () => list(50, () => null).map(() => shownMismatch({ path: '', actual: large, message: '' }))
    const ratio = await timesAsCostly(shown, () => JSON.stringify(large))
    assert.ok(ratio < 15, `${ratio.toFixed(1)} times the processor time`)
    const text = JSON.stringify(large)
    assert.equal(shown()[0]?.actual, `${text.slice(0, 2_000)}…`)
    const member = { [b(100)]: b(5_000), after: 1 }
    const { actual } = shownMismatch({ path: '', actual: member, message: '' })
    assert.equal(actual, `${JSON.stringify(member).slice(0, 2_000)}…`)
  })
})

describe('operands that an operator does not take', () => {
  const cases: readonly (readonly [expected: Json, path: string, message: RegExp])[] = [
    [{ $contains: 1 }, '$contains', /takes an object, an array or a string, not this number/],
    [{ a: [{ $type: 'text' }] }, 'a[0].$type', /takes one of "string".* not "text"/],
    [{ $type: [] }, '$type', /or an array of these/],
    [{ $matches: '(' }, '$matches', /is not a regular expression/],
    [{ $matches: '(?=a)' }, '$matches', /looks ahead/],
    [{ $absent: 'yes' }, '$absent', /takes true, not "yes"/],
    [{ $oneOf: [] }, '$oneOf', /at least one/],
    [{ $near: { value: 1, within: -1 } }, '$near', /within/],
    [{ $near: { value: '2026-02-31T00:00:00Z', within: 1 } }, '$near', /within/],
    [{ $text: {} }, '$text', /takes a string, or an operator/],
    [{ $contain: {} }, '$contain', /did you mean "\$contains"/],
    [{ $oneOf: [1, { $type: 'x' }] }, '$oneOf[1].$type', /takes one of/],
  ]
  for (const [expected, path, message] of cases) {
    test(JSON.stringify(expected), () => {
      const lints: Lint[] = []
      lintExpectation(expected, collectInto(lints))
      assert.deepEqual([lints.length, lints[0]?.path, lints[0]?.severity], [1, path, 'error'])
      assert.match(lints[0]?.message ?? '', message)
    })
  }

  test('a name beside others gets a warning', () => {
    const lints: Lint[] = []
    lintExpectation({ $any: true, a: 1 }, collectInto(lints))
    assert.deepEqual(
      lints.map(({ path, severity }) => [path, severity]),
      [['$any', 'warning']],
    )
  })
})

describe('any JSON', () => {
  const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
  const inverted = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(inverted)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, inner]) => [name, inverted(inner as Json)]),
    )
  }

  test('equals itself in any order of members, and not what has a further item', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        assert.deepEqual(mismatches({ $literal: value }, inverted(value)), [])
        assert.deepEqual(mismatches({ $contains: { x: { $literal: value } } }, { x: value, y: 1 }), [])
        assert.notDeepEqual(mismatches({ $literal: [value] }, [value, value]), [])
        assert.notDeepEqual(mismatches({ $literal: value }, [value]), [])
      }),
    )
  })

  test('is refused or taken as an expectation without an error of the program', () => {
    const operators = '$contains $items $type $matches $any $near $text $literal $oneOf a'
    const names = fc.constantFrom(...operators.split(' '))
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        anyJson,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 2 }),
      ),
    }))
    fc.assert(
      fc.property(tree, anyJson, (expected, actual) => {
        const lints: Lint[] = []
        lintExpectation(expected, collectInto(lints))
        if (lints.some(({ severity }) => severity === 'error')) return
        for (const { path, message } of mismatches(expected, actual)) {
          assert.match(path, /^(?:\/.*)?$/s)
          assert.match(message, /\.$/)
        }
      }),
    )
  })
})
