/** Entries of an `each` in the mapping view: where they read and write, and edits of their text. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applyToText } from '../../../../console/src/pages/mapping/model/apply-edits.ts'
import {
  addTarget,
  changeKey,
  changeSource,
  changeTransform,
  type Edited,
  removeTarget,
} from '../../../../console/src/pages/mapping/model/entry-edits.ts'
import {
  type MappingLine,
  type MappingText,
  readMapping,
  withInner,
} from '../../../../console/src/pages/mapping/model/mapping-entries.ts'

const read = (text: string): MappingText => {
  const mapping = readMapping(text)
  assert.ok(typeof mapping !== 'string', String(mapping))
  return mapping
}

test('entries of an each read and write from the message and the output on', () => {
  const deep = { key: 'ids[]', each: { item: 'v', 'outer.id': 'owner', index: 'at', 'query.q': 'q' } }
  const inputMapping = { 'requestBody.a[]': { key: 'e[].r', each: { 'item.x': 'x', 'item.ids': ['n', deep] } }, b: 'c' }
  assert.deepEqual(
    withInner(read(JSON.stringify({ inputMapping })).lines).map(({ readsAt, writesAt }) => [readsAt, writesAt]),
    [
      ['requestBody.a[]', 'e[].r'],
      ['requestBody.a[].x', 'e[].r.x'],
      ['requestBody.a[].ids', 'e[].r.n'],
      ['requestBody.a[].ids', 'e[].r.ids[]'],
      ['requestBody.a[].ids[]', 'e[].r.ids[].v'],
      ['requestBody.a[].id', 'e[].r.ids[].owner'],
      [undefined, 'e[].r.ids[].at'],
      ['query.q', 'e[].r.ids[].q'],
      ['b', 'c'],
    ],
  )
})

const ONE = '{"inputMapping": {"a[]": { "key": "l[]", "each":{"item.x" :"x"},  "when": "true" }, "item.x": "y"}}'
const TWO = ONE.replace('"x"}', '"x", "index": ["i", "j"]}')
/** Of the line with this target. */
type Change = (mapping: MappingText, line: MappingLine) => Edited
const cases: readonly (readonly [name: string, before: string, key: string, Change, after: string])[] = [
  [
    'an added entry',
    ONE,
    'l[]',
    (m, { scope }) => addTarget({ ...m, ...scope }, 'item.y', { key: 'y' }),
    ONE.replace('"x"}', '"x", "item.y" :"y"}'),
  ],
  [
    'an added target',
    ONE,
    'l[]',
    (m, { scope }) => addTarget({ ...m, ...scope }, 'item.x', { key: 'y' }),
    ONE.replace(':"x"', ':["x", "y"]'),
  ],
  ['another target', ONE, 'x', (m, line) => changeKey(m, line, 'z'), ONE.replace(':"x"', ':"z"')],
  ['another source', ONE, 'x', (m, line) => changeSource(m, line, 'index'), ONE.replace('"item.x" :', '"index" :')],
  [
    'a target that moves to another entry',
    TWO,
    'i',
    (m, line) => changeSource(m, line, 'item.x'),
    TWO.replace('"x", "index": ["i", "j"]', '["x", "i"], "index": ["j"]'),
  ],
  [
    'a function',
    ONE,
    'x',
    (m, line) => changeTransform(m, line, 'numberify'),
    ONE.replace(':"x"', ':{ "key": "x", "transform": "numberify" }'),
  ],
  ['a removed entry', TWO, 'x', (m, line) => removeTarget(m, line), TWO.replace('"item.x" :"x", ', '')],
  [
    'an each that begins',
    '{"inputMapping": {"b": "c"}}',
    'c',
    (m) => addTarget(m, 'a[]', { key: 'l[]', each: { source: 'item', key: 'x' } }),
    '{"inputMapping": {"b": "c", "a[]": { "key": "l[]", "each": { "item": "x" } }}}',
  ],
]

describe('the text of an each', () => {
  for (const [name, before, key, change, after] of cases) {
    test(`has ${name}, and no other byte is another`, () => {
      const mapping = read(before)
      const line = withInner(mapping.lines).find(({ target }) => target.key === key)
      assert.ok(line)
      const edited = change(mapping, line)
      assert.ok(edited.ok, edited.ok ? '' : edited.why)
      assert.equal(applyToText(before, edited.edits), after)
    })
  }
  test('keeps its only entry', () => {
    const mapping = read(ONE)
    const [each] = mapping.lines
    const edited = removeTarget(mapping, each?.inner[0] as MappingLine)
    assert.match(edited.ok ? '' : edited.why, /needs an entry/)
  })
})
