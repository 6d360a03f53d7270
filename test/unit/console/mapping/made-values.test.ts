/** Values that are no path, and codes, as somebody types them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  addMadeValue,
  fillForm,
  readCodes,
  showCodes,
  type ValueForm,
} from '../../../../console/src/pages/mapping/model/made-values.ts'
import { readMapping } from '../../../../console/src/pages/mapping/model/mapping-entries.ts'
import { VALUE_FORMS } from '../../../../src/document/vocabulary/value-forms.ts'
import fc from '../../../support/fast-check.ts'

const cases: readonly (readonly [name: string, typed: Record<string, string>, value: unknown])[] = [
  ['constant', { value: 'Patient' }, 'Patient'],
  ['constant', { value: '["a", 1.5]' }, ['a', 1.5]],
  ['constant', { value: '' }, undefined],
  [
    'join',
    { sources: 'requestBody.a, requestBody.b[0].c', separator: '' },
    '$join([requestBody.a, requestBody.b[0].c][$ != null].$string(), "")',
  ],
  [
    'join',
    { sources: 'requestBody.first-name', separator: '"' },
    '$join([requestBody.`first-name`][$ != null].$string(), "\\"")',
  ],
  ['join', { sources: 'requestBody.a,', separator: ' ' }, undefined],
  ['join', { sources: 'requestBody.a`b', separator: ' ' }, undefined],
  [
    'date',
    { source: 'requestBody.a[].b', from: 'x', to: 'y' },
    '$fromMillis($toMillis(requestBody.a.b[$ != null], "x"), "y")',
  ],
  ['date', { source: 'requestBody.a, requestBody.b', from: 'x', to: 'y' }, undefined],
  ['number', { source: 'requestBody.a', picture: '0.00' }, '$formatNumber($number(requestBody.a[$ != null]), "0.00")'],
  ['expression', { expression: '1 + 1' }, '1 + 1'],
]

describe('a form of a value', () => {
  for (const [name, typed, value] of cases) {
    test(`${name} of ${JSON.stringify(typed)}`, () => {
      const form = VALUE_FORMS.find((one) => one.name === name)
      assert.deepEqual(fillForm(form as ValueForm, typed), value)
    })
  }

  test('is written with its entry, under a name that is free', () => {
    const mapping = readMapping('{"constants": {"type": "x"}, "inputMapping": {"requestBody.a": "a"}}')
    assert.ok(typeof mapping !== 'string')
    assert.deepEqual(addMadeValue(mapping, 'constants', 'Patient', 'meta.type'), {
      text: '{"constants": {"type": "x", "type2": "Patient"}, "inputMapping": {"requestBody.a": "a", "constants.type2": "meta.type"}}',
      source: 'constants.type2',
    })
  })
})

test('codes are read from lines, tabs and quotes', () => {
  const typed = 'M = male\n\n1\ttrue\n "a = b" = "1"\nU=\ndefault = null'
  assert.deepEqual(readCodes(typed), { M: 'male', '1': true, 'a = b': '1', U: '', default: null })
  assert.match(String(readCodes('M male')), /M male/)
})

test('codes that are shown are read as the same codes', () => {
  const value = fc.oneof(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), value), (given) => {
      const codes = JSON.parse(JSON.stringify(given)) as Record<string, unknown>
      assert.deepEqual(readCodes(showCodes(codes)), codes)
    }),
  )
})
