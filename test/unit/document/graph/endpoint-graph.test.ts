/** The graph of a document: its parts in the order in which they run, and what follows what. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import { describeGraph, nodeAt } from '../../../../src/document/graph/endpoint-graph.ts'
import { parsePath } from '../../../../src/language/paths/path.ts'
import { endpointDocument } from '../../../support/endpoint-document.ts'

const graphOf = (document: JsonObject) => describeGraph(checkDocument(document).endpoint)

/** `a > b, c (when)`: each node with what follows it; `~` for what only reads. */
const follow = (document: JsonObject): readonly string[] => {
  const { nodes, edges } = graphOf(document)
  return nodes.map(({ id }) => {
    const next = edges.filter(({ from }) => from === id)
    const shown = next.map(
      ({ to, label, reads }) => `${reads ? '~' : ''}${to}${label === undefined ? '' : ` (${label})`}`,
    )
    return shown.length === 0 ? id : `${id} > ${shown.join(', ')}`
  })
}

const get = (id: string, more: JsonObject = {}) => ({ id, config: { url: `http://${id}.test/x` }, ...more })
const route = { endpoint: { pattern: '/in' } }

const CASES: Readonly<Record<string, readonly [JsonObject, readonly string[]]>> = {
  'a route alone': [route, ['source:0 > parse', 'parse > map', 'map > answer', 'answer']],
  'a message without a body, and several doors': [
    { endpoint: { method: 'GET', pattern: '/in' }, schedule: { every: '5m' }, transformation: { output: 'JSON' } },
    ['source:0 > map', 'source:1 > map', 'map > answer', 'answer'],
  ],
  'no caller who waits': [{ kafkaConsumerTopic: 'in' }, ['source:0 > parse', 'parse > map', 'map']],
  'lookups in their order': [
    {
      ...route,
      requests: {
        lookup: [
          get('a'),
          get('b', { when: "lookupRequests.a.data.kind = 'x'" }),
          get('c', { after: ['a'] }),
          get('d'),
        ],
      },
      inputMapping: { 'lookupRequests.b.data.id': 'id' },
    },
    [
      'source:0 > parse',
      'parse > lookup:0, lookup:3',
      'lookup:0 > lookup:1 (when), lookup:2',
      'lookup:1 > map',
      'lookup:2 > map',
      'lookup:3 > map',
      'map > answer',
      'answer',
    ],
  ],
  'branches, with an answer if none is made': [
    {
      ...route,
      unrouted: 'answer',
      requests: { response: [get('a', { when: 'requestBody.a' }), get('b', { when: 'requestBody.b' })] },
    },
    [
      'source:0 > parse',
      'parse > map',
      'map > choice',
      'choice > target:0 (when), target:1 (when), answer (if none is made)',
      'target:0 > answer',
      'target:1 > answer',
      'answer',
    ],
  ],
  'every stage, state and tables': [
    {
      ...route,
      inputValidation: { type: 'object' },
      inputTransforms: { sex: "$table('sex', requestBody.sex)" },
      requests: {
        lookup: [
          { id: 'ward', config: { url: 'table://wards', params: { query: { code: { path: 'payload.ward' } } } } },
        ],
        response: get('out', { kafkaProducerTopic: 'out', config: undefined as never }),
      },
      inputMapping: {
        'state.requestBody.last': 'last',
        'requestBody.sex': { path: 'sex', transform: { function: 'table', parameters: { table: 'sex' } } },
      },
      state: { extract: { requestBody: { last: 'id' } } },
    },
    [
      'source:0 > recall',
      'recall > parse',
      'parse > lookup:0',
      'table:wards > ~lookup:0',
      'lookup:0 > validate',
      'validate > transform',
      'table:sex > ~map, ~transform',
      'transform > map',
      'map > keep',
      'keep > target:0',
      'target:0 > answer',
      'answer',
    ],
  ],
}

for (const [what, [fields, expected]] of Object.entries(CASES)) {
  test(what, () => {
    const document = JSON.parse(JSON.stringify(endpointDocument(fields))) as JsonObject
    const shown = follow(document)
    // Tables stand before their first reader.
    assert.deepEqual(shown, expected)
  })
}

test('requests say what they call, without credentials or queries', () => {
  const called: readonly (readonly [config: JsonObject, text: string, name: string])[] = [
    [
      { method: 'PUT', url: 'https://user:word@erp.test:8443/orders/:id?key=1' },
      'PUT erp.test:8443/orders/:id.',
      'erp.test:8443',
    ],
    [{ url: 'mllp://lab.test:2575' }, 'SEND lab.test:2575.', 'lab.test:2575'],
  ]
  for (const [config, text, name] of called) {
    const { nodes } = graphOf(endpointDocument({ ...route, requests: { response: { id: 'out', config } } }))
    const target = nodes.find(({ kind }) => kind === 'target')
    assert.deepEqual([target?.text, target?.calls], [text, { kind: 'system', name }])
  }
})

test('a fault belongs to the node with the nearest place', () => {
  const { nodes } = graphOf(
    endpointDocument({ ...route, requests: { response: [get('a', { when: 'true' }), get('b')] } }),
  )
  const at = (path: string, stage?: string) => nodeAt(nodes, path, stage)?.id
  assert.equal(at('requests.response[1].config.url'), 'target:1')
  assert.equal(at('requests.response'), 'choice')
  assert.equal(at('requests.response[1]', 'map'), undefined)
  assert.equal(at('inputMapping.requestBody\\.id', 'map'), 'map')
  assert.equal(at('inputMappings'), undefined)
})

test('all samples and the document with every field have a graph whose edges and places are there', () => {
  const root = new URL('../../../../', import.meta.url).pathname
  const files = [...globSync('samples/*/endpoint*.json', { cwd: root }), 'test/data/rich-document.json']
  const documents = files.filter((file) => !file.endsWith('.tests.json'))
  assert.ok(documents.length > 9)
  for (const file of documents) {
    const document = JSON.parse(readFileSync(`${root}${file}`, 'utf8')) as JsonObject
    const { endpoint } = checkDocument(document)
    const { nodes, edges } = describeGraph(endpoint)
    const ids = nodes.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length, file)
    for (const { from, to } of edges) assert.ok(ids.includes(from) && ids.includes(to), `${file}: ${from} > ${to}`)
    for (const { id, path } of nodes) {
      const read = parsePath(path)
      assert.ok(
        read.ok && read.value.read(endpoint as unknown as JsonObject) !== undefined,
        `${file}: ${id} at ${path}`,
      )
    }
  }
})
