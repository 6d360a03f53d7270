import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { decodeText, isKnownCharset } from '../../../src/formats/text.ts'

const utf16 = (text: string, order: 'le' | 'be'): Uint8Array => {
  const bytes = Buffer.from(text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

describe('decodeText', () => {
  const cases = [
    { name: 'UTF-8 by default', bytes: Buffer.from('ü😀'), charset: undefined, expect: 'ü😀' },
    { name: 'UTF-8 by name', bytes: Buffer.from('ü'), charset: 'UTF-8', expect: 'ü' },
    { name: 'another name of UTF-8', bytes: Buffer.from('ü'), charset: ' utf8 ', expect: 'ü' },
    { name: 'a byte order mark is dropped', bytes: Buffer.from('\uFEFFa'), charset: undefined, expect: 'a' },
    { name: 'only one', bytes: Buffer.from('\uFEFF\uFEFFa'), charset: undefined, expect: '\uFEFFa' },
    { name: 'nothing', bytes: Buffer.of(), charset: undefined, expect: '' },
    { name: 'ISO-8859-1', bytes: Buffer.of(0xfc), charset: 'ISO-8859-1', expect: 'ü' },
    { name: 'windows-1252', bytes: Buffer.of(0x80), charset: 'windows-1252', expect: '€' },
    { name: 'ASCII', bytes: Buffer.from('a'), charset: 'us-ascii', expect: 'a' },
    { name: 'UTF-16, little end first', bytes: utf16('aü', 'le'), charset: 'utf-16', expect: 'aü' },
    { name: 'UTF-16, big end first', bytes: utf16('aü', 'be'), charset: 'utf-16', expect: 'aü' },
    { name: 'UTF-16 with a mark', bytes: utf16('\uFEFFü', 'be'), charset: 'utf-16', expect: 'ü' },
    { name: 'UTF-16BE', bytes: utf16('ü', 'be'), charset: 'utf-16be', expect: 'ü' },
  ]
  for (const { name, bytes, charset, expect } of cases) {
    test(name, () => assert.equal(decodeText(bytes, charset), expect))
  }

  const refused = [
    { name: 'half a character', bytes: Buffer.of(0x61, 0xc3), charset: undefined, says: /not valid "utf-8" at byte 3/ },
    { name: 'an overlong form', bytes: Buffer.of(0xc0, 0xaf), charset: undefined, says: /not valid "utf-8" at byte 1/ },
    { name: 'an encoded surrogate', bytes: Buffer.of(0xed, 0xa0, 0x80), charset: 'utf-8', says: /not valid "utf-8"/ },
    { name: 'UTF-16 as UTF-8', bytes: utf16('\uFEFFa', 'le'), charset: undefined, says: /not valid "utf-8"/ },
    { name: 'half a surrogate pair', bytes: utf16('\uD83D', 'le'), charset: 'utf-16le', says: /not valid "utf-16le"/ },
    { name: 'a byte too few', bytes: Buffer.of(0x61), charset: 'utf-16', says: /not valid "utf-16"/ },
    { name: 'beyond ASCII', bytes: Buffer.from('aü'), charset: 'us-ascii', says: /not valid "us-ascii" at byte 2/ },
    { name: 'an unknown charset', bytes: Buffer.from('a'), charset: 'klingon', says: /charset "klingon" is not known/ },
    {
      name: 'a hostile charset',
      bytes: Buffer.of(),
      charset: `\n\0${'x'.repeat(1e6)}`,
      says: /"\?x{39}" is not known/,
    },
  ]
  for (const { name, bytes, charset, says } of refused) {
    test(`refuses ${name}`, () => {
      assert.throws(
        () => decodeText(bytes, charset),
        (error) => {
          assert.ok(error instanceof Unreadable)
          assert.equal(error.reason, 'malformed')
          assert.match(error.message, says)
          return true
        },
      )
    })
  }

  test('reads on after a refusal', () => {
    assert.throws(() => decodeText(Buffer.of(0xe2, 0x82), undefined), Unreadable)
    assert.equal(decodeText(Buffer.of(0xac, 0x61).subarray(1), undefined), 'a')
  })

  test('gives back what was encoded, or refuses', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        let text: string
        try {
          text = decodeText(bytes, undefined)
        } catch (error) {
          assert.ok(error instanceof Unreadable)
          return
        }
        const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
        assert.deepEqual(new Uint8Array(Buffer.from(text)), bytes.subarray(mark))
      }),
      { numRuns: 2_000 },
    )
  })
})

test('isKnownCharset reports what decodeText takes', () => {
  const labels = [
    'utf-8',
    'UTF-16',
    'us-ascii',
    'ISO-8859-1',
    'windows-1252',
    'shift_jis',
    'utf-7',
    'utf-32',
    '',
    'x y',
    '\0',
  ]
  const known = labels.filter(isKnownCharset)
  assert.deepEqual(known, ['utf-8', 'UTF-16', 'us-ascii', 'ISO-8859-1', 'windows-1252', 'shift_jis'])
})
