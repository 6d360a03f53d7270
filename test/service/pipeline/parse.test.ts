import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { request } from 'undici'
import type { JsonObject } from '../../../src/domain/json.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const endpoints = [
  { pattern: '/json', input: 'JSON' },
  { pattern: '/xml', input: 'XML' },
  { pattern: '/fhir', input: 'FHIR+JSON' },
  { pattern: '/openhim', input: 'JSON+OPENHIM' },
  { pattern: '/put', input: 'JSON', method: 'PUT' },
  { pattern: '/get', method: 'GET' },
  { pattern: '/delete', input: 'JSON', method: 'DELETE' },
]
before(async () => {
  service = await startService()
  for (const { pattern, input, method = 'POST' } of endpoints) {
    const transformation = { ...(input === undefined ? {} : { input }), output: 'JSON' }
    await service.register({ endpoint: { pattern, method }, transformation })
  }
})
after(() => service.stop())

/** Bytes carry no media type of their own, so that only the header given declares one. */
const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}, method = 'POST') =>
  service.fetch(path, { method, headers, body: Buffer.from(body) })

describe('the media type of a message', () => {
  const taken = [
    { name: 'plain JSON', path: '/json', type: 'application/json' },
    { name: 'JSON in upper case, with a charset', path: '/json', type: 'Application/JSON; charset=UTF-8' },
    { name: 'a quoted charset', path: '/json', type: 'application/json;charset="utf-8"' },
    { name: 'a JSON suffix', path: '/json', type: 'application/fhir+json' },
    { name: 'the name that OpenHIM gives JSON', path: '/json', type: 'application/json+openhim' },
    { name: 'JSON as text', path: '/json', type: 'text/json' },
    { name: 'JSON where FHIR is expected', path: '/fhir', type: 'application/json' },
    { name: 'JSON where OpenHIM is expected', path: '/openhim', type: 'application/json' },
    { name: 'a PUT', path: '/put', type: 'application/json', method: 'PUT' },
    { name: 'no type at all', path: '/json', type: undefined },
    { name: 'XML', path: '/xml', type: 'application/xml' },
    { name: 'XML as text', path: '/xml', type: 'text/xml; charset=utf-8' },
    { name: 'an XML suffix', path: '/xml', type: 'application/fhir+xml' },
    { name: 'no type at all for XML', path: '/xml', type: undefined },
  ]
  for (const { name, path, type, method } of taken) {
    it(`takes ${name}`, async () => {
      const body = path === '/xml' ? '<m><a>ü</a></m>' : '{"a":"ü"}'
      const reply = await post(path, body, type === undefined ? {} : { 'content-type': type }, method)
      assert.deepEqual([reply.status, reply.text], [200, '{"a":"ü"}'])
    })
  }

  const refused = [
    { name: 'text', path: '/json', type: 'text/plain' },
    { name: 'a form', path: '/json', type: 'application/x-www-form-urlencoded' },
    { name: 'XML where JSON is expected', path: '/json', type: 'application/xml' },
    { name: 'an XML suffix where FHIR in JSON is expected', path: '/fhir', type: 'application/fhir+xml' },
    { name: 'JSON where XML is expected', path: '/xml', type: 'application/fhir+json' },
    { name: 'a name that only contains json', path: '/json', type: 'application/jsonish' },
    { name: 'an unknown charset', path: '/json', type: 'application/json; charset=klingon' },
  ]
  for (const { name, path, type } of refused) {
    it(`refuses ${name}`, async () => {
      const reply = await post(path, '{"a":1}', { 'content-type': type })
      const { code, stage, path: place } = reply.json()
      assert.deepEqual(
        [reply.status, code, stage, place],
        [415, 'MEDIA_TYPE_WRONG', 'parse', 'transformation.input'],
        reply.text,
      )
    })
  }

  it('reports which type it takes', async () => {
    const reply = await post('/fhir', 'a', { 'content-type': 'text/plain' })
    assert.equal(reply.headers.get('accept'), 'application/fhir+json')
    assert.match(reply.json<{ error: string }>().error, /FHIR\+JSON.*"text\/plain"/)
  })

  for (const type of ['json', 'application/json, application/json']) {
    it(`refuses "${type}", which is no media type`, async () => {
      const reply = await post('/json', '{}', { 'content-type': type })
      assert.deepEqual([reply.status, reply.json().code], [415, 'MEDIA_TYPE_WRONG'])
    })
  }

  it('refuses a content coding, and takes `identity` for none', async () => {
    const headers = { 'content-type': 'application/json' }
    const coded = await post('/json', '{}', { ...headers, 'content-encoding': 'gzip' })
    assert.deepEqual([coded.status, coded.json().code], [415, 'MEDIA_TYPE_WRONG'])
    assert.equal(coded.headers.get('accept-encoding'), 'identity')
    const plain = await post('/json', '{}', { ...headers, 'content-encoding': 'Identity' })
    assert.equal(plain.status, 200)
  })

  it('decides over the charset', async () => {
    const latin = Buffer.from('{"a":"\u00fc"}', 'latin1')
    const read = await post('/json', latin, { 'content-type': 'application/json; charset=iso-8859-1' })
    assert.equal(read.text, '{"a":"ü"}')
    const unread = await post('/json', latin, { 'content-type': 'application/json' })
    assert.deepEqual([unread.status, unread.json().code], [400, 'BODY_UNREADABLE'])
  })
})

describe('a message without a body', () => {
  const cases = [
    { name: 'POST', method: 'POST', path: '/json' },
    { name: 'PUT', method: 'PUT', path: '/put' },
    { name: 'POST of XML', method: 'POST', path: '/xml' },
    { name: 'GET', method: 'GET', path: '/get' },
    { name: 'DELETE', method: 'DELETE', path: '/delete' },
  ]
  for (const { name, method, path } of cases) {
    it(`is an empty object: ${name}`, async () => {
      const reply = await service.fetch(path, { method })
      assert.deepEqual([reply.status, reply.text], [200, '{}'])
    })
  }

  for (const { method, path } of cases.slice(3)) {
    it(`is what a ${method} is, even with one`, async () => {
      const headers = { 'content-type': 'text/plain' }
      const reply = await request(`${service.url}${path}`, { method: method as 'GET', headers, body: '{"a":' })
      assert.deepEqual([reply.statusCode, await reply.body.text()], [200, '{}'])
    })
  }
})

describe('JSON', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const read = [
    { name: 'a text', body: '"text"' },
    { name: 'a number', body: '42' },
    { name: 'null', body: 'null' },
    { name: 'false', body: 'false' },
    { name: 'an array', body: '[1,{"a":[]}]' },
    { name: 'a byte order mark before it', body: '\ufeff{"a":1}', expect: '{"a":1}' },
    { name: 'the last of a repeated name', body: '{"a":1,"b":2,"a":3}', expect: '{"a":3,"b":2}' },
    { name: '64 levels', body: nested(64) },
    { name: 'names that objects inherit', body: '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}' },
  ]
  for (const { name, body, expect = body } of read) {
    it(`reads ${name}`, async () => {
      const reply = await post('/json', body)
      assert.deepEqual([reply.status, reply.text], [200, expect])
      assert.equal(({} as JsonObject).x ?? ({} as JsonObject).y, undefined, 'the prototype of all objects was changed')
    })
  }
})
