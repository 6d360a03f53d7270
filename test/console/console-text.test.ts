/** How the web console reads the text of a document: where a fault has its place, and where a text is no JSON. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

/** Modules of the console are plain JavaScript: their types are said where they are used. */
const load = async <T>(name: string): Promise<T> => (await import(`../../console/${name}`)) as T
const { readJsonText, lineAndColumn } = await load<{
  readJsonText(text: string): { root: object; fault?: undefined } | { fault: { offset: number; message: string } }
  lineAndColumn(text: string, offset: number): { line: number; column: number }
}>('json-text.js')
const { findPlace } = await load<{ findPlace(root: object, path: string): { start: number; end: number } }>(
  'json-place.js',
)

describe('the place of a fault', () => {
  const lookups = '{"requests": {"lookup": [{"id": "a"}, {"id": "b", "config": {"url": "ftp://x"}}]}}'
  const mapping = '{"inputMapping": {"a": {"b": "plain"}, "a.b": "dotted", "items[0]": "element", "items": ["list"]}}'
  const cases = [
    { name: 'a field', text: '{"name": 1, "other": 2}', path: 'name', selects: '1' },
    { name: 'an element', text: lookups, path: 'requests.lookup[1].config.url', selects: '"ftp://x"' },
    { name: 'an object, by its name', text: lookups, path: 'requests.lookup[1].config', selects: '"config"' },
    { name: 'an object in an array', text: '{"a": [ {"b": 1}]}', path: 'a[0]', selects: '{' },
    { name: 'the whole document', text: ' {"a": 1}', path: '', selects: '{' },
    { name: 'a document that is no object', text: ' 17 ', path: '', selects: '17' },
    { name: 'names within each other', text: mapping, path: 'inputMapping.a.b', selects: '"plain"' },
    { name: 'a dot within a name', text: mapping, path: 'inputMapping.a\\.b', selects: '"dotted"' },
    { name: 'brackets within a name', text: mapping, path: 'inputMapping.items[0]', selects: '"element"' },
    { name: 'brackets after a name', text: '{"a[0]": 1, "a": [[2]]}', path: 'a[0][0]', selects: '2' },
    { name: 'no name that only starts alike', text: '{"x": {"a": 1}}', path: 'x.ab', selects: '"x"' },
    { name: 'a name with escapes', text: '{"a\\u0062\\"": 1}', path: 'ab"', selects: '1' },
    { name: 'a single request without its array', text: '{"lookup": {"id": 7}}', path: 'lookup[0].id', selects: '7' },
    { name: 'no second of a single request', text: '{"lookup": {"id": 7}}', path: 'lookup[1].id', selects: '"lookup"' },
    { name: 'the last of a name that stands twice', text: '{"a": 1, "a": 2}', path: 'a', selects: '2' },
    {
      name: 'the nearest of a field left out',
      text: '{"endpoint": {}}',
      path: 'endpoint.pattern',
      selects: '"endpoint"',
    },
    { name: 'the nearest of an element left out', text: '{"a": [1]}', path: 'a[3]', selects: '"a"' },
    { name: 'strings that look like structure', text: '{"x": "{\\"a\\": 1, [", "a": 2}', path: 'a', selects: '2' },
  ]
  for (const { name, text, path, selects } of cases) {
    test(`is ${name}`, () => {
      const reading = readJsonText(text)
      assert.ok('root' in reading)
      const { start, end } = findPlace(reading.root, path)
      assert.equal(text.slice(start, end), selects)
    })
  }
})

describe('a text that is no JSON', () => {
  const cases = [
    { name: 'nothing', text: '', at: [1, 1], says: 'expected a value, found the end of the text' },
    {
      name: 'a comma too many in an object',
      text: '{\n  "a": 1,\n}',
      at: [3, 1],
      says: 'double quotes after the comma',
    },
    { name: 'a comma too many in an array', text: '[1,\n]', at: [2, 1], says: 'a value after the comma' },
    { name: 'a comma too few', text: '{"a": 1\n "b": 2}', at: [2, 2], says: 'expected "," or "}"' },
    { name: 'a colon too few', text: '{"a" 1}', at: [1, 6], says: 'expected ":"' },
    { name: 'single quotes', text: "{'a': 1}", at: [1, 2], says: 'double quotes only' },
    { name: 'a comment', text: '{} // done', at: [1, 4], says: 'no comments' },
    { name: 'quotes never closed', text: '{\n"a": "b}', at: [2, 6], says: 'never closed' },
    { name: 'a line break within quotes', text: '{"a": "b\n"}', at: [1, 9], says: 'line break' },
    { name: 'a backslash alone', text: '{"a": "\\d"}', at: [1, 8], says: 'backslash' },
    { name: 'brackets never closed', text: '{"a": [1', at: [1, 9], says: 'expected "," or "]"' },
    { name: 'a second document', text: '{}\n{}', at: [2, 1], says: 'expected the end of the text' },
    { name: 'a number with a leading zero', text: '[01]', at: [1, 3], says: 'expected "," or "]"' },
    { name: 'a word that is none of JSON', text: '[True]', at: [1, 2], says: 'expected a value, found T' },
    { name: 'a space that is none of JSON', text: '{\u00a0"a": 1}', at: [1, 2], says: 'U+00A0' },
    { name: 'a nesting without end', text: '['.repeat(100_000), at: [1, 501], says: 'nested too deeply' },
  ]
  for (const { name, text, at, says } of cases) {
    test(`is reported with its line and column: ${name}`, () => {
      const { fault } = readJsonText(text)
      assert.ok(fault !== undefined)
      const { line, column } = lineAndColumn(text, fault.offset)
      assert.deepEqual([line, column], at)
      assert.ok(fault.message.includes(says), fault.message)
    })
  }

  test('is none that JSON.parse takes', () => {
    const texts = [
      ' {"a": [1, -2.5e+3, 0, true, false, null, {}, [], "\\u00e9\\n"]}\r\n\t',
      '"a"',
      '-0',
      '[[[]]]',
      '{"": ""}',
    ]
    for (const text of texts) {
      JSON.parse(text)
      assert.equal(readJsonText(text).fault, undefined, text)
    }
  })
})
