import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { TooLong, Unreadable, Unwritable } from '../../../src/formats/body-faults.ts'
import { FORM_CODEC } from '../../../src/formats/form-codec.ts'
import type { NameLimits } from '../../../src/formats/name-limits.ts'
import fc from '../../support/fast-check.ts'

const read = (body: string | Uint8Array, charset?: string, limits: NameLimits = {}) =>
  FORM_CODEC.read(Buffer.from(body), charset, limits)

describe('a form is read', () => {
  const cases: readonly (readonly [name: string, body: string | Uint8Array, value: Json, charset?: string])[] = [
    ['as names and texts', 'a=1&b=x', { a: '1', b: 'x' }],
    ['with a list for a repeated name', 'a=1&b=x&a=2&a=3', { a: ['1', '2', '3'], b: 'x' }],
    ['with plus signs and percent signs decoded', 'a+b=c%20d%2B&e=%C3%BC', { 'a b': 'c d+', e: 'ü' }],
    ['without values', 'a&b=', { a: '', b: '' }],
    ['without names', '=1', { '': '1' }],
    ['with empty fields left out', '&a=1&&', { a: '1' }],
    ['with more equals signs in values', 'a=b=c', { a: 'b=c' }],
    ['with percent signs that encode nothing', 'a=100%&b=%zz', { a: '100%', b: '%zz' }],
    ['with characters that are not encoded', 'ü=ö', { ü: 'ö' }],
    ['with characters next to encoded ones', 'ü%20ö=é+%C3%BC%', { 'ü ö': 'é ü%' }],
    ['with a character of which one byte is encoded', Buffer.from('a=\xc3%BC', 'latin1'), { a: 'ü' }],
    ['in its charset, not encoded', Buffer.from('\xfc=%FC+', 'latin1'), { ü: 'ü ' }, 'iso-8859-1'],
    ['in its charset', 'a=%FC', { a: 'ü' }, 'iso-8859-1'],
    ['with names of prototypes', '__proto__=1&constructor=2', JSON.parse('{"__proto__":"1","constructor":"2"}')],
    ['with brackets as part of a name', 'a[b]=1&c.d=2', { 'a[b]': '1', 'c.d': '2' }],
    ['empty', '', {}],
  ]
  for (const [name, body, value, charset] of cases) test(name, () => assert.deepEqual(read(body, charset), value))
})

describe('a form is refused', () => {
  const cases: readonly (readonly [name: string, body: string | Uint8Array, says: RegExp, limits?: NameLimits])[] = [
    ['where a value is not valid UTF-8', 'a=1&b=%FF', /the name or value of field 2 is not valid in its charset/],
    ['with too many names', 'a=1&a=2&a=3', /more names than 2 \(PARSER_MAX_NAMES\)/, { parserMaxNames: 2 }],
    ['with too many different names', 'a&b&c', /more different names than 2/, { parserMaxNamesPerObject: 2 }],
  ]
  for (const [name, body, says, limits] of cases) {
    test(name, () =>
      assert.throws(
        () => read(body, undefined, limits),
        (thrown) => thrown instanceof Unreadable && says.test(thrown.message),
      ),
    )
  }
})

describe('a form is written', () => {
  const cases: readonly (readonly [Json, string])[] = [
    [{ a: 1, b: true, c: null, d: 'x y&=ü' }, 'a=1&b=true&c=&d=x+y%26%3D%C3%BC'],
    [{ a: ['1', 2], b: [] }, 'a=1&a=2'],
    [{}, ''],
  ]
  for (const [value, text] of cases) test(text, () => assert.equal(FORM_CODEC.build(value), text))
  const refused: readonly (readonly [Json, RegExp])[] = [
    [{ a: { b: 1 } }, /at "a", the value is an object or a list/],
    [{ a: [1, [2]] }, /at "a\[1\]"/],
    [[1], /needs an object/],
    ['a=1', /needs an object/],
  ]
  for (const [value, says] of refused) {
    test(`or refused: ${JSON.stringify(value)}`, () =>
      assert.throws(
        () => FORM_CODEC.build(value),
        (thrown) => thrown instanceof Unwritable && says.test(thrown.message),
      ))
  }
  test('up to the limit', () => assert.throws(() => FORM_CODEC.build({ a: 'xxx' }, 4), TooLong))
})

test('a change leaves the bytes where nothing changes', () => {
  const change = (body: string, by: (value: Json) => Json) =>
    FORM_CODEC.rewrite(Buffer.from(body), undefined, by).toString()
  assert.equal(
    change('b=%20&a&b=2', (value) => value),
    'b=%20&a&b=2',
  )
  assert.equal(
    change('a=1', () => ({ a: '***' })),
    'a=***',
  )
})

const text = fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed())

test('what is written is read as the same', () => {
  const member = fc.oneof(text, fc.array(text, { minLength: 2, maxLength: 3 }))
  fc.assert(
    fc.property(fc.dictionary(text, member), (value) => {
      assert.deepEqual(read(FORM_CODEC.build({ ...value })), { ...value })
    }),
  )
})

test('any bytes are a value or a fault', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((one) => Buffer.from(one)),
    fc.array(fc.constantFrom('a', '=', '&', '%', 'F', 'C', '+', '%C3%BC')).map((parts) => Buffer.from(parts.join(''))),
  )
  fc.assert(
    fc.property(bytes, fc.constantFrom(undefined, 'utf-16', 'iso-8859-1'), (body, charset) => {
      try {
        const value = read(body, charset)
        assert.deepEqual(read(FORM_CODEC.build(value)), value)
      } catch (thrown) {
        assert.ok(thrown instanceof Unreadable, String(thrown))
      }
    }),
  )
})
