/** Entries of an `each` in the mapping view: where they read and write, and edits of their text. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applyToText } from '../../../../console/src/draft/json-edits.ts'
import { listScopes, moveTarget } from '../../../../console/src/pages/mapping/model/each-scopes.ts'
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

/** `a` has an each with another one inside, `b` one of its own; entries outside could be in them. */
const A = {
  'a[]': {
    key: 'l[].r',
    each: { 'item.x': 'x', 'item.ids[]': { key: 'ids[]', each: { 'item.v': 'v', 'outer.x': 'o', index: 'at' } } },
  },
}
const B = { 'b[]': { key: 'm[]', each: { 'item.n': 'n' } } }
const REST = { 'a[].y': ['l[].r.y', { key: 'l[].r.z', transform: 'trim' }], 'query.q': 'l[].r.q', c: 'd' }
const MOVING = { ...A, ...B, ...REST }

/** The target that moves, the place of the each that it moves into or undefined, and the mapping then. */
const moves: readonly (readonly [key: string, into: string | undefined, after: object])[] = [
  [
    'l[].r.y',
    'l[].r',
    {
      ...A,
      'a[]': { ...A['a[]'], each: { ...A['a[]'].each, 'item.y': 'y' } },
      ...B,
      ...REST,
      'a[].y': [REST['a[].y'][1]],
    },
  ],
  [
    'l[].r.z',
    'l[].r',
    {
      ...A,
      'a[]': { ...A['a[]'], each: { ...A['a[]'].each, 'item.y': { key: 'z', transform: 'trim' } } },
      ...B,
      ...REST,
      'a[].y': ['l[].r.y'],
    },
  ],
  [
    'l[].r.q',
    'l[].r',
    { 'a[]': { ...A['a[]'], each: { ...A['a[]'].each, 'query.q': 'q' } }, ...B, 'a[].y': REST['a[].y'], c: 'd' },
  ],
  [
    'x',
    undefined,
    { 'a[]': { ...A['a[]'], each: { 'item.ids[]': A['a[]'].each['item.ids[]'] } }, ...B, ...REST, 'a[].x': 'l[].r.x' },
  ],
  ['n', undefined, { ...A, ...REST, 'b[].n': 'm[].n' }],
  [
    'v',
    'l[].r',
    {
      'a[]': {
        ...A['a[]'],
        each: {
          'item.x': 'x',
          'item.ids[]': { key: 'ids[]', each: { 'outer.x': 'o', index: 'at' } },
          'item.ids[].v': 'ids[].v',
        },
      },
      ...B,
      ...REST,
    },
  ],
]
const refusedMoves: readonly (readonly [key: string, into: string | undefined, why: RegExp])[] = [
  ['d', 'l[].r', /^d is not in l\[\]\.r, where this "each" writes\. Change the target path first\.$/],
  ['at', undefined, /"index" has a value in its own "each" only/],
  ['ids[]', undefined, /read "outer"/],
  ['n', 'l[].r', /m\[\]\.n is not in l\[\]\.r/],
]

describe('a target that moves', () => {
  const move = (key: string, into: string | undefined) => {
    const mapping = read(JSON.stringify({ inputMapping: MOVING }))
    const line = withInner(mapping.lines).find(({ target }) => target.key === key)
    assert.ok(line)
    const to = listScopes(mapping).find(({ place }) => place === into)
    assert.equal(to?.place, into)
    return { text: mapping.text, moved: moveTarget(mapping, line, to) }
  }
  for (const [key, into, after] of moves) {
    test(`${key} to ${into ?? 'the mapping'}`, () => {
      const { text, moved } = move(key, into)
      assert.ok(moved.ok, moved.ok ? '' : moved.why)
      const next = read(applyToText(text, moved.edits))
      assert.deepEqual(JSON.parse(next.text), { inputMapping: after })
      // It is where the answer says.
      const found = withInner(next.lines).find(
        ({ entry, target }) => entry.source === moved.place?.source && target.key === moved.place.key,
      )
      assert.equal(found?.within?.place, into)
    })
  }
  for (const [key, into, why] of refusedMoves) {
    test(`not ${key} to ${into ?? 'the mapping'}`, () => {
      const { moved } = move(key, into)
      assert.match(moved.ok ? '' : moved.why, why)
    })
  }
})
