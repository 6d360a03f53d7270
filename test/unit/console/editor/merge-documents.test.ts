/** Three-way merge of documents: nothing that one of two people changed is lost. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeDocuments } from '../../../../console/src/draft/merge-documents.ts'
import fc from '../../../support/fast-check.ts'

/** `taken` and `conflicts`: the paths of what is theirs, and of what both changed. */
type Case = readonly [
  name: string,
  base: string,
  mine: string,
  theirs: string,
  merged: string,
  taken?: readonly string[],
  conflicts?: readonly string[],
]

const CASES: readonly Case[] = [
  ['takes what only they changed', '{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":2}', '{"a":2,"b":2}', ['b']],
  ['takes what both changed alike', '{"a":1}', '{ "a": 2 }', '{"a":2}', '{"a":2}'],
  [
    'keeps mine where both changed, and says so',
    '{"a":{"b.c":1}}',
    '{"a":{"b.c":2}}',
    '{"a":{"b.c":3}}',
    '{"a":{"b.c":2}}',
    [],
    ['a.b\\.c'],
  ],
  [
    'puts a new entry of theirs after the one before it there',
    '{"m":{"x":"1","y":"2"}}',
    '{"m":{"x":"1","y":"2","mine":"3"}}',
    '{"m":{"x":"1","theirs":"4","y":"2"}}',
    '{"m":{"x":"1","theirs":"4","y":"2","mine":"3"}}',
    ['m.theirs'],
  ],
  ['removes what they removed', '{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1}', '{"a":2}', ['b']],
  ['asks where one removed what the other changed', '{"a":1,"b":1}', '{"a":1}', '{"a":1,"b":2}', '{"a":1}', [], ['b']],
  [
    'merges requests by their ids',
    '{"r":[{"id":"p","n":1}]}',
    '{"r":[{"id":"p","n":1},{"id":"mine"}]}',
    '{"r":[{"id":"p","n":2},{"id":"theirs"}]}',
    '{"r":[{"id":"p","n":2},{"id":"theirs"},{"id":"mine"}]}',
    ['r[p]', 'r[theirs]'],
  ],
  [
    'takes their order of entries',
    '{"m":{"a":1,"b":2}}',
    '{"m":{"a":1,"b":2,"c":3}}',
    '{"m":{"b":2,"a":1}}',
    '{"m":{"b":2,"c":3,"a":1}}',
    ['m (order)'],
  ],
  [
    'asks about the order that both changed',
    '{"m":{"a":1,"b":2,"c":3}}',
    '{"m":{"b":2,"a":1,"c":3}}',
    '{"m":{"a":1,"c":3,"b":2}}',
    '{"m":{"b":2,"a":1,"c":3}}',
    [],
    ['m (order)'],
  ],
  ['asks about other lists as a whole', '{"r":[1]}', '{"r":[1,2]}', '{"r":[3,1]}', '{"r":[1,2]}', [], ['r']],
]

describe('a merge of documents', () => {
  for (const [name, base, mine, theirs, merged, taken = [], conflicts = []] of CASES) {
    test(name, () => {
      const result = mergeDocuments(base, mine, theirs)
      assert.ok(result)
      assert.equal(result.text, merged)
      assert.deepEqual(
        result.conflicts.map(({ path }) => path),
        conflicts,
      )
      assert.deepEqual(result.taken, taken)
    })
  }

  test('takes theirs where that is chosen', () => {
    const result = mergeDocuments('{"a":1}', '{"a":2}', '{"a":3}', new Map([['a', 'theirs']]))
    assert.equal(result?.text, '{"a":3}')
  })

  test('does not merge what is no JSON object', () => {
    assert.equal(mergeDocuments('{}', '{"a":', '[]'), undefined)
  })

  test('with itself or with nothing changed gives the other side', () => {
    fc.assert(
      fc.property(OBJECT, OBJECT, (base, other) => {
        const [before, after] = [JSON.stringify(base), JSON.stringify(other)]
        for (const result of [mergeDocuments(before, after, before), mergeDocuments(before, before, after)]) {
          assert.deepEqual(JSON.parse(result?.text ?? ''), JSON.parse(after))
          assert.deepEqual(result?.conflicts, [])
        }
      }),
    )
  })

  test('has every change of both where they changed different members', () => {
    fc.assert(
      fc.property(OBJECT, OBJECT, OBJECT, (shared, ofMine, ofTheirs) => {
        const prefixed = (prefix: string, value: object) =>
          Object.fromEntries(Object.entries(value).map(([name, one]) => [`${prefix}${name}`, one]))
        const base = prefixed('s', shared)
        const [mine, theirs] = [prefixed('m', ofMine), prefixed('t', ofTheirs)]
        const result = mergeDocuments(
          JSON.stringify(base),
          JSON.stringify({ ...base, ...mine }),
          JSON.stringify({ ...theirs, ...base }),
        )
        assert.deepEqual(JSON.parse(result?.text ?? ''), JSON.parse(JSON.stringify({ ...base, ...mine, ...theirs })))
        assert.deepEqual(result?.conflicts, [])
      }),
    )
  })
})

const OBJECT = fc.dictionary(
  fc.string({ maxLength: 4 }).filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 4 },
)
