/** The wrapper of another mediator in the answer of a lookup. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { readWrapper } from '../../../../src/formats/openhim-wrapper.ts'
import { withoutWrapper } from '../../../../src/pipeline/requests/upstream-answer.ts'
import fc from '../../../support/fast-check.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { startMediating, TRANSACTION, wrapperOf } from './wrapped-service.ts'
import { wrapperFaults } from './wrapper-schema.ts'

const OPENHIM = 'application/json+openhim'
const AT = '2026-01-01T00:00:00.000Z'

const wrapper = (response: Json, more: JsonObject = {}): JsonObject => ({
  'x-mediator-urn': 'urn:other',
  status: 'Successful',
  response,
  ...more,
})
const jsonResponse = (body: string, more: JsonObject = {}): JsonObject => ({
  status: 200,
  headers: { 'Content-Type': 'application/json', 'X-Inner': 'yes' },
  body,
  timestamp: AT,
  ...more,
})

/** What the upstream answers: to the path of a case's name. */
let answers: Readonly<Record<string, Readonly<{ status?: number; type?: string; body: string }>>> = {}
let upstream: Upstream
let service: Service

before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    const {
      status = 200,
      type = OPENHIM,
      body,
    } = answers[decodeURIComponent(url.slice(1))] ?? { status: 404, body: '{}' }
    response.writeHead(status, { 'content-type': type, 'x-outer': 'yes' }).end(body)
    return undefined
  })
  service = await startMediating()
  await service.register(lookingAt(upstream.url))
})
after(async () => {
  await service?.stop()
  await upstream?.stop()
})

const lookingAt = (url: string): JsonObject => ({
  endpoint: { pattern: '/look/:name' },
  inputMapping: {
    'lookupRequests.other.data': 'data',
    'lookupRequests.other.headers.x-inner': 'inner',
    'lookupRequests.other.headers.x-outer': 'outer',
  },
  requests: {
    lookup: [
      {
        id: 'other',
        config: { method: 'GET', url: `${url}/:name`, params: { url: { name: { path: 'urlParams.name' } } } },
        allowedStatuses: ['2xx', '410'],
      },
    ],
  },
})

const plain = (value: JsonObject) => ({ data: value, outer: 'yes' })

const cases: Readonly<
  Record<
    string,
    Readonly<{
      status?: number
      type?: string
      value: JsonObject
      expect: readonly [status: number, body: JsonObject | RegExp]
    }>
  >
> = {
  JSON: { value: wrapper(jsonResponse('{"a":1}')), expect: [200, { data: { a: 1 }, inner: 'yes' }] },
  'XML, whatever encoding it declares': {
    value: wrapper({
      headers: { 'content-type': 'text/xml; charset=iso-8859-1' },
      body: '<?xml version="1.0" encoding="ISO-8859-1"?><p><n>ü</n></p>',
    }),
    expect: [200, { data: { n: 'ü' } }],
  },
  text: { value: wrapper({ headers: {}, body: 'plain ü' }), expect: [200, { data: 'plain ü' }] },
  'JSON without a type': { value: wrapper({ body: '[1]' }), expect: [200, { data: [1] }] },
  'no body': { value: wrapper({ status: 204 }), expect: [200, {}] },
  'a length and a coding that no longer hold': {
    value: wrapper(
      jsonResponse('{"a":1}', {
        headers: { 'content-type': 'application/json', 'content-length': '99', 'content-encoding': 'gzip' },
      }),
    ),
    expect: [200, { data: { a: 1 } }],
  },
  'an inner status that is allowed': {
    status: 500,
    value: wrapper(jsonResponse('{"gone":true}', { status: 410 })),
    expect: [200, { data: { gone: true }, inner: 'yes' }],
  },
  'an inner status that is not allowed': {
    value: wrapper(jsonResponse('{"no":1}', { status: '409' })),
    expect: [409, /answered 409 to GET http:\S+: \{\\"no\\":1\}/],
  },
  'no inner status': { status: 409, value: wrapper({ body: '{}' }), expect: [409, /answered 409 to GET http/] },
  'no urn': { value: { response: { body: 'a' } }, expect: [200, plain({ response: { body: 'a' } })] },
  'no response': { value: { 'x-mediator-urn': 'a' }, expect: [200, plain({ 'x-mediator-urn': 'a' })] },
  'a response of a wrong type': { value: wrapper([]), expect: [200, plain(wrapper([]))] },
  'a body of a wrong type': { value: wrapper({ body: { a: 1 } }), expect: [200, plain(wrapper({ body: { a: 1 } }))] },
  'a wrong status': { value: wrapper({ status: 2_000 }), expect: [200, plain(wrapper({ status: 2_000 }))] },
  'wrong headers': { value: wrapper({ headers: 'a' }), expect: [200, plain(wrapper({ headers: 'a' }))] },
  'another type': {
    type: 'application/json',
    value: wrapper(jsonResponse('{}')),
    expect: [200, plain(wrapper(jsonResponse('{}')))],
  },
}

describe('a lookup reads what a mediator answered', () => {
  before(() => {
    answers = {
      ...Object.fromEntries(
        Object.entries(cases).map(([name, { status = 200, type = OPENHIM, value }]) => [
          name,
          { status, type, body: JSON.stringify(value) },
        ]),
      ),
      orchestrations: { body: JSON.stringify(withOrchestrations) },
      unreadable: { body: '{"x-mediator-urn"' },
    }
  })

  for (const [name, { expect }] of Object.entries(cases)) {
    test(name, async () => {
      const reply = await service.fetch(`/look/${encodeURIComponent(name)}`, json('POST', {}))
      const [status, body] = expect
      assert.equal(reply.status, status, reply.text)
      if (body instanceof RegExp) assert.match(reply.text, body)
      else assert.deepEqual(reply.json(), body)
    })
  }

  test('unless it cannot be read', async () => {
    const reply = await service.fetch('/look/unreadable', json('POST', {}))
    assert.deepEqual([reply.status, reply.json().code], [502, 'LOOKUP_UNREADABLE'])
  })

  test('and not outside of the mediator mode', async () => {
    const off = await startService()
    try {
      await off.register(lookingAt(upstream.url))
      const reply = await off.fetch('/look/JSON', json('POST', {}))
      assert.deepEqual(reply.json(), plain(wrapper(jsonResponse('{"a":1}'))))
    } finally {
      await off.stop()
    }
  })

  test('and the core gets the orchestrations of that mediator after those of the message', async () => {
    const { orchestrations, ...rest } = wrapperOf(
      await service.fetch('/look/orchestrations', json('POST', {}, TRANSACTION)),
    )
    assert.deepEqual(wrapperFaults({ orchestrations, ...rest }), [])
    assert.deepEqual(
      orchestrations.map(({ name, request }) => [name, request?.path, request?.querystring, request?.port]),
      [
        ['other', '/orchestrations', '', new URL(upstream.url).port],
        ['first', '/a', 'b=1&token=***', '8080'],
        ['second', '/a', 'c=2', ''],
        ['without times', '', '', ''],
        ['without a request', undefined, undefined, undefined],
      ],
    )
    const [own, first, , untimed, none] = orchestrations
    assert.equal(own?.response?.status, 200)
    assert.deepEqual(first?.request.headers, { authorization: '***', 'x．y': '1', many: ['a', 'b'] })
    assert.deepEqual(first?.response?.timestamp, '2026-01-01T00:00:00.000Z')
    assert.equal(untimed?.request.timestamp, own?.request.timestamp)
    assert.deepEqual(none?.error, { message: 'it failed' })
  })
})

const withOrchestrations = wrapper(jsonResponse('{}'), {
  orchestrations: [
    {
      name: 'first',
      request: {
        host: 'h',
        port: 8080,
        path: '/a?b=1&token=hidden-token',
        method: 'GET',
        headers: { Authorization: 'Basic hidden', 'x.y': 1, many: ['a', 'b'], nothing: null, deep: {} },
        timestamp: Date.parse(AT),
      },
      response: { status: 200, headers: {}, body: 17, timestamp: AT },
    },
    { name: 'second', request: { path: '/a', queryString: 'c=2', timestamp: AT } },
    { name: 'without times', request: { timestamp: 'yesterday' }, response: { status: 'odd' } },
    { name: 'without a request', error: { message: 'it failed', stack: 'at' } },
    { name: '', request: {} },
    { request: {} },
    'no object',
    null,
  ],
})

describe('whatever an upstream answers', () => {
  const anyJson = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as Json)
  const part = fc.oneof(anyJson, fc.constant('text'), fc.constant({}), fc.integer(), fc.constant(null))
  const almost = fc.record(
    {
      'x-mediator-urn': fc.oneof(fc.constant('urn:other'), anyJson),
      response: fc.oneof(
        fc.record(
          {
            status: fc.oneof(fc.integer({ min: 90, max: 610 }), part),
            headers: fc.oneof(fc.dictionary(fc.string(), part), part),
            body: part,
          },
          { requiredKeys: [] },
        ),
        anyJson,
      ),
      orchestrations: fc.oneof(fc.array(part), anyJson),
    },
    { requiredKeys: [] },
  )
  const body = fc.oneof(
    almost.map((value) => Buffer.from(JSON.stringify(value))),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  )

  test('it is a wrapper with the right types, or goes on as it is', () => {
    fc.assert(
      fc.property(body, (bytes) => {
        const answer = { status: 207, headers: { 'content-type': OPENHIM }, body: bytes }
        const read = readWrapper(OPENHIM, bytes)
        const taken = withoutWrapper(answer)
        if (read === undefined) return taken === answer
        assert.equal(taken.status, read.status ?? 207)
        assert.equal(Buffer.from(taken.body).toString(), read.body.toWellFormed())
        for (const one of Object.values(taken.headers).flat()) assert.equal(typeof one, 'string')
        for (const one of taken.orchestrations ?? []) assert.equal(typeof one, 'object')
        return true
      }),
      { numRuns: 500 },
    )
  })
})
