/** Three-way merge of documents: nothing that one of two people changed is lost. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeDocuments } from '../../../../console/src/draft/merge-documents.ts'
import fc from '../../../support/fast-check.ts'

type Case = Readonly<{
  name: string
  base: string
  mine: string
  theirs: string
  merged: string
  conflicts?: readonly string[]
  taken?: readonly string[]
}>

const CASES: readonly Case[] = [
  {
    name: 'takes what only they changed',
    base: '{"a":1,"b":1}',
    mine: '{"a":2,"b":1}',
    theirs: '{"a":1,"b":2}',
    merged: '{"a":2,"b":2}',
    taken: ['b'],
  },
  { name: 'takes what both changed alike', base: '{"a":1}', mine: '{ "a": 2 }', theirs: '{"a":2}', merged: '{"a":2}' },
  {
    name: 'keeps mine where both changed, and says so',
    base: '{"a":{"b.c":1}}',
    mine: '{"a":{"b.c":2}}',
    theirs: '{"a":{"b.c":3}}',
    merged: '{"a":{"b.c":2}}',
    conflicts: ['a.b\\.c'],
  },
  {
    name: 'puts a new entry of theirs after the one before it there',
    base: '{"m":{"x":"1","y":"2"}}',
    mine: '{"m":{"x":"1","y":"2","mine":"3"}}',
    theirs: '{"m":{"x":"1","theirs":"4","y":"2"}}',
    merged: '{"m":{"x":"1","theirs":"4","y":"2","mine":"3"}}',
    taken: ['m.theirs'],
  },
  {
    name: 'removes what they removed',
    base: '{"a":1,"b":1}',
    mine: '{"a":2,"b":1}',
    theirs: '{"a":1}',
    merged: '{"a":2}',
    taken: ['b'],
  },
  {
    name: 'asks where one removed what the other changed',
    base: '{"a":1,"b":1}',
    mine: '{"a":1}',
    theirs: '{"a":1,"b":2}',
    merged: '{"a":1}',
    conflicts: ['b'],
  },
  {
    name: 'merges requests by their ids',
    base: '{"r":[{"id":"p","n":1}]}',
    mine: '{"r":[{"id":"p","n":1},{"id":"mine"}]}',
    theirs: '{"r":[{"id":"p","n":2},{"id":"theirs"}]}',
    merged: '{"r":[{"id":"p","n":2},{"id":"theirs"},{"id":"mine"}]}',
    taken: ['r[p]', 'r[theirs]'],
  },
  {
    name: 'takes their order of entries',
    base: '{"m":{"a":1,"b":2}}',
    mine: '{"m":{"a":1,"b":2,"c":3}}',
    theirs: '{"m":{"b":2,"a":1}}',
    merged: '{"m":{"b":2,"c":3,"a":1}}',
    taken: ['m (order)'],
  },
  {
    name: 'asks about the order that both changed',
    base: '{"m":{"a":1,"b":2,"c":3}}',
    mine: '{"m":{"b":2,"a":1,"c":3}}',
    theirs: '{"m":{"a":1,"c":3,"b":2}}',
    merged: '{"m":{"b":2,"a":1,"c":3}}',
    conflicts: ['m (order)'],
  },
  {
    name: 'asks about other lists as a whole',
    base: '{"r":[1]}',
    mine: '{"r":[1,2]}',
    theirs: '{"r":[3,1]}',
    merged: '{"r":[1,2]}',
    conflicts: ['r'],
  },
]

describe('a merge of documents', () => {
  for (const { name, base, mine, theirs, merged, conflicts = [], taken = [] } of CASES) {
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
