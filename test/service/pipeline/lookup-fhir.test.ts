import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { issuesIn } from './fhir/operation-outcomes.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  /** `/<status>` answers that status, `/reset` breaks the connection, `/broken` is not what it declares. */
  upstream = await startUpstream(({ url }, response) => {
    if (url === '/reset') response.destroy()
    if (/^\/\d{3}$/.test(url)) response.statusCode = Number(url.slice(1))
    response.setHeader('content-type', 'application/json')
    response.end(url === '/broken' ? '{' : '{"a":"<b>"}')
    return undefined
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** Registers an endpoint with lookups that are given by their paths on the upstream, and sends it a message. */
async function send(lookups: readonly JsonObject[], output = 'JSON') {
  routes += 1
  const lookup = lookups.map(({ url, params, ...rest }, index) => ({
    id: `l${index}`,
    config: { url: `${upstream.url}${url}`, ...(params === undefined ? {} : { params }) },
    ...rest,
  }))
  await service.register({
    endpoint: { pattern: `/fhir-${routes}` },
    transformation: { input: 'JSON', output },
    requests: { lookup },
    constants: { items: ['a', '404'] },
  })
  return service.fetch(`/fhir-${routes}`, json('POST', {}))
}

const cases: { name: string; lookup: JsonObject; status: number; type: string }[] = [
  { name: 'an unknown resource', lookup: { url: '/404' }, status: 404, type: 'not-found' },
  { name: 'a refused caller', lookup: { url: '/401' }, status: 401, type: 'security' },
  { name: 'a conflict', lookup: { url: '/409' }, status: 409, type: 'conflict' },
  { name: 'too many calls', lookup: { url: '/429' }, status: 429, type: 'throttled' },
  { name: 'a refusal that is no failure', lookup: { url: '/302' }, status: 502, type: 'transient' },
  { name: 'an answer cut off', lookup: { url: '/reset' }, status: 502, type: 'transient' },
  { name: 'an unreadable answer', lookup: { url: '/broken' }, status: 502, type: 'processing' },
  {
    name: 'a parameter without value',
    lookup: { url: '/:id', params: { url: { id: { path: 'payload.missing' } } } },
    status: 400,
    type: 'value',
  },
  {
    name: 'a forEach over no array',
    lookup: { url: '/a', forEach: { items: 'payload.missing' } },
    status: 400,
    type: 'value',
  },
  {
    name: 'an item of a forEach',
    lookup: {
      url: '/:id',
      params: { url: { id: { path: 'item' } } },
      forEach: { items: 'constants.items' },
    },
    status: 404,
    type: 'not-found',
  },
]
for (const { name, lookup, status, type } of cases) {
  it(`answers with an OperationOutcome: ${name}`, async () => {
    const reply = await send([{ fhirResponse: true, ...lookup }])
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, 'application/fhir+json'])
    const issues = issuesIn(reply.text)
    assert.deepEqual(
      issues.map(({ severity, code }) => [severity, code]),
      [['error', type]],
    )
  })
}

it('answers in JSON where the output is XML, as an OperationOutcome is a resource in JSON', async () => {
  const reply = await send([{ url: '/404', fhirResponse: true }], 'XML')
  assert.deepEqual([reply.status, reply.headers.get('content-type')], [404, 'application/fhir+json'])
  assert.equal(issuesIn(reply.text)[0]?.code, 'not-found')
})

it('is for the lookup that asks for it alone', async () => {
  const reply = await send([{ url: '/404' }, { url: '/409', fhirResponse: true }])
  assert.deepEqual([reply.status, reply.json().code, reply.json().path], [404, 'LOOKUP_REFUSED', 'requests.lookup[0]'])
})

it('changes no success', async () => {
  const reply = await send([{ url: '/a', fhirResponse: true }])
  assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
})
