import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { Unreadable, Unwritable } from '../../../src/formats/body-faults.ts'
import { TEXT_CODEC } from '../../../src/formats/text-codec.ts'
import fc from '../../support/fast-check.ts'

test('a text is read whole, in its charset', () => {
  assert.deepEqual(TEXT_CODEC.read(Buffer.from('\ufeff a\r\n{"b":1}\n'), undefined), { text: ' a\r\n{"b":1}\n' })
  assert.deepEqual(TEXT_CODEC.read(Buffer.of(0xfc), 'iso-8859-1'), { text: 'ü' })
  assert.deepEqual(TEXT_CODEC.read(Buffer.of(), undefined), { text: '' })
})

describe('a text is written', () => {
  const cases: readonly (readonly [Json, string])[] = [
    [{ text: 'a\n' }, 'a\n'],
    [{ text: '' }, ''],
    ['what another system said', 'what another system said'],
  ]
  for (const [value, text] of cases) test(JSON.stringify(value), () => assert.equal(TEXT_CODEC.build(value), text))
  const refused: readonly (readonly [Json, RegExp])[] = [
    [{}, /needs an object with a string "text"/],
    [{ text: 1 }, /string "text"/],
    [{ text: null }, /string "text"/],
    [['a'], /needs an object/],
    [{ text: 'a', more: 1 }, /at "more", only "text" can be written/],
  ]
  for (const [value, says] of refused) {
    test(`or refused: ${JSON.stringify(value)}`, () =>
      assert.throws(
        () => TEXT_CODEC.build(value),
        (thrown) => thrown instanceof Unwritable && says.test(thrown.message),
      ))
  }
})

test('a failure is its sentence, and a line for each other field', () => {
  const body = { error: 'Not so.', code: 'X', details: [{ path: '/a', message: 'is wrong' }] }
  assert.equal(TEXT_CODEC.buildFailure(body), 'Not so.\n\ncode: X\ndetails: /a: is wrong\n')
})

test('a change leaves the bytes where nothing changes', () => {
  const change = (by: (value: Json) => Json) => TEXT_CODEC.rewrite(Buffer.from('a'), undefined, by).toString()
  assert.equal(
    change((value) => value),
    'a',
  )
  assert.equal(
    change(() => ({ text: '***' })),
    '***',
  )
})

test('what is written is read as the same, and any bytes are a text or a fault', () => {
  const text = fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed() && !one.startsWith('\ufeff'))
  fc.assert(
    fc.property(text, (one) =>
      assert.deepEqual(TEXT_CODEC.read(Buffer.from(TEXT_CODEC.build({ text: one })), undefined), { text: one }),
    ),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        assert.equal(typeof TEXT_CODEC.read(bytes, undefined).text, 'string')
      } catch (thrown) {
        assert.ok(thrown instanceof Unreadable)
      }
    }),
  )
})
