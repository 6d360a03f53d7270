/** Documents as other services return them: their placeholders for fields that are not set are never stored. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../../../src/domain/json.ts'
import { endpointDocument, json, type Service, type StoredEndpoint, startService } from '../../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const NOTHING = { forEach: {}, allowedStatuses: [], _id: '6b03322a477d2b1a1437990d' }
const handedOut = {
  lookup: {
    id: 'l',
    ...NOTHING,
    config: {
      url: 'http://127.0.0.1:9/a',
      params: { query: { _id: { path: 'query.id', prefix: null, postfix: null } } },
    },
  },
  response: [{ id: 'r', ...NOTHING, config: { url: 'http://127.0.0.1:9/b', params: {} } }],
}
const stored = {
  lookup: [
    {
      id: 'l',
      config: { url: 'http://127.0.0.1:9/a', params: { query: { _id: { path: 'query.id' } } }, method: 'GET' },
    },
  ],
  response: [{ id: 'r', config: { url: 'http://127.0.0.1:9/b', method: 'POST' } }],
}

const send = (method: string, path: string, body: JsonObject) => service.fetch(path, json(method, body))
const requestsOf = async (id: string) => (await service.fetch(`/endpoints/${id}`)).json<StoredEndpoint>().requests

describe('what stands for nothing', () => {
  test('is not stored by POST, PUT and PATCH', async () => {
    const document = endpointDocument({ endpoint: { pattern: '/handed-out' }, requests: handedOut })
    const created = await send('POST', '/endpoints', document)
    assert.equal(created.status, 201, created.text)
    assert.equal(created.headers.get('x-crosswalk-warnings'), null)
    const { _id } = created.json<StoredEndpoint>()
    assert.deepEqual(await requestsOf(_id), stored)
    const handedOutAgain = { lookup: [handedOut.lookup], response: handedOut.response[0] ?? {} }
    for (const requests of [handedOut, handedOutAgain]) {
      for (const method of ['PUT', 'PATCH']) {
        await send('PATCH', `/endpoints/${_id}`, { requests: { lookup: [], response: [] } })
        const changed = await send(method, `/endpoints/${_id}`, { ...document, requests })
        assert.equal(changed.status, 200, changed.text)
        assert.deepEqual(await requestsOf(_id), stored, method)
      }
    }
  })

  test('is no fault of a dry run', async () => {
    const endpoint = endpointDocument({ endpoint: { pattern: '/rehearsed' }, requests: handedOut })
    const reply = await send('POST', '/endpoints/dry-run', { endpoint, message: {}, lookups: { l: {} } })
    const { ran, lint } = reply.json<{ ran: boolean; lint: JsonObject }>()
    assert.deepEqual([ran, lint], [true, { errors: [], clashes: [], warnings: [] }])
  })
})

test('a document with an unknown field still has every fault reported', async () => {
  const document = endpointDocument({
    endpoint: { pattern: '/unknown' },
    requests: { lookup: { ...handedOut.lookup, _ids: 1, alowedStatuses: ['2xx'] }, key: 'x' },
  })
  const reply = await send('POST', '/endpoints', document)
  assert.equal(reply.status, 400)
  const { error, code, details } = reply.json<{ error: string; code: string; details: JsonObject[] }>()
  assert.equal(code, 'CONFIGURATION_INVALID')
  assert.match(error, /^[A-Z].*\.$/)
  assert.deepEqual(details, [
    { path: 'requests.lookup._ids', message: 'Unknown field "_ids".' },
    {
      path: 'requests.lookup.alowedStatuses',
      message: 'Unknown field "alowedStatuses"; did you mean "allowedStatuses"?',
    },
    { path: 'requests.key', message: 'Unknown field "key"; it belongs to "response".' },
  ])
})

test('a document is stored the same whatever of it stands for nothing', async () => {
  const addition = fc.constantFrom<readonly [string, JsonObject[string]]>(
    ['forEach', {}],
    ['allowedStatuses', []],
    ['_id', null],
    ['_id', { $oid: '1' }],
  )
  const plain = endpointDocument({ endpoint: { pattern: '/any' }, requests: stored })
  const { _id, requests } = await service.register(plain)
  await fc.assert(
    fc.asyncProperty(fc.array(addition, { maxLength: 4 }), fc.array(addition, { maxLength: 4 }), async (one, other) => {
      const with_ = (request: JsonObject | undefined, more: typeof one) => ({ ...request, ...Object.fromEntries(more) })
      const changed = await send('PUT', `/endpoints/${_id}`, {
        ...plain,
        requests: { lookup: [with_(stored.lookup[0], one)], response: [with_(stored.response[0], other)] },
      })
      assert.equal(changed.status, 200, changed.text)
      assert.deepEqual(changed.json().requests, requests)
    }),
    { numRuns: 30 },
  )
})
