import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { describeSandboxes } from '../contracts/sandboxes.ts'

describeSandboxes(({ env }) => {
  let upstream: Upstream
  const services: Record<string, Service> = {}
  before(async () => {
    upstream = await startUpstream(({ url }) => ({ status: url.slice(1), size: '3' }))
    services.plain = await startService({ ...env })
    services.nulls = await startService({ ...env, VALIDATION_ACCEPT_NULL_VALUES: 'true' })
    services.coerce = await startService({ ...env, VALIDATION_COERCE_TYPES: 'true' })
  })
  after(async () => {
    await Promise.all(Object.values(services).map((service) => service.stop()))
    await upstream.stop()
  })

  let routes = 0

  async function send(
    inputValidation: JsonObject,
    body: Json,
    options: { on?: string; more?: JsonObject; query?: string } = {},
  ) {
    const service = services[options.on ?? 'plain'] as Service
    routes += 1
    const pattern = `/validated-${routes}`
    await service.register({ endpoint: { pattern }, inputValidation, ...options.more })
    return service.fetch(`${pattern}${options.query ?? ''}`, json('POST', body))
  }

  const weight = {
    required: ['name'],
    properties: { name: { type: 'string' }, weight: { type: 'number', min: 0.1, max: 650 } },
  }
  const inParts = { properties: { requestBody: { required: ['name'] } } }
  const byRef = { $ref: '#/definitions/message', definitions: { message: inParts } }
  const modern = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    properties: { pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } },
    dependentRequired: { a: ['b'] },
  }

  /**
   * `faults`: the JSON Pointers that `details` must name, in any order; none where the message is accepted. `at`: where the
   * schema refuses it first.
   */
  type Case = { name: string; schema: JsonObject; body: Json; faults: string[]; at?: string; on?: string }

  describe('a schema', () => {
    const cases: Case[] = [
      {
        name: 'accepts the message that it describes',
        schema: { required: ['name'] },
        body: { name: 'a' },
        faults: [],
      },
      { name: 'accepts the body where it speaks of the body', schema: inParts, body: { name: 'a' }, faults: [] },
      { name: 'refuses the message', schema: { required: ['name'] }, body: {}, faults: ['/name'], at: 'required[0]' },
      {
        name: 'refuses the body',
        schema: inParts,
        body: {},
        faults: ['/requestBody/name'],
        at: 'properties.requestBody.required[0]',
      },
      { name: 'accepts a value in the range', schema: weight, body: { name: 'a', weight: 0.1 }, faults: [] },
      { name: 'accepts a missing value with a range', schema: weight, body: { name: 'a' }, faults: [] },
      {
        name: 'refuses a value below min',
        schema: weight,
        body: { name: 'a', weight: 0 },
        faults: ['/weight'],
        at: 'properties.weight.min',
      },
      {
        name: 'refuses a value above max',
        schema: weight,
        body: { name: 'a', weight: 650.1 },
        faults: ['/weight'],
        at: 'properties.weight.max',
      },
      {
        name: 'names every fault',
        schema: weight,
        body: { weight: 'x', name: 1 },
        faults: ['/name', '/weight'],
        at: 'properties.name.type',
      },
      { name: 'speaks of parts by `required`', schema: { required: ['requestBody'] }, body: {}, faults: [] },
      {
        name: 'speaks of parts by a root $ref',
        schema: byRef,
        body: {},
        faults: ['/requestBody/name'],
        at: 'definitions.message.properties.requestBody.required[0]',
      },
      {
        name: 'speaks of parts in allOf',
        schema: { allOf: [inParts] },
        body: {},
        faults: ['/requestBody/name'],
        at: 'allOf[0].properties.requestBody.required[0]',
      },
      { name: 'speaks of parts in anyOf', schema: { anyOf: [inParts] }, body: { name: 1 }, faults: [] },
      { name: 'speaks of parts in oneOf', schema: { oneOf: [{ allOf: [inParts] }] }, body: { name: 1 }, faults: [] },
      {
        name: 'describes the message where the names are deeper only',
        schema: { properties: { inner: { required: ['query'] } } },
        body: { inner: {} },
        faults: ['/inner/query'],
        at: 'properties.inner.required[0]',
      },
      { name: 'escapes pointers', schema: { required: ['a/b~c'] }, body: {}, faults: ['/a~1b~0c'], at: 'required[0]' },
      {
        name: 'checks formats',
        schema: { properties: { d: { format: 'date' } } },
        body: { d: '2024-13-01' },
        faults: ['/d'],
        at: 'properties.d.format',
      },
      {
        name: 'refuses null',
        schema: { properties: { a: { type: 'string' } } },
        body: { a: null },
        faults: ['/a'],
        at: 'properties.a.type',
      },
      {
        name: 'accepts null where it is nullable',
        schema: { properties: { a: { type: 'string', nullable: true } } },
        body: { a: null },
        faults: [],
      },
      {
        name: 'is of draft 2020-12',
        schema: modern,
        body: { pair: ['a', 1, 2], a: 1 },
        faults: ['/pair', '/b'],
        at: 'properties.pair.items',
      },
      {
        name: 'is of draft-07 unless it says otherwise',
        schema: { properties: { pair: { items: [{ type: 'string' }, { type: 'number' }] } } },
        body: { pair: ['a', 'b'] },
        faults: ['/pair/1'],
        at: 'properties.pair.items[1].type',
      },
      {
        name: 'is not coerced',
        schema: { properties: { n: { type: 'number' } } },
        body: { n: '1' },
        faults: ['/n'],
        at: 'properties.n.type',
      },
      { name: 'lets null pass any type', schema: weight, body: { name: null, weight: null }, faults: [], on: 'nulls' },
      {
        name: 'still wants the field',
        schema: weight,
        body: { weight: null },
        faults: ['/name'],
        at: 'required[0]',
        on: 'nulls',
      },
      {
        name: 'cannot coerce everything',
        schema: weight,
        body: { name: 'a', weight: 'heavy' },
        faults: ['/weight'],
        at: 'properties.weight.type',
        on: 'coerce',
      },
      {
        name: 'checks the coerced value',
        schema: weight,
        body: { name: 'a', weight: '651' },
        faults: ['/weight'],
        at: 'properties.weight.max',
        on: 'coerce',
      },
    ]
    for (const { name, schema, body, faults, at, on = 'plain' } of cases) {
      it(`${name} (${on})`, async () => {
        const reply = await send(schema, body, { on })
        if (faults.length === 0) {
          assert.deepEqual([reply.status, reply.json()], [200, body])
          return
        }
        const { error, code, stage, path, details } = reply.json<{
          error: string
          code: string
          stage: string
          path: string
          details: { path: string; message: string }[]
        }>()
        const expected = [400, 'VALIDATION_FAILED', 'validate', `inputValidation.${at}`]
        assert.deepEqual([reply.status, code, stage, path], expected)
        assert.deepEqual(details.map((detail) => detail.path).toSorted(), faults.toSorted())
        assert.ok(error.startsWith('Validation failed: '), error)
        for (const detail of details) assert.ok(error.includes(detail.message), `${error} reports ${detail.message}`)
      })
    }
  })

  describe('errorMessage', () => {
    const cases = [
      {
        name: 'a text',
        schema: { required: ['name'], errorMessage: 'Give the patient a name' },
        details: [{ path: '/name', message: 'Give the patient a name' }],
      },
      {
        name: 'one for a field',
        schema: { properties: { age: { type: 'number', errorMessage: 'Age in years' } } },
        details: [{ path: '/age', message: 'Age in years' }],
      },
      {
        name: 'an object by keyword',
        schema: { required: ['name', 'id'], errorMessage: { required: { name: 'No name', id: 'No id' } } },
        details: [
          { path: '/name', message: 'No name' },
          { path: '/id', message: 'No id' },
        ],
      },
    ]
    for (const { name, schema, details } of cases) {
      it(`is ${name}`, async () => {
        const reply = await send(schema, { age: 'old' })
        assert.deepEqual(reply.json().details, details)
        assert.equal(reply.json().error, `Validation failed: ${details.map(({ message }) => message).join('; ')}.`)
      })
    }
  })

  describe('the parts of a message', () => {
    const lookup = (path: string) => ({ requests: { lookup: { id: 'p', config: { url: `${upstream.url}/${path}` } } } })
    const known = {
      properties: {
        lookupRequests: { properties: { p: { properties: { data: { properties: { status: { const: 'ok' } } } } } } },
      },
    }
    const both = {
      properties: {
        requestBody: { required: ['name'] },
        lookupRequests: { properties: { p: { properties: { data: { required: ['a', 'b'] } } } } },
      },
    }
    const inWords = { ...both, errorMessage: { properties: { lookupRequests: 'The registry is wrong.' } } }
    const ofLookup = (p: JsonObject) => ({ properties: { lookupRequests: { properties: { p } } } })
    const lookupBy = (keyword: string, ...parts: JsonObject[]) => ({ [keyword]: parts.map(ofLookup) })
    const beds = { properties: { data: { required: ['beds'] } } }
    const inTwoWords = { ...both, errorMessage: 'Something is wrong.' }
    const manyFaults = {
      properties: {
        lookupRequests: { properties: { p: { required: Array.from({ length: 150 }, (_, nr) => `n${nr}`) } } },
        requestBody: { required: ['name'] },
      },
    }
    const paged = { properties: { query: { required: ['page'], properties: { page: { pattern: '^\\d+$' } } } } }
    const cases: readonly {
      name: string
      schema: JsonObject
      asks?: string
      body?: Json
      query?: string
      faults: readonly string[] | undefined
      /** The status, where it is not the sender who is to blame. */
      status?: 502
    }[] = [
      { name: 'a lookup that fits', schema: known, asks: 'ok', faults: undefined },
      {
        name: 'a lookup that does not',
        schema: known,
        asks: 'bad',
        faults: ['/lookupRequests/p/data/status'],
        status: 502,
      },
      {
        name: 'a lookup and a body that do not',
        schema: both,
        asks: 'bad',
        faults: ['/lookupRequests/p/data/a', '/lookupRequests/p/data/b', '/requestBody/name'],
      },
      {
        name: 'a lookup whose faults have a sentence of their own',
        schema: inWords,
        asks: 'bad',
        body: { name: 'a' },
        faults: ['/lookupRequests/p/data'],
        status: 502,
      },
      ...['anyOf', 'oneOf'].map((keyword) => ({
        name: `a lookup with ${keyword} at the root`,
        schema: lookupBy(keyword, beds),
        asks: 'bad',
        faults: ['', '/lookupRequests/p/data/beds'],
        status: 502 as const,
      })),
      {
        name: 'a lookup with more faults in anyOf than are listed',
        schema: lookupBy('anyOf', manyFaults.properties.lookupRequests.properties.p),
        asks: 'bad',
        faults: [...Array.from({ length: 100 }, (_, nr) => `/lookupRequests/p/n${nr}`), '/lookupRequests/p'],
        status: 502,
      },
      {
        name: 'a lookup with anyOf that has a sentence of its own',
        schema: { ...lookupBy('anyOf', beds), errorMessage: 'The registry is wrong.' },
        asks: 'bad',
        faults: ['/lookupRequests/p/data/beds'],
        status: 502,
      },
      { name: 'a lookup that fits two of oneOf', schema: lookupBy('oneOf', {}, {}), asks: 'bad', faults: [''] },
      {
        name: 'a lookup or a body, in anyOf',
        schema: { anyOf: [ofLookup(beds), { properties: { requestBody: { required: ['name'] } } }] },
        asks: 'bad',
        faults: ['', '/lookupRequests/p/data/beds', '/requestBody/name'],
      },
      { name: 'a lookup and a body that share a sentence', schema: inTwoWords, asks: 'bad', faults: [''] },
      {
        name: 'a lookup with more faults than are listed',
        schema: manyFaults,
        asks: 'bad',
        body: { name: 'a' },
        faults: [...Array.from({ length: 100 }, (_, nr) => `/lookupRequests/p/n${nr}`), '/lookupRequests/p'],
        status: 502,
      },
      {
        name: 'a lookup with more faults than are listed, and a body with one that is not',
        schema: manyFaults,
        asks: 'bad',
        faults: [...Array.from({ length: 100 }, (_, nr) => `/lookupRequests/p/n${nr}`), ''],
      },
      { name: 'a query that fits', schema: paged, query: '?page=12', faults: undefined },
      { name: 'a query that does not', schema: paged, query: '?page=x', faults: ['/query/page'] },
      { name: 'no query at all, which has nothing that could be wrong', schema: paged, faults: undefined },
      { name: 'a query that is required', schema: { ...paged, required: ['query'] }, faults: ['/query'] },
    ]
    for (const { name, schema, faults, asks, body = {}, query, status = 400 } of cases) {
      it(`are checked: ${name}`, async () => {
        const more = asks === undefined ? {} : lookup(asks)
        const reply = await send(schema, body, { more, ...(query === undefined ? {} : { query }) })
        const { details, code } = reply.json<{ details?: { path: string }[]; code?: string }>()
        const expected = [status, status === 502 ? 'LOOKUP_INVALID' : 'VALIDATION_FAILED']
        assert.deepEqual([reply.status, code], faults ? expected : [200, undefined])
        assert.deepEqual(details?.map(({ path }) => path).toSorted(), faults?.toSorted())
      })
    }

    const guards: readonly { part: string; method: string; query?: string; looksUp?: true; there: boolean }[] = [
      { part: 'query', method: 'POST', there: false },
      { part: 'query', method: 'POST', query: '?', there: false },
      { part: 'query', method: 'GET', query: '?a=', there: true },
      { part: 'lookupRequests', method: 'POST', there: false },
      { part: 'lookupRequests', method: 'POST', looksUp: true, there: true },
      { part: 'requestBody', method: 'POST', there: true },
      { part: 'requestBody', method: 'PUT', there: true },
      { part: 'requestBody', method: 'GET', there: false },
      { part: 'requestBody', method: 'DELETE', query: '?a=1', looksUp: true, there: false },
    ]
    for (const { part, method, query = '', looksUp, there } of guards) {
      const of = `${method}${query}${looksUp ? ' with a lookup' : ''}`
      for (const on of ['plain', 'coerce']) {
        it(`${there ? 'have' : 'lack'} ${part} for ${of} (${on})`, async () => {
          const service = services[on] as Service
          routes += 1
          const pattern = `/guarded-${routes}`
          const more = looksUp ? lookup('ok') : {}
          const absent = { properties: { [part]: false } }
          for (const [schema, accepted] of [
            [{ required: [part] }, there],
            [absent, !there],
          ] as const) {
            const { _id } = await service.register({ endpoint: { pattern, method }, inputValidation: schema, ...more })
            const hasBody = method === 'POST' || method === 'PUT'
            const reply = await service.fetch(`${pattern}${query}`, hasBody ? json(method, undefined) : { method })
            const refused = part === 'lookupRequests' && there ? [502, 'LOOKUP_INVALID'] : [400, 'VALIDATION_FAILED']
            assert.deepEqual([reply.status, reply.json().code], accepted ? [200, undefined] : refused)
            await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
          }
        })
      }
    }

    it('hold no constants', async () => {
      const more = { constants: { name: 'x' } }
      const reply = await send({ required: ['constants'] }, {}, { more })
      assert.equal(reply.status, 400)
    })
  })

  describe('coerced values', () => {
    const more = {
      inputTransforms: { twice: 'requestBody.weight * 2' },
      inputMapping: { requestBody: 'body', transforms: 't' },
    }

    it('go on, where the schema describes the message', async () => {
      const reply = await send(weight, { name: 7, weight: '2.5', other: '1' }, { on: 'coerce', more })
      assert.deepEqual(reply.json(), { body: { name: '7', weight: 2.5, other: '1' }, t: { twice: 5 } })
    })

    it('go on, where it speaks of the parts', async () => {
      const number = { type: 'number' }
      const size = { properties: { data: { properties: { size: number } } } }
      const schema = {
        properties: {
          requestBody: { properties: { n: number } },
          query: { properties: { page: number } },
          lookupRequests: { properties: { p: size } },
        },
      }
      const inputMapping = { 'requestBody.n': 'n', 'query.page': 'page', 'lookupRequests.p.data.size': 'size' }
      const requests = { lookup: { id: 'p', config: { url: `${upstream.url}/x` } } }
      const reply = await send(schema, { n: '1' }, { on: 'coerce', more: { inputMapping, requests }, query: '?page=2' })
      assert.deepEqual(reply.json(), { n: 1, page: 2, size: 3 })
    })
  })

  it('never fetches a remote $ref', async () => {
    const reached = upstream.received.length
    await assert.rejects(send({ $ref: `${upstream.url}/schema.json` }, {}), /never fetched/)
    assert.equal(upstream.received.length, reached)
  })
})
