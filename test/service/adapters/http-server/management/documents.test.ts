/** Reading and writing single documents: what is stored, what the service sets, what each method changes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../../src/domain/json.ts'
import {
  endpointDocument,
  json,
  type Reply,
  type Service,
  type StoredEndpoint,
  startService,
} from '../../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const send = (method: string, path: string, body?: Json) => service.fetch(path, json(method, body))
const read = async (id: string) => (await send('GET', `/endpoints/${id}`)).json<StoredEndpoint>()
const detailPaths = (reply: Reply) => reply.json<{ details: { path: string }[] }>().details.map(({ path }) => path)

/** A configuration that leaves no default in place. */
const rich = (pattern: string): JsonObject =>
  endpointDocument({
    description: 'Everything at once',
    labels: { team: 'lab', area: '' },
    endpoint: { pattern, method: 'PUT' },
    transformation: { input: 'XML', output: 'FHIR+JSON' },
    constants: { zero: 0, none: null, list: [1, [2]], 'a.b': { c: true } },
    inputMapping: { 'constants.list': 'list', 'requestBody.b': 'b', 'requestBody.a': 'a' },
    inputTransforms: { z: '1', a: 'transforms.z' },
    inputValidation: { type: 'object' },
    requests: {
      lookup: [{ id: 'one', config: { method: 'GET', url: 'http://127.0.0.1:9/a' } }],
      response: [{ id: 'two', config: { method: 'POST', url: 'http://127.0.0.1:9/b' } }],
    },
    state: {
      extract: { query: { page: 'page' } },
      config: { networkErrors: 'exclude', includeStatuses: ['2xx', 404] },
    },
  })

const DEFAULTS = {
  labels: {},
  inputMapping: {},
  constants: {},
  requests: { lookup: [], response: [] },
  state: { config: { networkErrors: 'no-filter', includeStatuses: [] } },
}

/** Without what the service sets. */
function configurationOf(stored: JsonObject): JsonObject {
  const { _id, createdAt, updatedAt, __v, ...configuration } = stored
  return configuration
}

describe('POST', () => {
  test('gives the stored document with every default and what the service sets', async () => {
    const document = endpointDocument({ endpoint: { pattern: '/created' } })
    const from = Date.now()
    const reply = await send('POST', '/endpoints', document)
    const stored = reply.json<StoredEndpoint>()
    assert.equal(reply.status, 201)
    const { _id, createdAt, updatedAt, __v } = stored
    assert.deepEqual(configurationOf(stored), {
      ...document,
      ...DEFAULTS,
      endpoint: { pattern: '/created', method: 'POST' },
    })
    assert.match(_id, /^[0-9a-f]{24}$/)
    assert.equal(__v, 0)
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(updatedAt, createdAt)
    assert.ok(Date.parse(createdAt) >= from && Date.parse(createdAt) <= Date.now(), createdAt)
    assert.equal(reply.headers.get('location'), `/endpoints/${_id}`)
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
  })

  test('stores what it answers: the next read gives the same bytes', async () => {
    const created = await send('POST', '/endpoints', rich('/same/bytes'))
    const location = created.headers.get('location') ?? ''
    assert.equal((await service.fetch(location)).text, created.text)
  })

  test('keeps what has no default as it was sent, in its order', async () => {
    const document = rich('/as/sent')
    const stored = await service.register(document)
    assert.equal(JSON.stringify(configurationOf(stored)), JSON.stringify(document))
  })

  test('keeps names that objects inherit as plain names', async () => {
    const text = `{"name":"inherited","endpoint":{"pattern":"/inherited"},"transformation":{"input":"JSON","output":"JSON"},
      "constants":{"__proto__":{"polluted":true},"constructor":1}}`
    const created = await service.fetch('/endpoints', { ...json('POST', undefined), body: text })
    assert.equal(created.status, 201, created.text)
    assert.match(created.text, /"constants":\{"__proto__":\{"polluted":true\},"constructor":1\}/)
    assert.equal((await service.fetch(created.headers.get('location') ?? '')).text, created.text)
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  })

  test('takes single requests and methods in any case, and stores their normal form', async () => {
    const { requests } = await service.register({
      endpoint: { pattern: '/normal' },
      requests: { lookup: { id: 'one', config: { method: 'get', url: 'http://127.0.0.1:9/' } } },
    })
    const one = { id: 'one', config: { method: 'GET', url: 'http://127.0.0.1:9/' } }
    assert.deepEqual(requests, { lookup: [one], response: [] })
  })

  test('gives ids that ascend', async () => {
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push((await service.register({ endpoint: { pattern: `/ids/${n}` } }))._id)
    assert.deepEqual(ids, [...ids].sort())
    assert.equal(new Set(ids).size, ids.length)
  })
})

describe('read-only fields in a body', () => {
  const forged = { _id: 'f'.repeat(24), createdAt: '1999-01-01T00:00:00.000Z', updatedAt: null, __v: 7 }
  const isReal = (stored: StoredEndpoint) => {
    assert.notEqual(stored._id, forged._id)
    assert.notEqual(stored.createdAt, forged.createdAt)
    assert.match(stored.updatedAt, /^20.*Z$/)
    assert.equal(stored.__v, 0)
  }
  for (const method of ['POST', 'PUT', 'PATCH']) {
    test(`are ignored by ${method}`, async () => {
      const document = endpointDocument({ endpoint: { pattern: `/forged/${method}` } })
      const path = method === 'POST' ? '/endpoints' : `/endpoints/${(await service.register(document))._id}`
      const reply = await send(method, path, { ...document, ...forged })
      assert.ok(reply.status === 200 || reply.status === 201, reply.text)
      isReal(reply.json())
      isReal(await read(reply.json<StoredEndpoint>()._id))
    })
  }
})

describe('PUT', () => {
  test('replaces the whole configuration: what is left out gets its default', async () => {
    const stored = await service.register(rich('/whole'))
    const next = endpointDocument({ endpoint: { pattern: '/whole' } })
    const reply = await send('PUT', `/endpoints/${stored._id}`, next)
    assert.equal(reply.status, 200)
    const replaced = reply.json<StoredEndpoint>()
    assert.deepEqual(configurationOf(replaced), {
      ...next,
      ...DEFAULTS,
      endpoint: { pattern: '/whole', method: 'POST' },
    })
    assert.equal(replaced._id, stored._id)
    assert.equal(replaced.createdAt, stored.createdAt)
    assert.equal(replaced.__v, 0)
    assert.deepEqual(await read(stored._id), replaced)
  })

  test('changes updatedAt each time', async () => {
    const stored = await service.register({ endpoint: { pattern: '/often' } })
    const seen = [stored.updatedAt]
    const replies = await Promise.all(Array.from({ length: 20 }, () => send('PUT', `/endpoints/${stored._id}`, stored)))
    for (const reply of replies) seen.push(reply.json<StoredEndpoint>().updatedAt)
    assert.equal(new Set(seen).size, 21)
    assert.ok(seen.every((one) => one >= stored.updatedAt))
  })

  test('takes back what GET gave', async () => {
    const { _id } = await service.register(rich('/back'))
    const before = await read(_id)
    const reply = await send('PUT', `/endpoints/${_id}`, before)
    assert.equal(reply.status, 200, reply.text)
    const { updatedAt, ...after } = reply.json<StoredEndpoint>()
    const { updatedAt: earlier, ...same } = before
    assert.equal(JSON.stringify(after), JSON.stringify(same))
    assert.ok(updatedAt > earlier)
  })

  test('moves the route', async () => {
    const stored = await service.register({ endpoint: { pattern: '/from' } })
    await send('PUT', `/endpoints/${stored._id}`, { ...stored, endpoint: { pattern: '/to' } })
    assert.equal((await send('POST', '/from', {})).status, 404)
    assert.equal((await send('POST', '/to', {})).status, 200)
  })
})

describe('PATCH', () => {
  const cases: readonly { name: string; patch: Json; changes: JsonObject }[] = [
    { name: 'merges objects', patch: { constants: { b: 3 } }, changes: { constants: { a: 1, b: 3, list: [1, 2] } } },
    {
      name: 'removes a member by null',
      patch: { constants: { a: null } },
      changes: { constants: { b: 2, list: [1, 2] } },
    },
    {
      name: 'replaces arrays whole',
      patch: { constants: { list: [3] } },
      changes: { constants: { a: 1, b: 2, list: [3] } },
    },
    { name: 'gives a removed field its default', patch: { constants: null, state: null }, changes: DEFAULTS },
    {
      name: 'gives a removed method its default',
      patch: { endpoint: { method: null } },
      changes: { endpoint: { pattern: '/patched', method: 'POST' } },
    },
    { name: 'changes nothing by an empty patch', patch: {}, changes: {} },
  ]
  for (const { name, patch, changes } of cases) {
    test(name, async () => {
      const stored = await service.register({
        endpoint: { pattern: '/patched', method: 'PUT' },
        constants: { a: 1, b: 2, list: [1, 2] },
      })
      const reply = await service.fetch(`/endpoints/${stored._id}`, {
        ...json('PATCH', patch, { 'content-type': 'application/merge-patch+json' }),
      })
      assert.equal(reply.status, 200, reply.text)
      const patched = reply.json<StoredEndpoint>()
      assert.deepEqual(configurationOf(patched), { ...configurationOf(stored), ...changes })
      assert.equal(patched._id, stored._id)
      assert.equal(patched.createdAt, stored.createdAt)
      assert.ok(patched.updatedAt > stored.updatedAt)
      assert.deepEqual(await read(stored._id), patched)
      await send('DELETE', `/endpoints/${stored._id}`)
    })
  }

  test('takes application/json too', async () => {
    const { _id } = await service.register({ endpoint: { pattern: '/plain' } })
    assert.equal((await send('PATCH', `/endpoints/${_id}`, { description: 'x' })).json().description, 'x')
  })
})

describe('a refused change', () => {
  const cases: readonly { name: string; method: string; change: Json; path: string }[] = [
    { name: 'PUT of an unknown field', method: 'PUT', change: { descriptoin: 'x' }, path: 'descriptoin' },
    {
      name: 'PATCH to a wrong value',
      method: 'PATCH',
      change: { endpoint: { method: 'FETCH' } },
      path: 'endpoint.method',
    },
    { name: 'PATCH that removes what is required', method: 'PATCH', change: { name: null }, path: 'name' },
    {
      name: 'PATCH to a broken expression',
      method: 'PATCH',
      change: { inputTransforms: { a: '1 +' } },
      path: 'inputTransforms.a',
    },
    { name: 'PATCH by an array', method: 'PATCH', change: [], path: '' },
    { name: 'PATCH by null', method: 'PATCH', change: null, path: '' },
  ]
  for (const { name, method, change, path } of cases) {
    test(`${name} leaves everything as it was`, async () => {
      const stored = await service.register({ endpoint: { pattern: '/refused' }, inputMapping: { 'query.a': 'a' } })
      const body = method === 'PUT' ? { ...stored, ...(change as JsonObject) } : change
      const reply = await send(method, `/endpoints/${stored._id}`, body)
      assert.equal(reply.status, 400)
      assert.equal(reply.json().code, 'CONFIGURATION_INVALID')
      assert.deepEqual(detailPaths(reply), [path])
      assert.deepEqual(await read(stored._id), stored)
      assert.deepEqual((await send('POST', '/refused?a=1', {})).json(), { a: '1' })
      await send('DELETE', `/endpoints/${stored._id}`)
    })
  }
})

describe('DELETE', () => {
  test('says what it deleted, and frees name and route', async () => {
    const document = endpointDocument({ endpoint: { pattern: '/deleted' } })
    const { _id } = await service.register(document)
    const reply = await service.fetch(`/endpoints/${_id}`, json('DELETE', undefined))
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.json(), { message: `Endpoint with ID '${_id}' deleted` })
    assert.equal((await send('POST', '/deleted', {})).status, 404)
    await service.register(document)
    assert.equal((await send('POST', '/deleted', {})).status, 200)
  })
})

describe('an id', () => {
  const bodyFor = (method: string) => (method === 'PUT' || method === 'PATCH' ? endpointDocument({}) : undefined)
  const malformed = ['x', '0'.repeat(23), '0'.repeat(25), 'A'.repeat(24), `${'0'.repeat(23)}g`, '%20', '0'.repeat(3000)]
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    test(`that nothing has is unknown to ${method}`, async () => {
      const reply = await send(method, `/endpoints/${'0'.repeat(24)}`, bodyFor(method))
      assert.equal(reply.status, 404)
      assert.equal(reply.json().code, 'ENDPOINT_UNKNOWN')
    })
    test(`that was deleted is unknown to ${method}`, async () => {
      const { _id } = await service.register({ endpoint: { pattern: '/gone' } })
      await send('DELETE', `/endpoints/${_id}`)
      assert.equal((await send(method, `/endpoints/${_id}`, bodyFor(method))).status, 404)
    })
    test(`that is malformed is refused by ${method}`, async () => {
      for (const id of malformed) {
        const reply = await send(method, `/endpoints/${id}`, bodyFor(method))
        assert.deepEqual([reply.status, reply.json().code], [400, 'ID_MALFORMED'], id)
      }
    })
  }
})
