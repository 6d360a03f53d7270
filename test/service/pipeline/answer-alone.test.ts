import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../src/domain/json.ts'
import {
  type Answering,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

type Given = {
  status?: number
  headers?: Readonly<Record<string, string | string[]>>
  type?: string
  body?: string | Buffer
}

let service: Service
let upstream: Upstream
/** What the upstream answers, by path. */
const answers = new Map<string, Given>()
const answer: Answering = ({ url }, response) => {
  const { status = 200, headers = {}, type, body } = answers.get(url) ?? {}
  response.writeHead(status, { ...headers, ...(type === undefined ? {} : { 'content-type': type }) })
  response.end(body)
  return undefined
}
before(async () => {
  service = await startService()
  upstream = await startUpstream(answer)
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** A response request to an upstream that answers so. */
function to(given: Given, config: JsonObject = {}, more: JsonObject = {}): JsonObject {
  routes += 1
  answers.set(`/target-${routes}`, given)
  return { id: `r${routes}`, config: { url: `${upstream.url}/target-${routes}`, ...config }, ...more }
}

async function send(response: readonly JsonObject[], output = 'JSON') {
  routes += 1
  const transformation = { input: 'JSON', output }
  await service.register({ endpoint: { pattern: `/alone-${routes}` }, transformation, requests: { response } })
  return service.fetch(`/alone-${routes}`, json('POST', { m: 1 }))
}

const MEDIA_TYPES = {
  JSON: 'application/json',
  XML: 'application/xml',
  'FHIR+JSON': 'application/fhir+json',
  'JSON+OPENHIM': 'application/json+openhim',
} as const
type Format = keyof typeof MEDIA_TYPES

/** XML without its declaration and the white space between elements. */
const elements = (xml: string) => xml.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><')

describe('a body in the output type is passed on byte for byte', () => {
  const exactJson = ' {"b":1.0,\n\t"1":12345678901234567890, "a":"\\u00e5å", "a":2}\n'
  const exactXml = '<?xml version="1.0"?>\n<m  b="2" a=\'1\'><!-- kept --><c>  å&#x20;</c><d></d></m>\n'
  const cases: { output: Format; type?: string; body: string }[] = [
    { output: 'JSON', type: 'application/json', body: exactJson },
    { output: 'JSON', type: 'application/json; charset=UTF-8', body: exactJson },
    { output: 'JSON', type: 'application/fhir+json', body: exactJson },
    { output: 'JSON', body: exactJson },
    { output: 'JSON', type: 'text/plain', body: '[1.0]' },
    { output: 'JSON', type: 'application/json', body: '1.0' },
    { output: 'FHIR+JSON', type: 'application/json', body: exactJson },
    { output: 'JSON+OPENHIM', type: 'application/json+openhim', body: exactJson },
    { output: 'XML', type: 'application/xml', body: exactXml },
    { output: 'XML', type: 'application/soap+xml; charset="utf-8"', body: exactXml },
  ]
  for (const { output, type, body } of cases) {
    it(`${output} that is declared as ${type}`, async () => {
      const reply = await send([to({ body, ...(type === undefined ? {} : { type }) })], output)
      assert.deepEqual([reply.status, reply.text], [200, body])
      assert.equal(reply.headers.get('content-type'), MEDIA_TYPES[output])
    })
  }

  it('and without its content coding', async () => {
    const coded = { type: 'application/json', headers: { 'content-encoding': 'gzip' }, body: gzipSync(exactJson) }
    const reply = await send([to(coded)])
    assert.deepEqual([reply.text, reply.headers.get('content-encoding')], [exactJson, null])
  })
})

describe('any other body is converted', () => {
  const cases: { name: string; output: Format; type?: string; body: string | Buffer; answer: string }[] = [
    {
      name: 'XML to JSON',
      output: 'JSON',
      type: 'text/xml',
      body: '<m a="1"><b>2</b><b/></m>',
      answer: '{"$":{"a":"1"},"b":["2",""]}',
    },
    { name: 'XML to FHIR', output: 'FHIR+JSON', type: 'application/xml', body: '<m><b>2</b></m>', answer: '{"b":"2"}' },
    {
      name: 'JSON to XML',
      output: 'XML',
      type: 'application/json',
      body: '{"m":{"b":[1,"<"]}}',
      answer: '<m><b>1</b><b>&lt;</b></m>',
    },
    { name: 'undeclared JSON to XML', output: 'XML', body: '{"b":1,"c":2}', answer: '<root><b>1</b><c>2</c></root>' },
    { name: 'text to JSON', output: 'JSON', type: 'text/plain', body: 'said "no"', answer: '"said \\"no\\""' },
    { name: 'a number as text to JSON', output: 'JSON', type: 'text/plain', body: '5', answer: '"5"' },
    { name: 'HTML to JSON', output: 'JSON', type: 'text/html', body: '<p>', answer: '"<p>"' },
    { name: 'text to XML', output: 'XML', type: 'text/plain', body: 'a < b', answer: '<root>a &lt; b</root>' },
    {
      name: 'another charset',
      output: 'JSON',
      type: 'application/json; charset=iso-8859-1',
      body: Buffer.from('{"a":"å"}', 'latin1'),
      answer: '{"a":"å"}',
    },
  ]
  for (const { name, output, type, body, answer } of cases) {
    it(name, async () => {
      const reply = await send([to({ status: 201, body, ...(type === undefined ? {} : { type }) })], output)
      assert.equal(output === 'XML' ? elements(reply.text) : reply.text, answer)
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [201, MEDIA_TYPES[output]])
    })
  }
})

describe('an empty answer', () => {
  const cases: { output: Format; status: number; method?: string; body: string; type?: string | null }[] = [
    { output: 'JSON', status: 200, body: '' },
    { output: 'JSON', status: 201, body: '' },
    { output: 'JSON', status: 204, body: '', type: null },
    { output: 'JSON', status: 404, body: '' },
    { output: 'XML', status: 200, body: '<root/>', type: 'application/xml' },
    { output: 'XML', status: 404, body: '<root/>', type: 'application/xml' },
    { output: 'XML', status: 204, body: '', type: null },
    { output: 'XML', status: 304, body: '' },
    { output: 'JSON', status: 200, method: 'HEAD', body: '' },
    { output: 'XML', status: 200, method: 'HEAD', body: '<root/>', type: 'application/xml' },
  ]
  for (const { output, status, method = 'POST', body, type } of cases) {
    it(`${body === '' ? 'stays empty' : `is ${body}`}: ${output}, ${status} to a ${method}`, async () => {
      const reply = await send([to({ status, type: 'application/json' }, { method })], output)
      assert.deepEqual([reply.status, elements(reply.text)], [status, body])
      if (type !== undefined) assert.equal(reply.headers.get('content-type'), type)
    })
  }
})

it('names no media type where there is no body', async () => {
  for (const [output, status] of [
    ['JSON', 200],
    ['JSON', 404],
    ['XML', 205],
    ['XML', 304],
  ] as const) {
    const reply = await send([to({ status })], output)
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, null])
  }
})

it('has headers beyond ASCII as they were, also where the body is converted', async () => {
  const given = { headers: { 'x-name': 'å' }, type: 'application/json', body: Buffer.from('{"a":1}') }
  for (const output of ['JSON', 'XML']) {
    assert.equal((await send([to(given)], output)).headers.get('x-name'), 'å')
  }
})

it('has the end-to-end headers of the upstream', async () => {
  const headers = {
    'X-Request-Id': 'q1',
    ETag: '"e1"',
    Location: '/Patient/1',
    Link: ['<a>; rel="next"', '<b>; rel="last"'],
    Connection: 'close, X-Mine , x-other',
    'X-Mine': 'hop',
    'X-Other': 'hop',
    'Keep-Alive': 'timeout=99',
    'Proxy-Authenticate': 'Basic',
    TE: 'trailers',
    Trailer: 'X-End',
    Upgrade: 'h2c',
    'Set-Cookie': ['a=1', 'b=2'],
    'Transfer-Encoding': 'chunked',
  }
  for (const output of ['JSON', 'XML'] as const) {
    const reply = await send([to({ status: 201, headers, type: 'application/json', body: '{"a":1.0}' })], output)
    assert.equal(reply.status, 201)
    const passed = ['x-request-id', 'etag', 'location', 'link'].map((name) => reply.headers.get(name))
    assert.deepEqual(passed, ['q1', '"e1"', '/Patient/1', '<a>; rel="next", <b>; rel="last"'])
    const kept = [
      'x-mine',
      'x-other',
      'proxy-authenticate',
      'te',
      'trailer',
      'upgrade',
      'set-cookie',
      'transfer-encoding',
    ]
    for (const name of kept) assert.equal(reply.headers.get(name), null, name)
    assert.notEqual(reply.headers.get('keep-alive'), 'timeout=99')
    assert.equal(reply.headers.get('content-length'), String(Buffer.byteLength(reply.text)))
  }
})

it('has no header by which the upstream speaks for the service or steers a browser', async () => {
  const headers = {
    'X-Crosswalk-Message-Id': '0123456789abcdef01234567',
    'X-Crosswalk-Status': 'partial',
    'Idempotency-Replayed': 'true',
    'Access-Control-Allow-Origin': '*',
    'Clear-Site-Data': '"*"',
    Refresh: '0;url=/endpoints',
    'Service-Worker-Allowed': '/',
    'Content-Security-Policy': 'default-src *',
    'X-Content-Type-Options': 'x',
  }
  for (const [status, type, body] of [
    [200, 'application/json', '{}'],
    // No UTF-8, so it cannot be converted.
    [200, 'text/html', Buffer.from('<script>0</script>\xff', 'latin1')],
    [422, 'application/json', '{"why":1}'],
  ] as const) {
    const reply = await send([to({ status, headers, type, body })])
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, type])
    assert.match(reply.headers.get('x-crosswalk-message-id') ?? '', /^(?!0123456789abcdef)[0-9a-f]{24}$/)
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(reply.headers.get('content-security-policy'), "sandbox; default-src 'none'")
    for (const name of Object.keys(headers).slice(1, 7)) assert.equal(reply.headers.get(name), null, name)
  }
})

describe('a refusal', () => {
  const html = `<html>${'x'.repeat(500)}</html>`
  const cases: { name: string; given: Given; status: number; body: string }[] = [
    {
      name: 'is passed on',
      given: { status: 422, type: 'application/json', body: '{"why":1.0}' },
      status: 422,
      body: '{"why":1.0}',
    },
    {
      name: 'is passed on: 503',
      given: { status: 503, type: 'application/json', body: '{}' },
      status: 503,
      body: '{}',
    },
    {
      name: 'is passed on: a redirect',
      given: { status: 302, type: 'application/json', headers: { location: '/b' }, body: '{}' },
      status: 302,
      body: '{}',
    },
    {
      name: 'keeps its status and whole body where it is not what it declares',
      given: { status: 500, type: 'application/json', body: html },
      status: 500,
      body: JSON.stringify(html),
    },
    {
      name: 'is a 502 where no caller could be answered with its status',
      given: { status: 600, type: 'application/json', body: '{"a":1}' },
      status: 502,
      body: '{"a":1}',
    },
  ]
  for (const { name, given, status, body } of cases) {
    it(name, async () => {
      const reply = await send([to(given)])
      assert.deepEqual(
        [reply.status, reply.text, reply.headers.get('content-type')],
        [status, body, 'application/json'],
      )
      assert.equal(reply.headers.get('x-crosswalk-status'), null)
    })
  }
})
