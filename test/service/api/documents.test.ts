/** Reading and writing single documents: what is stored, what the service sets, what each method changes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json, type Service, type StoredEndpoint, startService } from '../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const send = (method: string, path: string, body?: Json) => service.fetch(path, json(method, body))
const read = async (id: string) => (await send('GET', `/endpoints/${id}`)).json<StoredEndpoint>()

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
function configurationOf({ _id, createdAt, updatedAt, __v, ...configuration }: JsonObject): JsonObject {
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
    const endpoint = { pattern: '/created', method: 'POST' }
    assert.deepEqual(configurationOf(stored), { ...document, ...DEFAULTS, endpoint })
    assert.match(_id, /^[0-9a-f]{24}$/)
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Date.parse(createdAt) >= from && Date.parse(createdAt) <= Date.now(), createdAt)
    assert.deepEqual([__v, updatedAt], [0, createdAt])
    assert.equal(reply.headers.get('location'), `/endpoints/${_id}`)
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    assert.ok((await service.register({ endpoint: { pattern: '/next' } }))._id > _id)
  })

  test('keeps what has no default as it was sent, in its order, and the next read gives the same bytes', async () => {
    const document = rich('/as/sent')
    const created = await send('POST', '/endpoints', document)
    assert.equal(JSON.stringify(configurationOf(created.json())), JSON.stringify(document))
    assert.equal((await service.fetch(created.headers.get('location') ?? '')).text, created.text)
  })

  test('keeps names that objects inherit as plain names', async () => {
    const text = `{"name":"inherited","endpoint":{"pattern":"/inherited"},"transformation":{"input":"JSON","output":"JSON"},
      "constants":{"__proto__":{"polluted":true},"constructor":1}}`
    const created = await service.fetch('/endpoints', { ...json('POST', undefined), body: text })
    assert.match(created.text, /"constants":\{"__proto__":\{"polluted":true\},"constructor":1\}/)
    assert.equal((await service.fetch(created.headers.get('location') ?? '')).text, created.text)
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  })
})

describe('POST, PUT and PATCH', () => {
  const NOTHING = { forEach: {}, allowedStatuses: [], _id: '6b03322a477d2b1a1437990d' }
  const url = 'http://127.0.0.1:9/'
  const params = { query: { _id: { path: 'query.id', prefix: null, postfix: null } } }
  const cases: readonly Readonly<{ name: string; sent: JsonObject; stored: JsonObject }>[] = [
    {
      name: 'ignore read-only fields',
      sent: { _id: 'f'.repeat(24), createdAt: '1999-01-01T00:00:00.000Z', updatedAt: null, __v: 7 },
      stored: {},
    },
    {
      name: 'store single requests, methods in any case and placeholders for nothing in their normal form',
      sent: {
        requests: {
          lookup: { id: 'l', ...NOTHING, config: { method: 'get', url, params } },
          response: [{ id: 'r', ...NOTHING, config: { url, params: {} } }],
        },
      },
      stored: {
        requests: {
          lookup: [{ id: 'l', config: { method: 'GET', url, params: { query: { _id: { path: 'query.id' } } } } }],
          response: [{ id: 'r', config: { url, method: 'POST' } }],
        },
      },
    },
  ]
  for (const { name, sent, stored } of cases) {
    test(name, async () => {
      for (const method of ['POST', 'PUT', 'PATCH']) {
        const document = endpointDocument({ endpoint: { pattern: `/normal/${method}`, method: 'POST' } })
        const path = method === 'POST' ? '/endpoints' : `/endpoints/${(await service.register(document))._id}`
        const reply = await send(method, path, { ...document, ...sent })
        assert.ok(reply.status < 300, reply.text)
        assert.equal(reply.headers.get('x-crosswalk-warnings'), null)
        const { _id } = reply.json<StoredEndpoint>()
        const found = await read(_id)
        assert.deepEqual(found, reply.json())
        assert.deepEqual(configurationOf(found), { ...document, ...DEFAULTS, ...stored })
        assert.notEqual(_id, sent._id)
        assert.match(`${found.createdAt} ${found.updatedAt} ${found.__v}`, /^20.*Z 20.*Z 0$/)
        await send('DELETE', `/endpoints/${_id}`)
      }
    })
  }
})

describe('PUT', () => {
  test('replaces the whole configuration: what is left out gets its default', async () => {
    const stored = await service.register(rich('/whole'))
    const next = endpointDocument({ endpoint: { pattern: '/moved' } })
    const reply = await send('PUT', `/endpoints/${stored._id}`, next)
    assert.equal(reply.status, 200)
    const replaced = reply.json<StoredEndpoint>()
    const endpoint = { pattern: '/moved', method: 'POST' }
    assert.deepEqual(configurationOf(replaced), { ...next, ...DEFAULTS, endpoint })
    assert.deepEqual([replaced._id, replaced.createdAt, replaced.__v], [stored._id, stored.createdAt, 0])
    assert.deepEqual(await read(stored._id), replaced)
    const statuses = [(await send('PUT', '/whole', {})).status, (await send('POST', '/moved', {})).status]
    assert.deepEqual(statuses, [404, 200])
  })

  test('takes back what GET gave, and changes updatedAt each time', async () => {
    const { _id } = await service.register(rich('/back'))
    const before = await read(_id)
    const replies = await Promise.all(Array.from({ length: 20 }, () => send('PUT', `/endpoints/${_id}`, before)))
    const documents = replies.map((reply) => reply.json<StoredEndpoint>())
    const withTime = documents.map((one) => JSON.stringify({ ...one, updatedAt: before.updatedAt }))
    assert.deepEqual(new Set(withTime), new Set([JSON.stringify(before)]))
    assert.equal(new Set(documents.map(({ updatedAt }) => updatedAt)).size, 20)
    assert.ok(documents.every(({ updatedAt }) => updatedAt > before.updatedAt))
  })
})

describe('PATCH', () => {
  const cases: readonly (readonly [name: string, patch: Json, changes: JsonObject])[] = [
    ['merges objects', { constants: { b: 3 } }, { constants: { a: 1, b: 3, list: [1, 2] } }],
    ['removes a member by null', { constants: { a: null } }, { constants: { b: 2, list: [1, 2] } }],
    ['replaces arrays whole', { constants: { list: [3] } }, { constants: { a: 1, b: 2, list: [3] } }],
    ['gives a removed field its default', { constants: null, state: null }, DEFAULTS],
    [
      'gives a removed method its default',
      { endpoint: { method: null } },
      { endpoint: { pattern: '/patched', method: 'POST' } },
    ],
    ['changes nothing by an empty patch', {}, {}],
  ]
  for (const [name, patch, changes] of cases) {
    test(name, async () => {
      const stored = await service.register({
        endpoint: { pattern: '/patched', method: 'PUT' },
        constants: { a: 1, b: 2, list: [1, 2] },
      })
      const path = `/endpoints/${stored._id}`
      const type = { 'content-type': 'application/merge-patch+json' }
      const reply = await service.fetch(path, json('PATCH', patch, type))
      assert.equal(reply.status, 200, reply.text)
      const patched = reply.json<StoredEndpoint>()
      assert.deepEqual(configurationOf(patched), { ...configurationOf(stored), ...changes })
      assert.deepEqual([patched._id, patched.createdAt], [stored._id, stored.createdAt])
      assert.ok(patched.updatedAt > stored.updatedAt)
      assert.deepEqual(await read(stored._id), patched)
      await send('DELETE', path)
    })
  }

  test('that is refused leaves everything as it was', async () => {
    const stored = await service.register({ endpoint: { pattern: '/refused' }, inputMapping: { 'query.a': 'a' } })
    const refused: readonly (readonly [patch: Json, place: string])[] = [
      [{ endpoint: { method: 'FETCH' } }, 'endpoint.method'],
      [{ name: null }, 'name'],
      [{ inputTransforms: { a: '1 +' } }, 'inputTransforms.a'],
      [[], ''],
      [null, ''],
    ]
    for (const [patch, place] of refused) {
      const reply = await send('PATCH', `/endpoints/${stored._id}`, patch)
      assert.deepEqual([reply.status, reply.json().code], [400, 'CONFIGURATION_INVALID'])
      assert.deepEqual(
        reply.json<{ details: JsonObject[] }>().details.map(({ path }) => path),
        [place],
      )
    }
    assert.deepEqual(await read(stored._id), stored)
    assert.deepEqual((await send('POST', '/refused?a=1', {})).json(), { a: '1' })
  })
})

test('DELETE says what it deleted, and frees name and route', async () => {
  const document = endpointDocument({ endpoint: { pattern: '/deleted' } })
  const { _id } = await service.register(document)
  const reply = await send('DELETE', `/endpoints/${_id}`)
  assert.deepEqual([reply.status, reply.json()], [200, { message: `Endpoint with ID '${_id}' deleted` }])
  assert.equal((await send('POST', '/deleted', {})).status, 404)
  await service.register(document)
  assert.equal((await send('POST', '/deleted', {})).status, 200)
})

for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
  test(`an id that nothing has, that was deleted or is malformed is refused by ${method}`, async () => {
    const body = method === 'PUT' || method === 'PATCH' ? endpointDocument({}) : undefined
    const { _id } = await service.register({ endpoint: { pattern: '/gone' } })
    await send('DELETE', `/endpoints/${_id}`)
    const malformed = [
      'x',
      '0'.repeat(23),
      '0'.repeat(25),
      'A'.repeat(24),
      `${'0'.repeat(23)}g`,
      '%20',
      '0'.repeat(3000),
    ]
    for (const id of ['0'.repeat(24), _id, ...malformed]) {
      const reply = await send(method, `/endpoints/${id}`, body)
      const expected = malformed.includes(id) ? [400, 'ID_MALFORMED'] : [404, 'ENDPOINT_UNKNOWN']
      assert.deepEqual([reply.status, reply.json().code], expected, id)
    }
  })
}
