import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { type Received, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  upstream = await startUpstream(() => ({}))
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

type Incoming = { method?: string; input?: string; type?: string; body?: string | Buffer }

/** Sends a message to an endpoint with one lookup, and gives what the upstream received. */
async function forward(lookup: JsonObject, { method = 'POST', input = 'JSON', type, body }: Incoming) {
  routes += 1
  const { config, ...rest } = { config: {}, ...lookup }
  await service.register({
    endpoint: { pattern: `/forward-${routes}`, method },
    transformation: { input, output: 'JSON' },
    requests: { lookup: { id: 'one', config: { url: upstream.url, ...(config as JsonObject) }, ...rest } },
  })
  const from = upstream.received.length
  const reply = await service.fetch(`/forward-${routes}`, {
    method,
    headers: { 'content-type': type ?? (input === 'XML' ? 'application/xml' : 'application/json') },
    ...(body === undefined ? {} : { body }),
  })
  assert.equal(reply.status, 200, reply.text)
  const [received, ...others] = upstream.received.slice(from)
  assert.deepEqual(others, [])
  return received as Received
}

const forwarding = (headers: JsonObject = {}) => ({
  forwardExistingRequestBody: true,
  config: { method: 'POST', headers },
})

/** XML without its declaration and the white space between elements. */
const elements = (xml: string) => xml.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><')

/** What JSON.parse and JSON.stringify would not give back as it was. */
const EXACT_JSON = '{ "b": 1.0,\n "1": 12345678901234567890, "a": "\\u00e5å" }'
const EXACT_XML = '<m  a="1"><!-- kept --><b>å</b>\n</m>'

describe('a forwarded body', () => {
  const cases: { name: string; headers?: JsonObject; incoming: Incoming; body: string; type: string }[] = [
    {
      name: 'goes as it came: JSON',
      incoming: { body: EXACT_JSON },
      body: EXACT_JSON,
      type: 'application/json',
    },
    {
      name: 'goes as it came: a media type with a suffix',
      headers: { 'Content-Type': 'application/fhir+json' },
      incoming: { body: EXACT_JSON, input: 'FHIR+JSON', type: 'application/fhir+json; charset=utf-8' },
      body: EXACT_JSON,
      type: 'application/fhir+json',
    },
    {
      name: 'goes as it came: XML that is asked for',
      headers: { 'content-type': 'text/xml' },
      incoming: { body: EXACT_XML, input: 'XML' },
      body: EXACT_XML,
      type: 'text/xml',
    },
    {
      name: 'goes as UTF-8 where it came as something else',
      incoming: { body: Buffer.from('{"a":"å"}', 'utf16le'), type: 'application/json; charset=utf-16' },
      body: '{"a":"å"}',
      type: 'application/json',
    },
    {
      name: 'goes as JSON where it came as XML',
      incoming: { body: '<m><a>1</a></m>', input: 'XML' },
      body: '{"a":"1"}',
      type: 'application/json',
    },
    {
      name: 'goes as XML where that is asked for and it came as JSON',
      headers: { 'CONTENT-TYPE': 'application/soap+xml; charset=utf-8' },
      incoming: { body: '{"m":{"a":[1,2]}}' },
      body: '<m><a>1</a><a>2</a></m>',
      type: 'application/soap+xml; charset=utf-8',
    },
    {
      name: 'goes as JSON under a Content-Type that names neither',
      headers: { 'content-type': 'text/plain' },
      incoming: { body: '{"a":1}' },
      body: '{"a":1}',
      type: 'text/plain',
    },
    { name: 'is an empty object where there was none', incoming: {}, body: '{}', type: 'application/json' },
    {
      name: 'is nothing that was never parsed',
      incoming: { method: 'DELETE', body: '{"a":' },
      body: '{}',
      type: 'application/json',
    },
  ]
  for (const { name, headers = {}, incoming, body, type } of cases) {
    it(name, async () => {
      const received = await forward(forwarding(headers), incoming)
      assert.equal(body.startsWith('<') && body !== EXACT_XML ? elements(received.body) : received.body, body)
      assert.equal(received.headers['content-type'], type)
    })
  }

  it('goes with any method', async () => {
    const received = await forward({ ...forwarding(), config: { method: 'PUT' } }, { body: '{"a":1}' })
    assert.deepEqual([received.method, received.body], ['PUT', '{"a":1}'])
  })

  it('goes only where it should', async () => {
    for (const lookup of [{}, { forwardExistingRequestBody: false }]) {
      const received = await forward({ ...lookup, config: { method: 'POST' } }, { body: '{"a":1}' })
      assert.deepEqual([received.body, received.headers['content-type']], ['', undefined])
    }
  })
})

describe('the request of a lookup', () => {
  const methods: { method?: string; sent: string }[] = [
    { sent: 'GET' },
    { method: 'get', sent: 'GET' },
    { method: 'Post', sent: 'POST' },
    { method: 'pUT', sent: 'PUT' },
    { method: 'patch', sent: 'PATCH' },
    { method: 'DELETE', sent: 'DELETE' },
    { method: 'Options', sent: 'OPTIONS' },
  ]
  for (const { method, sent } of methods) {
    it(`has the method ${sent} where the document says ${method}`, async () => {
      const received = await forward({ config: method === undefined ? {} : { method } }, { body: '{}' })
      assert.equal(received.method, sent)
    })
  }

  it('has the headers of its configuration, and none of the message', async () => {
    routes += 1
    const headers = { Authorization: 'Basic c2VjcmV0', 'X-Own': 'a; b="c"', Accept: 'application/fhir+json' }
    const lookup = { id: 'one', config: { url: upstream.url, headers } }
    await service.register({ endpoint: { pattern: `/forward-${routes}` }, requests: { lookup } })
    await service.fetch(`/forward-${routes}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-theirs': '1', cookie: 'a=b', authorization: 'Bearer theirs' },
      body: '{}',
    })
    const { headers: sent } = upstream.received.at(-1) as Received
    assert.deepEqual(
      [sent.authorization, sent['x-own'], sent.accept, sent.host],
      ['Basic c2VjcmV0', 'a; b="c"', 'application/fhir+json', new URL(upstream.url).host],
    )
    assert.deepEqual([sent['x-theirs'], sent.cookie, sent['content-type']], [undefined, undefined, undefined])
  })
})
