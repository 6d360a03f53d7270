import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseString } from 'xml2js'
import type { Json } from '../../../src/domain/json.ts'
import { Unreadable } from '../../../src/formats/body-faults.ts'
import { parseXml, type XmlOptions } from '../../../src/formats/xml-read.ts'
import examples from '../../data/xml.json' with { type: 'json' }
import { startCpuTime } from '../../support/cpu-time.ts'
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
  const cases: { name: string; xml: string; options?: Partial<XmlOptions>; expect: Json }[] = [
    { name: 'text around children', xml: '<m>a<b>1</b>c<b/>d</m>', expect: { _: 'acd', b: ['1', ''] } },
    { name: 'repeats that are apart', xml: '<m><a>1</a><b/><a>2</a></m>', expect: { a: ['1', '2'], b: '' } },
    { name: 'an element of white space', xml: '<m><a> \n </a></m>', expect: { a: '' } },
    { name: 'white space beside attributes', xml: '<m><a k="v"> \n </a></m>', expect: { a: { $: { k: 'v' } } } },
    { name: 'an empty root', xml: '<m/>', expect: '' },
    { name: 'attributes are never trimmed', xml: '<m a="  x "/>', expect: { $: { a: '  x ' } } },
    {
      name: 'white space in attributes is normalised',
      xml: '<m a="1\r\n2\t3&#10;4"/>',
      expect: { $: { a: '1 2 3\n4' } },
    },
    { name: 'line ends are normalised', xml: '<m>1\r\n2\r3&#13;4</m>', expect: '1\n2\n3\r4' },
    { name: 'character references', xml: '<m>&#65;&#x1F600;</m>', expect: 'A😀' },
    {
      name: 'text, comments and CDATA are one text',
      xml: '<m>a<!-- -->b<![CDATA[]]]]><![CDATA[>]]>&amp;</m>',
      expect: 'ab]]>&',
    },
    {
      name: 'XML 1.1 is read as 1.0',
      xml: '<?xml version="1.1"?><m>\u0085</m>',
      options: { trim: false },
      expect: '\u0085',
    },
    { name: 'a byte order mark', xml: '\uFEFF<?xml version="1.0"?><m>a</m>', expect: 'a' },
    {
      name: 'text that looks like markup',
      xml: '<m>&lt;!DOCTYPE a&gt;<![CDATA[<!DOCTYPE a>]]><!-- <!DOCTYPE a> --></m>',
      expect: '<!DOCTYPE a><!DOCTYPE a>',
    },
    { name: 'an element called _', xml: '<m>t<_>1</_><_ k="v"/></m>', expect: { _: ['t', '1', { $: { k: 'v' } }] } },
    { name: 'an element called _ alone', xml: '<m><_>1</_></m>', expect: { _: '1' } },
    {
      name: 'not trimmed',
      xml: '<m> <a> x </a> <b> </b> <c k="v"> </c> </m>',
      options: { trim: false },
      expect: { a: ' x ', b: ' ', c: { $: { k: 'v' } } },
    },
    {
      name: 'not trimmed CDATA',
      xml: '<m><a k="v"><![CDATA[ ]]></a></m>',
      options: { trim: false },
      expect: { a: { _: ' ', $: { k: 'v' } } },
    },
    { name: 'trimmed CDATA', xml: '<m><a k="v"><![CDATA[ ]]></a></m>', expect: { a: { $: { k: 'v' } } } },
    {
      name: 'with its root',
      xml: '<m a="1">x</m>',
      options: { explicitRoot: true },
      expect: { m: { _: 'x', $: { a: '1' } } },
    },
    { name: 'with an empty root', xml: '<m/>', options: { explicitRoot: true }, expect: { m: '' } },
    {
      name: 'every child in an array',
      xml: '<m k="v">t<a>1</a><b><c/></b></m>',
      options: { explicitArray: true, explicitRoot: true },
      expect: { m: { _: 't', $: { k: 'v' }, a: ['1'], b: [{ c: [''] }] } },
    },
  ]
  for (const { name, xml, options, expect } of cases) {
    test(name, () => assert.deepEqual(parseXml(xml, { ...defaults, ...options }), expect))
  }

  const refused = [
    {
      name: 'an unclosed element',
      xml: '<a>\n<b>',
      says: /^The XML is not well-formed: unclosed tag at line 2, column 3\.$/,
    },
    {
      name: 'a bare ampersand',
      xml: '<a>1 & 2</a>',
      says: /unclosed tag \(or a `&` that is not written as `&amp;`\) at line 1/,
    },
    { name: 'the wrong end tag', xml: '<a><secret></a>', says: /: unexpected close tag at line 1, column 15\.$/ },
    {
      name: 'a repeated attribute',
      xml: '<a secret="1" secret="2"/>',
      says: /: duplicate attribute at line 1, column 26\.$/,
    },
    { name: 'two roots', xml: '<a/><b/>', says: /only one root/ },
    { name: 'an attribute without quotes', xml: '<a b=1/>', says: /unquoted attribute/ },
    { name: 'a `<` in an attribute', xml: '<a b="<"/>', says: /disallowed character/ },
    { name: 'a control character', xml: '<a>\u0001</a>', says: /disallowed character/ },
    { name: 'a reference to a control character', xml: '<a>&#1;</a>', says: /malformed character entity/ },
    {
      name: 'one that XML 1.1 would allow',
      xml: '<?xml version="1.1"?><a>&#1;</a>',
      says: /malformed character entity/,
    },
    { name: 'a reference to a surrogate', xml: '<a>&#xD800;</a>', says: /malformed character entity/ },
    { name: 'half a surrogate pair', xml: '<a>\uD83D</a>', says: /half of a surrogate pair/ },
    { name: '`]]>` in text', xml: '<a>]]></a>', says: /disallowed in char data/ },
    { name: 'CDATA outside the root', xml: '<a/><![CDATA[x]]>', says: /outside of root/ },
    { name: 'a late declaration', xml: ' <?xml version="1.0"?><a/>', says: /XML declaration must be at the start/ },
    { name: 'a DOCTYPE', xml: '<!DOCTYPE a><a/>', says: /^A DOCTYPE is not accepted, .* at line 1, column 12\.$/ },
    {
      name: 'an external entity',
      xml: '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
      says: /DOCTYPE is not accepted/,
    },
    {
      name: 'entities of entities',
      xml: '<!DOCTYPE a [<!ENTITY e "ee"><!ENTITY f "&e;&e;">]><a>&f;</a>',
      says: /DOCTYPE is not accepted/,
    },
    { name: 'a DOCTYPE that hides its end', xml: '<!DOCTYPE a [<!-- ]><a/> -->', says: /not well-formed/ },
    {
      name: 'an element with two colons',
      xml: '<m><a:b:c/></m>',
      says: /not well-formed: a name has a colon .* line 1/,
    },
    { name: 'an attribute with two colons', xml: '<m a:b:c=""/>', says: /colon/ },
    { name: 'an element that starts with a colon', xml: '<m><:a/></m>', says: /not well-formed/ },
    { name: 'an element that ends with a colon', xml: '<a:/>', says: /not well-formed/ },
    { name: 'an attribute that starts with a colon', xml: '<m :a=""/>', says: /not well-formed/ },
    { name: 'an attribute whose local name is none', xml: '<m a:1=""/>', says: /not well-formed/ },
    { name: 'an entity named as a prototype is', xml: '<a>&__proto__;</a>', says: /undefined entity/ },
  ]
  for (const { name, xml, says } of refused) {
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

  test('reads a megabyte of anything in linear time', () => {
    const units = [
      '<a>',
      '<b/>',
      'x<b/>',
      '&lt;',
      '<![CDATA[x]]>',
      '<!---->x',
      ']',
      '\r',
      '&',
      '<',
      '<!ENTITY a "&b;">',
      ' b="1"',
    ]
    for (const unit of [...units, ...Array.from({ length: 3 }, (_, i) => `<${'n'.repeat(10 ** i)}`)]) {
      const many = unit.repeat((1 << 20) / unit.length)
      const cpuMs = startCpuTime()
      for (const xml of [`<a>${many}</a>`, `<!DOCTYPE a [${many}]><a/>`, `<a b="${many}"/>`, `<a${many}/>`]) {
        try {
          parseXml(xml, defaults)
        } catch (error) {
          assert.ok(error instanceof Unreadable)
        }
      }
      assert.ok(cpuMs() < 5_000, unit)
    }
  })

  test('refuses or reads any text, and touches no prototype', () => {
    const before = Reflect.ownKeys(Object.prototype)
    const pieces = [
      '<a',
      '<__proto__',
      '>',
      '/>',
      '</a>',
      '</',
      ' b="',
      '"',
      "'",
      '=',
      '&',
      '&amp;',
      ';',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<?',
      '?>',
      'x',
      ' ',
      '<!DOCTYPE',
    ]
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
      { numRuns: 5_000 },
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
      { numRuns: 500 },
    )
  })
})
