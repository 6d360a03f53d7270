import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SaxesParser } from 'saxes'
import { isObject, type Json } from '../../../src/core/json.ts'
import { Unwritable } from '../../../src/formats/body-faults.ts'
import { buildXml } from '../../../src/formats/xml-build.ts'
import { parseXml, type XmlOptions } from '../../../src/formats/xml-read.ts'
import examples from '../../data/xml.json' with { type: 'json' }
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { xmlDocuments } from '../../support/formats/xml-documents.ts'

const RUNS = LONG ? 5_000 : 1_000
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

describe('buildXml, worked examples', () => {
  for (const { why, input, xml } of examples.build) {
    test(why, () => assert.equal(buildXml(input), xml))
  }
})

describe('buildXml', () => {
  const cases: [name: string, value: Json, expect: string][] = [
    ['no names', {}, '<root/>'],
    ['null', null, '<root/>'],
    ['a scalar', 'a<b', '<root>a&lt;b</root>'],
    ['zero and false', { m: { a: 0, b: false } }, '<m>\n  <a>0</a>\n  <b>false</b>\n</m>'],
    ['a number that is not finite', { m: Number.NaN }, '<m/>'],
    [
      'an array',
      ['a', { b: 1 }, null],
      '<root>\n  <item>a</item>\n  <item>\n    <b>1</b>\n  </item>\n  <item/>\n</root>',
    ],
    ['an empty array', [], '<root/>'],
    ['a single name with an array', { a: [1, 2] }, '<root>\n  <a>1</a>\n  <a>2</a>\n</root>'],
    ['a single name with an array of one', { a: [1] }, '<root>\n  <a>1</a>\n</root>'],
    ['a single name with an empty array', { a: [] }, '<root/>'],
    ['an array of nothing but an empty array', { m: { a: [[]] } }, '<m>\n  <a/>\n</m>'],
    [
      'an array within an array',
      { m: { a: [[1, 2], 3] } },
      '<m>\n  <a>\n    <item>1</item>\n    <item>2</item>\n  </a>\n  <a>3</a>\n</m>',
    ],
    ['an empty array among others', { m: { a: [], b: 1 } }, '<m>\n  <b>1</b>\n</m>'],
    ['a null in an array keeps its place', { m: { a: [1, null, 2] } }, '<m>\n  <a>1</a>\n  <a/>\n  <a>2</a>\n</m>'],
    ['attributes of the top', { $: { k: 'v' }, a: 1 }, '<root k="v">\n  <a>1</a>\n</root>'],
    ['nothing but attributes', { $: { k: 'v' } }, '<root k="v"/>'],
    ['nothing but text', { _: 'a' }, '<root>a</root>'],
    ['attributes that are no strings', { m: { $: { a: 1, b: true, c: null } } }, '<m a="1" b="true" c=""/>'],
    ['attributes that are null', { m: { $: null, _: null } }, '<m/>'],
    ['text that is no string', { m: { $: { k: 'v' }, _: 0 } }, '<m k="v">0</m>'],
    ['text before children', { m: { _: 'a', b: { c: [1, 2] } } }, '<m>a<b><c>1</c><c>2</c></b></m>'],
    ['text after children', { m: { b: [[1]], _: 'a' } }, '<m><b><item>1</item></b>a</m>'],
    ['empty text beside children', { m: { _: '', b: 1 } }, '<m>\n  <b>1</b>\n</m>'],
    ['escapes in attributes', { m: { $: { k: `<&>"'\t\r\n` } } }, `<m k="&lt;&amp;&gt;&quot;'&#9;&#13;&#10;"/>`],
    ['escapes in text', { m: `]]> & "\t\r\n` }, '<m>]]&gt; &amp; "\t&#13;\n</m>'],
    ['white space as it is', { m: { a: '  ' } }, '<m>\n  <a>  </a>\n</m>'],
    ['characters of all planes', { m: '\u0085\uE000\uFFFD😀\u{10FFFF}' }, '<m>\u0085\uE000\uFFFD😀\u{10FFFF}</m>'],
    ['prefixes', { 's:E': { $: { 'xmlns:s': 'urn:s' }, 's:B': 1 } }, '<s:E xmlns:s="urn:s">\n  <s:B>1</s:B>\n</s:E>'],
    [
      'a dangerous name',
      JSON.parse('{"__proto__":{"$":{"__proto__":1},"constructor":2}}'),
      '<__proto__ __proto__="1">\n  <constructor>2</constructor>\n</__proto__>',
    ],
  ]
  for (const [name, value, expect] of cases) {
    test(name, () => assert.equal(buildXml(value), DECLARATION + expect))
  }

  const refused: [name: string, value: Json, place: string, says: RegExp][] = [
    [
      'a name with a space',
      { a: { 'b c': 1 } },
      'a.b c',
      /^The output cannot be written as XML: at "a\.b c", "b c" cannot be the name of an XML element; rename it\.$/,
    ],
    ['the name of the root', { '1a': 1 }, '1a', /"1a" cannot be/],
    ['an empty name', { a: 1, '': 1 }, '', /"" cannot be/],
    ['markup in a name', { a: [{}, { 'b><c': 1 }] }, 'a[1].b><c', /cannot be/],
    ['the name of an attribute', { m: { $: { 'a b="': 1 } } }, 'm.$.a b="', /name of an XML attribute/],
    ['an attribute that is an object', { m: { $: { a: {} } } }, 'm.$.a', /must not be an object or array/],
    ['an attribute that is an array', { m: { $: { a: [] } } }, 'm.$.a', /must not be an object or array/],
    ['attributes that are no object', { m: { $: 'a' } }, 'm.$', /`\$` must be an object/],
    ['attributes that are an array', { m: { $: [] } }, 'm.$', /`\$` must be an object/],
    ['text that is an object', { m: { _: { a: 1 } } }, 'm._', /text of an element must not be an object/],
    ['a null character', { m: { a: ['b', 'x\0'] } }, 'm.a[1]', /character U\+0000/],
    ['half a surrogate pair', { m: '😀\uD83D' }, 'm', /character U\+D83D/],
    ['a character that is none', { m: { $: { k: '\uFFFF' } } }, 'm.$.k', /character U\+FFFF/],
    [
      'a control character at the top',
      '\u001B',
      '',
      /^The output cannot be written as XML: the value holds the character U\+001B/,
    ],
    ['a name that itself cannot be shown', { m: { '\0\uD83D': 1 } }, 'm.\uFFFD\uFFFD', /"\uFFFD\uFFFD" cannot be/],
    ['a long name', { [`1${'x'.repeat(1e6)}`]: 1 }, `1${'x'.repeat(79)}…`, /^.{0,300}$/],
  ]
  for (const [name, value, place, says] of refused) {
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
      { numRuns: LONG ? 1_000 : 300 },
    )
  })

  test('lets no value out of its element', () => {
    const markup = ['<b/>', '</a>', ']]>', '&lt;', '-->', '<![CDATA[', '<?x?>', '" k="v']
    const nasty = [...markup, '', 'a', '&', '"', '\r', '\n\t', '\0', '\uD800', '😀', '\uFFFE', 'ü']
    const scalar = fc.oneof(fc.constantFrom(...nasty, null, true, 7), fc.string({ unit: 'binary' }))
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
      { numRuns: RUNS },
    )
    assert.ok(written > RUNS / 5, `only ${written} could be written`)
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
