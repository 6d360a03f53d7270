/** The forms of a draft: every field of the schema has one, and what they write changes what is meant and nothing beside it. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { layOutDocument } from '../../../../console/src/draft/document-layout.ts'
import { setValue, swapElements, wrapInArray } from '../../../../console/src/draft/json-edits.ts'
import { nodeAt, type Place, readTree } from '../../../../console/src/draft/json-places.ts'
import {
  type FormField,
  findField,
  readFields,
  starterValue,
} from '../../../../console/src/pages/editor/form/form-fields.ts'
import { GROUPS, SECTIONS, STARTERS, WITHOUT_FORM } from '../../../../console/src/pages/editor/form/form-table.ts'
import { aloneWith } from '../../../../console/src/pages/editor/form/lookup-alone.ts'
import { readSample } from '../../../../console/src/pages/editor/form/validation-rules.ts'
import { describeFields } from '../../../../src/document/vocabulary/document-fields.ts'
import fc from '../../../support/fast-check.ts'
import { documentTexts } from '../../../support/fuzz/documents.ts'

const known = describeFields()
const fields = readFields({ fields: known as never })
const every = (list: readonly FormField[]): readonly FormField[] =>
  list.flatMap((field) => [field, ...every(field.children)])

describe('every field of the schema', () => {
  test('has a form, or a reason not to', () => {
    assert.deepEqual(
      every(fields)
        .map(({ path }) => path)
        .toSorted(),
      known.map(({ path }) => path).toSorted(),
    )
    const without = every(fields).filter(({ kind }) => kind === 'json' || kind === 'mapping')
    assert.deepEqual(without.map(({ path }) => path).toSorted(), Object.keys(WITHOUT_FORM).toSorted())
  })

  test('is in a section', () => {
    const shown = SECTIONS.flatMap((section) => section.fields)
    assert.equal(new Set(shown).size, shown.length)
    const isShown = ({ path, children }: FormField): boolean =>
      shown.includes(path) || (children.length > 0 && children.every(isShown))
    assert.deepEqual(
      fields.filter((field) => !isShown(field)).map(({ path }) => path),
      [],
    )
    assert.deepEqual(
      shown.filter((path) => findField(fields, path) === undefined),
      [],
    )
  })

  test('has a name that no other one beside it has', () => {
    for (const { path, children } of [{ path: '', children: fields }, ...every(fields)]) {
      const labels = children.map(({ label }) => label)
      assert.deepEqual(labels, [...new Set(labels)], path)
    }
  })

  test('is in at most one group, and the tables name none that does not exist', () => {
    for (const [path, groups] of Object.entries(GROUPS)) {
      const names = findField(fields, path)?.children.map(({ name }) => name) ?? []
      const grouped = groups.flatMap((group) => group.fields)
      assert.equal(new Set(grouped).size, grouped.length)
      // The two kinds of requests share a group.
      assert.ok(groups.every((group) => group.fields.some((name) => names.includes(name))))
    }
    for (const path of Object.keys(STARTERS)) assert.ok(findField(fields, path), path)
    for (const { path, oneOf, children } of every(fields)) {
      for (const name of oneOf)
        assert.ok(
          children.some((child) => child.name === name),
          `${path} ${name}`,
        )
    }
  })

  test('begins with what it requires', () => {
    const starters = ['requests.lookup[].cache', 'requests.lookup[].config.auth.oauth2', 'auth.apiKey', 'schedule']
    assert.deepEqual(
      starters.map((path) => starterValue(findField(fields, path) as FormField)),
      [{ seconds: 300 }, { tokenUrl: '', clientId: '', clientSecret: '' }, { keys: [''] }, { every: '1h' }],
    )
  })
})

const LINES = '{\n  "name": "x",\n  "a": { "b": 1.50 },\n  "list": [],\n  "o": {}\n}\n'
const cases: readonly (readonly [name: string, before: string, place: Place, value: unknown, after: string])[] = [
  ['replaces a value', LINES, ['name'], 'y', LINES.replace('"x"', '"y"')],
  ['writes within a line', LINES, ['a', 'c'], { d: [1] }, LINES.replace('1.50 }', '1.50, "c": { "d": [1] } }')],
  ['removes a member', LINES, ['a'], undefined, LINES.replace('  "a": { "b": 1.50 },\n', '')],
  [
    'writes an object on lines of its own',
    LINES,
    ['o', 'config', 'auth'],
    { user: 'u' },
    LINES.replace('"o": {}', '"o": {\n    "config": {\n      "auth": {\n        "user": "u"\n      }\n    }\n  }'),
  ],
  [
    'adds an object to an empty list',
    LINES,
    ['list', 0],
    { id: 'a', codes: ['b'] },
    LINES.replace('[]', '[\n    {\n      "id": "a",\n      "codes": ["b"]\n    }\n  ]'),
  ],
  ['adds a text to an empty list', LINES, ['list', 0], 'a', LINES.replace('[]', '["a"]')],
  ['makes the way to a place', '{"a":1}', ['b', 'c', 0], 'x', '{"a":1,"b":{"c":["x"]}}'],
  ['puts an object in place of null', '{"a": null}', ['a', 'b'], 1, '{"a": { "b": 1 }}'],
  ['removes nothing that is not there', LINES, ['a', 'x', 'y'], undefined, LINES],
]

describe('an edit of a form', () => {
  for (const [name, before, place, value, after] of cases) {
    test(name, () => assert.equal(setValue(before, place, value), after))
  }

  test('changes the order of a list, and makes one of a single value', () => {
    const text = '{"l": [ {"a":1}, {"b": 2 } ], "s": {"x":  1}}'
    const root = readTree(text)
    assert.equal(
      swapElements(text, nodeAt(root, ['l']) as never, 1, 0),
      '{"l": [ {"b": 2 }, {"a":1} ], "s": {"x":  1}}',
    )
    assert.equal(wrapInArray(text, nodeAt(root, ['s']) as never), text.replace('{"x":  1}', '[{"x":  1}]'))
  })
})

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const samples = readdirSync(`${root}/samples`, { recursive: true, encoding: 'utf8' })
  .filter((path) => /endpoint[^/.]*\.json$/.test(path))
  .map((path) => readFileSync(`${root}/samples/${path}`, 'utf8'))

/** The places of all values, with the text of each that has no other within it. */
function leavesOf(text: string): ReadonlyMap<string, Readonly<{ place: Place; source: string }>> {
  const found = new Map<string, Readonly<{ place: Place; source: string }>>()
  const visit = (node: ReturnType<typeof readTree>, place: Place): void => {
    for (const [index, child] of (node?.children ?? []).entries()) {
      const [key, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child]
      visit(value, [...place, key === undefined ? index : String(key.value)])
    }
    if (node !== undefined && !node.children?.length) {
      const source = text.slice(node.offset, node.offset + node.length)
      found.set(JSON.stringify(place), { place, source })
    }
  }
  visit(readTree(text), [])
  return found
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sets and removes values as forms do; what is left beside them must be the same bytes in the same order. */
function keepsTheRest(text: string, pick: number): void {
  const leaves = leavesOf(text)
  const places = [...leaves.values()].filter(({ place }) => place.length > 0)
  const one = places[pick % Math.max(1, places.length)]
  if (one === undefined) return
  const set = leavesOf(setValue(text, one.place, 'set by a form'))
  const expected = [...leaves].map(([place, { source }]) => [
    place,
    place === JSON.stringify(one.place) ? '"set by a form"' : source,
  ])
  assert.deepEqual(
    [...set].map(([place, { source }]) => [place, source]),
    expected,
  )
  const object = one.place.slice(0, -1)
  if (typeof one.place.at(-1) === 'number') return
  const added = setValue(text, [...object, 'added by a form'], { a: [{ b: 1 }] })
  assert.equal(setValue(added, [...object, 'added by a form'], undefined), text)
  JSON.parse(added)
}

describe('the rest of a document stays as it is', () => {
  test('of the samples, in every place', () => {
    assert.ok(samples.length > 5)
    for (const text of samples.flatMap((sample) => [
      sample,
      layOutDocument(sample),
      JSON.stringify(JSON.parse(sample)),
    ])) {
      for (let pick = 0; pick < leavesOf(text).size; pick += 1) keepsTheRest(text, pick)
    }
  })

  test('of 500 random documents', () => {
    const texts = fc.tuple(documentTexts, fc.constantFrom('raw', 0, 1, 2, '\t', 'laid out'), fc.nat())
    fc.assert(
      fc.property(texts, ([given, style, pick]) => {
        const value = parsed(given)
        fc.pre(typeof value === 'object' && value !== null && !Array.isArray(value))
        // Of two members of one name, forms show the last; its removal shows the other.
        fc.pre(style !== 'raw' || JSON.stringify(value) === given)
        const rewritten =
          style === 'laid out' ? layOutDocument(JSON.stringify(value)) : JSON.stringify(value, null, style)
        keepsTheRest(style === 'raw' ? given : rewritten, pick)
      }),
      { numRuns: 500 },
    )
  })
})

test('a lookup is tried with those that it reads, and with nothing else', () => {
  const document = {
    name: 'x',
    answer: { status: 201 },
    inputMapping: { 'requestBody.a': 'a' },
    requests: {
      lookup: [
        { id: 'a', config: { url: 'http://a' } },
        { id: 'b', config: { url: 'http://b', headers: { A: { path: 'lookupRequests.a.data.x' } } } },
        { id: 'c', after: ['b'], config: { url: 'http://c' } },
        { id: 'd', config: { url: 'http://d' } },
      ],
      response: [{ id: 'r', config: { url: 'http://r' } }],
    },
  }
  const { lookup } = document.requests
  const text = JSON.stringify(document)
  assert.deepEqual(JSON.parse(aloneWith(text, 'c') ?? ''), { name: 'x', requests: { lookup: lookup.slice(0, 3) } })
  assert.deepEqual(JSON.parse(aloneWith(text, 'd') ?? ''), { name: 'x', requests: { lookup: lookup.slice(3) } })
  assert.equal(aloneWith(text, 'e'), undefined)
  assert.equal(aloneWith('{', 'a'), undefined)
})

test('a sample says types, ranges and patterns of its fields', () => {
  const body = { id: '17', born: '1980-02-03', tests: [{ n: 1 }, { n: 2.5, m: null }], ok: true, none: null }
  const found = readSample(body, undefined)
  assert.deepEqual(
    found.map(({ title, at, type, range, pattern }) => [title, at.join('.'), type, range ?? pattern]),
    [
      ['id', 'properties.id', 'string', '^[0-9]+$'],
      ['born', 'properties.born', 'string', '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'],
      ['tests', 'properties.tests', 'array', undefined],
      ['tests[]', 'properties.tests.items', 'object', undefined],
      ['tests[].n', 'properties.tests.items.properties.n', 'number', { minimum: 1, maximum: 2.5 }],
      ['ok', 'properties.ok', 'boolean', undefined],
    ],
  )
  const ofParts = readSample({ query: 'x' }, undefined)
  assert.deepEqual(ofParts[0]?.at, ['properties', 'requestBody', 'properties', 'query'])
  assert.deepEqual(readSample({ a: 1 }, { properties: { query: {} } })[0]?.at.slice(0, 2), [
    'properties',
    'requestBody',
  ])
})
