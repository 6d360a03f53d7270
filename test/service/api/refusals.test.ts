/** What is refused before anything is stored: every fault of a document at once, and bodies that are no document. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Service, type StoredEndpoint, startService } from '../../support/service.ts'

let service: Service
let stored: StoredEndpoint
before(async () => {
  service = await startService()
  stored = await service.register({ name: 'there already', endpoint: { pattern: '/there/already' } })
})
after(() => service.stop())

type Detail = Readonly<{ path: string; message: string }>
type Refusal = Readonly<{ error: string; code: string; details: readonly Detail[] }>
const pathOf = (method: string) => (method === 'POST' ? '/endpoints' : `/endpoints/${stored._id}`)
const listed = async () => (await service.fetch('/endpoints')).text

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

for (const method of ['POST', 'PUT']) {
  test(`a document broken in many ways is answered by ${method} with all of them at once, and not stored`, async () => {
    const other = await service.register({ endpoint: { pattern: '/other' } })
    const before = await listed()
    const path = method === 'POST' ? '/endpoints' : `/endpoints/${other._id}`
    const reply = await service.fetch(path, { ...json(method, undefined), body: broken })
    const { error, code, details } = reply.json<Refusal>()
    assert.deepEqual([reply.status, code], [400, 'CONFIGURATION_INVALID'])
    assert.match(error, /^[A-Z].*\.$/)
    assert.deepEqual(details.map((one) => one.path).sort(), places)
    assert.equal(await listed(), before)
    await service.fetch(`/endpoints/${other._id}`, { method: 'DELETE' })
  })
}

describe('names that stand twice', () => {
  const cases: readonly (readonly [name: string, members: string, place: string])[] = [
    ['at the top', '"description":"a","description":"b"', 'description'],
    ['further in', '"inputMapping":{"query.a":"a","query.a":"b"}', 'inputMapping.query\\.a'],
    ['written differently', '"constants":{"a":1,"\\u0061":1}', 'constants.a'],
    ['within an array', '"constants":{"list":[0,{"x":1,"x":1}]}', 'constants.list[1].x'],
  ]
  for (const [name, members, place] of cases) {
    test(`${name} are refused`, async () => {
      const own = '"name":"twice","endpoint":{"pattern":"/twice"},"transformation":{"input":"JSON","output":"JSON"}'
      for (const method of ['POST', 'PUT', 'PATCH']) {
        const body = method === 'PATCH' ? `{${members}}` : `{${own},${members}}`
        const reply = await service.fetch(pathOf(method), { ...json(method, undefined), body })
        const { details } = reply.json<Refusal>()
        assert.deepEqual([reply.status, details.length, details[0]?.path], [400, 1, place], method)
      }
    })
  }
})

describe('a body that is no document', () => {
  const JSON_TYPE = 'application/json'
  const document = JSON.stringify(endpointDocument({ endpoint: { pattern: '/no/document' } }))
  const nested = (levels: number) => `{"constants":${'{"a":'.repeat(levels - 1)}1${'}'.repeat(levels - 1)}}`
  const WRONG_TYPE = [415, 'MEDIA_TYPE_WRONG'] as const
  const UNREADABLE = [400, 'BODY_UNREADABLE'] as const
  const INVALID = [400, 'CONFIGURATION_INVALID'] as const
  type Case = readonly [
    name: string,
    type: string,
    body: string | Uint8Array | undefined,
    is: readonly [number, string],
  ]
  const cases: readonly Case[] = [
    ['declares XML', 'application/xml', document, WRONG_TYPE],
    ['declares what is no media type', 'json', document, WRONG_TYPE],
    ['has an unknown charset', 'application/json;charset=x', document, WRONG_TYPE],
    ['is compressed', JSON_TYPE, gzipSync(document), WRONG_TYPE],
    ['is missing', JSON_TYPE, undefined, UNREADABLE],
    ['is empty', JSON_TYPE, '', UNREADABLE],
    ['is white space', JSON_TYPE, ' \n', UNREADABLE],
    ['is cut short', JSON_TYPE, document.slice(0, -1), UNREADABLE],
    ['goes on', JSON_TYPE, `${document}{}`, UNREADABLE],
    ['is not UTF-8', JSON_TYPE, Buffer.from(document.replace('no', 'é'), 'latin1'), UNREADABLE],
    ['is too deep', JSON_TYPE, nested(65), [400, 'BODY_TOO_DEEP']],
    ['is far too deep', JSON_TYPE, '['.repeat(500_000), [400, 'BODY_TOO_DEEP']],
    ['is too large', JSON_TYPE, document.padEnd(1_048_577), [413, 'BODY_TOO_LARGE']],
    ['is an array', JSON_TYPE, `[${document}]`, INVALID],
    ['is a text', JSON_TYPE, '"document"', INVALID],
    ['is null', JSON_TYPE, 'null', INVALID],
  ]
  for (const [name, type, body, is] of cases) {
    test(`as it ${name}, is refused`, async () => {
      const before = await listed()
      const coding: Record<string, string> = name === 'is compressed' ? { 'content-encoding': 'gzip' } : {}
      for (const method of ['POST', 'PUT', 'PATCH']) {
        const headers = { 'content-type': type, ...coding }
        const sent = { headers, ...(body === undefined ? {} : { body }) }
        const reply = await call(service.url, method, pathOf(method), sent)
        assert.deepEqual([reply.status, reply.json().code], is, `${method}: ${reply.text}`)
        assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
        assert.equal(typeof reply.json().error, 'string')
      }
      assert.equal(await listed(), before)
    })
  }

  test('while the largest and the deepest, and any declaration of JSON, are taken', async () => {
    const patches: readonly (readonly [type: string, body: string | Uint8Array, coding?: string])[] = [
      [JSON_TYPE, '{}'.padEnd(1_048_576)],
      [JSON_TYPE, nested(64)],
      ['Application/JSON; charset=UTF-8', '{}'],
      ['application/anything+json', '{}'],
      ['application/json; charset=utf-16le', Buffer.from('{}', 'utf16le')],
      [JSON_TYPE, '{}', 'identity'],
    ]
    for (const [type, body, coding] of patches) {
      const headers = { 'content-type': type, ...(coding === undefined ? {} : { 'content-encoding': coding }) }
      assert.equal((await call(service.url, 'PATCH', pathOf('PATCH'), { headers, body })).status, 200, type)
    }
  })
})
