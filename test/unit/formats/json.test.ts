import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { findDroppedMembers, findDuplicateNames, MAX_DEPTH, parseJson } from '../../../src/formats/json-read.ts'
import { scanJson } from '../../../src/formats/json-scan.ts'
import { timesAsCostly } from '../../support/cpu-time.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const refusal = (text: string): Unreadable => {
  try {
    parseJson(text)
  } catch (error) {
    if (error instanceof Unreadable) return error
    throw error
  }
  return assert.fail(`accepted: ${text.slice(0, 100)}`)
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

describe('parseJson', () => {
  const accepted: [name: string, text: string][] = [
    ['the deepest nesting', nested(MAX_DEPTH)],
    ['the deepest nesting of both kinds', `${'[{"a":'.repeat(32)}1${'}]'.repeat(32)}`],
    ['brackets within strings', JSON.stringify({ a: '['.repeat(1000), '{{{': '"['.repeat(100) })],
    ['backslashes before a quote', `["${'\\\\'.repeat(3)}",${'['.repeat(63)}${']'.repeat(63)},"\\\\\\"[["]`],
  ]
  for (const [name, text] of accepted) test(name, () => assert.deepEqual(parseJson(text), JSON.parse(text)))

  // Whatever else is refused: test/service/corpus/.
  const refused: [name: string, text: string, at: string | undefined, says?: string][] = [
    ['an empty text', '', undefined, 'The JSON is empty, at line 1, column 1.'],
    ['white space alone', ' \n ', undefined, 'The JSON is empty, at line 2, column 2.'],
    ['cut short', '{"a":\n[1,', undefined, 'The JSON ends before it is complete, at line 2, column 4.'],
    ['a string cut short', '{"a', undefined, 'The JSON ends before it is complete, at line 1, column 4.'],
    [
      'a number that is too large',
      '{"1e999":"1e999",\n"a":[1,-1e999]}',
      undefined,
      'The JSON has a number beyond 1.8e308 at line 2, column 8; send a smaller one, or send it as a text.',
    ],
    [
      'a comma too many',
      '{"a":1,\n}',
      undefined,
      'The JSON is not well-formed: there is a comma before the "}" at line 2, column 1; remove the comma.',
    ],
    [
      'no comma',
      '{"a":1\r\n "b":2}',
      undefined,
      `The JSON is not well-formed: there is no comma before the '"' at line 2, column 2; add one.`,
    ],
    [
      'no comma between objects',
      '[{}\n{}]',
      undefined,
      `The JSON is not well-formed: there is no comma before the '{' at line 2, column 1; add one.`,
    ],
    [
      'nothing between two texts',
      '{"a" "b"}',
      undefined,
      `The JSON is not well-formed: there is no colon before the '"' at line 1, column 6; add one.`,
    ],
    ['a second value', '{}{}', 'line 1, column 3'],
    ['a text that a quote ends', '["a "b" c"]', 'line 1, column 6'],
    ['a wrong value', '{"a":tru["', 'line 1, column 6'],
    ['a number that is none', '[NaN]', 'line 1, column 2'],
    ['an unknown escape', '["ab\\x"]', 'line 1, column 5'],
    ['a byte order mark', '\uFEFF{}', 'line 1, column 1'],
  ]
  for (const [name, text, at, says] of refused) {
    test(`refuses ${name}`, () => {
      const { reason, message } = refusal(text)
      assert.equal(reason, 'malformed')
      assert.equal(message, says ?? `The JSON is not well-formed: unexpected character at ${at}.`)
    })
  }

  const tooDeep: [name: string, text: string, at: string][] = [
    ['arrays', nested(MAX_DEPTH + 1), 'line 1, column 65'],
    ['objects', `${'{"a":\n'.repeat(65)}1${'}'.repeat(65)}`, 'line 65, column 1'],
    ['behind strings', `["\\"]", ${nested(65)}]`, 'line 1, column 72'],
    ['a megabyte of brackets', '['.repeat(1 << 20), 'line 1, column 65'],
    ['a megabyte of closed brackets', nested(1 << 19), 'line 1, column 65'],
    ['a megabyte of objects', '{"a":'.repeat(200_000), 'line 1, column 321'],
  ]
  for (const [name, text, at] of tooDeep) {
    test(`refuses nesting that is too deep: ${name}`, () => {
      const { reason, message } = refusal(text)
      assert.equal(reason, 'too-deep')
      assert.equal(message, `The JSON is nested deeper than 64 levels at ${at}; send it in a flatter form.`)
    })
  }

  test('counts the levels of a long text before it is parsed', async () => {
    const ratio = await timesAsCostly(
      () => refusal('['.repeat(5_000_000)),
      () => parseJson(`[${'1,'.repeat(2_500_000)}1]`),
    )
    assert.ok(ratio < 2, `${ratio.toFixed(1)} times the processor time`)
  })

  test('makes dangerous names plain own properties', () => {
    const value = parseJson('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    assert.ok(typeof value === 'object' && value !== null)
    assert.deepEqual(Object.keys(value), ['__proto__', 'constructor'])
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })

  test('never repeats the body in a refusal', () => {
    assert.doesNotMatch(refusal('{"patient": Jane Doe}').message, /Jane|patient/)
  })

  test('agrees with JSON.parse on any text, and places each fault', () => {
    const json = fc
      .json({ maxDepth: 6 })
      .chain((text) =>
        fc
          .tuple(
            fc.nat(text.length),
            fc.nat(2),
            fc.constantFrom('', '"', ',', '}', ']', '{', '[', '\\', '0', '-', 'e', '.', '\n', 'x', ':'),
          )
          .map(([at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed)),
      )
    fc.assert(
      fc.property(fc.oneof(json, fc.string({ unit: 'binary' })), (text) => {
        let expected: unknown
        try {
          expected = JSON.parse(text, (_name, value) => {
            if (value === Infinity || value === -Infinity) throw new RangeError('a number that would be lost')
            return value
          })
          // A reviver makes other objects of the names of prototypes.
          expected = JSON.parse(text)
        } catch {
          assert.match(refusal(text).message, /^The JSON .* at line \d+, column \d+[.;]/)
          return
        }
        assert.deepEqual(parseJson(text), expected)
        assert.equal(scanJson(text), undefined)
      }),
      { numRuns: LONG ? 5_000 : 1_500 },
    )
  })
})

describe('findDuplicateNames', () => {
  const cases: [name: string, text: string, expect: object[]][] = [
    ['none', '{"a":{"b":1},"b":[{"a":1},{"a":2}],"__proto__":1}', []],
    ['a scalar', '1', []],
    ['at the top', '{"a":1,"b":2,"a":3}', [{ place: 'a', name: 'a' }]],
    ['reported once', '{"a":1,"a":2,"a":3}', [{ place: 'a', name: 'a' }]],
    ['further in', '{"x":{"y":{"n":1,"n":[]}}}', [{ place: 'x.y.n', name: 'n' }]],
    ['after a nested object', '{"x":{"y":1},"z":2,"x":3}', [{ place: 'x', name: 'x' }]],
    [
      'in elements of arrays',
      '{"r":[[],{"id":"a","x":[1,2],"id":"b"},{"id":1, "id" : 2}]}',
      [
        { place: 'r[1].id', name: 'id' },
        { place: 'r[2].id', name: 'id' },
      ],
    ],
    ['dots escaped', '{"m":{"a.b":1,"a.b":2}}', [{ place: 'm.a\\.b', name: 'a.b' }]],
    ['written differently', '{"a":1,"\\u0061":2}', [{ place: 'a', name: 'a' }]],
    ['dangerous', '{"__proto__":1,"__proto__":2}', [{ place: '__proto__', name: '__proto__' }]],
    ['not within strings', '{"a":"{\\"b\\":1,\\"b\\":2}","c":"\\\\"}', []],
  ]
  for (const [name, text, expect] of cases) {
    test(name, () => assert.deepEqual(findDuplicateNames(text), expect))
  }

  test('finds nothing in what JSON.stringify writes', () => {
    fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(findDuplicateNames(text), [])))
  })
})

describe('findDroppedMembers', () => {
  const cases: [name: string, text: string, expect: object[]][] = [
    ['none', '{"a":1,"b":{"a":2}}', []],
    ['a scalar', '{"a":1,"a":2}', [{ steps: ['a'], value: 1 }]],
    [
      'all but the last',
      '{"a" : "\\":" , "a":[{"x":null}],"a":3}',
      [
        { steps: ['a'], value: '":' },
        { steps: ['a'], value: [{ x: null }] },
      ],
    ],
    [
      'in elements, under a name with a colon',
      '[1,{"m":{"a:\\"b.c": {"x":[]} ,"a:\\"b.c":2}}]',
      [{ steps: [1, 'm', 'a:"b.c'], value: { x: [] } }],
    ],
  ]
  for (const [name, text, expect] of cases) {
    test(name, () => assert.deepEqual(findDroppedMembers(text), expect))
  }
})
