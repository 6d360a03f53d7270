/** What the console does with text from outside: events of a stream, JSON, invisible characters, search parameters. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEventParser } from '../../../../console/src/live/event-parser.ts'
import { layOutJson } from '../../../../console/src/ui/data/json-layout.ts'
import {
  asChoice,
  asText,
  asTexts,
  asWhole,
  formatSearch,
  parseSearch,
  readSearch,
} from '../../../../console/src/ui/search-params.ts'
import { splitText } from '../../../../console/src/ui/text/text-parts.ts'
import fc from '../../../support/fast-check.ts'

describe('events of a stream', () => {
  const cases: readonly (readonly [name: string, text: string, events: readonly object[]])[] = [
    ['one', 'id: 1\nevent: open\ndata: {}\n\n', [{ id: '1', type: 'open', data: '{}' }]],
    ['with CRLF', 'event: a\r\ndata: 1\r\n\r\n', [{ id: '', type: 'a', data: '1' }]],
    ['with CR', 'event: a\rdata: 1\r\r\n', [{ id: '', type: 'a', data: '1' }]],
    ['with several lines of data', 'data: 1\ndata:2\n\n', [{ id: '', type: 'message', data: '1\n2' }]],
    ['a comment is none', ': heartbeat\n\n', []],
    ['no data is none', 'event: a\n\ndata: 1\n\n', [{ id: '', type: 'message', data: '1' }]],
    ['an unfinished one is none', 'data: 1\n', []],
    [
      'the id stays',
      'id: 7\ndata: 1\n\ndata: 2\n\n',
      [
        { id: '7', type: 'message', data: '1' },
        { id: '7', type: 'message', data: '2' },
      ],
    ],
    ['a colon in the data', 'data: {"a": 1}\n\n', [{ id: '', type: 'message', data: '{"a": 1}' }]],
  ]
  for (const [name, text, events] of cases) {
    test(name, () => assert.deepEqual(createEventParser().push(text), events))
  }

  test('are the same wherever the text is cut', () => {
    const line = fc.constantFrom('data: 1', 'data:', 'event: a', 'id: 2', ': x', '', '', 'data: ä😀', 'other: y')
    const end = fc.constantFrom('\n', '\r\n')
    const texts = fc.array(fc.tuple(line, end).map(([one, ending]) => one + ending)).map((lines) => lines.join(''))
    fc.assert(
      fc.property(texts, fc.array(fc.nat(5)), (text, cuts) => {
        const parser = createEventParser()
        let at = 0
        const events = cuts.flatMap((length) => {
          at += length
          return parser.push(text.slice(at - length, at))
        })
        assert.deepEqual([...events, ...parser.push(text.slice(at))], createEventParser().push(text))
      }),
    )
  })
})

describe('JSON that is laid out', () => {
  const cases = [
    { text: '{"a":1.0,"b":[1e400,-0]}', out: '{\n  "a": 1.0,\n  "b": [\n    1e400,\n    -0\n  ]\n}' },
    { text: '{"a":1,"a":2}', out: '{\n  "a": 1,\n  "a": 2\n}' },
    { text: '{ }', out: '{}' },
    { text: '[[],{}]', out: '[\n  [],\n  {}\n]' },
    { text: '12345678901234567890', out: '12345678901234567890' },
    { text: '"{\\"a\\": [1, 2]}"', out: '"{\\"a\\": [1, 2]}"' },
    { text: '{"a": 1', out: undefined },
    { text: '<a/>', out: undefined },
    { text: '', out: undefined },
  ]
  for (const { text, out } of cases) test(text || 'nothing', () => assert.equal(layOutJson(text), out))

  test('has the same values as before', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const out = layOutJson(JSON.stringify(value, null, space)) ?? assert.fail()
        assert.equal(out.replace(/\s/g, ''), JSON.stringify(value).replace(/\s/g, ''))
        assert.deepEqual(JSON.parse(out), JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})

describe('invisible characters', () => {
  const cases = [
    { text: 'plain ä 漢 😀\n\t', shown: ['plain ä 漢 😀\n\t'] },
    { text: 'a\u202eb', shown: ['a', 'U+202E', 'b'] },
    { text: '\u0000', shown: ['U+0000'] },
    { text: 'a\r\n', shown: ['a', 'U+000D', '\n'] },
    { text: 'a\ud800b', shown: ['a', 'U+D800', 'b'] },
    { text: '\u{e0041}', shown: ['U+E0041'] },
    { text: '\u200b\ufeff', shown: ['U+200B', 'U+FEFF'] },
  ]
  for (const { text, shown } of cases) {
    test(`are shown in ${JSON.stringify(text)}`, () =>
      assert.deepEqual(
        splitText(text).map((part) => part.text),
        shown,
      ))
  }

  test('are the only change of a text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const back = splitText(text).map((part) =>
          part.hidden ? String.fromCodePoint(Number.parseInt(part.text.slice(2), 16)) : part.text,
        )
        assert.equal(back.join(''), text)
      }),
    )
  })
})

describe('search parameters', () => {
  const read = readSearch({ q: asText, sort: asChoice(['name', '-name']), code: asTexts, version: asWhole })
  const cases = [
    { search: '', values: {} },
    { search: '?q=12', values: { q: '12' } },
    { search: '?q=true&q=second', values: { q: 'true' } },
    { search: '?q=', values: {} },
    { search: '?sort=-name&sort=x', values: { sort: '-name' } },
    { search: '?sort=size', values: {} },
    { search: '?code=A&code=B', values: { code: ['A', 'B'] } },
    { search: '?version=3', values: { version: 3 } },
    { search: '?version=-1', values: {} },
    { search: '?version=x&__proto__=1&other=2', values: {} },
  ]
  for (const { search, values } of cases)
    test(search || 'none', () => assert.deepEqual(read(parseSearch(search)), values))

  test('are the same after they were a URL', () => {
    const record = fc.record(
      {
        q: fc.string({ minLength: 1 }),
        sort: fc.constantFrom('name', '-name'),
        code: fc.array(fc.string({ minLength: 1 }), { minLength: 1 }),
        version: fc.nat(),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    fc.assert(fc.property(record, (values) => assert.deepEqual(read(parseSearch(formatSearch(values))), values)))
  })
})
