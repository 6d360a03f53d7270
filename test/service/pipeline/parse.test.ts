/** Which bodies are read, and by which reader. What each reader takes and refuses: test/service/corpus/, test/unit/formats/. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { request } from 'undici'
import type { Json } from '../../../src/core/json.ts'
import { startService } from '../../support/service.ts'
import { failureOf, openPipeline } from './fixture.ts'

const pipeline = openPipeline({}, async (service) => {
  for (const [pattern, input, method] of [
    ['/json', 'JSON', 'POST'],
    ['/xml', 'XML', 'POST'],
    ['/fhir', 'FHIR+JSON', 'POST'],
    ['/openhim', 'JSON+OPENHIM', 'POST'],
    ['/put', 'JSON', 'PUT'],
    ['/patch', 'JSON', 'PATCH'],
    ['/get', undefined, 'GET'],
    ['/delete', 'JSON', 'DELETE'],
  ] as const) {
    const transformation = { ...(input === undefined ? {} : { input }), output: 'JSON' }
    await service.register({ endpoint: { pattern, method }, transformation })
  }
})

/** Bytes carry no media type of their own, so that only the header given declares one. */
const post = (path: string, body: string | Uint8Array, type?: string, more: Record<string, string> = {}) => {
  const headers = { ...(type === undefined ? {} : { 'content-type': type }), ...more }
  const method = path === '/put' ? 'PUT' : path === '/patch' ? 'PATCH' : 'POST'
  return pipeline.service.fetch(path, { method, headers, body: Buffer.from(body) })
}

describe('the media type of a message', () => {
  const taken: [path: string, type: string | undefined][] = [
    ['/json', 'Application/JSON; charset=UTF-8'],
    ['/json', 'application/json+openhim'],
    ['/json', 'text/json'],
    ['/fhir', 'application/json'],
    ['/openhim', 'application/json'],
    ['/put', 'application/json'],
    ['/patch', 'application/merge-patch+json'],
    ['/patch', undefined],
    ['/json', undefined],
    ['/xml', 'text/xml; charset=utf-8'],
    ['/xml', undefined],
  ]
  for (const [path, type] of taken) {
    it(`is taken: ${type} at ${path}`, async () => {
      const reply = await post(path, path === '/xml' ? '<m><a>ü</a></m>' : '{"a":"ü"}', type)
      assert.deepEqual([reply.status, reply.text], [200, '{"a":"ü"}'])
    })
  }

  it('is reported as which one is taken', async () => {
    const reply = await post('/fhir', 'a', 'text/plain')
    assert.equal(reply.headers.get('accept'), 'application/fhir+json')
    assert.match(String(reply.json().error), /FHIR\+JSON.*"text\/plain"/)
  })

  it('has no content coding but `identity`', async () => {
    const coded = await post('/json', '{}', 'application/json', { 'content-encoding': 'gzip' })
    assert.deepEqual(failureOf(coded).slice(0, 2), [415, 'MEDIA_TYPE_WRONG'])
    assert.equal(coded.headers.get('accept-encoding'), 'identity')
    assert.equal((await post('/json', '{}', 'application/json', { 'content-encoding': 'Identity' })).status, 200)
  })

  it('decides over the charset, of XML beside its declaration', async () => {
    const latin = Buffer.from('{"a":"ü"}', 'latin1')
    assert.equal((await post('/json', latin, 'application/json; charset=iso-8859-1')).text, '{"a":"ü"}')
    assert.deepEqual(failureOf(await post('/json', latin, 'application/json')).slice(0, 2), [400, 'BODY_UNREADABLE'])
    for (const [xml, type] of [
      ['<?xml version="1.0" encoding="iso-8859-1"?><m>ü</m>', 'text/xml'],
      ['<m>ü</m>', 'text/xml; charset=iso-8859-1'],
    ] as const)
      assert.equal((await post('/xml', Buffer.from(xml, 'latin1'), type)).text, '"ü"')
  })
})

it('a message without a body is an empty object, and so is any GET or DELETE', async () => {
  for (const [method, path] of [
    ['POST', '/json'],
    ['PUT', '/put'],
    ['POST', '/xml'],
    ['GET', '/get'],
    ['DELETE', '/delete'],
  ] as const) {
    const reply = await pipeline.service.fetch(path, { method })
    assert.deepEqual([reply.status, reply.text], [200, '{}'])
    if (method !== 'GET' && method !== 'DELETE') continue
    const headers = { 'content-type': 'text/plain' }
    const withBody = await request(`${pipeline.service.url}${path}`, { method, headers, body: '{"a":' })
    assert.deepEqual([withBody.statusCode, await withBody.body.text()], [200, '{}'])
  }
})

describe('the settings of the XML reader', () => {
  const cases: [Record<string, string>, Json][] = [[{ EXPLICIT_ROOT: 'true' }, { m: { a: '1', b: { c: '2' } } }]]
  for (const [options, expected] of cases) {
    it(JSON.stringify(options), async (t) => {
      const env = Object.entries(options).map(([name, value]) => [`PARSER_XML_OPTIONS_${name}`, value])
      const service = await startService(Object.fromEntries(env))
      t.after(service.stop)
      await service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'XML', output: 'JSON' } })
      const body = '<m><a> 1 </a><b><c>2</c></b></m>'
      const headers = { 'content-type': 'application/xml' }
      assert.deepEqual((await service.fetch('/xml', { method: 'POST', headers, body })).json(), expected)
    })
  }
})
