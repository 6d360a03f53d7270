import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'
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
const mllp = (change: JsonObject): JsonObject => ({
  mllp: { port: 2575 },
  transformation: { input: 'HL7V2', output: 'JSON' },
  ...change,
})
const get = (change: JsonObject): JsonObject => ({ endpoint: { pattern: '/a', method: 'GET' }, ...change })

describe('rules between fields', () => {
  const LOOKUP_AT = 'requests.lookup[0]'
  const CONFIG = `${LOOKUP_AT}.config`
  type Case = readonly [change: JsonObject, ...faults: (readonly [path: string, part: string])[]]
  const cases: readonly Case[] = [
    [{ csv: { header: false } }, ['csv', 'neither reads nor writes CSV']],
    [{ csv: { header: false }, ...lookups({}) }],
    [{ csv: { header: false }, transformation: { input: 'CSV', output: 'JSON' } }],
    [
      { csv: { delimiter: ';;', quote: '`', heading: 1 } },
      ['csv.delimiter', 'one character'],
      ['csv.quote', ''],
      ['csv.heading', ''],
      ['csv', ''],
    ],
    [
      { csv: { delimiter: '\uFEFF' } },
      ['csv.delimiter', 'nor a byte order mark'],
      ['csv', 'neither reads nor writes CSV'],
    ],
    [
      { transformation: { input: 'JSON', output: 'NDJSON' }, ...responses({}, {}) },
      ['requests.response', 'needs an object with a list "rows"'],
    ],
    [{ transformation: { input: 'JSON', output: 'NDJSON' }, ...responses({}, { primary: true }) }],
    [{ transformation: { input: 'JSON', output: 'NDJSON' }, ...responses({ when: 'query.a' }, { when: 'query.b' }) }],
    [
      { transformation: { input: 'JSON', output: 'NDJSON' }, ...responses({}, {}, { when: 'query.b' }) },
      ['requests.response', 'needs an object with a list "rows"'],
    ],
    [{ transformation: { input: 'JSON', output: 'NDJSON' }, ...lookups({}) }, ['inputMapping', 'list "rows"']],
    // A token has one kind of key, so the document with every field has one field too many.
    [
      rich,
      ['auth', 'does not hold for messages over MLLP'],
      ['rateLimit', 'does not hold for messages over MLLP'],
      ['idempotency', 'does not hold for messages over MLLP'],
      ['auth.jwt', 'give one of the two'],
      ['unrouted', 'no effect unless all response requests have "when"'],
      ['transformation.input', 'MLLP brings messages of HL7 v2'],
      ['schedule', 'either "cron" or "every"'],
    ],
    [{ unrouted: 'answer', ...responses({ when: 'query.a' }, { when: 'query.b' }) }],
    [responses({ delivery: {} }, { delivery: { key: 'payload.a', schedule: ['0s', '1s'], giveUpAfter: '30d' } })],
    [responses({ delivery: { key: { path: 'payload.a' } } }, { delivery: { key: { expression: '"a"' } } })],
    [
      responses({ delivery: {}, retries: 1, optional: true }, { delivery: {}, primary: true }),
      ['requests.response[0].retries', '"delivery.schedule" says when'],
      ['requests.response[0].optional', 'fails no message'],
      ['requests.response[1].primary', 'answered before a stored request is sent'],
    ],
    [
      responses({ delivery: { giveUpAfter: '31d', schedule: ['31d', '0s'], sign: { secret: 'abc' } } }),
      ['requests.response[0].delivery.giveUpAfter', 'given up after 30d at the latest'],
      ['requests.response[0].delivery.schedule[0]', 'tried again after 30d at the latest'],
      ['requests.response[0].delivery.schedule', 'without a pause'],
      ['requests.response[0].delivery.sign.secret', 'This is a credential'],
    ],
    [
      responses({ delivery: { schedule: Array(31).fill('1s'), sign: { secret: Array(11).fill('${env:A}') } } }),
      ['requests.response[0].delivery.schedule', 'at most 30 times'],
      ['requests.response[0].delivery.sign.secret', 'at most 10 secrets'],
    ],
    [responses({ delivery: { schedule: [] } }), ['requests.response[0].delivery.schedule', 'array of 1 to 30 times']],
    [
      { requests: { response: [{ id: 'a', kafkaProducerTopic: 't', delivery: { sign: { secret: '${env:A}' } } }] } },
      ['requests.response[0].delivery.sign', 'no headers of HTTP'],
    ],
    [{ schedule: { every: '1s', catchUp: 'none' } }],
    [{ schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin' } }],
    [{ schedule: {} }, ['schedule', 'either "cron" or "every"; give one of them']],
    [{ schedule: { every: '0s' } }, ['schedule.every', 'every 1s at the most often']],
    [{ schedule: { every: '367d' } }, ['schedule.every', 'every 366d at the least']],
    [{ schedule: { every: '15' } }, ['schedule.every', 'must be a whole number with the unit s, m, h or d']],
    [{ schedule: { every: '1h', timezone: 'UTC' } }, ['schedule.timezone', 'has no effect with "every"']],
    [{ schedule: { cron: '61 * * * *' } }, ['schedule.cron', 'Invalid value for minute: 61']],
    [{ schedule: { cron: '0 0 30 2 *' } }, ['schedule.cron', 'is never due']],
    [
      { schedule: { cron: 'often', timezone: 'Europe/Berln' } },
      ['schedule.timezone', 'did you mean "Europe/Berlin"?'],
      ['schedule.cron', 'Write five fields'],
    ],
    [
      { schedule: { every: '1h' }, endpoint: {}, inputValidation: { required: ['requestBody'] } },
      ['inputValidation.required', 'a run of a schedule has no "requestBody"'],
    ],
    [{ unrouted: 'fail' }, ['unrouted', 'no effect']],
    [{ endpoint: { pattern: 'a' } }, ['endpoint.pattern', 'must start with "/"']],
    [{ endpoint: { pattern: '/endpoints/x' } }, ['endpoint.pattern', 'belong to the service']],
    [
      lookups({ id: 'x' }, {}, { id: 'x' }),
      ['requests.lookup[2].id', '"requests.lookup[0]" has the id "x" already; ids are unique among the lookups.'],
    ],
    [
      responses({ id: 'x' }, { id: 'x' }, { id: 'x' }),
      ['requests.response[1].id', 'unique among the responses'],
      ['requests.response[2].id', '"requests.response[0]" has the id'],
    ],
    [{ requests: { lookup: [{ id: 'x', config: { url: URL } }], response: [{ id: 'x', config: { url: URL } }] } }],
    ...['__proto__', 'constructor', 'prototype'].map(
      (id): Case => [lookups({ id }), [`${LOOKUP_AT}.id`, `The id "${id}" is reserved`]],
    ),
    [
      responses({ primary: true }, {}, { config: { url: URL, primary: true } }),
      ['requests.response[2].config.primary', 'Only one request can be primary, and "requests.response[0]" is'],
    ],
    [
      responses({ config: { url: URL, primary: true } }, { primary: true }),
      ['requests.response[1].primary', 'Only one request can be primary'],
    ],
    [responses({ primary: true, config: { url: URL, primary: true } }, { primary: false })],
    [
      responses({ primary: true, forEach: { items: 'payload.x' } }),
      ['requests.response[0].primary', 'cannot be primary'],
    ],
    [lookups({ cache: { seconds: 60, staleSeconds: 0 } })],
    [
      lookups({ cache: { seconds: 60 }, config: { url: URL, method: 'POST' } }),
      [`${LOOKUP_AT}.cache`, 'Only answers to a GET are kept, not to a POST'],
    ],
    [lookups({ cache: { seconds: 60 }, forwardExistingRequestBody: true }), [`${LOOKUP_AT}.cache`, 'with a body']],
    [
      lookups({ cache: { seconds: 60 }, forwardExistingRequestBody: true, config: { url: 'mllp://127.0.0.1:2575' } }),
      [`${LOOKUP_AT}.cache`, 'A request over MLLP has no answer'],
    ],
    [
      lookups({ cache: { seconds: 60 }, page: { next: { path: 'page.data.next' }, max: 3 } }),
      [`${LOOKUP_AT}.cache`, 'do not belong together'],
    ],
    [lookups({ cache: { seconds: 0 } }), [`${LOOKUP_AT}.cache.seconds`, 'from 1']],
    [lookups({ cache: {} }), [`${LOOKUP_AT}.cache.seconds`, '']],
    [responses({ cache: { seconds: 1 } }), ['requests.response[0].cache', 'Unknown field']],
    [
      lookups({ default: 1 }, { optional: true, default: 1 }),
      [`${LOOKUP_AT}.default`, '"default" is used only where a request may fail'],
    ],
    [
      responses({ optional: false, default: 1 }),
      ['requests.response[0].default', '"default" is used only where a request may fail'],
    ],
    [
      responses({ config: { url: URL, primary: true }, optional: true }),
      ['requests.response[0].optional', 'The answer is that of the primary request'],
    ],
    [
      { requests: { response: [{ id: 'r0', kafkaProducerTopic: 'a', optional: true }] } },
      ['requests.response[0].optional', 'so a topic cannot be optional'],
    ],
    [
      get({ idempotency: {}, transformation: { output: 'JSON' } }),
      ['idempotency', 'is for POST and PATCH only, and this endpoint takes GET'],
    ],
    [headers({ 'X-A': 'b', accept: 'c' })],
    [headers({ 'a b': 'c' }), [`${CONFIG}.headers.a b`, '"a b" cannot name a header']],
    [headers({ '': 'c' }), [`${CONFIG}.headers.`, 'cannot name a header']],
    ...'Host content-length Transfer-Encoding CONNECTION Keep-Alive upgrade TE Trailer Expect'
      .split(' ')
      .map(
        (name): Case => [
          headers({ [name]: 'x' }),
          [`${CONFIG}.headers.${name}`, 'is set by the service; leave it out.'],
        ],
      ),
    [headers({ a: 'x', A: 'y' }), [`${CONFIG}.headers.A`, 'is here twice']],
    [headers({ a: 'x\r\nHost: y' }), [`${CONFIG}.headers.a`, 'The value of the header "a" holds a line break']],
    [placeholders(':id/:kind', 'id', 'kind')],
    [placeholders('things:search/:a.json/:b:c?filter=code:eq:A1&d=:e')],
    [lookups({ config: { url: ` ${URL}:id\n`, params: { url: { id: { path: 'payload.x' } } } } })],
    [
      placeholders(':id/:id'),
      [`${CONFIG}.url`, 'The path segment ":id" is sent unchanged: "config.params.url" does not define "id".'],
    ],
    [placeholders('', 'id'), [`${CONFIG}.params.url.id`, 'The URL has no placeholder ":id"; leave it out or add it']],
    [placeholders('', 'a b'), [`${CONFIG}.params.url.a b`, 'No placeholder can have the name "a b"; use letters']],
    [
      placeholders(':kind', 'knid'),
      [`${CONFIG}.params.url.knid`, 'has no placeholder ":knid"; did you mean ":kind"?'],
      [`${CONFIG}.url`, 'The path segment ":kind" is sent unchanged'],
    ],
    [
      placeholders(':idType', 'id'),
      [`${CONFIG}.params.url.id`, 'The URL has no placeholder ":id"'],
      [`${CONFIG}.url`, 'The path segment ":idType" is sent unchanged'],
    ],
    [
      {
        messageKeys: {
          a: 'requestBody.id',
          b: 'payload.id',
          c: 'requestBody..x',
          ['__proto__']: 'query.x',
          ['k'.repeat(65)]: 'query.x',
        },
      },
      ['messageKeys.b', 'write "requestBody" here'],
      ['messageKeys.c', 'lacks a name at position 13'],
      ['messageKeys.__proto__', 'cannot be the name of a key'],
      [`messageKeys.${'k'.repeat(65)}`, 'more than 64 characters'],
    ],
    [
      { ...lookups({}), state: { extract: { lookupRequests: { l1: { a: 'b' }, l0: { a: 'b' }, 'x.y': {} } } } },
      ['state.extract.lookupRequests.l1', 'There is no lookup with the id "l1"'],
      ['state.extract.lookupRequests.x\\.y', 'There is no lookup with the id "x.y".'],
    ],
    [
      {
        ...lookups({}),
        state: {
          extract: {
            lookupRequests: { l0: { a: 'data.a.b', b: 'data[0].b', c: 'data', d: 'database.x', 'e.f': 'x.data.y' } },
          },
        },
      },
      [
        'state.extract.lookupRequests.l0.a',
        'is read within the data of the lookup already, so this finds "lookupRequests.l0.data.data.a.b"; write "a.b" if that is not meant.',
      ],
      ['state.extract.lookupRequests.l0.b', 'finds "lookupRequests.l0.data.data[0].b"; write "[0].b" if'],
    ],
    [
      { state: { extract: { requestBody: { a: 'requestBody.a', b: 'requestBodyOf' }, query: { c: 'query' } } } },
      ['state.extract.requestBody.a', 'is read within "requestBody" already'],
      ['state.extract.query.c', 'is read within "query" already'],
    ],
    [
      {
        ...xml({ 'requestBody.a': 'a' }),
        ...responses(
          { mapping: { 'requestBody.a': '1a' } },
          { mapping: { 'requestBody.a': '1a' }, config: { url: URL, headers: { 'Content-Type': 'application/json' } } },
        ),
      },
      ['requests.response[0].mapping.requestBody\\.a', '"1a"'],
    ],
    [
      lookups(
        {
          config: {
            url: URL,
            method: 'POST',
            headers: { 'Content-Type': 'text/xml' },
            body: { mapping: { 'requestBody.a': '1a' } },
          },
        },
        { config: { url: URL, method: 'POST', body: { mapping: { 'requestBody.a': '1a' } } } },
      ),
      [`${CONFIG}.body.mapping.requestBody\\.a`, '"1a"'],
    ],
    [
      lookups({
        config: {
          url: URL,
          method: 'POST',
          body: { mapping: { 'requestBody.a[].x': 'l[].x', 'requestBody.b[].y': 'l[].y' } },
        },
      }),
      [`${CONFIG}.body.mapping.requestBody\\.b[]\\.y`, 'merged by position'],
    ],
    [
      get(lookups({ forwardExistingRequestBody: true })),
      [`${LOOKUP_AT}.forwardExistingRequestBody`, 'A GET brings no body'],
    ],
    [get(lookups({ forwardExistingRequestBody: true, forEach: { items: 'query.id' } }))],
    [get({ kafkaConsumerTopic: 't', ...lookups({ forwardExistingRequestBody: true }) })],
    ...['earliest', 'latest', 'group:a', 'group: ', 'group:group:a'].map(
      (kafkaConsumerStart): Case => [{ kafkaConsumerTopic: 't', kafkaConsumerStart }],
    ),
    [{ kafkaConsumerStart: 'latest' }, ['kafkaConsumerStart', 'has no effect without "kafkaConsumerTopic"']],
    [{ kafkaConsumerTopic: 't', kafka: { order: 'key', inFlight: 500 } }],
    [{ kafkaConsumerTopic: 't', kafka: {} }],
    [mllp({ messageLog: 'metadata' })],
    [mllp({ messageLog: 'off' }), ['messageLog', 'with "off", it is stored nowhere then']],
    [
      mllp({ transformation: { input: 'XML', output: 'JSON' } }),
      ['transformation.input', 'messages of HL7 v2, which cannot be read as XML; take HL7V2'],
    ],
    [
      mllp({ rateLimit: { messages: 5 }, idempotency: {} }),
      ['rateLimit', '"rateLimit" does not hold for messages over MLLP'],
      ['idempotency', '"idempotency" does not hold for messages over MLLP'],
    ],
    [
      mllp({ endpoint: {}, rateLimit: { messages: 5 } }),
      ['rateLimit', '"rateLimit" has no effect without "endpoint.pattern"'],
    ],
    [{ kafka: { order: 'none' } }, ['kafka', 'is for the records of a topic; give "kafkaConsumerTopic" as well']],
    [xml({ 'requestBody.a': 'a.b[0].$.c', 'requestBody.b': 'a.b[]._', 'requestBody.c': 'd[]+?' })],
    [{ inputMapping: { 'requestBody.a': '1a' } }],
    [xml({ 'requestBody.a': 'x.1a' }), ['inputMapping.requestBody\\.a', '"1a" cannot be the name of an XML']],
    [
      { transformation: { input: 'JSON', output: 'XML' }, ...lookups({ id: '1 x' }) },
      [`${LOOKUP_AT}.id`, '"1 x" cannot be'],
    ],
    [{ ...xml({ 'requestBody.a': 'a' }), ...lookups({ id: '1 x' }) }],
    [
      { ...xml({ 'requestBody.a': 'a' }), ...responses({ id: 'a b' }, { id: 'c' }) },
      ['requests.response[0].id', '"a b" cannot be'],
    ],
    [{ ...xml({ 'requestBody.a': 'a' }), ...responses({ id: 'a b' }, { id: 'c', primary: true }) }],
    [{ ...xml({ 'requestBody.a': 'a' }), ...responses({ id: 'a b' }) }],
    [
      {
        inputMapping: { 'requestBody.a': '1a' },
        ...responses({ config: { url: URL, headers: { 'content-type': 'text/xml' } } }),
      },
      ['inputMapping.requestBody\\.a', '"1a" cannot be'],
    ],
    // Each message would fail, so the header itself is named, with what to do.
    ...(
      [
        [
          'application/hl7-v2',
          'HL7V2; map to what HL7V2 holds, or leave this Content-Type out to send JSON',
          'MSH[0].3[0].1',
          ['inputMapping.requestBody\\.a', '"name"'],
        ],
        ['text/csv', 'list "rows"', 'rows[].id'],
        ['application/x-ndjson', 'list "rows"', 'rows'],
        ['application/x-www-form-urlencoded', 'is an object or a list', 'id', undefined, 'x.id'],
      ] as const
    ).flatMap(([type, part, sound, named, key = 'name']): readonly Case[] => {
      const sent = (target: string, change: JsonObject = {}) => ({
        inputMapping: { 'requestBody.a': target },
        ...responses({ config: { url: URL, headers: { 'content-type': type } }, ...change }),
      })
      return [
        [sent(key), ...(named === undefined ? [] : [named]), ['requests.response[0].config.headers', part]],
        [sent(sound)],
      ]
    }),
    [
      {
        inputMapping: { 'requestBody.a': 'name' },
        transformation: { input: 'JSON', output: 'TEXT' },
        ...responses({ config: { url: URL, headers: { 'content-type': 'text/csv' } } }),
      },
      ['inputMapping.requestBody\\.a', '"name" cannot be written as TEXT'],
      ['requests.response[0].config.headers', 'or leave this Content-Type out to send TEXT'],
    ],
    [xml({ 'requestBody.a': { key: 'a b' } }), ['inputMapping.requestBody\\.a', '"a b" cannot be']],
    [
      xml({ 'requestBody.a': ['ok', 'n\\.o<', { key: 'a b[]' }, ['c d', null, 5]] }),
      ['inputMapping.requestBody\\.a', '"n.o<"'],
      ['inputMapping.requestBody\\.a', '"a b"'],
      ['inputMapping.requestBody\\.a', '"c d"'],
    ],
  ]
  for (const [change, ...faults] of cases) {
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

  test('what is said of a text with "${…}" depends on its place', () => {
    const around = { path: 'requestBody.a', prefix: '${env:CROSSWALK_SECRET_A}' }
    const document = {
      ...SMALLEST,
      requests: {
        lookup: [
          {
            id: 'a',
            config: {
              url: URL,
              headers: {
                'X-A': around,
                'X-B': { expression: 'requestBody.${"a": b} & "${env:CROSSWALK_SECRET_A}"' },
                'X-C': '${c}',
              },
              params: {
                query: {
                  q: { path: 'payload.q', postfix: '${d}' },
                  r: { expression: 'requestBody.lines.${"code": code}' },
                },
              },
              body: { expression: 'requestBody.lines.${"code": code}' },
            },
          },
        ],
      },
      answer: { status: { expression: 'requestBody.${"a": 200}.a' }, headers: { 'X-A': '${env:A}', 'X-B': '${b}' } },
    }
    const lints = faultsOf(document).filter(({ message }) => message.startsWith('Nothing fills'))
    const secrets =
      'Secrets are filled in "constants", in "auth", and in the URLs and the header texts of requests only; put it in "constants", and read it there.'
    const join = 'Join texts in an "expression", such as "Dr " & requestBody.name.'
    assert.deepEqual(
      lints.map(({ path, message }) => [path, message.slice(message.indexOf('unchanged. ') + 'unchanged. '.length)]),
      [
        ['requests.lookup[0].config.headers.X-A.prefix', secrets],
        ['requests.lookup[0].config.headers.X-B.expression', secrets],
        ['requests.lookup[0].config.headers.X-C', join],
        ['requests.lookup[0].config.params.query.q.postfix', join],
        ['answer.headers.X-A', secrets],
        ['answer.headers.X-B', join],
      ],
    )
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

describe('parts of the message that a schema requires', () => {
  const query = { required: ['page'] }
  const requires = (...required: string[]): JsonObject => ({ inputValidation: { required } })
  type Case = readonly [name: string, change: JsonObject, path?: string, says?: string]
  const cases: readonly Case[] = [
    ['a query whose fields are required', { inputValidation: { required: ['query'], properties: { query } } }],
    ['a query that is described', { inputValidation: { properties: { query: { minProperties: 1 } } } }],
    [
      'fields of a query that need not be there',
      { inputValidation: { required: ['requestBody'], properties: { query } } },
      'properties.query',
      'A request without any query passes this; add "query"',
    ],
    ['a body of a POST', requires('requestBody')],
    [
      'a body of a GET',
      get(requires('requestBody')),
      'required',
      'Every message is refused: a GET has no "requestBody".',
    ],
    ['a body of records', get({ ...requires('requestBody'), kafkaConsumerTopic: 't' })],
    ['lookups that there are', { ...requires('lookupRequests'), ...lookups({}) }],
    [
      'lookups that there are none of',
      requires('lookupRequests'),
      'required',
      'Every message is refused: without lookups',
    ],
    ['what is no list of names', { inputValidation: { required: 'query', properties: [] } }],
  ]
  for (const [name, change, path, says = ''] of cases) {
    test(`${name}: ${path === undefined ? 'sound' : 'a warning'}`, () => {
      const [lint, ...others] = faultsOf({ ...SMALLEST, ...change })
      assert.deepEqual(others, [])
      assert.equal(lint?.path, path && `inputValidation.${path}`)
      assert.ok(lint === undefined || (lint.severity === 'warning' && lint.message.startsWith(says)), lint?.message)
    })
  }
})

const lookupOf = (config: JsonObject): JsonObject => lookups({ config: { url: 'http://h/', ...config } })

/** The paths of what is said of literals that look like credentials, and of nothing else. */
function credentialsIn(changes: JsonObject): string[] {
  const lints = faultsOf({ ...SMALLEST, ...changes })
  assert.ok(
    lints.every(({ severity, message }) => severity === 'warning' && message.includes('${env:CROSSWALK_SECRET_NAME}')),
  )
  return lints.map(({ path }) => path)
}

describe('a literal that looks like a credential is warned of', () => {
  const AT = 'requests.lookup[0].config'
  const cases: { document: JsonObject; path: string }[] = [
    { document: lookupOf({ headers: { Authorization: 'Basic YTpi' } }), path: `${AT}.headers.Authorization` },
    { document: lookupOf({ headers: { authorization: 'Bearer abc' } }), path: `${AT}.headers.authorization` },
    { document: lookupOf({ headers: { 'X-Upstream': 'bearer abc' } }), path: `${AT}.headers.X-Upstream` },
    { document: lookupOf({ headers: { 'X-Api-Key': 'abc' } }), path: `${AT}.headers.X-Api-Key` },
    { document: lookupOf({ headers: { Cookie: 'session=1' } }), path: `${AT}.headers.Cookie` },
    { document: lookupOf({ headers: { Authorization: '$${env:A}' } }), path: `${AT}.headers.Authorization` },
    {
      document: lookupOf({ headers: { Authorization: { path: 'query.a', prefix: 'Basic YTpi' } } }),
      path: `${AT}.headers.Authorization.prefix`,
    },
    {
      document: lookupOf({ headers: { 'X-Api-Key': { expression: 'query.a', postfix: '-abc' } } }),
      path: `${AT}.headers.X-Api-Key.postfix`,
    },
    { document: lookupOf({ url: 'http://h/?a=1&api_key=abc' }), path: `${AT}.url` },
    { document: { constants: { a: ['x', { b: 'Basic YTpi' }] } }, path: 'constants.a[1].b' },
    { document: { constants: { db: 'postgres://user:pass@host/db' } }, path: 'constants.db' },
    {
      document: { requests: { response: { id: 'r', config: { url: 'http://h/', headers: { 'x-token': 'a' } } } } },
      path: 'requests.response[0].config.headers.x-token',
    },
  ]
  for (const { document, path } of cases) {
    test(JSON.stringify(document), () => assert.deepEqual(credentialsIn(document), [path]))
  }
})

describe('no credential is', () => {
  const cases: JsonObject[] = [
    lookupOf({
      headers: { Authorization: 'Basic ${env:CROSSWALK_SECRET_A}', 'X-Api-Key': '${file:/run/secrets/crosswalk/a}' },
    }),
    lookupOf({ headers: { Accept: 'application/json', 'X-Basic': 'basically', Authorization: '' } }),
    lookupOf({
      headers: {
        Authorization: { path: 'query.a', prefix: 'Bearer ' },
        Cookie: { path: 'query.b', prefix: 'session=' },
      },
    }),
    lookupOf({ url: 'http://h/?token=${env:A}&a=1' }),
    lookupOf({ url: 'http://h/?token=:t', params: { url: { t: { path: 'query.t' } } } }),
    { constants: { system: 'http://loinc.org', text: 'Basic', at: 'http://h/a:b@c', token: 'a' } },
  ]
  for (const document of cases) {
    test(JSON.stringify(document), () => assert.deepEqual(credentialsIn(document), []))
  }
})
