/** What is refused before anything is stored: every fault of a document at once, and bodies that are no document. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../../../src/domain/json.ts'
import { call } from '../../../../support/adapters/http-server/management/call.ts'
import { endpointDocument, json, type Service, type StoredEndpoint, startService } from '../../../../support/service.ts'

let service: Service
let stored: StoredEndpoint
before(async () => {
  service = await startService()
  stored = await service.register({ name: 'there already', endpoint: { pattern: '/there/already' } })
})
after(() => service.stop())

type Refusal = { error: string; code: string; details: { path: string; message: string }[] }

/** Each of these entries is one fault; together they are still as many. */
const faults: readonly { path: string; says: RegExp; change: JsonObject }[] = [
  { path: 'description', says: /string/, change: { description: 7 } },
  { path: 'inputMaping', says: /"inputMapping"/, change: { inputMaping: {} } },
  { path: 'endpoint.method', says: /"FETCH"/, change: { endpoint: { pattern: '/broken', method: 'FETCH' } } },
  { path: 'transformation.output', says: /"JSON"/, change: { transformation: { input: 'JSON', output: 'JSN' } } },
  { path: 'inputTransforms.age', says: /./, change: { inputTransforms: { age: '1 +', fine: '1' } } },
  { path: 'inputMapping.constants\\.absent', says: /absent/, change: { inputMapping: { 'constants.absent': 'a' } } },
  {
    path: 'inputMapping.requestBody\\.a',
    says: /__proto__/,
    change: { inputMapping: { 'requestBody.a': '__proto__.a' } },
  },
  { path: 'inputMapping.requestBody[', says: /./, change: { inputMapping: { 'requestBody[': 'b' } } },
  { path: 'inputMapping.nowhere\\.a', says: /nowhere/, change: { inputMapping: { 'nowhere.a': 'c' } } },
  { path: 'inputValidation.type', says: /./, change: { inputValidation: { type: 'strin' } } },
  {
    path: 'requests.lookup[0].config.url',
    says: /fragment/,
    change: { requests: { lookup: [{ id: 'a', config: { url: 'http://127.0.0.1/#id' } }] } },
  },
  {
    path: 'requests.lookup[0].config.headers.no good',
    says: /no good/,
    change: { requests: { lookup: [{ id: 'a', config: { url: 'http://127.0.0.1/', headers: { 'no good': 'x' } } }] } },
  },
  {
    path: 'requests.lookup[0].config.params.query.q.path',
    says: /transforms/,
    change: {
      requests: {
        lookup: [{ id: 'a', config: { url: 'http://127.0.0.1/', params: { query: { q: { path: 'transforms.a' } } } } }],
      },
    },
  },
  {
    path: 'requests.response[1].id',
    says: /"same"/,
    change: {
      requests: {
        response: [
          { id: 'same', config: { url: 'http://127.0.0.1/' } },
          { id: 'same', config: { url: 'http://127.0.0.1/' } },
        ],
      },
    },
  },
  {
    path: 'requests.response[1].config.primary',
    says: /primary/,
    change: {
      requests: {
        response: [
          { id: 'b', config: { url: 'http://127.0.0.1/', primary: true } },
          { id: 'c', config: { url: 'http://127.0.0.1/', primary: true } },
        ],
      },
    },
  },
]

describe('a fault is reported with its place', () => {
  for (const { path, says, change } of faults) {
    test(path, async () => {
      const document = { ...endpointDocument({ endpoint: { pattern: '/broken' } }), ...change }
      const reply = await service.fetch('/endpoints', json('POST', document))
      const { error, code, details } = reply.json<Refusal>()
      assert.deepEqual([reply.status, code], [400, 'CONFIGURATION_INVALID'])
      assert.ok(error.length > 0)
      assert.deepEqual(
        details.map((detail) => detail.path),
        [path],
      )
      assert.match(details[0]?.message ?? '', says)
    })
  }
})

/** Broken in fifteen ways, written as text as one of them is a name that stands twice. */
const broken = `{
  "name": "there already",
  "descriptoin": "unknown field",
  "endpoint": { "pattern": "no-slash", "method": "FETCH" },
  "transformation": { "input": "JSON", "output": "YAML" },
  "constants": { "a": 1, "a": 2 },
  "inputTransforms": { "age": "1 +" },
  "inputValidation": { "type": "strin" },
  "inputMapping": { "constants.absent": "a", "requestBody.b": "constructor.b" },
  "requests": {
    "lookup": [{ "id": "up", "config": { "url": "ftp://127.0.0.1/", "headers": { "no good": "x" } } }],
    "response": [
      { "id": "same", "config": { "url": "http://127.0.0.1/#id", "primary": true } },
      { "id": "same", "config": { "url": "http://127.0.0.1/", "primary": true } }
    ]
  }
}`
const places = [
  'constants.a',
  'descriptoin',
  'endpoint.method',
  'endpoint.pattern',
  'inputMapping.constants\\.absent',
  'inputMapping.requestBody\\.b',
  'inputTransforms.age',
  'inputValidation.type',
  'name',
  'requests.lookup[0].config.headers.no good',
  'requests.lookup[0].config.url',
  'requests.response[0].config.url',
  'requests.response[1].config.primary',
  'requests.response[1].id',
  'transformation.output',
]

describe('a document broken in many ways', () => {
  for (const method of ['POST', 'PUT']) {
    test(`is answered by ${method} with all of them at once, and nothing is stored`, async () => {
      const other = await service.register({ endpoint: { pattern: '/other' } })
      const before = (await service.fetch('/endpoints')).text
      const reply = await service.fetch(method === 'POST' ? '/endpoints' : `/endpoints/${other._id}`, {
        ...json(method, undefined),
        body: broken,
      })
      const { code, details } = reply.json<Refusal>()
      assert.deepEqual([reply.status, code], [400, 'CONFIGURATION_INVALID'])
      assert.deepEqual(details.map(({ path }) => path).sort(), places)
      assert.equal((await service.fetch('/endpoints')).text, before)
      await service.fetch(`/endpoints/${other._id}`, { method: 'DELETE' })
    })
  }
})

describe('names that stand twice', () => {
  const cases = [
    { name: 'at the top', members: '"description":"a","description":"b"', path: 'description' },
    { name: 'further in', members: '"inputMapping":{"query.a":"a","query.a":"b"}', path: 'inputMapping.query\\.a' },
    { name: 'written differently', members: '"constants":{"a":1,"\\u0061":1}', path: 'constants.a' },
    { name: 'within an array', members: '"constants":{"list":[0,{"x":1,"x":1}]}', path: 'constants.list[1].x' },
  ]
  const send = (method: string, path: string, body: string) => service.fetch(path, { ...json(method, undefined), body })
  for (const { name, members, path } of cases) {
    test(`${name} are refused`, async () => {
      const own = '"name":"twice","endpoint":{"pattern":"/twice"},"transformation":{"input":"JSON","output":"JSON"}'
      for (const reply of [
        await send('POST', '/endpoints', `{${own},${members}}`),
        await send('PUT', `/endpoints/${stored._id}`, `{${own},${members}}`),
        await send('PATCH', `/endpoints/${stored._id}`, `{${members}}`),
      ]) {
        assert.equal(reply.status, 400)
        assert.deepEqual(
          reply.json<Refusal>().details.map((detail) => detail.path),
          [path],
        )
      }
    })
  }
})

describe('a body that is no document', () => {
  const json = { 'content-type': 'application/json' }
  const document = JSON.stringify(endpointDocument({ endpoint: { pattern: '/no/document' } }))
  const nested = (levels: number) => `{"constants":${'{"a":'.repeat(levels - 1)}1${'}'.repeat(levels - 1)}}`
  type Case = {
    name: string
    headers: Record<string, string>
    body?: string | Uint8Array
    is: readonly [number, string]
  }
  const cases: readonly Case[] = [
    { name: 'declares no media type', headers: {}, body: document, is: [415, 'MEDIA_TYPE_WRONG'] },
    { name: 'declares text', headers: { 'content-type': 'text/plain' }, body: document, is: [415, 'MEDIA_TYPE_WRONG'] },
    {
      name: 'declares a form',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: document,
      is: [415, 'MEDIA_TYPE_WRONG'],
    },
    {
      name: 'declares XML',
      headers: { 'content-type': 'application/xml' },
      body: document,
      is: [415, 'MEDIA_TYPE_WRONG'],
    },
    {
      name: 'declares what is no media type',
      headers: { 'content-type': 'json' },
      body: document,
      is: [415, 'MEDIA_TYPE_WRONG'],
    },
    {
      name: 'has an unknown charset',
      headers: { 'content-type': 'application/json;charset=x' },
      body: document,
      is: [415, 'MEDIA_TYPE_WRONG'],
    },
    {
      name: 'is compressed',
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync(document),
      is: [415, 'MEDIA_TYPE_WRONG'],
    },
    { name: 'is missing', headers: json, is: [400, 'BODY_UNREADABLE'] },
    { name: 'is empty', headers: json, body: '', is: [400, 'BODY_UNREADABLE'] },
    { name: 'is white space', headers: json, body: ' \n', is: [400, 'BODY_UNREADABLE'] },
    { name: 'is cut short', headers: json, body: document.slice(0, -1), is: [400, 'BODY_UNREADABLE'] },
    { name: 'goes on', headers: json, body: `${document}{}`, is: [400, 'BODY_UNREADABLE'] },
    {
      name: 'is not UTF-8',
      headers: json,
      body: Buffer.from(document.replace('no', 'é'), 'latin1'),
      is: [400, 'BODY_UNREADABLE'],
    },
    { name: 'is too deep', headers: json, body: nested(65), is: [400, 'BODY_TOO_DEEP'] },
    { name: 'is far too deep', headers: json, body: '['.repeat(500_000), is: [400, 'BODY_TOO_DEEP'] },
    { name: 'is too large', headers: json, body: document.padEnd(1_048_577), is: [413, 'BODY_TOO_LARGE'] },
    { name: 'is an array', headers: json, body: `[${document}]`, is: [400, 'CONFIGURATION_INVALID'] },
    { name: 'is a text', headers: json, body: '"document"', is: [400, 'CONFIGURATION_INVALID'] },
    { name: 'is null', headers: json, body: 'null', is: [400, 'CONFIGURATION_INVALID'] },
  ]
  for (const { name, headers, body, is } of cases) {
    for (const method of ['POST', 'PUT', 'PATCH']) {
      test(`as it ${name}, is refused by ${method}`, async () => {
        const path = method === 'POST' ? '/endpoints' : `/endpoints/${stored._id}`
        const before = (await service.fetch('/endpoints')).text
        const reply = await call(service.url, method, path, { headers, ...(body === undefined ? {} : { body }) })
        assert.deepEqual([reply.status, reply.json().code], is, reply.text)
        assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
        assert.equal(typeof reply.json().error, 'string')
        assert.equal((await service.fetch('/endpoints')).text, before)
      })
    }
  }

  test('while the largest and the deepest, and any declaration of JSON, are taken', async () => {
    const path = `/endpoints/${stored._id}`
    const patches = [
      { headers: json, body: '{}'.padEnd(1_048_576) },
      { headers: json, body: nested(64) },
      { headers: { 'content-type': 'Application/JSON; charset=UTF-8' }, body: '{}' },
      { headers: { 'content-type': 'application/anything+json' }, body: '{}' },
      { headers: { 'content-type': 'application/json; charset=utf-16le' }, body: Buffer.from('{}', 'utf16le') },
      { headers: { ...json, 'content-encoding': 'identity' }, body: '{}' },
    ]
    for (const patch of patches) assert.equal((await call(service.url, 'PATCH', path, patch)).status, 200)
  })
})

describe('warnings', () => {
  const withNames = (names: readonly string[]) =>
    service.fetch(
      '/endpoints',
      json('POST', {
        ...endpointDocument({ endpoint: { pattern: '/warned' } }),
        transformation: { input: 'JSON', output: 'XML' },
        inputMapping: Object.fromEntries(names.map((name, index) => [`requestBody.f${index}`, name])),
      }),
    )
  const warningsOf = (headers: Headers) => JSON.parse(headers.get('x-crosswalk-warnings') ?? 'null')

  test('do not refuse a document, and stand in a header of ASCII', async () => {
    const reply = await withNames(['1é'])
    assert.equal(reply.status, 201)
    assert.match(reply.headers.get('x-crosswalk-warnings') ?? '', /^[ -~]+$/)
    const warnings = warningsOf(reply.headers)
    assert.deepEqual(
      warnings.map(({ path }: { path: string }) => path),
      ['inputMapping.requestBody\\.f0'],
    )
    assert.match(warnings[0].message, /1é/)
    const { _id, ...stored } = reply.json<StoredEndpoint>()
    assert.ok(!('warnings' in stored))
    await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
  })

  test('never outgrow what a client takes of headers', async () => {
    const reply = await withNames(Array.from({ length: 500 }, (_, n) => `${n} not a name`))
    const warnings: { path: string; message: string }[] = warningsOf(reply.headers)
    const rest = warnings.pop()
    assert.ok(warnings.length > 5)
    assert.equal(rest?.message, `and ${500 - warnings.length} more`)
    await service.fetch(`/endpoints/${reply.json()._id}`, { method: 'DELETE' })
  })

  test('are absent where there is nothing to warn of', async () => {
    const reply = await withNames(['fine'])
    assert.equal(reply.headers.get('x-crosswalk-warnings'), null)
  })
})
