/** The changes between two documents: what they say, that they are complete, and that they stay few. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../../src/core/json.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import { describeChange, diffDocuments } from '../../../../src/document/diff/document-diff.ts'
import { EndpointField } from '../../../../src/document/schema/schema.ts'
import type { Field } from '../../../../src/document/schema/schema-fields.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { applyChanges } from './apply-changes.ts'

const described = (before: Json, after: Json) => diffDocuments(before, after).map(describeChange)

type Case = Readonly<{ before: JsonObject; after: JsonObject; changes: readonly JsonObject[] }>

const lookup = (id: string, more: JsonObject = {}): JsonObject => ({ id, config: { url: 'http://a.test/' }, ...more })

const CASES: Readonly<Record<string, Case>> = {
  'the same document': { before: { name: 'a' }, after: { name: 'a' }, changes: [] },
  'the order of fields says nothing': {
    before: { name: 'a', endpoint: { pattern: '/a', method: 'POST' }, labels: { a: '1', b: '2' } },
    after: { endpoint: { method: 'POST', pattern: '/a' }, name: 'a', labels: { b: '2', a: '1' } },
    changes: [],
  },
  'a field that changed, one that is new, one that is gone': {
    before: { name: 'a', description: 'x' },
    after: { name: 'b', failures: 'plain' },
    changes: [
      { kind: 'removed', path: 'description', from: 'x' },
      { kind: 'changed', path: 'name', from: 'a', to: 'b' },
      { kind: 'added', path: 'failures', to: 'plain' },
    ],
  },
  'an entry of the mapping that moved': {
    before: { inputMapping: { 'requestBody.a': 'x', 'requestBody.b': 'y', 'requestBody.c': 'z' } },
    after: { inputMapping: { 'requestBody.c': 'z', 'requestBody.a': 'x', 'requestBody.b': 'y' } },
    changes: [{ kind: 'moved', path: 'inputMapping.requestBody\\.c', after: null }],
  },
  'an entry that moved and changed': {
    before: { inputMapping: { a: 'x', b: 'y', c: 'z' } },
    after: { inputMapping: { b: 'y', c: 'z', a: 'w' } },
    changes: [
      { kind: 'moved', path: 'inputMapping.a', after: 'c' },
      { kind: 'changed', path: 'inputMapping.a', from: 'x', to: 'w' },
    ],
  },
  'an entry in the middle': {
    before: { inputTransforms: { a: '1', c: '3' } },
    after: { inputTransforms: { a: '1', b: '2', c: '3' } },
    changes: [{ kind: 'added', path: 'inputTransforms.b', to: '2', after: 'a' }],
  },
  'requests are known by their id': {
    before: { requests: { lookup: [lookup('a'), lookup('b', { timeoutMs: 1 })], response: [] } },
    after: { requests: { lookup: [lookup('new'), lookup('b', { timeoutMs: 2 })], response: [] } },
    changes: [
      { kind: 'removed', path: 'requests.lookup[a]', from: lookup('a') },
      { kind: 'added', path: 'requests.lookup[new]', to: lookup('new'), after: null },
      { kind: 'changed', path: 'requests.lookup[b].timeoutMs', from: 1, to: 2 },
    ],
  },
  'requests that moved': {
    before: { requests: { lookup: [lookup('a'), lookup('b')] } },
    after: { requests: { lookup: [lookup('b'), lookup('a')] } },
    changes: [{ kind: 'moved', path: 'requests.lookup[b]', after: null }],
  },
  'requests of one id are known by their place': {
    before: { requests: { lookup: [lookup('a'), lookup('a')] } },
    after: { requests: { lookup: [lookup('a'), lookup('a', { timeoutMs: 2 })] } },
    changes: [{ kind: 'added', path: 'requests.lookup[1].timeoutMs', to: 2 }],
  },
  'an element that is inserted is one change': {
    before: { constants: { list: [1, 2, 3] } },
    after: { constants: { list: [1, 9, 2, 3] } },
    changes: [{ kind: 'added', path: 'constants.list[1]', to: 9 }],
  },
  'elements that are gone have their former index': {
    before: { constants: { list: [1, 2, 3, 4] } },
    after: { constants: { list: [1, 4] } },
    changes: [
      { kind: 'removed', path: 'constants.list[1]', from: 2 },
      { kind: 'removed', path: 'constants.list[2]', from: 3 },
    ],
  },
  'null, a missing member and another type are different': {
    before: { constants: { a: null, b: [], c: '1' } },
    after: { constants: { b: {}, c: 1 } },
    changes: [
      { kind: 'removed', path: 'constants.a', from: null },
      { kind: 'changed', path: 'constants.b', from: [], to: {} },
      { kind: 'changed', path: 'constants.c', from: '1', to: 1 },
    ],
  },
}

describe('the changes between two documents', () => {
  for (const [name, { before, after, changes }] of Object.entries(CASES)) {
    test(name, () => {
      assert.deepEqual(described(before, after), changes)
      assert.deepEqual(applyChanges(before, diffDocuments(before, after)), after)
    })
  }
})

/** The fields of records in one order, so that documents can be compared as text. */
function inOrderOfFields(value: Json, field: Field | undefined): Json {
  if (Array.isArray(value)) return value.map((item: Json) => inOrderOfFields(item, field?.items))
  if (!isObject(value)) return value
  const { properties, additionalProperties } = field ?? {}
  const named = typeof additionalProperties === 'object' ? additionalProperties : undefined
  const members = Object.entries(value).map(([name, member]): [string, Json] => {
    const inner = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : named
    return [name, inOrderOfFields(member, inner)]
  })
  const isOrdered = properties === undefined && field?.namesInAnyOrder === undefined
  return Object.fromEntries(isOrdered ? members : members.sort(([one], [other]) => (one < other ? -1 : 1)))
}

const names = fc.constantFrom('a', 'b', 'c', 'a.b', '0', '1', '__proto__', 'x]y', '')
const anyJson = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, 0, 1, 'x', 'y'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(names, tie('value'), { maxKeys: 6 }),
  ),
})).value
const ordered = fc
  .uniqueArray(fc.tuple(names, anyJson), { selector: ([name]) => name, maxLength: 8 })
  .map((members): JsonObject => Object.fromEntries(members))
const requests = fc.array(
  fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', '1'), config: ordered, timeoutMs: fc.constantFrom(1, 2) }),
  { maxLength: 4 },
)
const documents = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    inputMapping: ordered,
    constants: ordered,
    inputTransforms: ordered,
    requests: fc.record({ lookup: requests, response: requests }),
    inputValidation: anyJson,
  },
  { requiredKeys: [] },
)

describe('any two documents', () => {
  test('the changes make the second of the first, the order of the mapping too', () => {
    const property = fc.property(documents, documents, (before, after) => {
      const made = applyChanges(before, diffDocuments(before, after))
      const text = (value: Json) => JSON.stringify(inOrderOfFields(value, EndpointField))
      assert.equal(text(made), text(after))
    })
    fc.assert(property, { numRuns: LONG ? 15_000 : 500 })
  })

  test('there are none between a document and itself', () => {
    const property = fc.property(documents, (document) => assert.deepEqual(diffDocuments(document, document), []))
    fc.assert(property, { numRuns: 100 })
  })
})

describe('large documents', () => {
  const many = (count: number, value: Json): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`requestBody.${at}`, value]))

  test('a part with too many changes is one change, and the other parts are described as before', () => {
    const before = { inputMapping: many(2_000, 'x'), constants: { a: 1 } }
    const after = { inputMapping: many(2_000, 'y'), constants: { a: 2 } }
    const changes = described(before, after)
    assert.deepEqual(
      changes.map(({ kind, path }) => ({ kind, path })),
      [
        { kind: 'changed', path: 'inputMapping' },
        { kind: 'changed', path: 'constants.a' },
      ],
    )
    assert.deepEqual(applyChanges(before, diffDocuments(before, after)), after)
  })

  test('long names do not multiply', () => {
    const inLong = (value: Json): JsonObject => ({ constants: { ['n'.repeat(100_000)]: many(900, value) } })
    const changes = described(inLong(1), inLong(2))
    assert.equal(changes.length, 1)
    assert.ok(JSON.stringify(changes).length < 1_000_000)
  })

  test('moves among many entries are the fewest', () => {
    const entries = Object.entries(many(20_000, 'x'))
    const [first = ['', ''], ...rest] = entries
    const moved = { inputMapping: Object.fromEntries([...rest, first]) }
    assert.deepEqual(described({ inputMapping: Object.fromEntries(entries) }, moved), [
      { kind: 'moved', path: 'inputMapping.requestBody\\.0', after: 'requestBody.19999' },
    ])
  })

  test('a document with its defaults differs from a sparse one only after it was checked', () => {
    const sparse = { name: 'a', endpoint: { pattern: '/a' }, transformation: { input: 'JSON', output: 'JSON' } }
    const stored = checkDocument(sparse).endpoint as unknown as Json
    assert.notDeepEqual(described(sparse, stored), [])
    assert.deepEqual(described(checkDocument(stored).endpoint as unknown as Json, stored), [])
  })
})
