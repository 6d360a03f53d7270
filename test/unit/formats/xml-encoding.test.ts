import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { readXml, type XmlOptions } from '../../../src/formats/xml-read.ts'

const defaults: XmlOptions = { trim: true, explicitRoot: false, explicitArray: false }

const refusal = (read: () => unknown): Unreadable => {
  try {
    read()
  } catch (error) {
    if (error instanceof Unreadable) return error
    throw error
  }
  return assert.fail('accepted')
}

describe('readXml', () => {
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')
  const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?><m>ü</m>`
  const cases = [
    { name: 'UTF-8 by default', bytes: Buffer.from('<m>ü</m>'), charset: undefined },
    { name: 'the declaration', bytes: Buffer.from(declared('ISO-8859-1'), 'latin1'), charset: undefined },
    {
      name: 'the declaration in other quotes',
      bytes: Buffer.from(`<?xml version='1.0' encoding = 'latin1' ?><m>ü</m>`, 'latin1'),
      charset: undefined,
    },
    { name: 'the charset before the declaration', bytes: Buffer.from(declared('ISO-8859-1')), charset: 'utf-8' },
    { name: 'the charset, no declaration', bytes: Buffer.from('<m>ü</m>', 'latin1'), charset: 'iso-8859-1' },
    { name: 'a mark before the charset', bytes: Buffer.from(`\uFEFF${declared('ISO-8859-1')}`), charset: 'iso-8859-1' },
    { name: 'a UTF-16 mark before the charset', bytes: utf16('\uFEFF<m>ü</m>'), charset: 'utf-8' },
    { name: 'a UTF-16 mark, big end first', bytes: utf16('\uFEFF<m>ü</m>').swap16(), charset: undefined },
    { name: 'UTF-16 without a mark', bytes: utf16(declared('UTF-16')), charset: undefined },
    { name: 'UTF-16 without a mark, big end first', bytes: utf16('<m>ü</m>').swap16(), charset: undefined },
    {
      name: 'an encoding named in content',
      bytes: Buffer.from('<m><!-- <?xml encoding="latin1"?> -->ü</m>'),
      charset: undefined,
    },
  ]
  for (const { name, bytes, charset } of cases) {
    test(name, () => assert.equal(readXml(bytes, charset, defaults), 'ü'))
  }

  const refused = [
    { name: 'bytes that are not in the encoding', bytes: Buffer.from('<m>ü</m>', 'latin1'), says: /not valid "utf-8"/ },
    { name: 'an unknown encoding', bytes: Buffer.from(declared('klingon')), says: /charset "klingon" is not known/ },
    {
      name: 'an encoding that the bytes contradict',
      bytes: Buffer.from(declared('UTF-16')),
      says: /declares the encoding utf-16/,
    },
    { name: 'two byte order marks', bytes: Buffer.from('\ufeff\ufeff<m/>'), says: /second byte order mark at line 1/ },
    { name: 'nothing', bytes: Buffer.of(), says: /must contain a root element/ },
  ]
  for (const { name, bytes, says } of refused) {
    test(`refuses ${name}`, () => assert.match(refusal(() => readXml(bytes, undefined, defaults)).message, says))
  }

  test('reads or refuses any bytes', () => {
    const charset = fc.constantFrom(undefined, 'utf-8', 'utf-16', 'iso-8859-1', 'x')
    fc.assert(
      fc.property(fc.uint8Array(), charset, (bytes, label) => {
        try {
          readXml(bytes, label, defaults)
        } catch (error) {
          assert.ok(error instanceof Unreadable)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
