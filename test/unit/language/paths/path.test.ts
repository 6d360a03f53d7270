import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { parsePath } from '../../../../src/language/paths/path.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const source = {
  requestBody: {
    name: 'Jane',
    nothing: null,
    flag: false,
    tags: ['a', 'b', 'c'],
    phones: [{ number: '1', codes: [{ v: 1 }, { v: 2 }] }, { number: '2' }, { codes: [{ v: 3 }] }],
    matrix: [[1, 2], [3]],
    grid: [[{ x: 1 }], [{ x: 2 }, {}]],
    single: { v: 7 },
    'dotted.key': 'dot',
    'odd[0]': 'odd',
    '*': 'star',
    'a\\b': 'backslash',
    'ends?+': 'mark',
    '0': 'zero',
    empty: [],
    byId: { p1: { n: 1, k: [1, 2] }, p2: { k: [3] } },
    length: 5,
  },
  list: [{ id: 1 }, { id: 2 }],
}

function read(text: string, from: JsonObject = source): Json | undefined {
  const parsed = parsePath(text)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  return parsed.value.read(from)
}

describe('reading a path', () => {
  const cases: readonly { path: string; gives: Json | undefined }[] = [
    { path: 'requestBody', gives: source.requestBody },
    { path: 'requestBody.name', gives: 'Jane' },
    { path: 'requestBody.nothing', gives: null },
    { path: 'requestBody.nothing.deeper', gives: undefined },
    { path: 'requestBody.gone.deeper', gives: undefined },
    { path: 'gone.deeper', gives: undefined },
    { path: 'requestBody.dotted\\.key', gives: 'dot' },
    { path: 'requestBody.odd\\[0\\]', gives: 'odd' },
    { path: 'requestBody.\\*', gives: 'star' },
    { path: 'requestBody.a\\b', gives: 'backslash' },
    { path: 'requestBody.a\\\\b', gives: 'backslash' },
    { path: 'requestBody.0', gives: 'zero' },
    { path: 'requestBody.length', gives: 5 },
    { path: 'requestBody.tags.length', gives: [null, null, null] },
    { path: 'requestBody.name.length', gives: undefined },
    { path: 'requestBody.tags[1]', gives: 'b' },
    { path: 'requestBody.tags[3]', gives: undefined },
    { path: 'requestBody.tags[]', gives: ['a', 'b', 'c'] },
    { path: 'requestBody.tags.0', gives: 'a' },
    { path: 'requestBody.tags.3', gives: undefined },
    { path: 'requestBody.tags.0.deeper', gives: undefined },
    { path: 'requestBody.tags[].0', gives: [null, null, null] },
    { path: 'requestBody.tags.00', gives: [null, null, null] },
    { path: 'requestBody.tags.4294967295', gives: [null, null, null] },
    { path: 'requestBody.tags.4294967294', gives: undefined },
    { path: 'requestBody.phones.0.codes.v', gives: [1, 2] },
    { path: 'requestBody.phones.codes.0.v', gives: [1, null, 3] },
    { path: 'requestBody.phones[].codes.0.v', gives: [1, null, 3] },
    { path: 'requestBody.matrix.0.1', gives: 2 },
    { path: 'requestBody.matrix[].0', gives: [1, 3] },
    { path: 'requestBody.grid.1.x', gives: [2, null] },
    { path: 'requestBody.byId.*.k.0', gives: [1, 3] },
    { path: 'requestBody.byId.0', gives: undefined },
    { path: 'requestBody.name.0', gives: undefined },
    { path: 'list.1.id', gives: 2 },
    { path: 'requestBody.phones.number', gives: ['1', '2', null] },
    { path: 'requestBody.phones.codes', gives: [{ v: 1 }, { v: 2 }, null, { v: 3 }] },
    { path: 'requestBody.phones[].codes[]', gives: [[{ v: 1 }, { v: 2 }], null, [{ v: 3 }]] },
    { path: 'requestBody.phones.codes.v', gives: [1, 2, null, 3] },
    { path: 'requestBody.phones.codes[0].v', gives: [1, null, 3] },
    { path: 'requestBody.matrix[0][1]', gives: 2 },
    { path: 'requestBody.matrix[][0]', gives: [1, 3] },
    { path: 'requestBody.grid.x', gives: [1, 2, null] },
    { path: 'requestBody.empty.x', gives: [] },
    { path: 'requestBody.empty[0]', gives: undefined },
    { path: 'requestBody.nothing[]', gives: null },
    { path: 'requestBody.nothing[0]', gives: undefined },
    { path: 'requestBody.nothing[].x', gives: undefined },
    { path: 'requestBody.single[]', gives: { v: 7 } },
    { path: 'requestBody.single[0].v', gives: 7 },
    { path: 'requestBody.single[1].v', gives: undefined },
    { path: 'requestBody.byId.*', gives: [{ n: 1, k: [1, 2] }, { k: [3] }] },
    { path: 'requestBody.byId.*.k', gives: [1, 2, 3] },
    { path: 'requestBody.byId.*.k[]', gives: [[1, 2], [3]] },
    { path: 'requestBody.name.*', gives: undefined },
    { path: 'list[1].id', gives: 2 },
    { path: 'requestBody.constructor.name', gives: undefined },
    { path: '__proto__.toString', gives: undefined },
    { path: 'requestBody.phones.__proto__', gives: [null, null, null] },
  ]
  for (const { path, gives } of cases) it(path, () => assert.deepEqual(read(path), gives))

  it('reads own fields that have names of inherited ones', () => {
    const hostile: JsonObject = JSON.parse('{"a":{"__proto__":{"x":1},"toString":2,"hasOwnProperty":3}}')
    assert.equal(read('a.__proto__.x', hostile), 1)
    assert.equal(read('a.toString', hostile), 2)
    assert.equal(read('a.hasOwnProperty', hostile), 3)
  })

  it('gives the value itself, not a copy', () => {
    assert.equal(read('requestBody.phones'), source.requestBody.phones)
    assert.equal(read('requestBody.tags[]'), source.requestBody.tags)
  })

  it('reports what it reads', () => {
    const parsed = parsePath('constants.a\\.b[0].c')
    assert.ok(parsed.ok)
    const { text, root, names, steps } = parsed.value
    assert.deepEqual(
      { text, root, names, steps },
      {
        text: 'constants.a\\.b[0].c',
        root: 'constants',
        names: ['constants', 'a.b'],
        steps: [
          { kind: 'name', name: 'a.b' },
          { kind: 'index', index: 0 },
          { kind: 'name', name: 'c' },
        ],
      },
    )
  })

  it('survives arrays nested beyond any message', () => {
    let deep: Json = { x: 1 }
    for (let level = 0; level < 50_000; level++) deep = [deep]
    for (const path of ['a.x', 'a[].x', 'a.*', 'a.*.x', 'a[]', 'a[0][0].x']) {
      assert.doesNotThrow(() => read(path, { a: deep }), path)
    }
  })
})

describe('paths at fault', () => {
  const cases: readonly { path: string; says: RegExp }[] = [
    { path: '', says: /empty text/ },
    { path: '.a', says: /lacks a name at position 1/ },
    { path: 'a.', says: /lacks a name at position 3/ },
    { path: 'a..b', says: /lacks a name at position 3/ },
    { path: 'a.[0]', says: /lacks a name at position 3/ },
    { path: '[0].a', says: /lacks a name at position 1/ },
    { path: '*', says: /starts with "\*"/ },
    { path: '*.a', says: /starts with "\*"/ },
    { path: 'a[', says: /"\[" without its "\]" at position 2/ },
    { path: 'a[0', says: /"\[" without its "\]" at position 2/ },
    { path: 'a]', says: /"\]" without its "\[" at position 2/ },
    { path: 'a[0]]', says: /continues after "\]" at position 5/ },
    { path: 'a[0]b', says: /continues after "\]" at position 5/ },
    { path: 'a[]+', says: /continues after "\]"/ },
    { path: 'a[x]', says: /has "\[x\]" at position 2/ },
    { path: 'a[-1]', says: /has "\[-1\]"/ },
    { path: 'a[1.5]', says: /has "\[1\.5\]"/ },
    { path: 'a[[0]]', says: /has "\[\[0\]"/ },
    { path: 'a[ 0]', says: /has "\[ 0\]"/ },
    { path: 'a[9999999999999999]', says: /only an index/ },
    { path: 'a.'.repeat(128).concat('a'), says: /more than 128 steps/ },
  ]
  for (const { path, says } of cases) {
    it(`refuses ${JSON.stringify(path.slice(0, 40))}`, () => {
      const parsed = parsePath(path)
      assert.ok(!parsed.ok)
      assert.match(parsed.message, says)
      assert.match(parsed.message, /^[A-Z].*\.$/s)
    })
  }
})

const name = fc.oneof(
  fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString', '0', '1', 'é', 'a.b', '', '*', ']'),
  fc.string({ maxLength: 4 }),
)
const tree = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, 0, 1.5, '', 'text'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value
const object = fc.dictionary(name, tree, { noNullPrototype: true })

describe('any path over any source', () => {
  const written = (text: string) => text.replace(/[.[\]*?+\\]/g, '\\$&')

  it('agrees with reading by hand for plain names', () => {
    const names = fc.array(
      name.filter((text) => text !== ''),
      { minLength: 1, maxLength: 4 },
    )
    const byHand = (value: Json | undefined, [first, ...rest]: readonly string[]): Json | undefined => {
      if (first === undefined) return value
      if (Array.isArray(value) && String(Math.abs(Number.parseInt(first, 10))) === first) {
        return byHand((value as Json[]).slice(Number(first))[0], rest)
      }
      if (Array.isArray(value)) {
        const all = value.map((element: Json) => byHand(element, [first, ...rest]) ?? null)
        return all.flatMap((found) => (Array.isArray(found) ? found : [found]))
      }
      if (typeof value !== 'object' || value === null) return undefined
      const entry = Object.entries(value).find(([key]) => key === first)
      return entry === undefined ? undefined : byHand(entry[1], rest)
    }
    fc.assert(
      fc.property(object, names, (from, path) => {
        assert.deepEqual(read(path.map(written).join('.'), from), byHand(from, path))
      }),
      { numRuns: LONG ? 1000 : 200 },
    )
  })

  it('never throws, and changes nothing', () => {
    const bracket = fc.constantFrom('', '', '[0]', '[1]', '[]', '[][0]')
    const step = fc.tuple(fc.oneof(name.map(written), fc.constant('*')), bracket).map((parts) => parts.join(''))
    const path = fc.oneof(
      fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join('.')),
      fc.string({ unit: fc.constantFrom('a', '.', '[', ']', '0', '*', '\\', '?', '+') }),
    )
    fc.assert(
      fc.property(object, path, (from, text) => {
        const before = JSON.stringify(from)
        const parsed = parsePath(text)
        if (!parsed.ok) return assert.match(parsed.message, /\.$/)
        const value = parsed.value.read(from)
        assert.ok(value === undefined || typeof JSON.stringify(value) === 'string')
        assert.equal(JSON.stringify(from), before)
      }),
      { numRuns: LONG ? 2000 : 300 },
    )
  })
})
