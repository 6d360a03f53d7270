import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import Value from 'typebox/value'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { collectInto, documentPath, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { checkField } from '../../../src/document/checks/check-field.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'
import { EndpointField, EndpointSchema } from '../../../src/document/schema/schema.ts'
import type { Field } from '../../../src/document/schema/schema-fields.ts'
import rich from '../../data/rich-document.json' with { type: 'json' }
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

const SMALLEST = { name: 'a', endpoint: { pattern: '/a' }, transformation: { input: 'JSON', output: 'JSON' } } as const

const LOOKUP = { id: 'l', config: { url: 'http://x.example/' } } as const
const RESPONSE = { id: 'r', config: { url: 'http://x.example/' } } as const

const reported = ({ lints }: { lints: readonly Lint[] }) => lints.map(({ path, message }) => `${path}: ${message}`)

describe('defaults and forms', () => {
  test('a smallest document gets every default, behind its own fields', () => {
    const { endpoint, lints } = checkDocument(SMALLEST)
    assert.deepEqual(lints, [])
    assert.deepEqual(
      JSON.stringify(endpoint),
      JSON.stringify({
        name: 'a',
        endpoint: { pattern: '/a', method: 'POST' },
        transformation: { input: 'JSON', output: 'JSON' },
        labels: {},
        inputMapping: {},
        constants: {},
        requests: { lookup: [], response: [] },
        state: { config: { networkErrors: 'no-filter', includeStatuses: [] } },
      }),
    )
  })

  test('a document with every field is taken as it is', () => {
    const { endpoint, lints } = checkDocument(rich)
    assert.deepEqual(lints, [])
    assert.equal(JSON.stringify(endpoint), JSON.stringify(rich))
  })

  test('every field of the schema is in that document', () => {
    assert.deepEqual(missingIn(EndpointField, rich as Json, ''), [])
  })

  const requests = (lookup: readonly JsonObject[], response: readonly JsonObject[]) => ({ lookup, response })
  const got = { ...LOOKUP, config: { ...LOOKUP.config, method: 'GET' } }
  const sent = { ...RESPONSE, config: { ...RESPONSE.config, method: 'POST' } }
  const params = (written: JsonObject) => ({ ...LOOKUP, config: { ...LOOKUP.config, params: written } })
  const query = (parameter: JsonObject) => ({ ...got, config: { ...got.config, params: { query: parameter } } })
  const produced = { id: 'r', kafkaProducerTopic: 'a.B_c-1' }
  const around = { path: 'query.a', prefix: null, postfix: null }
  const oneLookup = (lookup: JsonObject): JsonObject => ({ requests: { lookup } })
  const oneResponse = (response: JsonObject): JsonObject => ({ requests: { response } })

  /** By what they show: the change, and what becomes of its part. */
  const forms: Readonly<Record<string, readonly [change: JsonObject, part: string, expect: unknown]>> = {
    'a single lookup is an array of one, its method GET': [oneLookup(LOOKUP), 'requests', requests([got], [])],
    'a single response is an array of one, its method POST': [oneResponse(RESPONSE), 'requests', requests([], [sent])],
    'methods of requests are upper case': [
      { requests: { lookup: [{ ...LOOKUP, config: { ...LOOKUP.config, method: 'get' } }] } },
      'requests',
      requests([got], []),
    ],
    'primary stays where it was written': [
      oneResponse({ ...RESPONSE, primary: true }),
      'requests',
      requests([], [{ ...sent, primary: true }]),
    ],
    'a half-written state.config is completed': [
      { state: { config: { includeStatuses: [201] } } },
      'state',
      { config: { includeStatuses: [201], networkErrors: 'no-filter' } },
    ],
    'GET needs no input type': [
      { endpoint: { pattern: '/a', method: 'GET' }, transformation: { output: 'XML' } },
      'transformation',
      { output: 'XML' },
    ],
    'a response with a topic needs no config': [oneResponse(produced), 'requests', requests([], [produced])],
    'constants keep names that prototypes own, as plain names': [
      { constants: JSON.parse('{"__proto__":{"a":1}}') as JsonObject },
      'constants',
      JSON.parse('{"__proto__":{"a":1}}'),
    ],
    ...Object.fromEntries(
      ['_id', 'createdAt', 'updatedAt', '__v'].map((name) => [`${name} is ignored`, [{ [name]: {} }, name, undefined]]),
    ),
    // Fields as other services hand them out, which are absent here.
    '_id of a lookup is absent': [oneLookup({ ...LOOKUP, _id: 'x' }), 'requests', requests([got], [])],
    'empty parts of a lookup are absent': [
      oneLookup({ ...params({}), forEach: {}, allowedStatuses: [] }),
      'requests',
      requests([got], []),
    ],
    'null around a value is absent': [
      oneLookup(params({ query: { a: around } })),
      'requests',
      requests([query({ a: { path: 'query.a' } })], []),
    ],
    'a parameter may be named _id': [
      oneLookup(params({ query: { _id: { path: 'query.a' } } })),
      'requests',
      requests([query({ _id: { path: 'query.a' } })], []),
    ],
    'all of them are absent in a response too': [
      oneResponse({ _id: 'x', ...RESPONSE, forEach: {}, allowedStatuses: [] }),
      'requests',
      requests([], [sent]),
    ],
    'null around a key is absent': [
      oneResponse({ ...produced, key: around }),
      'requests',
      requests([], [{ ...produced, key: { path: 'query.a' } }]),
    ],
    'requests of nothing are both arrays': [{ requests: { _id: 'x' } }, 'requests', requests([], [])],
  }
  for (const [name, [change, part, expect]] of Object.entries(forms)) {
    test(name, () => {
      const checked = checkDocument({ ...SMALLEST, ...change })
      assert.deepEqual(reported(checked), [])
      assert.deepEqual((checked.endpoint as unknown as JsonObject)[part], expect)
    })
  }
})

describe('faults of form', () => {
  const lookup = (change: JsonObject) => ({ requests: { lookup: [{ ...LOOKUP, ...change }] } })
  const response = (change: JsonObject) => ({ requests: { response: [{ ...RESPONSE, ...change }] } })
  const mllp = (value: JsonObject): JsonObject => ({
    mllp: value,
    transformation: { input: 'HL7V2', output: 'JSON' },
  })
  const call = (change: JsonObject) => lookup({ config: { ...LOOKUP.config, ...change } })

  const LOOKUP_AT = 'requests.lookup[0]'
  const CONFIG = `${LOOKUP_AT}.config`
  type Case = readonly [change: JsonObject, ...faults: (readonly [path: string, part: string])[]]
  const cases: readonly Case[] = [
    [{ name: 5 }, ['name', '"name" must be a string that is not empty, not a number.']],
    [{ name: ' ' }, ['name', 'must be a string that is not empty.']],
    [
      { endpoint: {} },
      [
        'endpoint.pattern',
        '"endpoint.pattern" is required: give the path of the endpoint, or another field that brings messages: "kafkaConsumerTopic", "mllp", "schedule".',
      ],
    ],
    [
      { endpoint: { pattern: '/a', method: 'get' } },
      ['endpoint.method', 'must be one of "GET", "POST", "PUT", "PATCH", "DELETE", not "get"; did you mean "GET"?'],
    ],
    [{ endpoint: { pattern: '/a', method: 7 } }, ['endpoint.method', '"DELETE", not a number.']],
    [{ transformation: { input: 'FHIR', output: 'JSON' } }, ['transformation.input', 'did you mean "FHIR+JSON"?']],
    [{ transformation: { input: 'JSON', output: 'xml' } }, ['transformation.output', 'not "xml"; did you mean "XML"?']],
    [{ transformation: { output: 'JSON' } }, ['transformation.input', 'is required for POST']],
    [
      { endpoint: { pattern: '/a', method: 'PATCH' }, transformation: { output: 'JSON' } },
      ['transformation.input', 'is required for PATCH'],
    ],
    [
      { transformation: { output: 'JSON' }, endpoint: { pattern: '/a', method: 'PUT' } },
      ['transformation.input', 'is required for PUT'],
    ],
    [{ transformation: { input: 'YAML', output: 'JSON' } }, ['transformation.input', 'not "YAML".']],
    [
      { labels: { a: 1, b: 'b', c: null, d: ['x'] } },
      ['labels.a', '"labels.a" must be a string, not a number.'],
      ['labels.c', 'must be a string, not null'],
      ['labels.d', 'must be a string, not an array'],
    ],
    [{ label: {} }, ['label', 'did you mean "labels"?']],
    [mllp({ port: 2575, types: ['ADT^A01', 'ORU', 'ZXX^Z_1'] })],
    [mllp({}), ['mllp.port', 'is required']],
    [mllp({ port: 0 }), ['mllp.port', 'must be a whole number from 1 to 65535']],
    [
      mllp({ port: 2575, types: ['ADT-A01'] }),
      ['mllp.types[0]', 'must be a message code and an event, such as "ADT^A01", or the code alone'],
    ],
    [{ kafkaConsumerTopic: '..' }, ['kafkaConsumerTopic', 'must be a topic name: 1 to 249 ']],
    [{ kafkaConsumerTopic: 'x'.repeat(250) }, ['kafkaConsumerTopic', 'must be a topic name']],
    ...['', 'Latest', 'end', 'group', 'group:', 'latest ', 'group:a\nb', `group:${'x'.repeat(1_001)}`, 0, null].map(
      (kafkaConsumerStart): Case => [
        { kafkaConsumerTopic: 't', kafkaConsumerStart },
        ['kafkaConsumerStart', 'must be "earliest", "latest", or "group:" and the name of a consumer group'],
      ],
    ),
    [{ inputTransforms: { 'a.b': {} } }, ['inputTransforms.a\\.b', 'must be a string, not an object.']],
    [
      { inputTransforms: { 12: '1' } },
      ['inputTransforms.12', 'The name "12" looks like an integer and cannot keep its place in the order'],
    ],
    [{ inputTransforms: { constructor: '1' } }, ['inputTransforms.constructor', 'is reserved']],
    [{ requests: { lookup: 5 } }, ['requests.lookup', 'must be an array of objects, or one object, not a number.']],
    [{ requests: { lookup: { id: 'l' } } }, ['requests.lookup.config', 'is required']],
    [{ requests: { lookup: [{ config: LOOKUP.config }] } }, [`${LOOKUP_AT}.id`, 'is required']],
    [lookup({ id: '' }), [`${LOOKUP_AT}.id`, 'must be a string that is not empty.']],
    [lookup({ config: {} }), [`${CONFIG}.url`, 'is required']],
    [call({ method: 'TRACE' }), [`${CONFIG}.method`, 'must be one of "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"']],
    [call({ headers: { a: 1.5, b: 'c' } })],
    [
      call({ headers: { a: true } }),
      [`${CONFIG}.headers.a`, 'must be a string, a number, or an object with "path" or "expression", not a boolean'],
    ],
    [lookup({ forEach: { concurrency: 2 } }), [`${LOOKUP_AT}.forEach.items`, 'is required']],
    ...[0, 1001, 1.5, '0', '1001', 'x', '', true].map(
      (concurrency): Case => [
        lookup({ forEach: { items: 'payload.x', concurrency } }),
        [
          `${LOOKUP_AT}.forEach.concurrency`,
          'must be a whole number from 1 to 1000, or such a number as a string, not ',
        ],
      ],
    ),
    ...[0, 300_001, 1.5, '5', null].map(
      (timeoutMs): Case => [
        lookup({ timeoutMs }),
        [`${LOOKUP_AT}.timeoutMs`, 'must be a whole number from 1 to 300000, not '],
      ],
    ),
    [lookup({ retries: 11 }), [`${LOOKUP_AT}.retries`, 'from 0 to 10, not 11.']],
    [lookup({ allowedStatuses: '2xx' }), [`${LOOKUP_AT}.allowedStatuses`, 'must be an array of statuses']],
    [lookup({ allowedStatuses: {} }), [`${LOOKUP_AT}.allowedStatuses`, 'with at least one of them, not an object.']],
    [
      lookup({ allowedStatuses: ['2xx', null] }),
      [`${LOOKUP_AT}.allowedStatuses[1]`, 'must be a status such as "2xx", "404" or "*", not null.'],
    ],
    [response({ kafkaProducerTopic: 'a' }), ['requests.response[0]', 'has both "config.url" and "kafkaProducerTopic"']],
    [response({ config: { primary: true } }), ['requests.response[0]', 'has nowhere to go']],
    [{ requests: { response: { id: 'r' } } }, ['requests.response', 'has nowhere to go']],
    [{ state: { config: { networkErrors: 'all' } } }, ['state.config.networkErrors', 'not "all".']],
    [{ state: { config: { includeStatuses: '*' } } }, ['state.config.includeStatuses', 'must be an array of statuses']],
    [
      { state: { extract: { query: { a: 5 } } } },
      ['state.extract.query.a', 'must be a string that is not empty, not a number'],
    ],
    [{ transfromation: 1 }, ['transfromation', 'Unknown field "transfromation"; did you mean "transformation"?']],
    [{ inputTransforms: { a: { $fil: 'a.jsonata' } } }, ['inputTransforms.a', 'not an object; did you mean "$file"?']],
    [{ colour: 1 }, ['colour', 'Unknown field "colour".']],
    [{ pattern: '/x' }, ['pattern', 'Unknown field "pattern"; it belongs to "endpoint".']],
    [{ networkErrors: 'include' }, ['networkErrors', 'it belongs to "state.config".']],
    [lookup({ headers: {} }), [`${LOOKUP_AT}.headers`, 'it belongs to "config".']],
    [lookup({ response: {} }), [`${LOOKUP_AT}.response`, 'it belongs to "requests".']],
    [
      call({ auth: { oauth2: { tokenUrl: 'https://a/t', clientId: 'a', secret: '${env:A}' } } }),
      [`${CONFIG}.auth.oauth2.secret`, 'did you mean "clientSecret"?'],
    ],
    [lookup({ primary: true }), [`${LOOKUP_AT}.primary`, 'it belongs to "requests.response".']],
    [call({ params: { quary: {} } }), [`${CONFIG}.params.quary`, 'mean "query"?']],
    [
      call({ params: { quary: { path: 'query.a' } } }),
      [`${CONFIG}.params.quary`, 'did you mean "query"?'],
      [`${CONFIG}.params.quary.path`, 'must be an object, not a string.'],
    ],
    [call({ params: { since: 'query.a' } }), [`${CONFIG}.params.since`, 'Unknown']],
    [call({ params: { since: { path: 'query.a', x: 1 } } }), [`${CONFIG}.params.since`, 'Unknown']],
    [JSON.parse('{"__proto__":{"name":"b"}}') as JsonObject, ['__proto__', 'Unknown field "__proto__".']],
  ]
  for (const [change, ...faults] of cases) {
    test(`${JSON.stringify(change).slice(0, 100)} is refused at ${faults.map(([path]) => path).join(', ')}`, () => {
      // Entries, since a spread would set the prototype for a name like __proto__ written in a literal.
      const checked = checkDocument(Object.fromEntries([...Object.entries(SMALLEST), ...Object.entries(change)]))
      assert.equal(checked.lints.length, faults.length, reported(checked).join('\n'))
      for (const [index, [path, part]] of faults.entries()) {
        assert.equal(checked.lints[index]?.path, path)
        assert.equal(checked.lints[index]?.severity, 'error')
        assert.ok(checked.lints[index]?.message.includes(part), reported(checked).join('\n'))
      }
      assert.deepEqual(lintsOf(checked.endpoint), [], 'a fault of form brings no second one')
    })
  }

  const withoutEffect: readonly { change: JsonObject; path: string; message: string }[] = [
    {
      change: response({ forwardExistingRequestBody: true }),
      path: 'requests.response[0].forwardExistingRequestBody',
      message: 'A response request sends the output, whatever this says; leave it out.',
    },
    {
      change: call({ params: { _since: { path: 'state.x', prefix: null } } }),
      path: 'requests.lookup[0].config.params._since',
      message: '"_since" is next to "query" and "url", where nothing reads it; did you mean "query._since"?',
    },
  ]
  for (const { change, path, message } of withoutEffect) {
    test(`${path} is left out, with a warning`, () => {
      const checked = checkDocument({ ...SMALLEST, ...change })
      assert.deepEqual(checked.lints, [{ path, message, severity: 'warning' }])
      const name = path.slice(path.lastIndexOf('.') + 1)
      assert.doesNotMatch(JSON.stringify(checked.endpoint), new RegExp(`"${name}"`))
    })
  }

  const noDocuments: readonly { raw: Json; message: string }[] = [
    { raw: null, message: 'The document must be an object, not null.' },
    { raw: [], message: 'The document must be an object, not an array.' },
    { raw: 'x', message: 'The document must be an object, not a string.' },
    { raw: 5, message: 'The document must be an object, not a number.' },
  ]
  for (const { raw, message } of noDocuments) {
    test(`${JSON.stringify(raw)} is no document`, () => {
      assert.deepEqual(checkDocument(raw).lints, [{ path: '', message, severity: 'error' }])
    })
  }

  test('an empty document lacks exactly its required fields', () => {
    assert.deepEqual(
      checkDocument({}).lints.map(({ path }) => path),
      ['name', 'transformation', 'endpoint.pattern'],
    )
  })

  test('a misspelt field is checked as the one that was meant', () => {
    const checked = checkDocument({
      naem: 5,
      endpiont: { pattern: '/a', metod: 'GET' },
      transformation: { output: 'JSON' },
    })
    assert.deepEqual(reported(checked), [
      'naem: Unknown field "naem"; did you mean "name"?',
      'naem: "naem" must be a string that is not empty, not a number.',
      'endpiont: Unknown field "endpiont"; did you mean "endpoint"?',
      'endpiont.metod: Unknown field "metod"; did you mean "method"?',
    ])
  })

  test('a misspelt field beside the right one is only reported', () => {
    const checked = checkDocument({ ...SMALLEST, naem: 5 })
    assert.deepEqual(reported(checked), ['naem: Unknown field "naem"; did you mean "name"?'])
    assert.equal(checked.endpoint.name, 'a')
  })

  test('text is not echoed where it may be a secret', () => {
    const checked = checkDocument({ ...SMALLEST, ...call({ headers: 'Bearer sesame', params: 'sesame' }) })
    assert.equal(checked.lints.length, 2)
    assert.doesNotMatch(reported(checked).join('\n'), /sesame/)
  })
})

const lintsOf = (endpoint: ReturnType<typeof checkDocument>['endpoint']): readonly Lint[] => {
  const lints: Lint[] = []
  lintEndpoint(endpoint, collectInto(lints))
  return lints
}

function missingIn(field: Field, value: Json | undefined, path: string): string[] {
  if (value === undefined) return [path]
  if (field.items && Array.isArray(value)) {
    // A field is covered where one of the elements has it.
    const each = value.map((item) => missingIn(field.items ?? {}, item, `${path}[]`))
    return (each[0] ?? [`${path}[]`]).filter((missing) => each.every((others) => others.includes(missing)))
  }
  if (!field.properties || !isObject(value)) return []
  return Object.entries(field.properties).flatMap(([name, property]) =>
    missingIn(property, value[name], `${path}.${name}`),
  )
}

describe('for any document', () => {
  const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
  /** Values that fit somewhere, so that a random change reaches the deeper checks. */
  const likely = fc.oneof(
    anyJson,
    fc.constantFrom<Json>(
      'GET',
      'post',
      'JSON',
      '',
      '/a/:b',
      'payload.x',
      'http://x.example/:a',
      '2xx',
      404,
      0,
      -1,
      1.5,
      true,
      null,
      [],
      {},
    ),
    fc.constantFrom<Json>(
      JSON.parse('{"__proto__":{"path":"x"}}') as Json,
      JSON.parse('{"constructor":"1"}') as Json,
      [{}],
      [[]],
    ),
  )

  const placesIn = (value: Json, path: readonly (string | number)[] = []): (readonly (string | number)[])[] => [
    path,
    ...(Array.isArray(value)
      ? value.flatMap((item: Json, index) => placesIn(item, [...path, index]))
      : isObject(value)
        ? Object.entries(value).flatMap(([name, item]) => placesIn(item, [...path, name]))
        : []),
  ]

  function changeAt(
    value: Json,
    [step, ...rest]: readonly (string | number)[],
    to: Json | undefined,
  ): Json | undefined {
    if (step === undefined) return to
    if (Array.isArray(value)) {
      return value.flatMap(
        (item: Json, index) => (index === step ? (changeAt(item, rest, to) ?? []) : [item]) as Json[],
      )
    }
    if (!isObject(value)) return value
    const entries = Object.entries(value).map(([name, item]) => [name, name === step ? changeAt(item, rest, to) : item])
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as JsonObject
  }

  const hold = (raw: Json): void => {
    const before = JSON.stringify(raw)
    const checked = checkDocument(raw)
    lintEndpoint(checked.endpoint, collectInto([]))
    assert.ok(Value.Check(EndpointSchema, checked.endpoint), 'what comes out is an endpoint, whatever went in')
    assert.equal(JSON.stringify(raw), before, 'the input is not changed')
    if (checked.lints.length > 0) return
    const again = checkDocument(checked.endpoint)
    assert.deepEqual(again.lints, [])
    assert.equal(JSON.stringify(again.endpoint), JSON.stringify(checked.endpoint), 'checking twice changes nothing')
  }

  test('any JSON gives an endpoint and faults, never an exception', () => {
    const prototype = Object.getOwnPropertyNames(Object.prototype)
    fc.assert(fc.property(anyJson, hold), { numRuns: LONG ? 2000 : 300 })
    assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), prototype)
  })

  test('a sound document changed at one place is refused with a place or accepted', () => {
    const places = placesIn(rich as Json)
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.option(likely, { nil: undefined }), (place, to) =>
        hold(changeAt(rich as Json, place, to) ?? null),
      ),
      { numRuns: LONG ? 3000 : 300 },
    )
  })

  test('a document without any one of its fields is refused with a place or accepted', () => {
    for (const place of placesIn(rich as Json)) hold(changeAt(rich as Json, place, undefined) ?? null)
  })

  test('a value of another type is refused at the place of every field', () => {
    const takesAnything = /^(?:constants|inputValidation|inputMapping)\W|\.default\b|\.mapping\.|\.validation\./
    for (const place of placesIn(rich as Json)) {
      const path = place.reduce<string>((before, step) => documentPath(before, step), '')
      if (takesAnything.test(path)) continue
      const { lints } = checkDocument(changeAt(rich as Json, place, [[]]) ?? null)
      assert.ok(
        lints.some((lint) => lint.path.startsWith(path)),
        `${path}: ${JSON.stringify(lints)}`,
      )
    }
  })

  test('a field of any unknown name is refused at its place', () => {
    const objects: readonly (readonly (string | number)[])[] = [
      [],
      ['endpoint'],
      ['requests'],
      ['state', 'config'],
      ['requests', 'lookup', 0],
    ]
    fc.assert(
      fc.property(fc.constantFrom(...objects), fc.string({ minLength: 1, maxLength: 80 }), (place, name) => {
        fc.pre(!/^(?:_id|createdAt|updatedAt|__v)$/.test(name))
        const known = placesIn(rich as Json).some((other) => other.length === place.length + 1 && other.at(-1) === name)
        fc.pre(!known)
        const holder = place.reduce<Json>(
          (value, step) => (value as Record<string | number, Json>)[step] ?? null,
          rich as Json,
        )
        const changed = Object.fromEntries([...Object.entries(holder as JsonObject), [name, 1]])
        const { lints } = checkDocument(changeAt(rich as Json, place, changed) ?? null)
        assert.equal(lints.length, 1)
        assert.ok(lints[0]?.message.startsWith(`Unknown field "${name}"`))
      }),
    )
  })
})

describe('examples', () => {
  const examplesIn = (field: Field, path: string): { path: string; field: Field; example: Json }[] => [
    ...(field.examples ?? []).map((example) => ({ path, field, example })),
    ...Object.entries(field.properties ?? {}).flatMap(([name, property]) => examplesIn(property, `${path}.${name}`)),
    ...(field.items ? examplesIn(field.items, `${path}[]`) : []),
    ...(typeof field.additionalProperties === 'object' ? examplesIn(field.additionalProperties, `${path}.*`) : []),
  ]
  for (const { path, field, example } of examplesIn(EndpointField, '')) {
    test(`of ${path.slice(1)} is sound`, () => {
      const lints: Lint[] = []
      assert.deepEqual(checkField(field, example, collectInto(lints)), example)
      assert.deepEqual(lints, [])
    })
  }

  test('of the guide is sound', () => {
    const guide = readFileSync(new URL('../../../docs/endpoint-document.md', import.meta.url), 'utf8')
    const blocks = Array.from(
      guide.matchAll(/```json endpoint\n([\s\S]*?)```/g),
      ([, block]) => JSON.parse(block ?? '') as Json,
    )
    assert.ok(blocks.length > 0)
    for (const block of blocks) assert.deepEqual(reported(checkDocument(block)), [])
  })

  const undescribed = (field: Field, path: string): string[] => [
    ...(/^[A-Z].*\.$/.test(field.description ?? '') ? [] : [path]),
    ...Object.entries(field.properties ?? {}).flatMap(([name, property]) => undescribed(property, `${path}.${name}`)),
  ]
  test('every field has a sentence', () => {
    assert.deepEqual(undescribed(EndpointField, ''), [])
  })
})
