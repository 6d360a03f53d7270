/** What checks and readers of documents know of the entries of an `each`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintBounds } from '../../../src/document/checks/document-bounds.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'
import { diffDocuments } from '../../../src/document/diff/document-diff.ts'
import { collectDocumentReads } from '../../../src/document/reads/document-reads.ts'

const documentOf = (inputMapping: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'each',
  endpoint: { pattern: '/each' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping,
  ...more,
})
const endpointOf = (inputMapping: JsonObject, more?: JsonObject) =>
  checkDocument(documentOf(inputMapping, more)).endpoint
const rows = (each: JsonObject, more: JsonObject = {}): JsonObject => ({
  'requestBody.rows[]': { key: 'e[]', each, ...more },
})

describe('what a document reads', () => {
  const cases: readonly (readonly [why: string, mapping: JsonObject, reads: readonly string[]])[] = [
    [
      'fields of elements',
      rows({ 'item.id': 'id', 'item[0]': 'f' }),
      ['requestBody.rows[].id', 'requestBody.rows[][0]'],
    ],
    ['other parts of the message', rows({ 'query.q': 'q', index: 'n' }), ['query.q']],
    ['whole elements', rows({ item: 'all' }), ['requestBody.rows[]']],
    [
      'lists in lists, and what is around',
      rows({
        'item.of': {
          key: 'f[]',
          each: { 'item.x': 'x', 'outer.y': 'y', 'item.z[]': { key: 'z[]', each: { outer: 'o' } } },
        },
      }),
      ['requestBody.rows[].of[].x', 'requestBody.rows[].y', 'requestBody.rows[].of[]'],
    ],
    [
      'its condition',
      rows({ index: 'n' }, { when: 'item.on and $exists(query.q) and index > 0' }),
      ['requestBody.rows[].on', 'query.q'],
    ],
    [
      'a list that another target takes whole',
      { 'requestBody.rows[]': ['all', { key: 'e[]', each: { 'item.id': 'id' } }] },
      ['requestBody.rows[]', 'requestBody.rows[].id'],
    ],
  ]
  for (const [why, mapping, reads] of cases) {
    test(why, () => {
      const found = collectDocumentReads(endpointOf(mapping))
      assert.equal(found.isWhole, false)
      assert.deepEqual(found.reads.map(({ path }) => path.text).toSorted(), reads.toSorted())
    })
  }

  test('is unknown if a condition may read anything', () => {
    assert.equal(collectDocumentReads(endpointOf(rows({ index: 'n' }, { when: '$count(*) > 1' }))).isWhole, true)
  })

  test('is named with the place of the entry', () => {
    const { reads } = collectDocumentReads(endpointOf(rows({ 'item.id': 'id' }, { when: 'item.id = 1' })))
    const place = 'inputMapping.requestBody\\.rows[]'
    assert.deepEqual(
      reads.map(({ readBy }) => readBy),
      [[`${place}.when`, `${place}.each.item\\.id`]],
    )
  })
})

const lintsOf = (mapping: JsonObject, more?: JsonObject): readonly (readonly [path: string, message: string])[] => {
  const lints: Lint[] = []
  lintEndpoint(endpointOf(mapping, more), collectInto(lints))
  return lints.map(({ path, message }) => [path, message])
}

test('paths into messages of HL7 v2 are checked from the message on, and named as they are written', () => {
  const mapping = { 'requestBody.OBX[]': { key: 'o[]', each: { 'item.3.1': 'code', 'item.5[0].1': 'value' } } }
  const lints = lintsOf(mapping, { transformation: { input: 'HL7V2', output: 'JSON' } })
  assert.deepEqual(
    lints.map(([path]) => path),
    ['inputMapping.requestBody\\.OBX[].each.item\\.3\\.1'],
  )
  assert.match(lints[0]?.[1] ?? '', /write "item\.3\[0\]\.1"\.$/)
})

test('targets for HL7 v2 are checked from the output on', () => {
  const mapping = { 'requestBody.rows[]': { key: 'OBX[]', each: { 'item.code': '3.1', 'item.value': '5[0].1' } } }
  const lints = lintsOf(mapping, { transformation: { input: 'JSON', output: 'HL7V2' } })
  assert.deepEqual(
    lints.map(([path]) => path),
    ['inputMapping.requestBody\\.rows[].each.item\\.code'],
  )
  assert.match(lints[0]?.[1] ?? '', /write "3\[0\]\.1"\.$/)
})

test('names that XML cannot have are warned of in an each', () => {
  const lints = lintsOf(rows({ 'item.a': 'not a name' }), { transformation: { input: 'JSON', output: 'XML' } })
  assert.deepEqual(
    lints.map(([path]) => path),
    ['inputMapping.requestBody\\.rows[].each.item\\.a'],
  )
})

test('texts that nothing fills are warned of in its texts and in literals of its condition', () => {
  const lints = lintsOf(
    rows({ 'item.a': { key: 'a', default: '${x}' } }, { when: 'item.a = "${y}" or $count(item.${"k": 1}) > 0' }),
  )
  assert.deepEqual(
    lints.map(([path, message]) => [path, message.slice(0, 20)]),
    [
      ['inputMapping.requestBody\\.rows[].each.item\\.a.default', 'Nothing fills "${x}"'],
      ['inputMapping.requestBody\\.rows[].when', 'Nothing fills "${y}"'],
    ],
  )
})

test('the entries of an each count as entries of the document', () => {
  const bounds = {
    documentLimitBytes: 1e6,
    documentMaxMappings: 3,
    documentMaxRequests: 9,
    serverPort: 1,
    adminPort: 2,
  }
  const found = [2, 3].map((count) => {
    const lints: Lint[] = []
    const each = Object.fromEntries(Array.from({ length: count }, (_, at) => [`item.f${at}`, `f${at}`]))
    lintBounds(endpointOf(rows(each)), bounds, collectInto(lints))
    return lints.map(({ message }) => message.slice(0, 26))
  })
  assert.deepEqual(found, [[], ['The mapping has 4 entries,']])
})

test('a change in an each is a change of its entry', () => {
  const before = documentOf(rows({ 'item.a': 'a', 'item.b': 'b' }))
  const after = documentOf(rows({ 'item.b': 'b', 'item.a': 'c' }, { when: 'true' }))
  const entry = ['inputMapping', 'requestBody.rows[]']
  assert.deepEqual(diffDocuments(before, after), [
    { kind: 'moved', location: [...entry, 'each', 'item.b'], after: null },
    { kind: 'changed', location: [...entry, 'each', 'item.a'], from: 'a', to: 'c' },
    { kind: 'added', location: [...entry, 'when'], to: 'true', after: 'each' },
  ])
})
