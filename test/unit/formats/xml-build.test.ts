import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { isObject, type Json } from '../../../src/domain/json.ts'
import { Unwritable } from '../../../src/formats/body-faults.ts'
import { buildXml } from '../../../src/formats/xml-build.ts'
import { parseXml, type XmlOptions } from '../../../src/formats/xml-read.ts'
import examples from '../../data/xml.json' with { type: 'json' }
import { xmlDocuments } from '../../support/formats/xml-documents.ts'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

describe('buildXml, worked examples', () => {
  for (const { why, input, xml } of examples.build) {
    test(why, () => assert.equal(buildXml(input), xml))
  }
})

describe('buildXml', () => {
  const cases: { name: string; value: Json; expect: string }[] = [
    { name: 'no names', value: {}, expect: '<root/>' },
    { name: 'null', value: null, expect: '<root/>' },
    { name: 'a scalar', value: 'a<b', expect: '<root>a&lt;b</root>' },
    { name: 'zero and false', value: { m: { a: 0, b: false } }, expect: '<m>\n  <a>0</a>\n  <b>false</b>\n</m>' },
    { name: 'a number that is not finite', value: { m: Number.NaN }, expect: '<m/>' },
    {
      name: 'an array',
      value: ['a', { b: 1 }, null],
      expect: '<root>\n  <item>a</item>\n  <item>\n    <b>1</b>\n  </item>\n  <item/>\n</root>',
    },
    { name: 'an empty array', value: [], expect: '<root/>' },
    { name: 'a single name with an array', value: { a: [1, 2] }, expect: '<root>\n  <a>1</a>\n  <a>2</a>\n</root>' },
    { name: 'a single name with an array of one', value: { a: [1] }, expect: '<root>\n  <a>1</a>\n</root>' },
    { name: 'a single name with an empty array', value: { a: [] }, expect: '<root/>' },
    { name: 'an array of nothing but an empty array', value: { m: { a: [[]] } }, expect: '<m>\n  <a/>\n</m>' },
    {
      name: 'an array within an array',
      value: { m: { a: [[1, 2], 3] } },
      expect: '<m>\n  <a>\n    <item>1</item>\n    <item>2</item>\n  </a>\n  <a>3</a>\n</m>',
    },
    { name: 'an empty array among others', value: { m: { a: [], b: 1 } }, expect: '<m>\n  <b>1</b>\n</m>' },
    {
      name: 'a null in an array keeps its place',
      value: { m: { a: [1, null, 2] } },
      expect: '<m>\n  <a>1</a>\n  <a/>\n  <a>2</a>\n</m>',
    },
    { name: 'attributes of the top', value: { $: { k: 'v' }, a: 1 }, expect: '<root k="v">\n  <a>1</a>\n</root>' },
    { name: 'nothing but attributes', value: { $: { k: 'v' } }, expect: '<root k="v"/>' },
    { name: 'nothing but text', value: { _: 'a' }, expect: '<root>a</root>' },
    {
      name: 'attributes that are no strings',
      value: { m: { $: { a: 1, b: true, c: null } } },
      expect: '<m a="1" b="true" c=""/>',
    },
    { name: 'attributes that are null', value: { m: { $: null, _: null } }, expect: '<m/>' },
    { name: 'text that is no string', value: { m: { $: { k: 'v' }, _: 0 } }, expect: '<m k="v">0</m>' },
    {
      name: 'text before children',
      value: { m: { _: 'a', b: { c: [1, 2] } } },
      expect: '<m>a<b><c>1</c><c>2</c></b></m>',
    },
    { name: 'text after children', value: { m: { b: [[1]], _: 'a' } }, expect: '<m><b><item>1</item></b>a</m>' },
    { name: 'empty text beside children', value: { m: { _: '', b: 1 } }, expect: '<m>\n  <b>1</b>\n</m>' },
    {
      name: 'escapes in attributes',
      value: { m: { $: { k: `<&>"'\t\r\n` } } },
      expect: `<m k="&lt;&amp;&gt;&quot;'&#9;&#13;&#10;"/>`,
    },
    { name: 'escapes in text', value: { m: `]]> & "\t\r\n` }, expect: '<m>]]&gt; &amp; "\t&#13;\n</m>' },
    { name: 'white space as it is', value: { m: { a: '  ' } }, expect: '<m>\n  <a>  </a>\n</m>' },
    {
      name: 'characters of all planes',
      value: { m: '\u0085\uE000\uFFFD😀\u{10FFFF}' },
      expect: '<m>\u0085\uE000\uFFFD😀\u{10FFFF}</m>',
    },
    {
      name: 'prefixes',
      value: { 's:E': { $: { 'xmlns:s': 'urn:s' }, 's:B': 1 } },
      expect: '<s:E xmlns:s="urn:s">\n  <s:B>1</s:B>\n</s:E>',
    },
    {
      name: 'a dangerous name',
      value: JSON.parse('{"__proto__":{"$":{"__proto__":1},"constructor":2}}'),
      expect: '<__proto__ __proto__="1">\n  <constructor>2</constructor>\n</__proto__>',
    },
  ]
  for (const { name, value, expect } of cases) {
    test(name, () => assert.equal(buildXml(value), DECLARATION + expect))
  }

  const refused: { name: string; value: Json; place: string; says: RegExp }[] = [
    {
      name: 'a name with a space',
      value: { a: { 'b c': 1 } },
      place: 'a.b c',
      says: /^The output cannot be written as XML: at "a\.b c", "b c" cannot be the name of an XML element; rename it\.$/,
    },
    { name: 'the name of the root', value: { '1a': 1 }, place: '1a', says: /"1a" cannot be/ },
    { name: 'an empty name', value: { a: 1, '': 1 }, place: '', says: /"" cannot be/ },
    { name: 'markup in a name', value: { a: [{}, { 'b><c': 1 }] }, place: 'a[1].b><c', says: /cannot be/ },
    {
      name: 'the name of an attribute',
      value: { m: { $: { 'a b="': 1 } } },
      place: 'm.$.a b="',
      says: /name of an XML attribute/,
    },
    {
      name: 'an attribute that is an object',
      value: { m: { $: { a: {} } } },
      place: 'm.$.a',
      says: /must not be an object or array/,
    },
    {
      name: 'an attribute that is an array',
      value: { m: { $: { a: [] } } },
      place: 'm.$.a',
      says: /must not be an object or array/,
    },
    { name: 'attributes that are no object', value: { m: { $: 'a' } }, place: 'm.$', says: /`\$` must be an object/ },
    { name: 'attributes that are an array', value: { m: { $: [] } }, place: 'm.$', says: /`\$` must be an object/ },
    {
      name: 'text that is an object',
      value: { m: { _: { a: 1 } } },
      place: 'm._',
      says: /text of an element must not be an object/,
    },
    { name: 'a null character', value: { m: { a: ['b', 'x\0'] } }, place: 'm.a[1]', says: /character U\+0000/ },
    { name: 'half a surrogate pair', value: { m: '😀\uD83D' }, place: 'm', says: /character U\+D83D/ },
    {
      name: 'a character that is none',
      value: { m: { $: { k: '\uFFFF' } } },
      place: 'm.$.k',
      says: /character U\+FFFF/,
    },
    {
      name: 'a control character at the top',
      value: '\u001B',
      place: '',
      says: /^The output cannot be written as XML: the value holds the character U\+001B/,
    },
    {
      name: 'a name that itself cannot be shown',
      value: { m: { '\0\uD83D': 1 } },
      place: 'm.\uFFFD\uFFFD',
      says: /"\uFFFD\uFFFD" cannot be/,
    },
    { name: 'a long name', value: { [`1${'x'.repeat(1e6)}`]: 1 }, place: `1${'x'.repeat(79)}…`, says: /^.{0,300}$/ },
  ]
  for (const { name, value, place, says } of refused) {
    test(`refuses ${name}`, () => {
      assert.throws(
        () => buildXml(value),
        (error) => {
          assert.ok(error instanceof Unwritable)
          assert.ok(error.message.includes(place === '' ? 'as XML: ' : `at "${place}", `), error.message)
          assert.match(error.message, says)
          assert.doesNotThrow(() => buildXml({ error: error.message }))
          return true
        },
      )
    })
  }

  test('refuses what would exhaust the stack or the memory', () => {
    let deep: Json = 1
    for (let level = 0; level < 100_000; level++) deep = level % 2 === 0 ? { a: deep } : [deep]
    assert.throws(() => buildXml(deep), { name: 'Unwritable', message: /nested deeper than 1000 levels/ })
    const long = { ['n'.repeat(500_000)]: Array(250_000).fill(0) }
    assert.throws(() => buildXml(long), { name: 'Unwritable', message: /longer than 67108864 characters/ })
  })

  test('writes what is read back the same', () => {
    const names = ['a', 'b', 'x:c', 'naïve', '__proto__', 'constructor', 'toString']
    const options = fc.record({ trim: fc.boolean(), explicitRoot: fc.constant(true), explicitArray: fc.boolean() })
    fc.assert(
      fc.property(xmlDocuments(names), options, (xml, chosen: XmlOptions) => {
        const value = parseXml(xml, chosen)
        assert.deepEqual(parseXml(buildXml(value), chosen), value)
      }),
      { numRuns: 1_000 },
    )
  })

  test('lets no value out of its element', () => {
    const nasty = [
      '',
      'a',
      '<b/>',
      '</a>',
      ']]>',
      '&lt;',
      '&',
      '"',
      '" k="v',
      '-->',
      '<![CDATA[',
      '\r',
      '\n\t',
      '\0',
      '\uD800',
      '😀',
      '\uFFFE',
      '<?x?>',
      'ü',
    ]
    const scalar = fc.oneof(
      fc.constantFrom(...nasty),
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    const name = fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom('a', 'b', '_', 'é', 'x.y', '__proto__') },
      fc.constantFrom('', '1', 'a b', 'a>', '$'),
    )
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        scalar,
        fc.array(tie('value'), { maxLength: 4 }),
        fc
          .tuple(
            fc.option(fc.dictionary(fc.constantFrom('k', 'l:m', '__proto__'), scalar, { maxKeys: 3 }), {
              nil: undefined,
            }),
            fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }),
          )
          .map(([attributes, members]) => Object.fromEntries([...(attributes ? [['$', attributes]] : []), ...members])),
      ),
    }))
    let written = 0
    fc.assert(
      fc.property(value, (given) => {
        let xml: string
        try {
          xml = buildXml(given)
        } catch (error) {
          assert.ok(error instanceof Unwritable)
          return
        }
        written++
        assert.deepEqual(valuesInXml(xml), valuesIn(given))
      }),
      { numRuns: 5_000 },
    )
    assert.ok(written > 1_000, `only ${written} could be written`)
  })
})

/** Number of elements below the root, and the values in the order of the document, without empty and blank ones. */
type Values = { elements: number; values: string[] }

function valuesInXml(xml: string): Values {
  const parser = new SaxesParser({ xmlns: false })
  const values: string[] = []
  const open: number[] = []
  let elements = -1
  parser.on('opentag', ({ attributes }) => {
    elements++
    values.push(...Object.values(attributes))
    open.push(values.push('') - 1)
  })
  parser.on('text', (text) => {
    const slot = open.at(-1)
    if (slot !== undefined) values[slot] += text
  })
  parser.on('closetag', () => void open.pop())
  parser.on('cdata', () => assert.fail('CDATA'))
  parser.on('comment', () => assert.fail('a comment'))
  parser.write(xml).close()
  return { elements, values: values.filter((value) => value.trim() !== '') }
}

function valuesIn(value: Json): Values {
  const values: string[] = []
  let elements = 0
  const addScalar = (scalar: Json): void => void values.push(scalar === null ? '' : String(scalar))
  const addElements = (content: Json): void => {
    for (const element of Array.isArray(content) ? content : [content]) {
      elements++
      addContent(element)
    }
  }
  const addContent = (content: Json): void => {
    if (Array.isArray(content)) addElements(content)
    else if (isObject(content)) {
      const { $: attributes, _: text = null, ...children } = content
      Object.values(attributes ?? {}).forEach(addScalar)
      addScalar(text)
      Object.values(children).forEach(addElements)
    } else addScalar(content)
  }
  const names = isObject(value) ? Object.entries(value) : []
  const [name, only] = names[0] ?? []
  addContent(value)
  if (names.length === 1 && name !== '$' && name !== '_' && !Array.isArray(only)) elements--
  return { elements, values: values.filter((entry) => entry.trim() !== '') }
}
