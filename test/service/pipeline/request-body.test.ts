/** What requests send in place of nothing or the output, in either place that expressions run. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Reply } from '../../support/service.ts'
import { elements, failureOf, openPipeline } from './fixture.ts'

const BODY = { id: 'p1', name: 'Jo', list: ['a', 'b'], lines: [{ code: 'x' }, { code: 'y' }] }
const FORM = 'application/x-www-form-urlencoded'

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION })

  const run = async (document: JsonObject, tail = '', body: Json = BODY) => {
    const path = await pipeline.register({ constants: { system: 's' }, ...document }, tail)
    let reply = {} as Reply
    const received = await pipeline.receivedIn(async () => {
      reply = await pipeline.service.fetch(`${path}${tail && '/w1'}`, json('POST', body))
    })
    return { reply, sent: received.map(({ headers, body: text }) => [headers['content-type'], text]), received }
  }
  const lookup = (body: JsonObject, type?: string, rest: JsonObject = {}) => {
    const headers = type === undefined ? {} : { 'Content-Type': type }
    const config = { url: `${pipeline.upstream.url}/a`, method: 'POST', headers, body }
    return run({ requests: { lookup: { id: 'one', ...rest, config } } }, '/:ward')
  }

  describe(`the body of a lookup, ISOLATION=${ISOLATION}`, () => {
    const cases: [name: string, body: JsonObject, type: string | undefined, sent: string][] = [
      ['a path', { path: 'payload.lines[]' }, undefined, '[{"code":"x"},{"code":"y"}]'],
      [
        'an expression',
        { expression: '{ "ward": urlParams.ward, "n": $count(payload.lines) }' },
        undefined,
        '{"ward":"w1","n":2}',
      ],
      [
        'a mapping',
        {
          mapping: { 'payload.id': 'a.id', 'requestBody.lines[].code': 'codes[].code', 'constants.system': 'a.system' },
        },
        undefined,
        '{"a":{"id":"p1","system":"s"},"codes":[{"code":"x"},{"code":"y"}]}',
      ],
      ['XML', { mapping: { 'payload.id': 'order.id' } }, 'text/xml', '<order><id>p1</id></order>'],
      ['a form', { mapping: { 'payload.id': 'id', 'payload.list': 'v' } }, FORM, 'id=p1&v=a&v=b'],
      ['FHIR', { mapping: { 'payload.id': 'id' } }, 'application/fhir+json', '{"id":"p1"}'],
      ['CSV', { expression: '{ "rows": payload.lines }' }, 'text/csv', 'code\r\nx\r\ny\r\n'],
      ['a text of another type', { expression: '"a,b"' }, 'application/sparql-query', 'a,b'],
      ['a text as JSON', { path: 'payload.id' }, undefined, '"p1"'],
      [
        'a mapping with an each',
        {
          mapping: {
            'payload.lines[]': {
              key: 'rows[]',
              each: { 'item.code': 'c', 'payload.id': 'of' },
              when: 'item.code != "x" and payload.id = "p1"',
            },
          },
        },
        undefined,
        '{"rows":[{"c":"y","of":"p1"}]}',
      ],
      ['a mapping that finds nothing', { mapping: { 'payload.missing': 'a' } }, undefined, '{}'],
    ]
    for (const [name, body, type, sent] of cases) {
      it(`is sent: ${name}`, async () => {
        const { reply, sent: all } = await lookup(body, type)
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(
          all.map(([as, text]) => [as, elements(text ?? '')]),
          [[type ?? 'application/json', sent]],
        )
      })
    }

    for (const body of [{ path: 'payload.missing' }, { expression: 'null' }]) {
      it(`is none where ${Object.keys(body)} finds nothing`, async () => {
        const { received } = await lookup(body)
        assert.deepEqual(
          received.map(({ headers, body: text }) => [headers['content-length'], headers['content-type'], text]),
          [['0', undefined, '']],
        )
      })
    }

    it('is of each item', async () => {
      const forEach = { items: 'payload.lines' }
      const mapped = await lookup({ mapping: { 'item.code': 'code', 'payload.id': 'of' } }, undefined, { forEach })
      assert.deepEqual(mapped.sent.map(([, text]) => text).sort(), ['{"code":"x","of":"p1"}', '{"code":"y","of":"p1"}'])
      const evaluated = await lookup({ expression: '[item.code]' }, undefined, { forEach })
      assert.deepEqual(evaluated.sent.map(([, text]) => text).sort(), ['["x"]', '["y"]'])
    })

    const failing: [name: string, body: JsonObject, type: string | undefined, failure: Json[]][] = [
      [
        'a value that the format cannot hold',
        { path: 'payload.lines' },
        FORM,
        [500, 'SERIALISE_FAILED', 'lookup', 'requests.lookup[0].config.body'],
      ],
      [
        'an expression that fails',
        { expression: '$number(payload.id)' },
        undefined,
        [500, 'TRANSFORM_FAILED', 'lookup', 'requests.lookup[0].config.body.expression'],
      ],
      [
        'an entry that fails',
        { mapping: { 'payload.id': { key: 'n', transform: { function: 'numberify' } } } },
        undefined,
        [500, 'MAPPING_FAILED', 'lookup', 'requests.lookup[0].config.body.mapping.payload\\.id'],
      ],
    ]
    for (const [name, body, type, failure] of failing) {
      it(`fails the message before anything is sent: ${name}`, async () => {
        const { reply, sent } = await lookup(body, type)
        assert.deepEqual([failureOf(reply), sent.length], [failure, 0])
        if (type === FORM) assert.match(reply.json<{ error: string }>().error, /^The body cannot be written as FORM: /)
      })
    }
  })

  describe(`the mapping of a response request, ISOLATION=${ISOLATION}`, () => {
    const to = (id: string, more: JsonObject = {}, type?: string): JsonObject => ({
      id,
      config: {
        url: `${pipeline.upstream.url}/${id}`,
        ...(type === undefined ? {} : { headers: { 'Content-Type': type } }),
      },
      ...more,
    })

    it('replaces that of the output for this request alone', async () => {
      const mapping = { 'requestBody.id': 'ref', 'transforms.n': 'n', 'responseBody.name': 'was' }
      const { received } = await run({
        inputTransforms: { n: '1 + 1' },
        inputMapping: { 'requestBody.name': 'name' },
        requests: {
          response: [to('plain'), to('own', { mapping }), to('xml', { mapping: { 'payload.id': 'p.id' } }, 'text/xml')],
        },
      })
      const sent = Object.fromEntries(received.map(({ url, body }) => [url.slice(1), elements(body)]))
      assert.deepEqual(sent, {
        plain: '{"name":"Jo"}',
        own: '{"ref":"p1","n":2,"was":"Jo"}',
        xml: '<p><id>p1</id></p>',
      })
    })

    it('makes the body of each item, in the form of the output', async () => {
      const response = to('own', {
        forEach: { items: 'payload.lines' },
        mapping: { 'item.code': 'l.code', 'payload.id': 'l.of' },
      })
      const { sent } = await run({ transformation: { input: 'JSON', output: 'XML' }, requests: { response } })
      assert.deepEqual(sent.map(([type, text]) => [type, elements(text ?? '')]).sort(), [
        ['application/xml', '<l><code>x</code><of>p1</of></l>'],
        ['application/xml', '<l><code>y</code><of>p1</of></l>'],
      ])
    })

    it('maps the lists of each item, which is around them', async () => {
      const lists = { 'item.codes[]': { key: 'codes[]', each: { item: 'c', 'outer.n': 'n' }, when: 'item != "b"' } }
      const response = to('own', { forEach: { items: 'payload.groups' }, mapping: lists })
      const groups = [
        { n: 1, codes: ['a', 'b'] },
        { n: 2, codes: ['b', 'c'] },
      ]
      const { sent } = await run({ requests: { response } }, '', { groups })
      assert.deepEqual(sent.map(([, text]) => text).sort(), [
        '{"codes":[{"c":"a","n":1}]}',
        '{"codes":[{"c":"c","n":2}]}',
      ])
    })

    it('fails at its place', async () => {
      const { reply, sent } = await run({
        requests: { response: to('own', { mapping: { 'payload.lines': 'a' } }, FORM) },
      })
      assert.deepEqual(failureOf(reply), [500, 'SERIALISE_FAILED', 'respond', 'requests.response[0].mapping'])
      assert.equal(sent.length, 0)
    })
  })
}

describe('bodies and mappings of requests', () => {
  const pipeline = openPipeline()

  it('are shown by a dry run, with what their entries found', async () => {
    const requests = {
      lookup: {
        id: 'one',
        config: { url: 'http://x.example', method: 'POST', body: { mapping: { 'payload.id': 'id' } } },
      },
      response: { id: 'two', config: { url: 'http://x.example' }, mapping: { 'payload.none': 'none' } },
    }
    const endpoint = {
      name: 'dry',
      endpoint: { pattern: '/dry' },
      transformation: { input: 'JSON', output: 'JSON' },
      requests,
    }
    const reply = await pipeline.service.fetch(
      '/endpoints/dry-run',
      json('POST', { endpoint, message: { body: { id: 'p1' } }, lookups: { one: {} } }),
    )
    type Report = {
      calls: { id: string; sent: { body: Json } }[]
      mapping: { entries: { path: string; found: boolean }[] }
    }
    const { calls, mapping } = reply.json<Report>()
    assert.deepEqual(
      calls
        .map((call) => [call.id, JSON.stringify(call)])
        .map(([id, text]) => [id, /\{\\?"id\\?":\\?"p1\\?"\}/.test(text ?? '')]),
      [
        ['one', true],
        ['two', false],
      ],
      reply.text,
    )
    assert.deepEqual(
      mapping.entries.map(({ path, found }) => [path, found]),
      [
        ['requests.lookup[0].config.body.mapping.payload\\.id', true],
        ['requests.response[0].mapping.payload\\.none', false],
      ],
    )
  })

  const faulty: [name: string, requests: JsonObject, path: string, message: RegExp][] = [
    ['no way', { lookup: { config: { body: {} } } }, 'requests.lookup[0].config.body', /exactly one/],
    [
      'two ways',
      { lookup: { config: { body: { path: 'payload.a', expression: '1' } } } },
      'requests.lookup[0].config.body',
      /exactly one/,
    ],
    [
      'a forwarded body',
      { lookup: { config: { body: { path: 'payload.a' } }, forwardExistingRequestBody: true } },
      'requests.lookup[0].config.body',
      /leave one out/,
    ],
    [
      'a GET',
      { lookup: { config: { method: 'GET', body: { path: 'payload.a' } } } },
      'requests.lookup[0].config.body',
      /A GET has no body/,
    ],
    [
      'a root that is not there yet',
      { lookup: { config: { body: { mapping: { 'transforms.a': 'a' } } } } },
      'requests.lookup[0].config.body.mapping.transforms\\.a',
      /does not exist yet/,
    ],
    [
      'an item without forEach',
      { response: { mapping: { 'item.a': 'a' } } },
      'requests.response[0].mapping.item\\.a',
      /and in the entries of an "each" only/,
    ],
    [
      'a target that is none',
      { response: { mapping: { 'payload.a': 'a..b' } } },
      'requests.response[0].mapping.payload\\.a',
      /./,
    ],
    [
      'a mapping of a GET',
      { response: { config: { method: 'GET' }, mapping: { 'payload.a': 'a' } } },
      'requests.response[0].mapping',
      /A GET sends no body/,
    ],
    ['a body of a response', { response: { config: { body: {} } } }, 'requests.response[0].config.body', /"mapping"/],
    [
      'a body beside config',
      { lookup: { body: { path: 'payload.a' } } },
      'requests.lookup[0].body',
      /within its "config"/,
    ],
  ]
  for (const [name, requests, path, message] of faulty) {
    it(`are refused at their place: ${name}`, async () => {
      const [[kind, { config = {}, ...rest }]] = Object.entries(requests) as [[string, { config?: JsonObject }]]
      const one = { id: 'one', ...rest, config: { url: 'http://x.example/', method: 'POST', ...config } }
      const document = {
        name: `faulty ${name}`,
        endpoint: { pattern: '/faulty' },
        transformation: { input: 'JSON', output: 'JSON' },
        requests: { [kind]: [one] },
      }
      const reply = await pipeline.service.fetch('/endpoints', json('POST', document))
      const { details = [] } = reply.json<{ details?: { path: string; message: string }[] }>()
      assert.deepEqual([reply.status, ...details.map((fault) => fault.path)], [400, path], reply.text)
      assert.match(details[0]?.message ?? '', message)
    })
  }
})
