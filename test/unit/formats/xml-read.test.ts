import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseString } from 'xml2js'
import type { Json } from '../../../src/core/json.ts'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { parseXml, readXml, type XmlOptions } from '../../../src/formats/xml-read.ts'
import examples from '../../data/xml.json' with { type: 'json' }
import { timesAsCostly } from '../../support/cpu-time.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { xmlDocuments } from '../../support/formats/xml-documents.ts'

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

describe('parseXml, worked examples', () => {
  for (const { why, xml, output } of examples.parse) {
    test(why, () => assert.deepEqual(parseXml(xml, defaults), output))
  }
  for (const { why, xml } of examples.refuse) {
    test(`refuses ${why}`, () => assert.equal(refusal(() => parseXml(xml, defaults)).reason, 'malformed'))
  }
})

describe('parseXml', () => {
  const cases: [name: string, xml: string, expect: Json, options?: Partial<XmlOptions>][] = [
    ['text around children', '<m>a<b>1</b>c<b/>d</m>', { _: 'acd', b: ['1', ''] }],
    ['repeats that are apart', '<m><a>1</a><b/><a>2</a></m>', { a: ['1', '2'], b: '' }],
    ['an element of white space', '<m><a> \n </a></m>', { a: '' }],
    ['white space beside attributes', '<m><a k="v"> \n </a></m>', { a: { $: { k: 'v' } } }],
    ['an empty root', '<m/>', ''],
    ['attributes are never trimmed', '<m a="  x "/>', { $: { a: '  x ' } }],
    ['white space in attributes is normalised', '<m a="1\r\n2\t3&#10;4"/>', { $: { a: '1 2 3\n4' } }],
    ['line ends are normalised', '<m>1\r\n2\r3&#13;4</m>', '1\n2\n3\r4'],
    ['character references', '<m>&#65;&#x1F600;</m>', 'A😀'],
    ['text, comments and CDATA are one text', '<m>a<!-- -->b<![CDATA[]]]]><![CDATA[>]]>&amp;</m>', 'ab]]>&'],
    ['XML 1.1 is read as 1.0', '<?xml version="1.1"?><m>\u0085</m>', '\u0085', { trim: false }],
    ['a byte order mark', '\uFEFF<?xml version="1.0"?><m>a</m>', 'a'],
    [
      'text that looks like markup',
      '<m>&lt;!DOCTYPE a&gt;<![CDATA[<!DOCTYPE a>]]><!-- <!DOCTYPE a> --></m>',
      '<!DOCTYPE a><!DOCTYPE a>',
    ],
    ['an element called _', '<m>t<_>1</_><_ k="v"/></m>', { _: ['t', '1', { $: { k: 'v' } }] }],
    ['an element called _ alone', '<m><_>1</_></m>', { _: '1' }],
    [
      'not trimmed',
      '<m> <a> x </a> <b> </b> <c k="v"> </c> </m>',
      { a: ' x ', b: ' ', c: { $: { k: 'v' } } },
      { trim: false },
    ],
    ['not trimmed CDATA', '<m><a k="v"><![CDATA[ ]]></a></m>', { a: { _: ' ', $: { k: 'v' } } }, { trim: false }],
    ['trimmed CDATA', '<m><a k="v"><![CDATA[ ]]></a></m>', { a: { $: { k: 'v' } } }],
    ['with its root', '<m a="1">x</m>', { m: { _: 'x', $: { a: '1' } } }, { explicitRoot: true }],
    ['with an empty root', '<m/>', { m: '' }, { explicitRoot: true }],
    [
      'every child in an array',
      '<m k="v">t<a>1</a><b><c/></b></m>',
      { m: { _: 't', $: { k: 'v' }, a: ['1'], b: [{ c: [''] }] } },
      { explicitArray: true, explicitRoot: true },
    ],
  ]
  for (const [name, xml, expect, options] of cases) {
    test(name, () => assert.deepEqual(parseXml(xml, { ...defaults, ...options }), expect))
  }

  // Whatever else is refused: test/service/corpus/.
  const refused: [name: string, xml: string, says: RegExp][] = [
    ['an unclosed element', '<a>\n<b>', /^The XML is not well-formed: unclosed tag at line 2, column 3\.$/],
    ['a bare ampersand', '<a>1 & 2</a>', /unclosed tag \(or a `&` that is not written as `&amp;`\) at line 1/],
    ['the wrong end tag', '<a><secret></a>', /: unexpected close tag at line 1, column 15\.$/],
    ['a repeated attribute', '<a secret="1" secret="2"/>', /: duplicate attribute at line 1, column 26\.$/],
    ['a reference to a control character', '<a>&#1;</a>', /malformed character entity/],
    ['half a surrogate pair', '<a>\uD83D</a>', /half of a surrogate pair/],
    ['a DOCTYPE', '<!DOCTYPE a><a/>', /^A DOCTYPE is not accepted, .* at line 1, column 12\.$/],
    ['a DOCTYPE that hides its end', '<!DOCTYPE a [<!-- ]><a/> -->', /not well-formed/],
    ['an element with two colons', '<m><a:b:c/></m>', /not well-formed: a name has a colon .* line 1/],
    ['an attribute with two colons', '<m a:b:c=""/>', /colon/],
    ['an attribute whose local name is none', '<m a:1=""/>', /not well-formed/],
    ['an entity named as a prototype is', '<a>&__proto__;</a>', /undefined entity/],
  ]
  for (const [name, xml, says] of refused) {
    test(`refuses ${name}`, () => {
      const { reason, message } = refusal(() => parseXml(xml, defaults))
      assert.equal(reason, 'malformed')
      assert.match(message, says)
      assert.doesNotMatch(message, /secret/)
    })
  }

  test('takes 64 levels of nesting, and no more', () => {
    const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)
    assert.notEqual(parseXml(nested(64), defaults), '')
    const { reason, message } = refusal(() => parseXml(nested(65), defaults))
    assert.equal(reason, 'too-deep')
    assert.equal(message, 'The XML is nested deeper than 64 levels at line 1, column 195.')
    assert.equal(refusal(() => parseXml(`${'<a>'.repeat(64)}<a/>`, defaults)).reason, 'too-deep')
  })

  test('makes dangerous names plain own properties', () => {
    const before = Reflect.ownKeys(Object.prototype)
    const xml =
      '<m __proto__="1" constructor="2"><__proto__><polluted>1</polluted></__proto__><__proto__ k="v">t</__proto__>' +
      '<constructor><prototype><polluted>1</polluted></prototype></constructor><toString/></m>'
    const value = parseXml(xml, defaults)
    assert.equal(
      JSON.stringify(value),
      '{"$":{"__proto__":"1","constructor":"2"},"__proto__":[{"polluted":"1"},{"_":"t","$":{"k":"v"}}],' +
        '"constructor":{"prototype":{"polluted":"1"}},"toString":""}',
    )
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
    const mixed = parseXml('<m>t<__proto__>1</__proto__></m>', { ...defaults, explicitRoot: true })
    assert.equal(JSON.stringify(mixed), '{"m":{"_":"t","__proto__":"1"}}')
    const root = parseXml('<__proto__>1</__proto__>', { ...defaults, explicitRoot: true })
    assert.equal(JSON.stringify(root), '{"__proto__":"1"}')
    assert.deepEqual(Reflect.ownKeys(Object.prototype), before)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })

  test('reads anything in linear time', async () => {
    const markup = ['<a>', '<b/>', 'x<b/>', '&lt;', '<![CDATA[x]]>', '<!---->x', '<!ENTITY a "&b;">', ' b="1"']
    const names = Array.from({ length: 3 }, (_, i) => `<${'n'.repeat(10 ** i)}`)
    const read = (unit: string, bytes: number) => () => {
      const many = unit.repeat(bytes / unit.length)
      for (const xml of [`<a>${many}</a>`, `<!DOCTYPE a [${many}]><a/>`, `<a b="${many}"/>`, `<a${many}/>`]) {
        try {
          parseXml(xml, defaults)
        } catch (error) {
          assert.ok(error instanceof Unreadable)
        }
      }
    }
    for (const unit of [...markup, ...names, ']', '\r', '&', '<']) {
      const ratio = await timesAsCostly(read(unit, 1 << 17), read(unit, 1 << 15))
      // Four times as much: 16 times as costly if each byte were looked at for each.
      assert.ok(ratio < 10, `${unit}: ${ratio}`)
    }
  })

  test('refuses or reads any text, and touches no prototype', () => {
    const before = Reflect.ownKeys(Object.prototype)
    const tags = ['<a', '<__proto__', '>', '/>', '</a>', '</', '<![CDATA[', ']]>', '<!--', '-->', '<?', '?>']
    const pieces = [...tags, ' b="', '"', "'", '=', '&', '&amp;', ';', 'x', ' ', '<!DOCTYPE']
    const broken = fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((parts) => `<a>${parts.join('')}</a>`)
    fc.assert(
      fc.property(fc.oneof(broken, fc.string({ unit: 'binary' })), (xml) => {
        try {
          parseXml(xml, defaults)
        } catch (error) {
          assert.ok(error instanceof Unreadable)
          assert.match(error.message, /\.$/)
        }
      }),
      { numRuns: LONG ? 5_000 : 1_000 },
    )
    assert.deepEqual(Reflect.ownKeys(Object.prototype), before)
  })

  /**
   * Where we differ from xml2js on purpose: it leaves an element of nothing but white space untrimmed, it takes inherited
   * properties for children already there (`<constructor/>`), and it does not normalise line ends and attributes.
   */
  test('reads what xml2js reads', () => {
    const trimmed = (value: Json, name = ''): Json => {
      if (typeof value === 'string') return value.trim()
      if (value === null || typeof value !== 'object' || name === '$') return value
      if (Array.isArray(value)) return value.map((item) => trimmed(item))
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, trimmed(member, key)]))
    }
    const options = fc.record({ trim: fc.boolean(), explicitRoot: fc.boolean(), explicitArray: fc.boolean() })
    fc.assert(
      fc.property(xmlDocuments(['a', 'b', 'x:c', 'naïve', 'd-1.e']), options, (xml, chosen) => {
        let expected: Json = null
        parseString(xml, { ...chosen, async: false }, (error, result: Json) => {
          assert.equal(error, null)
          expected = result
        })
        assert.deepEqual(parseXml(xml, chosen), chosen.trim ? trimmed(expected) : expected)
      }),
      { numRuns: LONG ? 500 : 200 },
    )
  })
})

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
