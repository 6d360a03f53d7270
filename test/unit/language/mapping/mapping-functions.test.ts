import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import { compileFunction, convertEach, FUNCTIONS } from '../../../../src/language/mapping/mapping-functions.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

function convert(name: string, value: Json | undefined, parameters?: JsonObject): Json | undefined {
  const lints: Lint[] = []
  const compiled = compileFunction(name, parameters, collectInto(lints))
  assert.deepEqual(lints, [])
  assert.ok(compiled?.convert)
  return compiled.convert(value)
}

const codes = { F: 'female', '1': ['one'], true: 'yes', gone: null, default: 'other' }

describe('functions', () => {
  const cases: readonly { name: string; of: Json | undefined; gives: Json | undefined; parameters?: JsonObject }[] = [
    { name: 'booleanFlip', of: true, gives: false },
    { name: 'booleanFlip', of: false, gives: true },
    { name: 'booleanFlip', of: 'true', gives: null },
    { name: 'booleanFlip', of: undefined, gives: undefined },
    { name: 'booleanFlip', of: [true, null, [false]], gives: [false, null, [true]] },
    { name: 'booleanFlip', of: [true, 'x'], gives: [false, null] },
    { name: 'booleanify', of: 'false', gives: false },
    { name: 'booleanify', of: ' FALSE ', gives: false },
    { name: 'booleanify', of: '0', gives: false },
    { name: 'booleanify', of: '', gives: false },
    { name: 'booleanify', of: 'no', gives: true },
    { name: 'booleanify', of: 0, gives: false },
    { name: 'booleanify', of: -1, gives: true },
    { name: 'booleanify', of: {}, gives: true },
    { name: 'booleanify', of: true, gives: true },
    { name: 'booleanify', of: null, gives: undefined },
    { name: 'booleanify', of: undefined, gives: undefined },
    { name: 'booleanify', of: ['1', '0', null], gives: [true, false, null] },
    { name: 'numberify', of: '12', gives: 12 },
    { name: 'numberify', of: ' -1.5e3 ', gives: -1500 },
    { name: 'numberify', of: '007', gives: 7 },
    { name: 'numberify', of: 3, gives: 3 },
    { name: 'numberify', of: true, gives: 1 },
    { name: 'numberify', of: '', gives: undefined },
    { name: 'numberify', of: ' ', gives: undefined },
    { name: 'numberify', of: 'abc', gives: undefined },
    { name: 'numberify', of: '12kg', gives: undefined },
    { name: 'numberify', of: '0x1F', gives: undefined },
    { name: 'numberify', of: '0', gives: 0 },
    { name: 'numberify', of: 'Infinity', gives: undefined },
    { name: 'numberify', of: '1e999', gives: undefined },
    { name: 'numberify', of: null, gives: undefined },
    { name: 'numberify', of: {}, gives: undefined },
    { name: 'numberify', of: ['1', null, ['2']], gives: [1, null, [2]] },
    { name: 'numberify', of: ['1', ['x']], gives: undefined },
    { name: 'stringify', of: 1.5, gives: '1.5' },
    { name: 'stringify', of: false, gives: 'false' },
    { name: 'stringify', of: { a: [1, null] }, gives: '{"a":[1,null]}' },
    { name: 'stringify', of: [], gives: '[]' },
    { name: 'stringify', of: null, gives: undefined },
    { name: 'dateTimeToDate', of: '1980-02-03T10:11:12Z', gives: '1980-02-03' },
    { name: 'dateTimeToDate', of: '2024-03-01T23:00:00.123-05:00', gives: '2024-03-01' },
    { name: 'dateTimeToDate', of: '2024-03-01 10:00:00', gives: '2024-03-01 10:00:00' },
    { name: 'dateTimeToDate', of: '2023-02-29', gives: '2023-02-29' },
    { name: 'dateTimeToDate', of: '1/2/2023', gives: '1/2/2023' },
    { name: 'dateTimeToDate', of: 'Tuesday', gives: '' },
    { name: 'dateTimeToDate', of: '', gives: '' },
    { name: 'dateTimeToDate', of: 0, gives: '1970-01-01' },
    { name: 'dateTimeToDate', of: 1e300, gives: undefined },
    { name: 'dateTimeToDate', of: 8.64e15, gives: undefined },
    { name: 'dateTimeToDate', of: true, gives: undefined },
    { name: 'dateTimeToDate', of: {}, gives: undefined },
    { name: 'dateTimeToDate', of: ['1980-02-03T10:11:12Z', 'x', null], gives: ['1980-02-03', 'x', null] },
    { name: 'passThroughObject', of: { a: 1 }, gives: { a: 1 } },
    { name: 'passThroughObject', of: [], gives: null },
    { name: 'passThroughObject', of: '', gives: null },
    { name: 'passThroughObject', of: [{ a: 1 }], gives: undefined },
    { name: 'passThroughObject', of: 'a', gives: undefined },
    { name: 'mapCodes', of: 'F', gives: 'female', parameters: codes },
    { name: 'mapCodes', of: 1, gives: ['one'], parameters: codes },
    { name: 'mapCodes', of: true, gives: 'yes', parameters: codes },
    { name: 'mapCodes', of: 'X', gives: 'other', parameters: codes },
    { name: 'mapCodes', of: 'gone', gives: null, parameters: codes },
    { name: 'mapCodes', of: {}, gives: 'other', parameters: codes },
    { name: 'mapCodes', of: null, gives: 'other', parameters: codes },
    { name: 'mapCodes', of: undefined, gives: 'other', parameters: codes },
    { name: 'mapCodes', of: null, gives: 'none', parameters: { null: 'none', default: 'other' } },
    { name: 'mapCodes', of: null, gives: null, parameters: { null: null, default: 'other' } },
    { name: 'mapCodes', of: 'X', gives: undefined, parameters: { F: 'female' } },
    { name: 'mapCodes', of: 'toString', gives: undefined, parameters: { F: 'female' } },
    { name: 'mapCodes', of: ['F', 'X', null], gives: ['female', 'other', 'other'], parameters: codes },
    { name: 'mapCodes', of: ['F', 'X'], gives: undefined, parameters: { F: 'female' } },
  ]
  for (const { name, of, gives, parameters } of cases) {
    it(`${name} of ${JSON.stringify(of)} is ${JSON.stringify(gives)}`, () => {
      assert.deepEqual(convert(name, of, parameters), gives)
    })
  }

  it('converts each element of a spread array by itself', () => {
    const each = (name: string) => {
      const compiled = compileFunction(name, undefined, collectInto([]))
      assert.ok(compiled?.convert)
      return convertEach(compiled.convert, (element) => `not ${element}`)
    }
    assert.deepEqual(each('stringify')([1, null, [2], 'x']), ['1', null, '[2]', 'x'])
    assert.deepEqual(each('numberify')(['1', null, ['2'], 'x', ['3', 'y']]), [1, null, [2], 'not x', 'not 3,y'])
  })

  it('never throws, for any value of any function', () => {
    let deep: Json = []
    for (let level = 0; level < 50_000; level++) deep = [deep]
    const value = fc.oneof(fc.jsonValue() as fc.Arbitrary<Json>, fc.constant(deep), fc.date().map(String), fc.double())
    const parameters: JsonObject = { a: 1, null: [], default: {} }
    for (const name of Object.keys(FUNCTIONS)) {
      const compiled = compileFunction(name, parameters, collectInto([]))
      fc.assert(
        fc.property(value, (any) => {
          const result = compiled?.convert?.(any)
          if (any !== deep) assert.ok(result === undefined || JSON.stringify(result) !== undefined)
          if (compiled?.convert !== undefined) convertEach(compiled.convert, () => undefined)(any)
        }),
        { numRuns: LONG ? 300 : 60 },
      )
    }
  })
})

describe('functions at fault', () => {
  const cases: readonly { why: string; name: string; parameters?: Json; lints: readonly [string, string, RegExp][] }[] =
    [
      { why: 'a slip', name: 'mapCode', lints: [['error', 'function', /did you mean "mapCodes"\?$/]] },
      { why: 'the wrong case', name: 'NUMBERIFY', lints: [['error', 'function', /did you mean "numberify"\?$/]] },
      { why: 'no such', name: 'uppercase', lints: [['error', 'function', /the functions are booleanFlip, .*\.$/]] },
      { why: 'an inherited name', name: 'toString', lints: [['error', 'function', /no function "toString"/]] },
      { why: 'no codes', name: 'mapCodes', lints: [['error', 'parameters', /needs parameters/]] },
      { why: 'empty codes', name: 'mapCodes', parameters: {}, lints: [['error', 'parameters', /needs parameters/]] },
      { why: 'codes as array', name: 'mapCodes', parameters: ['F'], lints: [['error', 'parameters', /not array/]] },
      { why: 'text', name: 'numberify', parameters: 'x', lints: [['error', 'parameters', /not string/]] },
      {
        why: 'unread',
        name: 'numberify',
        parameters: { a: 1 },
        lints: [['warning', 'parameters', /reads no parameters/]],
      },
      { why: 'none to read', name: 'numberify', parameters: {}, lints: [] },
    ]
  for (const { why, name, parameters, lints } of cases) {
    it(why, () => {
      const found: Lint[] = []
      const compiled = compileFunction(name, parameters, collectInto(found))
      assert.equal(found.length, lints.length)
      for (const [at, [severity, path, says]] of lints.entries()) {
        assert.equal(found[at]?.severity, severity)
        assert.equal(found[at]?.path, path)
        assert.match(found[at]?.message ?? '', says)
      }
      assert.equal(
        compiled === undefined,
        lints.some(([severity]) => severity === 'error'),
      )
    })
  }
})
