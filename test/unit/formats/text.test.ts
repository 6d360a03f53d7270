import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { decodeText, isKnownCharset } from '../../../src/formats/text.ts'
import fc from '../../support/fast-check.ts'

const utf16 = (text: string, order: 'le' | 'be'): Uint8Array => {
  const bytes = Buffer.from(text, 'utf16le')
  return order === 'le' ? bytes : bytes.swap16()
}

describe('decodeText', () => {
  const cases: [name: string, bytes: Uint8Array, charset: string | undefined, expect: string][] = [
    ['UTF-8 by default', Buffer.from('ü😀'), undefined, 'ü😀'],
    ['UTF-8 by name', Buffer.from('ü'), 'UTF-8', 'ü'],
    ['another name of UTF-8', Buffer.from('ü'), ' utf8 ', 'ü'],
    ['a byte order mark is dropped', Buffer.from('\uFEFFa'), undefined, 'a'],
    ['only one', Buffer.from('\uFEFF\uFEFFa'), undefined, '\uFEFFa'],
    ['nothing', Buffer.of(), undefined, ''],
    ['ISO-8859-1', Buffer.of(0xfc), 'ISO-8859-1', 'ü'],
    ['windows-1252', Buffer.of(0x80), 'windows-1252', '€'],
    ['ASCII', Buffer.from('a'), 'us-ascii', 'a'],
    ['UTF-16, little end first', utf16('aü', 'le'), 'utf-16', 'aü'],
    ['UTF-16, big end first', utf16('aü', 'be'), 'utf-16', 'aü'],
    ['UTF-16 with a mark', utf16('\uFEFFü', 'be'), 'utf-16', 'ü'],
    ['UTF-16BE', utf16('ü', 'be'), 'utf-16be', 'ü'],
  ]
  for (const [name, bytes, charset, expect] of cases) {
    test(name, () => assert.equal(decodeText(bytes, charset), expect))
  }

  const refused: [name: string, bytes: Uint8Array, charset: string | undefined, says: RegExp][] = [
    ['half a character', Buffer.of(0x61, 0xc3), undefined, /not valid "utf-8" at byte 3/],
    ['an overlong form', Buffer.of(0xc0, 0xaf), undefined, /not valid "utf-8" at byte 1/],
    ['an encoded surrogate', Buffer.of(0xed, 0xa0, 0x80), 'utf-8', /not valid "utf-8"/],
    ['UTF-16 as UTF-8', utf16('\uFEFFa', 'le'), undefined, /not valid "utf-8"/],
    ['half a surrogate pair', utf16('\uD83D', 'le'), 'utf-16le', /not valid "utf-16le"/],
    ['a byte too few', Buffer.of(0x61), 'utf-16', /not valid "utf-16"/],
    ['beyond ASCII', Buffer.from('aü'), 'us-ascii', /not valid "us-ascii" at byte 2/],
    ['an unknown charset', Buffer.from('a'), 'klingon', /charset "klingon" is not known/],
    ['a hostile charset', Buffer.of(), `\n\0${'x'.repeat(1e6)}`, /"\?x{39}" is not known/],
  ]
  for (const [name, bytes, charset, says] of refused) {
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
      { numRuns: 500 },
    )
  })
})

test('isKnownCharset reports what decodeText takes', () => {
  const known = ['utf-8', 'UTF-16', 'us-ascii', 'ISO-8859-1', 'windows-1252', 'shift_jis']
  assert.deepEqual([...known, 'utf-7', 'utf-32', '', 'x y', '\0'].filter(isKnownCharset), known)
})
