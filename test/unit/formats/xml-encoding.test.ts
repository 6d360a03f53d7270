import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { readXml, type XmlOptions } from '../../../src/formats/xml-read.ts'
import fc from '../../support/fast-check.ts'

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
  const cases: [name: string, bytes: Uint8Array, charset?: string][] = [
    ['UTF-8 by default', Buffer.from('<m>ü</m>')],
    ['the declaration', Buffer.from(declared('ISO-8859-1'), 'latin1')],
    ['the declaration in other quotes', Buffer.from(`<?xml version='1.0' encoding = 'latin1' ?><m>ü</m>`, 'latin1')],
    ['the charset before the declaration', Buffer.from(declared('ISO-8859-1')), 'utf-8'],
    ['the charset, no declaration', Buffer.from('<m>ü</m>', 'latin1'), 'iso-8859-1'],
    ['a mark before the charset', Buffer.from(`\uFEFF${declared('ISO-8859-1')}`), 'iso-8859-1'],
    ['a UTF-16 mark before the charset', utf16('\uFEFF<m>ü</m>'), 'utf-8'],
    ['a UTF-16 mark, big end first', utf16('\uFEFF<m>ü</m>').swap16()],
    ['UTF-16 without a mark', utf16(declared('UTF-16'))],
    ['UTF-16 without a mark, big end first', utf16('<m>ü</m>').swap16()],
    ['an encoding named in content', Buffer.from('<m><!-- <?xml encoding="latin1"?> -->ü</m>')],
  ]
  for (const [name, bytes, charset] of cases) {
    test(name, () => assert.equal(readXml(bytes, charset, defaults), 'ü'))
  }

  const refused: [name: string, bytes: Uint8Array, says: RegExp][] = [
    ['bytes that are not in the encoding', Buffer.from('<m>ü</m>', 'latin1'), /not valid "utf-8"/],
    ['an unknown encoding', Buffer.from(declared('klingon')), /charset "klingon" is not known/],
    ['an encoding that the bytes contradict', Buffer.from(declared('UTF-16')), /declares the encoding utf-16/],
    ['two byte order marks', Buffer.from('\ufeff\ufeff<m/>'), /second byte order mark at line 1/],
    ['nothing', Buffer.of(), /must contain a root element/],
  ]
  for (const [name, bytes, says] of refused) {
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
      { numRuns: 500 },
    )
  })
})
