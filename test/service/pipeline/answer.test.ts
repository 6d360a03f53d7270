/** The answer of an endpoint: its output without response requests, or what its only response request was answered with. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { type Format, MEDIA_TYPES } from '../../../src/formats/codecs.ts'
import { json } from '../../support/service.ts'
import { elements, openPipeline, output, type Said } from './fixture.ts'

const pipeline = openPipeline()

describe('without response requests the answer is the output', () => {
  const lookup = () => ({ id: 'l', config: { url: `${pipeline.upstream.url}/l` } })
  const types: [Format, string][] = [
    ['JSON', '{"m":{"n":1}}'],
    ['XML', '<m><n>1</n></m>'],
    ['FHIR+JSON', '{"m":{"n":1}}'],
    ['JSON+OPENHIM', '{"m":{"n":1}}'],
  ]
  for (const [format, body] of types) {
    it(`as ${format}`, async () => {
      const reply = await pipeline.send({ ...output(format), inputMapping: { 'requestBody.a': 'm.n' } }, { a: 1, b: 2 })
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, MEDIA_TYPES[format]])
      assert.equal(elements(reply.text), body)
    })
  }

  it('which is the parsed body, with the lookups where there are some, where nothing is mapped', async () => {
    assert.equal((await pipeline.send({ constants: { b: 2 } }, [1, { a: null }])).text, '[1,{"a":null}]')
    const reply = await pipeline.send({ requests: { lookup: lookup() } }, [1])
    type Whole = { requestBody: Json; lookupRequests: { l: { data: Json; headers: JsonObject } } }
    const { requestBody, lookupRequests, ...others } = reply.json<Whole>()
    assert.deepEqual([requestBody, lookupRequests.l.data, others], [[1], { method: 'GET', url: '/l' }, {}])
    assert.equal(lookupRequests.l.headers['content-type'], 'application/json')
  })

  it('which is the mapped output alone where there are lookups too', async () => {
    const inputMapping = { 'requestBody.a': 'a', 'lookupRequests.l.data.url': 'url' }
    const reply = await pipeline.send({ requests: { lookup: lookup() }, inputMapping }, { a: 1 })
    assert.equal(reply.text, '{"a":1,"url":"/l"}')
  })
})

for (const method of ['GET', 'DELETE']) {
  it(`a ${method} endpoint has no body, and sends what it was asked for in its URL`, async () => {
    const document = { endpoint: { method }, transformation: { output: 'JSON' } }
    assert.equal((await pipeline.service.fetch(await pipeline.register(document), { method })).text, '{}')
    const params = { url: { id: { path: 'urlParams.id' } }, query: { of: { path: 'query.of' } } }
    const config = { url: `${pipeline.upstream.url}/p/:id`, params }
    const requests = { lookup: { id: 'l', config }, response: { id: 'r', config: { ...config, method: 'put' } } }
    const inputMapping = { 'urlParams.id': 'id', 'lookupRequests.l.data.url': 'found' }
    const path = await pipeline.register({ ...document, requests, inputMapping }, '/:id')
    const reply = await pipeline.service.fetch(`${path}/7%2F8?of=a&of=b`, { method })
    const url = '/p/7%2F8?of=a,b'
    assert.deepEqual(reply.json(), { method: 'PUT', url, body: JSON.stringify({ id: '7/8', found: url }) })
  })
}

it('never mixes messages that are under way together', async () => {
  const config = (path: string): JsonObject => ({
    url: `${pipeline.upstream.url}/${path}/:n`,
    params: { url: { n: { path: 'payload.n' } }, query: { q: { path: 'query.q' }, w: { path: 'urlParams.w' } } },
  })
  const eachParams = { url: { n: { path: 'payload.n' }, i: { path: 'item' } } }
  const lookup = [
    { id: 'one', config: { ...config('one'), method: 'POST' }, forwardExistingRequestBody: true },
    {
      id: 'each',
      config: { url: `${pipeline.upstream.url}/each/:n/:i`, params: eachParams },
      forEach: { items: 'payload.items', concurrency: 2 },
    },
  ]
  const response = ['first', 'second'].map((id) => ({ id, config: config(id) }))
  const inputMapping = {
    'requestBody.n': 'n',
    'transforms.twice': 'twice',
    'lookupRequests.one.data': 'one',
    'lookupRequests.each.data.url': 'each',
    'requestHeaders.x-n': 'header',
  }
  const inputTransforms = { twice: 'requestBody.n * 2' }
  const path = await pipeline.register({ requests: { lookup, response }, inputTransforms, inputMapping }, '/:w')
  const numbers = Array.from({ length: 50 }, (_, n) => n)
  const message = (n: number) => ({ n, items: Array.from({ length: n % 4 }, (_, index) => `${n}-${index}`) })
  const replies = await Promise.all(
    numbers.map((n) => pipeline.service.fetch(`${path}/w${n}?q=q${n}`, json('POST', message(n), { 'x-n': `h${n}` }))),
  )
  for (const [n, reply] of replies.entries()) {
    const url = `${n}?q=q${n}&w=w${n}`
    const each = message(n).items.map((item) => `/each/${n}/${item}`)
    const one = { method: 'POST', url: `/one/${url}`, body: JSON.stringify(message(n)) }
    const body = JSON.stringify({ n, twice: 2 * n, one, each, header: `h${n}` })
    const answered = (id: string) => ({ method: 'POST', url: `/${id}/${url}`, body })
    assert.deepEqual(reply.json(), { first: answered('first'), second: answered('second') })
  }
})

/** Sends a message to an endpoint with one response request, which is answered so. */
const answered = (said: Said, format: Format = 'JSON', config: JsonObject = {}) => {
  const response = { id: 'one', config: { url: pipeline.at(said), ...config } }
  return pipeline.send({ ...output(format), requests: { response } }, { m: 1 })
}

describe('the answer of the only response request', () => {
  const exactJson = ' {"b":1.0,\n\t"1":12345678901234567890, "a":"\\u00e5å", "a":2}\n'
  const exactXml = '<?xml version="1.0"?>\n<m  b="2" a=\'1\'><!-- kept --><c>  å&#x20;</c><d></d></m>\n'
  const exact: [Format, string | undefined, string][] = [
    ['JSON', 'application/json; charset=UTF-8', exactJson],
    ['JSON', 'application/fhir+json', exactJson],
    ['JSON', undefined, exactJson],
    ['FHIR+JSON', 'application/json', exactJson],
    ['XML', 'application/xml', exactXml],
  ]
  for (const [format, type, body] of exact) {
    it(`is passed on byte for byte in the output type: ${format} that is declared as ${type}`, async () => {
      const reply = await answered({ body, ...(type === undefined ? {} : { type }) }, format)
      assert.deepEqual([reply.status, reply.text], [200, body])
      assert.equal(reply.headers.get('content-type'), MEDIA_TYPES[format])
    })
  }

  it('is passed on without its content coding', async () => {
    const headers = { 'content-encoding': 'gzip' }
    const reply = await answered({ type: 'application/json', headers, body: gzipSync(exactJson) })
    assert.deepEqual([reply.text, reply.headers.get('content-encoding')], [exactJson, null])
  })

  const converted: [string, Format, Said, string][] = [
    ['XML', 'JSON', { type: 'text/xml', body: '<m a="1"><b>2</b><b/></m>' }, '{"$":{"a":"1"},"b":["2",""]}'],
    ['JSON', 'XML', { type: 'application/json', body: '{"m":{"b":[1,"<"]}}' }, '<m><b>1</b><b>&lt;</b></m>'],
    ['undeclared JSON', 'XML', { body: '{"b":1,"c":2}' }, '<root><b>1</b><c>2</c></root>'],
    ['text', 'JSON', { type: 'text/plain', body: 'said "no"' }, '"said \\"no\\""'],
    ['text', 'XML', { type: 'text/plain', body: 'a < b' }, '<root>a &lt; b</root>'],
  ]
  for (const [from, format, said, expected] of converted) {
    it(`is converted where it is of another type: ${from} to ${format}`, async () => {
      const reply = await answered({ status: 201, ...said }, format)
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [201, MEDIA_TYPES[format]])
      assert.equal(elements(reply.text), expected)
    })
  }

  const empty: { format: Format; status: number; method?: string; body?: string; type?: string | null }[] = [
    { format: 'JSON', status: 201 },
    { format: 'JSON', status: 204, type: null },
    { format: 'XML', status: 200, body: '<root/>', type: 'application/xml' },
    { format: 'XML', status: 204, type: null },
    { format: 'JSON', status: 200, method: 'HEAD' },
  ]
  for (const { format, status, method = 'POST', body = '', type } of empty) {
    it(`${body === '' ? 'stays empty' : `is ${body}`}: ${format}, ${status} to a ${method}`, async () => {
      const reply = await answered({ status, type: 'application/json' }, format, { method })
      assert.deepEqual([reply.status, elements(reply.text)], [status, body])
      if (type !== undefined) assert.equal(reply.headers.get('content-type'), type)
    })
  }

  it('has the end-to-end headers of the upstream, also where the body is converted', async () => {
    const headers = {
      Location: '/Patient/1',
      Link: ['<a>', '<b>'],
      'X-Mine': 'hop',
      Connection: 'close, X-Mine',
      'Set-Cookie': 'a=1',
    }
    for (const format of ['JSON', 'XML'] as const) {
      const reply = await answered({ status: 201, headers, type: 'application/json', body: '{"a":1.0}' }, format)
      const found = ['location', 'link', 'x-mine', 'set-cookie'].map((name) => reply.headers.get(name))
      assert.deepEqual([reply.status, ...found], [201, '/Patient/1', '<a>, <b>', null, null])
      assert.equal(reply.headers.get('content-length'), String(Buffer.byteLength(reply.text)))
    }
  })

  it('has no header by which the upstream speaks for the service or steers a browser', async () => {
    const dropped = {
      'X-Crosswalk-Status': 'partial',
      'Idempotency-Replayed': 'true',
      'Access-Control-Allow-Origin': '*',
      'Clear-Site-Data': '"*"',
      Refresh: '0;url=/endpoints',
      'Service-Worker-Allowed': '/',
    }
    const replaced = {
      'X-Crosswalk-Message-Id': '0123456789abcdef01234567',
      'Content-Security-Policy': 'default-src *',
      'X-Content-Type-Options': 'x',
    }
    for (const said of [
      { status: 200, type: 'application/json', body: '{}' },
      // No UTF-8, so it cannot be converted.
      { status: 200, type: 'text/html', body: Buffer.from('<script>0</script>\xff', 'latin1') },
      { status: 422, type: 'application/json', body: '{"why":1}' },
    ]) {
      const reply = await answered({ ...said, headers: { ...dropped, ...replaced } })
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [said.status, said.type])
      assert.match(reply.headers.get('x-crosswalk-message-id') ?? '', /^(?!0123456789abcdef)[0-9a-f]{24}$/)
      assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(reply.headers.get('content-security-policy'), "sandbox; default-src 'none'")
      for (const name of Object.keys(dropped)) assert.equal(reply.headers.get(name), null, name)
    }
  })

  const html = `<html>${'x'.repeat(500)}</html>`
  const refusals: [name: string, said: Said, body?: string | undefined, status?: number][] = [
    ['as it came', { status: 422, body: '{"why":1.0}' }],
    ['a redirect', { status: 302, headers: { location: '/b' }, body: '{}' }],
    ['with its whole body where it is not what it declares', { status: 500, body: html }, JSON.stringify(html)],
    ['as a 502 where no caller could be answered with its status', { status: 600, body: '{"a":1}' }, undefined, 502],
  ]
  for (const [name, said, body = said.body, status = said.status] of refusals) {
    it(`is passed on where it is a refusal: ${name}`, async () => {
      const reply = await answered({ type: 'application/json', ...said })
      const type = reply.headers.get('content-type')
      assert.deepEqual([reply.status, reply.text, type], [status, body, 'application/json'])
      assert.equal(reply.headers.get('x-crosswalk-status'), null)
    })
  }
})
