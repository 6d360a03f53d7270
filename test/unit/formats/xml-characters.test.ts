import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SaxesParser } from 'saxes'
import { isXmlName } from '../../../src/formats/xml-characters.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

describe('isXmlName', () => {
  const cases = [
    ...['a', '_', 'A-1.b', 'naïve', '名前', 'x:a', 'xmlns:x', '__proto__', '\u{10000}', 'a·'].map((name) => ({
      name,
      expect: true,
    })),
    ...['', '1a', '-a', '.a', 'a b', 'a\n', 'a>', ':a', 'a:', 'a:b:c', 'a:1', '$', 'a/b', '·a', '\uD800', 'a×'].map(
      (name) => ({ name, expect: false }),
    ),
  ]
  for (const { name, expect } of cases) {
    test(`${JSON.stringify(name)}: ${expect}`, () => assert.equal(isXmlName(name), expect))
  }

  test('takes what a reader takes that knows namespaces', () => {
    const isRead = (name: string): boolean => {
      try {
        new SaxesParser({ xmlns: true, resolvePrefix: () => 'urn:x' }).write(`<${name}/>`).close()
        return true
      } catch {
        return false
      }
    }
    const characters = fc.constantFrom('a', ':', '-', '1', '.', '·', 'é', '×', '名', '\u{10000}')
    const names = fc.string({
      unit: fc.oneof(characters, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
      maxLength: 4,
    })
    fc.assert(
      fc.property(names, (name) => {
        if (isXmlName(name)) assert.ok(isRead(name))
        else assert.ok(/[:/!?\s\uD800-\uDFFF]/.test(name) || !isRead(name))
      }),
      { numRuns: LONG ? 5_000 : 1_000 },
    )
  })
})
