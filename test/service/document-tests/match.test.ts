/** The truth table of the matchers, by themselves, and over HTTP. test/document-tests/test-command.test.ts has it by the command. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { ignoredPlaces } from '../../../src/document-tests/ignored-places.ts'
import { shownMismatch } from '../../../src/document-tests/judge-step.ts'
import { createMatcher, TooManyComparisons } from '../../../src/document-tests/match.ts'
import { lintExpectation } from '../../../src/document-tests/operators.ts'
import type { TestReport } from '../../../src/document-tests/test-report.ts'
import type { Json } from '../../../src/domain/json.ts'
import { collectInto, type Lint } from '../../../src/domain/lint.ts'
import { timesAsCostly } from '../../support/cpu-time.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'
import { MATCHER_CASES, matcherGroups } from './matcher-table.ts'
import { casesAsFiles } from './matcher-tests.ts'

const parsed = (text: string | undefined): Json | undefined => (text === undefined ? undefined : JSON.parse(text))
const mismatches = (expected: Json, actual: Json | undefined, ignored: readonly string[] = []) =>
  createMatcher().mismatches(expected, actual, { pointer: '', ignored: ignoredPlaces(ignored) })

test('the table has at least 150 different cases', () => {
  assert.ok(new Set(MATCHER_CASES.map(String)).size >= 150)
})

for (const [group, cases] of matcherGroups) {
  describe(group, () => {
    for (const [expected, actual, isMatch] of cases) {
      test(`${expected} ${isMatch ? 'takes' : 'refuses'} ${actual ?? 'nothing'}`, () => {
        const found = mismatches(JSON.parse(expected), parsed(actual))
        assert.equal(found.length === 0, isMatch, JSON.stringify(found))
      })
    }
  })
}

describe('the table over HTTP', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  test('gives the same verdicts', async () => {
    const verdicts: boolean[] = []
    for (const tests of casesAsFiles()) {
      const reply = await service.fetch(
        '/endpoints/tests/run',
        json('POST', { endpoint: endpointDocument({ endpoint: { pattern: '/table' } }), tests }),
      )
      assert.equal(reply.status, 200, reply.text)
      verdicts.push(...reply.json<TestReport>().tests.map(({ verdict }) => verdict === 'passed'))
    }
    assert.deepEqual(
      verdicts,
      MATCHER_CASES.map(([, , isMatch]) => isMatch),
    )
  })
})

describe('mismatches', () => {
  const cases: readonly Readonly<{ name: string; expected: Json; actual?: Json; gives: readonly object[] }>[] = [
    {
      name: 'another value',
      expected: { a: [1, { b: 2 }] },
      actual: { a: [1, { b: 3 }] },
      gives: [{ path: '/a/1/b', expected: 2, actual: 3, message: 'The value is another one.' }],
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
          message: 'No item of the array is as expected, or each such item already stands for another one.',
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
  })
})

describe('operands that an operator does not take', () => {
  const cases: readonly (readonly [expected: Json, path: string, message: RegExp])[] = [
    [{ $contains: 1 }, '$contains', /takes an object, an array or a string, not this number/],
    [{ a: [{ $type: 'text' }] }, 'a[0].$type', /takes one of "string".* not "text"/],
    [{ $type: [] }, '$type', /or an array of these/],
    [{ $matches: 1 }, '$matches', /takes a regular expression/],
    [{ $matches: '(' }, '$matches', /is no regular expression/],
    [{ $matches: '(?=a)' }, '$matches', /looks ahead/],
    [{ $any: false }, '$any', /takes true/],
    [{ $absent: 'yes' }, '$absent', /takes true, not "yes"/],
    [{ $oneOf: {} }, '$oneOf', /at least one/],
    [{ $oneOf: [] }, '$oneOf', /at least one/],
    [{ $near: 1 }, '$near', /"value": …, "within": …/],
    [{ $near: { value: 1, within: -1 } }, '$near', /within/],
    [{ $near: { value: 'tomorrow', within: 1 } }, '$near', /within/],
    [{ $near: { value: '2026-02-31T00:00:00Z', within: 1 } }, '$near', /within/],
    [{ $text: {} }, '$text', /takes a string, or an operator/],
    [{ $contain: {} }, '$contain', /did you mean "\$contains"/],
    [{ $oneOf: [1, { $type: 'x' }] }, '$oneOf[1].$type', /takes one of/],
  ]
  for (const [expected, path, message] of cases) {
    test(JSON.stringify(expected), () => {
      const lints: Lint[] = []
      lintExpectation(expected, collectInto(lints))
      assert.deepEqual(
        lints.map((lint) => [lint.path, lint.severity]),
        [[path, 'error']],
      )
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
    const names = fc.constantFrom(
      '$contains',
      '$items',
      '$type',
      '$matches',
      '$any',
      '$near',
      '$text',
      '$literal',
      '$oneOf',
      'a',
    )
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
