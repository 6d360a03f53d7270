/** The OpenAPI documents of active endpoints over HTTP. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import {
  endpointDocument,
  json,
  type Reply,
  type Service,
  type StoredEndpoint,
  startService,
} from '../../../support/service.ts'
import { assertValid, type OpenApi } from '../../../support/try/openapi/documents.ts'

const ALL = '/endpoints/openapi.json'

async function registerMany(service: Service, count: number): Promise<void> {
  const operations = Array.from({ length: count }, (_, index) => ({
    op: 'create',
    document: endpointDocument({ endpoint: { pattern: `/many/${index}` }, labels: { team: 'many' } }),
  }))
  const stored = await service.fetch('/endpoints/batch', json('POST', { operations }))
  assert.equal(stored.status, 200, stored.text)
}

describe('OpenAPI of what is live', () => {
  let service: Service
  let orders: StoredEndpoint
  before(async () => {
    service = await startService({ SERVER_PORT: '0' })
    orders = await service.register({
      name: 'orders',
      description: 'Takes orders.',
      labels: { team: 'lab' },
      endpoint: { pattern: '/orders/:ward/', method: 'POST' },
      idempotency: {},
      inputValidation: {
        required: ['query'],
        properties: {
          requestBody: { type: 'object', required: ['code'], properties: { code: { $ref: '#/definitions/code' } } },
          query: { required: ['urgent'], properties: { urgent: { enum: ['yes', 'no'] } } },
        },
        definitions: { code: { type: 'string', minLength: 2 } },
      },
      inputMapping: { 'requestBody.code': 'code', 'query.page': 'page', 'requestHeaders.X-Site': 'site' },
    })
    await service.register({
      name: 'order status',
      labels: { team: 'ward' },
      endpoint: { pattern: '/orders/:id', method: 'GET' },
      transformation: { output: 'XML' },
    })
  })
  after(() => service.stop())

  const get = async (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    service.fetch(path, { headers })

  test('describes every endpoint, the same on both ports, and is valid', async () => {
    const reply = await get(ALL)
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'application/json')
    const document = reply.json<OpenApi>()
    await assertValid(document, 'both')
    assert.deepEqual(Object.keys(document.paths), ['/orders/{ward}'])
    assert.deepEqual(Object.keys(document.paths['/orders/{ward}'] ?? {}), ['parameters', 'post', 'get'])
    assert.equal(await (await fetch(`${service.adminUrl}${ALL}`)).text(), reply.text)
  })

  test('describes parameters, the body and the failures', async () => {
    const { paths, components } = (await get(`/endpoints/${orders._id}/openapi.json`)).json<OpenApi>()
    const { parameters, post } = paths['/orders/{ward}'] as unknown as { parameters: JsonObject[]; post: JsonObject }
    const place = '#/components/schemas/orders.message/properties'
    const schema = { type: 'string', minLength: 1, 'x-crosswalk-source': 'endpoint.pattern' }
    assert.deepEqual(parameters, [{ name: 'ward', in: 'path', required: true, schema }])
    assert.deepEqual([post.operationId, post.description], ['orders', 'Takes orders.'])
    assert.deepEqual(
      (post.parameters as JsonObject[]).map((one) => [one.in, one.name, one.required]),
      [
        ['query', 'urgent', true],
        ['query', 'page', undefined],
        ['header', 'x-site', undefined],
        ['header', 'Idempotency-Key', undefined],
      ],
    )
    assert.deepEqual(post.requestBody, {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/orders.body' } } },
    })
    assert.deepEqual(components.schemas?.['orders.body'], {
      $ref: `${place}/requestBody`,
      'x-crosswalk-source': 'inputValidation',
    })
    assert.deepEqual(components.schemas?.['orders.message']?.$defs, { code: { type: 'string', minLength: 2 } })
    const codes = Object.values(components.responses ?? {}).flatMap((one) => one['x-crosswalk-codes'])
    for (const code of ['VALIDATION_FAILED', 'IDEMPOTENCY_KEY_REUSED', 'BODY_UNREADABLE'])
      assert.ok(codes.includes(code), code)
    for (const code of ['LOOKUP_REFUSED', 'CREDENTIALS_REFUSED', 'RATE_LIMITED']) assert.ok(!codes.includes(code), code)
    const statuses = Object.keys(post.responses as JsonObject).sort()
    assert.equal(statuses.join(' '), '200 400 408 409 413 415 417 422 431 500 503 504')
  })

  test('has a strong ETag, and answers 304 until an endpoint changes', async () => {
    const one = `/endpoints/${orders._id}/openapi.json`
    for (const path of [ALL, one]) {
      const etag = (await get(path)).headers.get('etag') ?? ''
      assert.match(etag, /^"[\w-]{43}"$/)
      const unchanged = await get(path, { 'if-none-match': etag })
      assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.get('etag')], [304, '', etag])
      const summary = `changed for ${path}`
      await service.fetch(`/endpoints/${orders._id}`, json('PATCH', { description: summary }))
      const changed = await get(path, { 'if-none-match': etag })
      assert.equal(changed.status, 200)
      assert.ok(changed.text.includes(summary))
    }
  })

  test('takes the filters of GET /endpoints', async () => {
    const pathsOf = async (query: string) => {
      const { paths } = (await get(`${ALL}?${query}`)).json<OpenApi>()
      return Object.values(paths).flatMap((path) => Object.keys(path).filter((name) => name !== 'parameters'))
    }
    assert.deepEqual(await pathsOf('labels.team=lab'), ['post'])
    assert.deepEqual(await pathsOf('labels.team=ward&endpoint.method=GET'), ['get'])
    assert.deepEqual(await pathsOf('labels.team=none'), [])
    const refused = await get(`${ALL}?a[=1`)
    assert.equal(refused.status, 400)
    assert.equal(refused.json().code, 'FILTER_INVALID')
  })

  test('a deleted endpoint is gone at once', async () => {
    const { _id } = await service.register({ endpoint: { pattern: '/passing' } })
    assert.ok((await get(ALL)).json<OpenApi>().paths['/passing'])
    await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
    assert.equal((await get(ALL)).json<OpenApi>().paths['/passing'], undefined)
    assert.equal((await get(`/endpoints/${_id}/openapi.json`)).status, 404)
  })

  test('refuses what is no endpoint', async () => {
    for (const [id, status, code] of [
      ['x', 400, 'ID_MALFORMED'],
      ['0123456789abcdef01234567', 404, 'ENDPOINT_UNKNOWN'],
    ] as const) {
      const reply = await get(`/endpoints/${id}/openapi.json`)
      assert.deepEqual([reply.status, reply.json().code], [status, code])
    }
  })

  test('gives every caller the same document of a thousand endpoints, and answers messages sent meanwhile', async () => {
    await registerMany(service, 1_000)
    const described = [1, 2].map(() => get(`${ALL}?labels.team=many`))
    const messages = await Promise.all(
      Array.from({ length: 20 }, () => service.fetch('/many/7', json('POST', { a: 1 }))),
    )
    assert.ok(messages.every(({ status }) => status === 200))
    const [document, same] = await Promise.all(described)
    assert.equal(Object.keys(document?.json<OpenApi>().paths ?? {}).length, 1_000)
    assert.equal(same?.text, document?.text)
  })

  test('a caller who leaves is no fault, and the next one gets the document', async () => {
    for (let count = 0; count < 3; count += 1) {
      // So that no document is kept.
      await service.fetch(`/endpoints/${orders._id}`, json('PATCH', { description: `change ${count}` }))
      const left = new AbortController()
      const before = get(`${ALL}?labels.team=many`)
      const reading = fetch(`${service.url}${ALL}`, { signal: left.signal })
      await before
      left.abort()
      await Promise.allSettled([reading])
      assert.equal((await get(ALL)).status, 200)
    }
    assert.deepEqual(
      service.log.filter(({ level }) => level === 'error'),
      [],
    )
  })
})
