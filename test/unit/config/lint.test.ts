import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkDocument } from '../../../src/config/checks/check-document.ts'
import { lintEndpoint } from '../../../src/config/checks/lint-endpoint.ts'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { collectInto, type Lint } from '../../../src/domain/lint.ts'
import rich from '../../data/rich-document.json' with { type: 'json' }

const SMALLEST = {
  name: 'a',
  endpoint: { pattern: '/a/:id' },
  transformation: { input: 'JSON', output: 'JSON' },
} as const

const URL = 'http://x.example/'

/** Faults of form and between fields, as a user gets them. */
function faultsOf(raw: Json): readonly Lint[] {
  const { endpoint, lints } = checkDocument(raw)
  const all = [...lints]
  lintEndpoint(endpoint, collectInto(all))
  return all
}

const lookups = (...changes: readonly JsonObject[]): JsonObject => ({
  requests: { lookup: changes.map((change, index) => ({ id: `l${index}`, config: { url: URL }, ...change })) },
})
const responses = (...changes: readonly JsonObject[]): JsonObject => ({
  requests: { response: changes.map((change, index) => ({ id: `r${index}`, config: { url: URL }, ...change })) },
})
const headers = (values: JsonObject): JsonObject => lookups({ config: { url: URL, headers: values } })
const placeholders = (path: string, ...names: readonly string[]): JsonObject =>
  lookups({
    config: {
      url: URL + path,
      params: { url: Object.fromEntries(names.map((name) => [name, { path: 'payload.x' }])) },
    },
  })
const xml = (inputMapping: JsonObject): JsonObject => ({
  transformation: { input: 'JSON', output: 'XML' },
  inputMapping,
})
const get = (change: JsonObject): JsonObject => ({ endpoint: { pattern: '/a', method: 'GET' }, ...change })

describe('rules between fields', () => {
  const cases: readonly { change: JsonObject; faults: readonly (readonly [path: string, part: string])[] }[] = [
    // A token has one kind of key, so the document with every field has one field too many.
    { change: rich, faults: [['auth.jwt', 'give one of the two']] },
    { change: { endpoint: { pattern: 'a' } }, faults: [['endpoint.pattern', 'must start with "/"']] },
    { change: { endpoint: { pattern: '/endpoints/x' } }, faults: [['endpoint.pattern', 'belong to the service']] },
    {
      change: lookups({ id: 'x' }, {}, { id: 'x' }),
      faults: [
        ['requests.lookup[2].id', '"requests.lookup[0]" has the id "x" already; ids are unique among the lookups.'],
      ],
    },
    {
      change: responses({ id: 'x' }, { id: 'x' }, { id: 'x' }),
      faults: [
        ['requests.response[1].id', 'unique among the responses'],
        ['requests.response[2].id', '"requests.response[0]" has the id'],
      ],
    },
    {
      change: {
        requests: { lookup: [{ id: 'x', config: { url: URL } }], response: [{ id: 'x', config: { url: URL } }] },
      },
      faults: [],
    },
    ...['__proto__', 'constructor', 'prototype'].map((id) => ({
      change: lookups({ id }),
      faults: [['requests.lookup[0].id', `The id "${id}" is reserved`]] as const,
    })),
    {
      change: responses({ primary: true }, {}, { config: { url: URL, primary: true } }),
      faults: [
        ['requests.response[2].config.primary', 'Only one request can be primary, and "requests.response[0]" is'],
      ],
    },
    {
      change: responses({ config: { url: URL, primary: true } }, { primary: true }),
      faults: [['requests.response[1].primary', 'Only one request can be primary']],
    },
    { change: responses({ primary: true, config: { url: URL, primary: true } }, { primary: false }), faults: [] },
    {
      change: responses({ primary: true, forEach: { items: 'payload.x' } }),
      faults: [['requests.response[0].primary', 'cannot be primary']],
    },
    { change: headers({ 'X-A': 'b', accept: 'c' }), faults: [] },
    {
      change: headers({ 'a b': 'c' }),
      faults: [['requests.lookup[0].config.headers.a b', '"a b" cannot name a header']],
    },
    { change: headers({ '': 'c' }), faults: [['requests.lookup[0].config.headers.', 'cannot name a header']] },
    ...[
      'Host',
      'content-length',
      'Transfer-Encoding',
      'CONNECTION',
      'Keep-Alive',
      'upgrade',
      'TE',
      'Trailer',
      'Expect',
    ].map((name) => ({
      change: headers({ [name]: 'x' }),
      faults: [[`requests.lookup[0].config.headers.${name}`, 'is set by the service; leave it out.']] as const,
    })),
    { change: headers({ a: 'x', A: 'y' }), faults: [['requests.lookup[0].config.headers.A', 'is here twice']] },
    {
      change: headers({ a: 'x\r\nHost: y' }),
      faults: [['requests.lookup[0].config.headers.a', 'The value of the header "a" holds a line break']],
    },
    { change: placeholders(':id/:kind', 'id', 'kind'), faults: [] },
    { change: placeholders('things:search/:a.json/:b:c?filter=code:eq:A1&d=:e'), faults: [] },
    {
      change: lookups({ config: { url: ` ${URL}:id\n`, params: { url: { id: { path: 'payload.x' } } } } }),
      faults: [],
    },
    {
      change: placeholders(':id/:id'),
      faults: [
        [
          'requests.lookup[0].config.url',
          'The path segment ":id" is sent as it is: "config.params.url" does not define "id".',
        ],
      ],
    },
    {
      change: placeholders('', 'id'),
      faults: [['requests.lookup[0].config.params.url.id', 'The URL has no placeholder ":id"; leave it out or add it']],
    },
    {
      change: placeholders('', 'a b'),
      faults: [['requests.lookup[0].config.params.url.a b', 'No placeholder can have the name "a b"; use letters']],
    },
    {
      change: placeholders(':kind', 'knid'),
      faults: [
        ['requests.lookup[0].config.params.url.knid', 'has no placeholder ":knid"; did you mean ":kind"?'],
        ['requests.lookup[0].config.url', 'The path segment ":kind" is sent as it is'],
      ],
    },
    {
      change: placeholders(':idType', 'id'),
      faults: [
        ['requests.lookup[0].config.params.url.id', 'The URL has no placeholder ":id"'],
        ['requests.lookup[0].config.url', 'The path segment ":idType" is sent as it is'],
      ],
    },
    {
      change: {
        messageKeys: {
          a: 'requestBody.id',
          b: 'payload.id',
          c: 'requestBody..x',
          ['__proto__']: 'query.x',
          ['k'.repeat(65)]: 'query.x',
        },
      },
      faults: [
        ['messageKeys.b', 'write "requestBody" here'],
        ['messageKeys.c', 'lacks a name at position 13'],
        ['messageKeys.__proto__', 'cannot be the name of a key'],
        [`messageKeys.${'k'.repeat(65)}`, 'more than 64 characters'],
      ],
    },
    {
      change: { ...lookups({}), state: { extract: { lookupRequests: { l1: { a: 'b' }, l0: { a: 'b' }, 'x.y': {} } } } },
      faults: [
        ['state.extract.lookupRequests.l1', 'There is no lookup with the id "l1"'],
        ['state.extract.lookupRequests.x\\.y', 'There is no lookup with the id "x.y".'],
      ],
    },
    {
      change: {
        ...lookups({}),
        state: {
          extract: {
            lookupRequests: { l0: { a: 'data.a.b', b: 'data[0].b', c: 'data', d: 'database.x', 'e.f': 'x.data.y' } },
          },
        },
      },
      faults: [
        [
          'state.extract.lookupRequests.l0.a',
          'is read within the data of the lookup already, so this finds "lookupRequests.l0.data.data.a.b"; write "a.b" if that is not meant.',
        ],
        ['state.extract.lookupRequests.l0.b', 'finds "lookupRequests.l0.data.data[0].b"; write "[0].b" if'],
      ],
    },
    {
      change: {
        state: { extract: { requestBody: { a: 'requestBody.a', b: 'requestBodyOf' }, query: { c: 'query' } } },
      },
      faults: [
        ['state.extract.requestBody.a', 'is read within "requestBody" already'],
        ['state.extract.query.c', 'is read within "query" already'],
      ],
    },
    {
      change: get(lookups({ forwardExistingRequestBody: true })),
      faults: [['requests.lookup[0].forwardExistingRequestBody', 'A GET brings no body']],
    },
    { change: get(lookups({ forwardExistingRequestBody: true, forEach: { items: 'query.id' } })), faults: [] },
    { change: get({ kafkaConsumerTopic: 't', ...lookups({ forwardExistingRequestBody: true }) }), faults: [] },
    ...['earliest', 'latest', 'group:a', 'group: ', 'group:group:a'].map((kafkaConsumerStart) => ({
      change: { kafkaConsumerTopic: 't', kafkaConsumerStart },
      faults: [],
    })),
    {
      change: { kafkaConsumerStart: 'latest' },
      faults: [['kafkaConsumerStart', 'has no effect without "kafkaConsumerTopic"']],
    },
    { change: { kafkaConsumerTopic: 't', kafka: { order: 'key', inFlight: 500 } }, faults: [] },
    { change: { kafkaConsumerTopic: 't', kafka: {} }, faults: [] },
    {
      change: { kafka: { order: 'none' } },
      faults: [['kafka', 'is for the records of a topic; give "kafkaConsumerTopic" as well']],
    },
    {
      change: xml({ 'requestBody.a': 'a.b[0].$.c', 'requestBody.b': 'a.b[]._', 'requestBody.c': 'd[]+?' }),
      faults: [],
    },
    { change: { inputMapping: { 'requestBody.a': '1a' } }, faults: [] },
    {
      change: xml({ 'requestBody.a': 'x.1a' }),
      faults: [['inputMapping.requestBody\\.a', '"1a" cannot be the name of an XML']],
    },
    {
      change: { transformation: { input: 'JSON', output: 'XML' }, ...lookups({ id: '1 x' }) },
      faults: [['requests.lookup[0].id', '"1 x" cannot be']],
    },
    { change: { ...xml({ 'requestBody.a': 'a' }), ...lookups({ id: '1 x' }) }, faults: [] },
    {
      change: { ...xml({ 'requestBody.a': 'a' }), ...responses({ id: 'a b' }, { id: 'c' }) },
      faults: [['requests.response[0].id', '"a b" cannot be']],
    },
    {
      change: { ...xml({ 'requestBody.a': 'a' }), ...responses({ id: 'a b' }, { id: 'c', primary: true }) },
      faults: [],
    },
    { change: { ...xml({ 'requestBody.a': 'a' }), ...responses({ id: 'a b' }) }, faults: [] },
    {
      change: {
        inputMapping: { 'requestBody.a': '1a' },
        ...responses({ config: { url: URL, headers: { 'content-type': 'text/xml' } } }),
      },
      faults: [['inputMapping.requestBody\\.a', '"1a" cannot be']],
    },
    { change: xml({ 'requestBody.a': { key: 'a b' } }), faults: [['inputMapping.requestBody\\.a', '"a b" cannot be']] },
    {
      change: xml({ 'requestBody.a': ['ok', 'n\\.o<', { key: 'a b[]' }, ['c d', null, 5]] }),
      faults: [
        ['inputMapping.requestBody\\.a', '"n.o<"'],
        ['inputMapping.requestBody\\.a', '"a b"'],
        ['inputMapping.requestBody\\.a', '"c d"'],
      ],
    },
  ]
  for (const { change, faults } of cases) {
    test(`${JSON.stringify(change).slice(0, 110)}: ${faults.map(([path]) => path).join(', ') || 'sound'}`, () => {
      const lints = faultsOf({ ...SMALLEST, ...change })
      assert.deepEqual(
        lints.map(({ path }) => path),
        faults.map(([path]) => path),
      )
      for (const [index, [, part]] of faults.entries()) {
        assert.ok(lints[index]?.message.includes(part), lints[index]?.message)
      }
    })
  }

  test('computed keys of expressions are a warning, keys that are texts are not', () => {
    const computed = [
      '{ requestBody.k: 1 }',
      'requestBody.list{ code: value }',
      '[{ "a": { $string(b): 1 } }]',
      '{ $exists(requestBody.x) ? requestBody.y : $error("no"): 1 }',
      '{ $exists(requestBody.x) ? "a" : requestBody.x: 1 }',
      '{ (requestBody.b ? "a"): 1 }',
    ]
    const sound = [
      '{ "a": requestBody.k }',
      'requestBody.list{ "x" & code: value }',
      '"{" & a',
      '{ broken',
      "{ $exists(requestBody.x) ? requestBody.x : $error('no'): 1 }",
      "{ ($exists(requestBody.x) ? (requestBody.x) : $error('no')): 1 }",
      "{ requestBody.b ? 'a' : 'b': 1 }",
      "{ ('a' & requestBody.b): 1 }",
      '{ $string("a" & requestBody.b): 1, $join([requestBody.b, "a"], "-"): 2 }',
    ]
    const of = (text: string) =>
      faultsOf({ ...SMALLEST, inputTransforms: { made: text } }).map(({ severity }) => severity)
    for (const text of computed) assert.deepEqual(of(text), ['warning'], text)
    for (const text of sound) assert.ok(!of(text).includes('warning'), text)
  })

  test('a text with "${…}" that an expression fills is no warning', () => {
    const of = (tpl: string) =>
      faultsOf({
        ...SMALLEST,
        constants: { tpl: 'Dear ${name}', other: 'Dear ${name}' },
        inputTransforms: { made: tpl },
      }).map(({ path }) => path)
    assert.deepEqual(of("$replace(constants.tpl, '${name}', requestBody.n)"), ['constants.other'])
    assert.deepEqual(of("constants.tpl ~> $split('${name}')"), ['constants.other'])
    assert.deepEqual(of("constants.tpl & '${name}'"), ['constants.tpl', 'constants.other', 'inputTransforms.made'])
  })

  test('warnings do not refuse a document, faults do', () => {
    const severities = (change: JsonObject) => faultsOf({ ...SMALLEST, ...change }).map(({ severity }) => severity)
    assert.deepEqual(severities(xml({ 'requestBody.a': '1a' })), ['warning'])
    assert.deepEqual(severities(get(lookups({ forwardExistingRequestBody: true }))), ['warning'])
    assert.deepEqual(severities(placeholders(':kind', 'knid')), ['warning', 'warning'])
    assert.deepEqual(severities(lookups({ id: 'x' }, { id: 'x' })), ['error'])
    const extract = { lookupRequests: { l0: { a: 'data.x' } } }
    assert.deepEqual(severities({ ...lookups({}), state: { extract } }), ['warning'])
    const each = { primary: true, forEach: { items: 'payload.x' } }
    assert.deepEqual(severities(responses(each)), ['warning'])
    assert.deepEqual(severities(responses({ ...each, optional: true }, { primary: true })), ['warning'])
    assert.deepEqual(severities(responses({ primary: true }, { ...each, primary: false })), [])
  })

  test('fields that documents of another service have, where nothing reads them, do not refuse a document', () => {
    const { endpoint } = SMALLEST
    const labelled = { config: { url: `${URL}:a`, params: { url: { a: { path: 'payload.a', label: 'the id' } } } } }
    const changes: Readonly<Record<string, JsonObject>> = {
      'endpoint.methods': { endpoint: { ...endpoint, methods: ['POST'] } },
      'endpoint.endpoint': { endpoint: { ...endpoint, endpoint: 'PUT' } },
      'requests.lookup[0].extract': lookups({ extract: { answer: '$.body' } }),
      'requests.response[0].extract': responses({ extract: { answer: '$.body' } }),
      'requests.lookup[0].config.params.url.a.label': lookups(labelled),
      'state.extract.system': { state: { extract: { system: { timestamps: true } } } },
    }
    for (const [path, change] of Object.entries(changes)) {
      const lints = faultsOf({ ...SMALLEST, ...change })
      assert.deepEqual(
        lints.map((lint) => [lint.severity, lint.path]),
        [['warning', path]],
      )
    }
  })
})

test('a document broken in ten ways gives exactly those ten', () => {
  const lints = faultsOf({
    name: 7,
    descripton: 'A slip of typing.',
    endpoint: { pattern: 'no-slash/:id', method: 'FETCH' },
    transformation: { output: 'JSON' },
    constants: [],
    requests: {
      lookup: [
        { id: 'twice', config: { url: 'http://x.example/:id', params: { url: { id: 'payload.id' } } } },
        { id: 'twice', config: { url: 'http://x.example/', headers: { Host: 'y' } }, timeoutMs: '5s' },
      ],
      response: { id: 'r' },
    },
  })
  assert.deepEqual(
    lints.map(({ path }) => path).sort(),
    [
      'constants',
      'descripton',
      'endpoint.method',
      'endpoint.pattern',
      'name',
      'requests.lookup[0].config.params.url.id',
      'requests.lookup[1].config.headers.Host',
      'requests.lookup[1].id',
      'requests.lookup[1].timeoutMs',
      'requests.response',
    ].sort(),
  )
})
