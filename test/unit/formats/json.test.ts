import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { findDroppedMembers, findDuplicateNames, MAX_DEPTH, parseJson } from '../../../src/formats/json-read.ts'
import { scanJson } from '../../../src/formats/json-scan.ts'
import { timesAsCostly } from '../../support/cpu-time.ts'

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
  const accepted = [
    { name: 'a scalar', text: ' "a" ' },
    { name: 'nothing but an empty object', text: '{}' },
    { name: 'the deepest nesting', text: nested(MAX_DEPTH) },
    { name: 'the deepest nesting of both kinds', text: `${'[{"a":'.repeat(32)}1${'}]'.repeat(32)}` },
    { name: 'many brackets side by side', text: `[${'[],{},'.repeat(1000)}0]` },
    { name: 'brackets within strings', text: JSON.stringify({ a: '['.repeat(1000), '{{{': '"['.repeat(100) }) },
    {
      name: 'backslashes before a quote',
      text: `["${'\\\\'.repeat(3)}",${'['.repeat(63)}${']'.repeat(63)},"\\\\\\"[["]`,
    },
  ]
  for (const { name, text } of accepted) test(name, () => assert.deepEqual(parseJson(text), JSON.parse(text)))

  const refused = [
    { name: 'an empty text', text: '', says: 'The JSON is empty, at line 1, column 1.' },
    { name: 'white space alone', text: ' \n ', says: 'The JSON is empty, at line 2, column 2.' },
    { name: 'cut short', text: '{"a":\n[1,', says: 'The JSON ends before it is complete, at line 2, column 4.' },
    { name: 'a string cut short', text: '{"a', says: 'The JSON ends before it is complete, at line 1, column 4.' },
    {
      name: 'a number that is too large',
      text: '{"1e999":"1e999",\n"a":[1,-1e999]}',
      says: 'The JSON has a number beyond 1.8e308 at line 2, column 8; send a smaller one, or send it as a text.',
    },
    {
      name: 'a comma too many',
      text: '{"a":1,\n}',
      says: 'The JSON is not well-formed: a comma stands before the "}" at line 2, column 1; remove the comma.',
    },
    {
      name: 'a comma too many in an array',
      text: '[1,]',
      says: 'The JSON is not well-formed: a comma stands before the "]" at line 1, column 4; remove the comma.',
    },
    { name: 'a comma alone', text: '[,1]', at: 'line 1, column 2' },
    { name: 'no comma', text: '{"a":1\r\n "b":2}', at: 'line 2, column 2' },
    { name: 'no colon', text: '{"a" 1}', at: 'line 1, column 6' },
    { name: 'a name without quotes', text: '{a:1}', at: 'line 1, column 2' },
    { name: 'the other quotes', text: "['a']", at: 'line 1, column 2' },
    { name: 'a leading zero', text: '[01]', at: 'line 1, column 3' },
    { name: 'a point without digits', text: '[1.]', at: 'line 1, column 3' },
    { name: 'a number that is none', text: '[NaN]', at: 'line 1, column 2' },
    { name: 'a literal cut short', text: '[tru]', at: 'line 1, column 2' },
    { name: 'an unknown escape', text: '["ab\\x"]', at: 'line 1, column 5' },
    { name: 'a line break in a string', text: '["a\nb"]', at: 'line 1, column 4' },
    { name: 'the wrong bracket', text: '[1}', at: 'line 1, column 3' },
    { name: 'a bracket too many', text: '[1]]', at: 'line 1, column 4' },
    { name: 'a byte order mark', text: '\uFEFF{}', at: 'line 1, column 1' },
    { name: 'XML', text: '\n<a/>', at: 'line 2, column 1' },
  ]
  for (const { name, text, at, says } of refused) {
    test(`refuses ${name}`, () => {
      const { reason, message } = refusal(text)
      assert.equal(reason, 'malformed')
      assert.equal(message, says ?? `The JSON is not well-formed: unexpected character at ${at}.`)
    })
  }

  const tooDeep = [
    { name: 'arrays', text: nested(MAX_DEPTH + 1), at: 'line 1, column 65' },
    { name: 'objects', text: `${'{"a":\n'.repeat(65)}1${'}'.repeat(65)}`, at: 'line 65, column 1' },
    { name: 'behind strings', text: `["\\"]", ${nested(65)}]`, at: 'line 1, column 72' },
    { name: 'a megabyte of brackets', text: '['.repeat(1 << 20), at: 'line 1, column 65' },
    { name: 'a megabyte of closed brackets', text: nested(1 << 19), at: 'line 1, column 65' },
    { name: 'a megabyte of objects', text: '{"a":'.repeat(200_000), at: 'line 1, column 321' },
  ]
  for (const { name, text, at } of tooDeep) {
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
      { numRuns: 5_000 },
    )
  })
})

describe('findDuplicateNames', () => {
  const cases = [
    { name: 'none', text: '{"a":{"b":1},"b":[{"a":1},{"a":2}],"__proto__":1}', expect: [] },
    { name: 'a scalar', text: '1', expect: [] },
    { name: 'at the top', text: '{"a":1,"b":2,"a":3}', expect: [{ place: 'a', name: 'a' }] },
    { name: 'reported once', text: '{"a":1,"a":2,"a":3}', expect: [{ place: 'a', name: 'a' }] },
    { name: 'further in', text: '{"x":{"y":{"n":1,"n":[]}}}', expect: [{ place: 'x.y.n', name: 'n' }] },
    { name: 'after a nested object', text: '{"x":{"y":1},"z":2,"x":3}', expect: [{ place: 'x', name: 'x' }] },
    {
      name: 'in elements of arrays',
      text: '{"r":[[],{"id":"a","x":[1,2],"id":"b"},{"id":1, "id" : 2}]}',
      expect: [
        { place: 'r[1].id', name: 'id' },
        { place: 'r[2].id', name: 'id' },
      ],
    },
    { name: 'dots escaped', text: '{"m":{"a.b":1,"a.b":2}}', expect: [{ place: 'm.a\\.b', name: 'a.b' }] },
    { name: 'written differently', text: '{"a":1,"\\u0061":2}', expect: [{ place: 'a', name: 'a' }] },
    { name: 'dangerous', text: '{"__proto__":1,"__proto__":2}', expect: [{ place: '__proto__', name: '__proto__' }] },
    { name: 'not within strings', text: '{"a":"{\\"b\\":1,\\"b\\":2}","c":"\\\\"}', expect: [] },
  ]
  for (const { name, text, expect } of cases) {
    test(name, () => assert.deepEqual(findDuplicateNames(text), expect))
  }

  test('finds nothing in what JSON.stringify writes', () => {
    fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(findDuplicateNames(text), [])))
  })
})

describe('findDroppedMembers', () => {
  const cases = [
    { name: 'none', text: '{"a":1,"b":{"a":2}}', expect: [] },
    { name: 'a scalar', text: '{"a":1,"a":2}', expect: [{ steps: ['a'], value: 1 }] },
    {
      name: 'all but the last',
      text: '{"a" : "\\":" , "a":[{"x":null}],"a":3}',
      expect: [
        { steps: ['a'], value: '":' },
        { steps: ['a'], value: [{ x: null }] },
      ],
    },
    {
      name: 'in elements, under a name with a colon',
      text: '[1,{"m":{"a:\\"b.c": {"x":[]} ,"a:\\"b.c":2}}]',
      expect: [{ steps: [1, 'm', 'a:"b.c'], value: { x: [] } }],
    },
  ]
  for (const { name, text, expect } of cases) {
    test(name, () => assert.deepEqual(findDroppedMembers(text), expect))
  }
})
