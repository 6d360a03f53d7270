/** Each rule of the conversion: what becomes of a document, and what the report says. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { convertOne, endpoint, faultsOf, type Given, lookup, unreported } from './conversion-rig.ts'

type Case = Readonly<{
  document: JsonObject
  given?: Given
  /** Parts that the converted document has; undefined: it has no such part. */
  expect: Readonly<Record<string, unknown>>
  /** The paths of every report, by its level. */
  changes: Readonly<Record<string, string>>
}>

const BARE: Given = { peerVersion: '2.4.0' }
const WRAPPED: Given = { peerVersion: '3.3.0' }
const LOOKUP_A = { requests: { lookup: [lookup('a')] } }
const response = (fields: JsonObject = {}): JsonObject => ({
  id: 'r',
  config: { method: 'post', url: 'http://target.example.org/in' },
  ...fields,
})
const withResponse = (fields: JsonObject): JsonObject => endpoint({ requests: { response: [response(fields)] } })
const withLookup = (fields: JsonObject): JsonObject =>
  endpoint({ requests: { lookup: [lookup('a', fields)] }, inputMapping: { 'requestBody.b': 'b' } })
const config = (fields: JsonObject): JsonObject => ({
  method: 'get',
  url: 'http://lookup.example.org/things',
  ...fields,
})
const mapping = (inputMapping: JsonObject): JsonObject => endpoint({ inputMapping })
const withConfig = (fields: JsonObject): JsonObject => withLookup({ config: config(fields) })

const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  'parameters of version 1': {
    'go to the query, without nulls': {
      document: withConfig({ params: { since: { path: 'query.since', prefix: null, postfix: 'Z' } } }),
      expect: { 'requests.lookup.0.config.params': { query: { since: { path: 'query.since', postfix: 'Z' } } } },
      changes: { changed: 'requests.lookup[0].config.params.since' },
    },
    'of a later version stay, even one with the name path': {
      document: withConfig({ params: { query: { path: { path: 'payload.p' } } } }),
      given: WRAPPED,
      expect: { 'requests.lookup.0.config.params': { query: { path: { path: 'payload.p' } } } },
      changes: {},
    },
  },
  'data of lookups before version 3': {
    'mapping: names, elements, dots in ids': {
      document: endpoint({
        requests: { lookup: [lookup('a'), lookup('b.c'), lookup('each', { forEach: { items: 'payload.list' } })] },
        inputMapping: {
          'lookupRequests.a.entry[].id': 'ids',
          'lookupRequests.a': 'whole',
          'lookupRequests.a[0].x': 'first',
          'lookupRequests.b\\.c.d': 'd',
          'lookupRequests.each[0].x': 'one',
          'lookupRequests.each.1.x': 'two',
          'lookupRequests.each.x': 'all',
          'state.lookupRequests.a.entry': 'kept',
        },
      }),
      given: BARE,
      expect: {
        inputMapping: {
          'lookupRequests.a.data.entry[].id': 'ids',
          'lookupRequests.a.data': 'whole',
          'lookupRequests.a.data[0].x': 'first',
          'lookupRequests.b\\.c.data.d': 'd',
          'lookupRequests.each[0].data.x': 'one',
          'lookupRequests.each.1.data.x': 'two',
          'lookupRequests.each.data.x': 'all',
          'state.lookupRequests.a.entry': 'kept',
        },
      },
      changes: {
        changed:
          'inputMapping.lookupRequests\\.a\\.entry[]\\.id inputMapping.lookupRequests\\.a ' +
          'inputMapping.lookupRequests\\.a[0]\\.x inputMapping.lookupRequests\\.b\\\\.c\\.d ' +
          'inputMapping.lookupRequests\\.each[0]\\.x inputMapping.lookupRequests\\.each\\.1\\.x ' +
          'inputMapping.lookupRequests\\.each\\.x',
      },
    },
    'mapping: all lookups together': {
      document: endpoint({
        requests: { lookup: [lookup('a'), lookup('b.c')] },
        inputMapping: { lookupRequests: 'found' },
      }),
      given: BARE,
      expect: { inputMapping: { 'lookupRequests.a.data': 'found.a', 'lookupRequests.b\\.c.data': 'found.b\\.c' } },
      changes: { changed: 'inputMapping.lookupRequests' },
    },
    'expressions, by the syntax tree': {
      document: endpoint({
        requests: { lookup: [lookup('a'), lookup('my id')] },
        inputTransforms: {
          plain: 'lookupRequests.a.entry',
          quoted: '$$.lookupRequests.`my id`[0].x & lookupRequests."a".b',
          alias: '($x := lookupRequests.a; $x.entry)',
          all: '($l := lookupRequests; $l.a.x)',
          text: '"lookupRequests.a.entry"',
          inner: 'requestBody.list.(lookupRequests.a)',
          comment: '/* lookupRequests.a.x */ requestBody.x',
        },
        inputMapping: { 'transforms.plain': 'plain' },
      }),
      given: BARE,
      expect: {
        inputTransforms: {
          plain: 'lookupRequests.a.data.entry',
          quoted: '$$.lookupRequests.`my id`.data[0].x & lookupRequests."a".data.b',
          alias: '($x := lookupRequests.a.data; $x.entry)',
          all: '($l := {"a": lookupRequests.a.data, "my id": lookupRequests."my id".data}; $l.a.x)',
          text: '"lookupRequests.a.entry"',
          inner: 'requestBody.list.(lookupRequests.a)',
          comment: '/* lookupRequests.a.x */ requestBody.x',
        },
      },
      changes: {
        changed: 'inputTransforms.plain inputTransforms.quoted inputTransforms.alias ' + 'inputTransforms.all',
      },
    },
    'expressions that read the whole message are reported': {
      document: endpoint({
        ...LOOKUP_A,
        inputTransforms: { all: '$keys($$)' },
        inputMapping: { 'transforms.all': 'all' },
      }),
      given: BARE,
      expect: { 'inputTransforms.all': '$keys($$)' },
      changes: { differs: 'inputTransforms.all' },
    },
    'parameters and items of response requests': {
      document: endpoint({
        requests: {
          lookup: [lookup('a')],
          response: [
            response({
              forEach: { items: 'lookupRequests.a.entry' },
              config: {
                method: 'post',
                url: 'http://target.example.org/:id',
                params: { url: { id: { path: 'lookupRequests.a.id' } }, query: { q: { path: 'item.q' } } },
              },
            }),
          ],
        },
        inputMapping: { 'requestBody.b': 'b' },
      }),
      given: BARE,
      expect: {
        'requests.response.0.forEach.items': 'lookupRequests.a.data.entry',
        'requests.response.0.config.params.url.id.path': 'lookupRequests.a.data.id',
      },
      changes: { changed: 'requests.response[0].forEach.items requests.response[0].config.params.url.id.path' },
    },
    schemas: {
      document: endpoint({
        ...LOOKUP_A,
        inputMapping: { 'requestBody.b': 'b' },
        inputValidation: {
          required: ['lookupRequests'],
          properties: { lookupRequests: { required: ['a'], properties: { a: { type: 'object', required: ['x'] } } } },
          anyOf: [{ properties: { lookupRequests: { properties: { a: { required: ['y'] } } } } }],
        },
      }),
      given: BARE,
      expect: {
        'inputValidation.properties.lookupRequests': {
          required: ['a'],
          properties: { a: { properties: { data: { type: 'object', required: ['x'] } } } },
        },
        'inputValidation.anyOf.0.properties.lookupRequests.properties.a': { properties: { data: { required: ['y'] } } },
      },
      changes: {
        changed:
          'inputValidation.properties.lookupRequests.properties.a ' +
          'inputValidation.anyOf[0].properties.lookupRequests.properties.a',
      },
    },
    'the output without a mapping': {
      document: endpoint(LOOKUP_A),
      given: BARE,
      expect: { inputMapping: { requestBody: 'requestBody', 'lookupRequests.a.data': 'lookupRequests.a' } },
      changes: { changed: 'inputMapping' },
    },
    'stay in the extracted state': {
      document: endpoint({
        ...LOOKUP_A,
        inputMapping: { 'requestBody.b': 'b' },
        state: { extract: { lookupRequests: { a: { last: 'data.id' } } } },
      }),
      given: BARE,
      expect: { 'state.extract.lookupRequests.a.last': 'data.id' },
      changes: {},
    },
  },
  'data of lookups since version 3': {
    'stays in mappings, expressions and the output without a mapping': {
      document: endpoint({ ...LOOKUP_A, inputTransforms: { x: 'lookupRequests.a.data.x' } }),
      given: WRAPPED,
      expect: { inputMapping: undefined, 'inputTransforms.x': 'lookupRequests.a.data.x' },
      changes: {},
    },
    'has no field beside data and headers': {
      document: endpoint({
        ...LOOKUP_A,
        inputMapping: { 'lookupRequests.a.entry': 'e', 'lookupRequests.a.data.x': 'x' },
      }),
      given: WRAPPED,
      expect: { inputMapping: { 'lookupRequests.a.data.x': 'x' } },
      changes: { changed: 'inputMapping.lookupRequests\\.a\\.entry' },
    },
    'loses a leading data in the extracted state, and headers': {
      document: endpoint({
        ...LOOKUP_A,
        inputMapping: { 'requestBody.b': 'b' },
        state: { extract: { lookupRequests: { a: { one: 'data.id', two: 'data[0].id', tag: 'headers.etag' } } } },
      }),
      given: WRAPPED,
      expect: { 'state.extract.lookupRequests.a': { one: 'id', two: '[0].id' } },
      changes: {
        changed: 'state.extract.lookupRequests.a.one state.extract.lookupRequests.a.two',
        lost: 'state.extract.lookupRequests.a.tag',
      },
    },
  },
  'what had no effect there': {
    'stamps, empty parts and unknown fields': {
      document: endpoint({
        _id: '65f000000000000000000001',
        __v: 0,
        createdAt: '2024-01-01T00:00:00.000Z',
        lastUpdated: 1,
        colour: 'red',
        description: null,
        state: { default: {}, extract: { system: { timestamps: true } } },
        requests: {
          lookup: [
            lookup('a', {
              _id: '65f000000000000000000002',
              forEach: {},
              allowedStatuses: [],
              config: config({ params: {} }),
              note: 1,
            }),
          ],
        },
        inputMapping: { 'requestBody.b': 'b' },
      }),
      expect: { colour: undefined, description: undefined, 'requests.lookup.0': lookup('a'), state: { extract: {} } },
      changes: {
        changed:
          '_id __v createdAt lastUpdated description requests.lookup[0].config.params ' +
          'requests.lookup[0].forEach requests.lookup[0].allowedStatuses state.extract.system ' +
          'colour state.default requests.lookup[0]._id requests.lookup[0].note',
      },
    },
    'a delivery, which is carried': {
      document: withResponse({ delivery: { key: 'requestBody.id', giveUpAfter: '2h' } }),
      expect: { 'requests.response.0.delivery': { key: 'requestBody.id', giveUpAfter: '2h' } },
      changes: { carried: 'requests.response[0].delivery' },
    },
    'entries of the mapping that read what is not defined': {
      document: mapping({
        'constants.none': 'a',
        'urlParams.id': 'b',
        'transforms.none': 'c',
        'lookupRequests.none.data.x': 'd',
        'nothing.x': 'e',
        'requestBody.f': 'f',
      }),
      expect: { inputMapping: { 'requestBody.f': 'f' } },
      changes: {
        changed:
          'inputMapping.constants\\.none inputMapping.urlParams\\.id inputMapping.transforms\\.none ' +
          'inputMapping.lookupRequests\\.none\\.data\\.x inputMapping.nothing\\.x',
      },
    },
    'but what such an entry writes without a value stays': {
      document: mapping({
        'nothing.a': { key: 'a', default: 'A' },
        'nothing.b': { key: 'b', transform: { function: 'booleanify' } },
        'nothing.c': { key: 'c', transform: { function: 'mapCodes', parameters: { x: 'y', default: 'z' } } },
      }),
      expect: {
        inputMapping: {
          'constants.notDefined': { key: 'a', default: 'A' },
          'constants.notDefined-2': { key: 'b', transform: { function: 'booleanify' } },
          'constants.notDefined-3': {
            key: 'c',
            transform: { function: 'mapCodes', parameters: { x: 'y', default: 'z' } },
          },
        },
        constants: { notDefined: null, 'notDefined-2': false, 'notDefined-3': null },
      },
      changes: {
        changed:
          'constants.notDefined inputMapping.nothing\\.a constants.notDefined-2 inputMapping.nothing\\.b ' +
          'constants.notDefined-3 inputMapping.nothing\\.c',
      },
    },
    'paths of expressions to what is not defined': {
      document: endpoint({
        inputTransforms: {
          a: '$exists(constants.none.x) ? constants.none : "b"',
          b: 'transforms.c',
          c: 'payload.x & $$.urlParams.id[0]',
        },
        inputMapping: { 'transforms.a': 'a' },
      }),
      expect: { inputTransforms: { a: '$exists(().x) ? () : "b"', b: '()', c: '().x & $$.()[0]' } },
      changes: { changed: 'inputTransforms.a inputTransforms.b inputTransforms.c' },
    },
    'response requests that were never made': {
      document: endpoint({
        requests: {
          response: [
            {},
            { id: 'u', config: { method: 'post' } },
            { id: 'm', config: { url: 'http://x.example.org' } },
            response(),
            response({ id: 's' }),
          ],
        },
      }),
      expect: { 'requests.response': [response(), response({ id: 's' })] },
      changes: { changed: 'requests.response[0] requests.response[1] requests.response[2]' },
    },
    'parameters that find nothing when the request is made': {
      document: withConfig({
        params: {
          query: {
            a: { path: 'transforms.x' },
            b: { path: 'lookupRequests.a.x' },
            c: { path: 'urlParams.no' },
            d: { path: 'query.d' },
          },
        },
      }),
      given: WRAPPED,
      expect: { 'requests.lookup.0.config.params.query': { d: { path: 'query.d' } } },
      changes: { changed: ['a', 'b', 'c'].map((name) => `requests.lookup[0].config.params.query.${name}`).join(' ') },
    },
    'targets and functions that were read as none': {
      document: mapping({
        'requestBody.a': { key: 'a', default: 0 },
        'requestBody.b': { key: 'b', transform: 'stringify' },
        'requestBody.c': { transform: { function: 'stringify' } },
        'requestBody.d': [],
        'requestBody.e': { key: 'e', default: null, colour: 'red' },
        'requestBody.f': null,
      }),
      expect: {
        inputMapping: { 'requestBody.a': { key: 'a' }, 'requestBody.b': { key: 'b' }, 'requestBody.e': { key: 'e' } },
      },
      changes: {
        changed:
          'inputMapping.requestBody\\.a.default inputMapping.requestBody\\.b.transform ' +
          'inputMapping.requestBody\\.c inputMapping.requestBody\\.d ' +
          'inputMapping.requestBody\\.e.colour inputMapping.requestBody\\.e.default ' +
          'inputMapping.requestBody\\.f',
      },
    },
  },
  'mended as that service behaved': {
    'a pattern that ends in a slash': {
      document: endpoint({ endpoint: { pattern: '/intake/', method: 'post' } }),
      expect: { endpoint: { pattern: '/intake', method: 'POST' } },
      changes: { changed: 'endpoint.pattern endpoint.method' },
    },
    'spaces around a URL and in it, a fragment, dots and stray percent signs': {
      document: withConfig({ url: ' http://lookup.example.org/a/./b/../c d?x=100%#top\n' }),
      expect: { 'requests.lookup.0.config.url': 'http://lookup.example.org/a/c%20d?x=100%25' },
      changes: { changed: Array(4).fill('requests.lookup[0].config.url').join(' ') },
    },
    'passThroughObject without a key': {
      document: mapping({ 'requestBody.a': { transform: { function: 'passThroughObject' } } }),
      expect: { inputMapping: { 'requestBody.a': { key: 'unused', transform: { function: 'passThroughObject' } } } },
      changes: { changed: 'inputMapping.requestBody\\.a.key' },
    },
    'null for a missing value': {
      document: mapping({ 'requestBody.a': 'a?', 'requestBody.b': ['b', { key: 'c?', default: 'C' }, 'd?'] }),
      expect: {
        inputMapping: {
          'requestBody.a': { key: 'a?', default: null },
          'requestBody.b': ['b', { key: 'c?', default: 'C' }, { key: 'd?', default: null }],
        },
      },
      changes: { changed: 'inputMapping.requestBody\\.a inputMapping.requestBody\\.b[2]' },
    },
    'the same id twice': {
      document: endpoint({
        requests: { lookup: [lookup('a'), lookup('a')] },
        inputMapping: { 'lookupRequests.a.data.x': 'x' },
      }),
      expect: { 'requests.lookup.0.id': 'a-2', 'requests.lookup.1.id': 'a' },
      changes: { changed: 'requests.lookup[0].id' },
    },
    'headers that are no texts, that stand twice, and those of the connection': {
      document: withConfig({
        headers: {
          'X-Count': 3,
          Host: 'other.example.org',
          'Content-Length': '9',
          accept: 'text/plain',
          Accept: 'application/json',
        },
      }),
      expect: { 'requests.lookup.0.config.headers': { 'X-Count': '3', Accept: 'application/json' } },
      changes: {
        changed:
          'requests.lookup[0].config.headers.X-Count ' +
          'requests.lookup[0].config.headers.Content-Length ' +
          'requests.lookup[0].config.headers.accept',
        lost: 'requests.lookup[0].config.headers.Host',
      },
    },
    'a root alone as the path of a parameter, and a bracket after a dot': {
      document: withConfig({ params: { query: { a: { path: 'query' }, b: { path: 'payload.[1].x' } } } }),
      given: WRAPPED,
      expect: { 'requests.lookup.0.config.params.query': { a: { path: 'query.query' }, b: { path: 'payload[1].x' } } },
      changes: {
        changed: 'requests.lookup[0].config.params.query.a.path ' + 'requests.lookup[0].config.params.query.b.path',
      },
    },
    'options of the HTTP client': {
      document: withConfig({
        url: 'things',
        baseURL: 'http://lookup.example.org/',
        timeout: 5000,
        maxRedirects: 2,
        responseType: 'stream',
        withCredentials: true,
      }),
      expect: {
        'requests.lookup.0.timeoutMs': 5000,
        'requests.lookup.0.config': { method: 'get', url: 'http://lookup.example.org/things', followRedirects: 2 },
      },
      changes: {
        changed:
          'requests.lookup[0].config.url requests.lookup[0].config.baseURL ' +
          'requests.lookup[0].timeoutMs requests.lookup[0].config.timeout ' +
          'requests.lookup[0].config.followRedirects requests.lookup[0].config.maxRedirects ' +
          'requests.lookup[0].config.withCredentials',
        lost: 'requests.lookup[0].config.responseType',
      },
    },
    'what no HTTP message can have, and numbers of calls': {
      document: endpoint({
        requests: {
          lookup: [
            lookup('a', {
              config: config({
                headers: { 'a b': 'x', list: ['x', 1] },
                params: { query: { none: { path: '' }, no: { prefix: 'p' } } },
              }),
              forEach: { items: 'requestBody.a', concurrency: '1001' },
            }),
            lookup('b', { forEach: { items: 'requestBody.b', concurrency: 0 } }),
            lookup('c', { forEach: { items: 'requestBody.c', concurrency: ' 2' } }),
          ],
        },
        inputMapping: { 'requestBody.b': 'b' },
      }),
      given: WRAPPED,
      expect: {
        'requests.lookup.0.config.headers': { list: 'x, 1' },
        'requests.lookup.0.forEach.concurrency': 1000,
        'requests.lookup.1.forEach.concurrency': undefined,
        'requests.lookup.2.forEach.concurrency': 2,
      },
      changes: {
        changed: 'requests.lookup[2].forEach.concurrency requests.lookup[0].config.headers.list',
        differs: 'requests.lookup[0].forEach.concurrency requests.lookup[1].forEach.concurrency',
        lost:
          'requests.lookup[0].config.headers.a b requests.lookup[0].config.params.query.none ' +
          'requests.lookup[0].config.params.query.no',
      },
    },
    'names that the text holds twice': {
      document: endpoint(),
      given: { duplicateNames: [{ path: 'inputMapping.requestBody\\.a', dropped: 'first' }] },
      expect: {},
      changes: { changed: 'inputMapping.requestBody\\.a' },
    },
  },
  'what works otherwise': {
    'a primary request beside others': {
      document: endpoint({ requests: { response: [response({ primary: true }), response({ id: 's' })] } }),
      expect: { 'requests.response.0.primary': true },
      changes: { differs: 'requests.response[0].primary' },
    },
    'targets in the short form': {
      document: mapping({ 'requestBody.a': [['a'], ['b', { function: 'stringify' }, 'B'], ['c', null, 'C']] }),
      expect: { inputMapping: { 'requestBody.a': [['a'], ['b', { function: 'stringify' }, 'B'], ['c', null, 'C']] } },
      changes: { differs: 'inputMapping.requestBody\\.a[1].default' },
    },
    'statuses of a response request': {
      document: withResponse({ allowedStatuses: ['2xx', '404'] }),
      expect: { 'requests.response.0.allowedStatuses': ['2xx', '404'] },
      changes: { differs: 'requests.response[0].allowedStatuses' },
    },
    'URLs of that service': {
      document: withConfig({ url: 'http://mediator:3003/other' }),
      expect: { 'requests.lookup.0.config.url': 'http://mediator:3003/other' },
      changes: { differs: 'requests.lookup[0].config.url' },
    },
    'unless --rebase says where they go': {
      document: withConfig({ url: 'http://mediator:3003/other' }),
      given: {
        rebase: [
          { from: 'http://mediator:30', to: 'http://wrong' },
          { from: 'http://mediator:3003', to: 'http://crosswalk:8080' },
        ],
      },
      expect: { 'requests.lookup.0.config.url': 'http://crosswalk:8080/other' },
      changes: { changed: 'requests.lookup[0].config.url' },
    },
    'a schema of the body itself': {
      document: endpoint({ inputValidation: { required: ['name'] } }),
      expect: {},
      changes: { differs: 'inputValidation' },
    },
    'a schema at which every message failed': {
      document: endpoint({
        inputValidation: {
          $schema: 'http://json-schema.org/draft-04/schema#',
          properties: {
            requestBody: { properties: { a: { type: 'nothing' }, required: ['a'], b: { type: 'string' } } },
          },
        },
      }),
      expect: { inputValidation: { properties: { requestBody: { properties: { a: {}, b: { type: 'string' } } } } } },
      changes: {
        differs:
          'inputValidation.$schema inputValidation.properties.requestBody.properties.a.type ' +
          'inputValidation.properties.requestBody.properties.required',
      },
    },
    'a parameter at which every message failed': {
      document: withConfig({ params: { query: { a: { path: 'requestBody.a' } } } }),
      given: WRAPPED,
      expect: { 'requests.lookup.0.config.params.query.a.path': 'requestBody.a' },
      changes: { differs: 'requests.lookup[0].config.params.query.a.path' },
    },
  },
  'what is lost': {
    'expressions, functions, keywords and requests that do not run here': {
      document: endpoint({
        inputTransforms: { a: '1 +', b: '$nope()', c: '1' },
        inputMapping: {
          'transforms.a': 'a',
          'transforms.c': 'c',
          'requestBody.d': { key: 'd', transform: { function: 'createBahmniFhirIdentifier' } },
        },
        inputValidation: { properties: { requestBody: { properties: { e: { type: 'string', pattern: '(?=x)y' } } } } },
        requests: {
          lookup: [
            lookup('f', { forEach: { items: 'nothing.f' } }),
            lookup('g', { config: config({ data: { a: 1 } }) }),
          ],
        },
      }),
      given: WRAPPED,
      expect: {
        inputTransforms: { c: '1' },
        inputMapping: { 'transforms.c': 'c' },
        'inputValidation.properties.requestBody.properties.e': { type: 'string' },
        'requests.lookup': [lookup('g')],
      },
      changes: {
        lost:
          'requests.lookup[1].config.data requests.lookup[0] inputTransforms.a inputTransforms.b ' +
          'inputMapping.requestBody\\.d ' +
          'inputValidation.properties.requestBody.properties.e.pattern',
        changed: 'inputMapping.transforms\\.a',
      },
    },
  },
  topics: {
    'are consumed from where the group of that service stands': {
      document: endpoint({ kafkaConsumerTopic: 'intake' }),
      expect: { kafkaConsumerStart: 'group:mappinng-mediator' },
      changes: { changed: 'kafkaConsumerStart' },
    },
    'of response requests win over a URL': {
      document: withResponse({ kafkaProducerTopic: 'out' }),
      expect: { 'requests.response.0': { id: 'r', kafkaProducerTopic: 'out' } },
      changes: { changed: 'requests.response[0].config' },
    },
  },
  'constants that later entries write into': {
    'copied whole, and for every element': {
      document: endpoint({
        constants: { template: { type: 'P', name: [] }, code: 'c', ids: [{ system: 's' }] },
        inputMapping: {
          'constants.template': 'patient',
          'constants.code': 'code',
          'requestBody.name': 'patient.name[0].text',
          'requestBody.code': 'code.text',
          'requestBody.list': 'entry[].name',
          'constants.ids': { key: 'entry[].ids', transform: { function: 'oneToAllElements' } },
          'requestBody.ids': 'entry[].ids[].value',
        },
      }),
      expect: {},
      changes: { differs: 'inputMapping.constants\\.template inputMapping.constants\\.ids' },
    },
  },
  'parameters that read the body of a method without one': {
    'are left out': {
      document: endpoint({
        endpoint: { pattern: '/intake', method: 'GET' },
        inputMapping: { 'query.a': 'a' },
        requests: {
          lookup: [
            lookup('a', {
              config: config({
                url: 'http://lookup.example.org/:id',
                params: { url: { id: { path: 'payload.id' } }, query: { of: { path: 'query.of' } } },
              }),
            }),
          ],
        },
      }),
      given: WRAPPED,
      expect: {
        'requests.lookup.0.config': {
          method: 'get',
          url: 'http://lookup.example.org/:id',
          params: { url: {}, query: { of: { path: 'query.of' } } },
        },
      },
      changes: { changed: 'requests.lookup[0].config.params.url.id' },
    },
  },
  'folders of version 0': {
    'mappings of the body alone, and rules of fields': {
      document: endpoint({
        inputMapping: { 'person.gender': 'gender', '[0].x': 'x' },
        inputValidation: { name: { type: 'string', required: true }, weight: { type: 'number' } },
      }),
      given: { peerVersion: '0.2.0' },
      expect: {
        inputMapping: { 'requestBody.person.gender': 'gender', 'requestBody[0].x': 'x' },
        inputValidation: {
          type: 'object',
          properties: { name: { type: 'string', minLength: 1 }, weight: { type: 'number' } },
          required: ['name'],
          additionalProperties: false,
        },
      },
      changes: { changed: 'inputMapping.person\\.gender inputMapping.[0]\\.x', differs: 'inputValidation' },
    },
    'requests with their fields beside the id': {
      document: endpoint({
        requests: {
          lookup: [
            { id: 'a', method: 'get', url: 'http://lookup.example.org/things', headers: { accept: 'text/xml' } },
          ],
          response: [{}],
        },
        inputMapping: { 'lookupRequests.a.b': 'b' },
      }),
      given: { peerVersion: '0.2.0' },
      expect: {
        'requests.lookup': [
          {
            id: 'a',
            config: { method: 'get', url: 'http://lookup.example.org/things', headers: { accept: 'text/xml' } },
          },
        ],
      },
      changes: { changed: 'requests.lookup[0].config requests.response[0] inputMapping.lookupRequests\\.a\\.b' },
    },
    'mappings in two parts, and functions of that time': {
      document: endpoint({
        constants: { type: 'Patient' },
        inputMapping: {
          input: { gender: { key: 'gender', transform: { function: 'getGenderFromCode' } } },
          constants: { type: 'resourceType' },
        },
      }),
      given: { peerVersion: '0.2.0' },
      expect: {
        inputMapping: {
          'constants.type': 'resourceType',
          'requestBody.gender': {
            key: 'gender',
            transform: { function: 'mapCodes', parameters: { M: 'male', F: 'female', O: 'other', default: 'unknown' } },
          },
        },
      },
      changes: {
        changed: 'inputMapping.constants.type inputMapping.input.gender ' + 'inputMapping.input.gender.transform',
      },
    },
  },
}

for (const [group, cases] of Object.entries(CASES)) {
  describe(`conversion: ${group}`, () => {
    for (const [name, { document, given, expect, changes }] of Object.entries(cases)) {
      test(name, async () => {
        const before = structuredClone(document)
        const converted = convertOne(document, given)
        for (const [path, value] of Object.entries(expect)) {
          assert.deepEqual(partOf(converted.document, path), value, path)
        }
        const reported = Object.entries(Object.groupBy(converted.changes, ({ level }) => level))
        assert.deepEqual(
          Object.fromEntries(reported.map(([level, some]) => [level, some.map(({ path }) => path).join(' ')])),
          changes,
        )
        assert.deepEqual(document, before, 'the document that was found stays as it is')
        assert.deepEqual(unreported(document, converted.document, converted.changes), [])
        assert.deepEqual(await faultsOf([converted]), [[]])
        for (const { reason } of converted.changes) assert.match(reason, /^[A-Z"].*\.$/s)
      })
    }
  })
}

function partOf(document: JsonObject, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)]
    return isObject(value) ? value[name] : undefined
  }, document)
}
