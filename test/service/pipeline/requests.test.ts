/** What the requests of a message are: method, headers and body. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Received } from '../../support/service.ts'
import { elements, openPipeline, output } from './fixture.ts'

before(() => {
  process.env.CROSSWALK_SECRET_ACCEPT = 'abc'
})
after(() => {
  delete process.env.CROSSWALK_SECRET_ACCEPT
})
const pipeline = openPipeline({ SECRETS_ALLOW: 'CROSSWALK_SECRET_*' })

type Sent = { format?: string; body?: Json; more?: JsonObject }

/** What the upstream received of a message with these requests. */
const receivedOf = (
  kind: 'lookup' | 'response',
  configs: readonly JsonObject[],
  { format = 'JSON', body, more }: Sent,
) =>
  pipeline.receivedIn(async () => {
    const requests = configs.map((config, at) => ({ id: `r${at}`, config: { url: pipeline.upstream.url, ...config } }))
    const reply = await pipeline.send({ ...output(format), requests: { [kind]: requests }, ...more }, body)
    assert.equal(reply.status, 200, reply.text)
  })

describe('a request asks for', () => {
  const [JSON_FIRST, FHIR_FIRST, XML_FIRST] = [
    'application/json, */*;q=0.8',
    'application/fhir+json, application/json;q=0.9, */*;q=0.8',
    'application/xml, application/json;q=0.9, */*;q=0.8',
  ]
  const cases: { format?: string; headers?: JsonObject; method?: string; accept: string }[] = [
    { accept: JSON_FIRST },
    { format: 'JSON+OPENHIM', accept: JSON_FIRST },
    { format: 'FHIR+JSON', headers: { 'Content-Type': 'application/json' }, accept: FHIR_FIRST },
    { headers: { 'content-type': 'text/xml; charset=utf-8' }, accept: XML_FIRST },
    { headers: { 'Content-Type': 'application/soap+xml' }, format: 'FHIR+JSON', accept: XML_FIRST },
    { headers: { ACCEPT: 'text/csv' }, format: 'FHIR+JSON', accept: 'text/csv' },
    // Beside headers that refer to secrets.
    { headers: { 'X-Token': '${env:CROSSWALK_SECRET_ACCEPT}' }, accept: JSON_FIRST },
  ]
  for (const { format = 'JSON', headers = {}, method = 'GET', accept } of cases) {
    it(`${accept}: ${method}, ${format}, ${JSON.stringify(headers)}`, async () => {
      for (const kind of ['lookup', 'response'] as const) {
        const received = await receivedOf(kind, [{ method, headers }], { format })
        assert.deepEqual(
          received.map((one) => one.headers.accept),
          [accept],
        )
        if ('X-Token' in headers) assert.equal(received[0]?.headers['x-token'], 'abc')
      }
    })
  }

  it('nothing as a record for a topic', async () => {
    const requests = { response: { id: 'one', kafkaProducerTopic: 'out' } }
    const endpoint = endpointDocument({ endpoint: { pattern: '/topic' }, requests })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ endpoint, message: { body: {} } })
    const reply = await call(pipeline.service.adminUrl, 'POST', '/endpoints/dry-run', { headers, body })
    const { calls } = reply.json<{ calls: { headers: JsonObject }[] }>()
    assert.deepEqual(Object.keys(calls[0]?.headers ?? {}), ['content-type', 'crosswalk.message-id'])
  })
})

it('has the method of the document, whatever its case', async () => {
  for (const [kind, usual, bare] of [
    ['lookup', 'GET', 'Options'],
    ['response', 'POST', 'delete'],
  ] as const) {
    const configs = [{}, { method: 'pUT' }, { method: 'patch' }, { method: bare }]
    const methods = (await receivedOf(kind, configs, {})).map(({ method }) => method)
    assert.deepEqual(methods.toSorted(), [usual, 'PUT', 'PATCH', bare.toUpperCase()].toSorted())
  }
})

it('has the headers of its configuration, and none of the message', async () => {
  const headers = { Authorization: 'Basic c2VjcmV0', 'X-Own': 'a; b="c"', Accept: 'application/fhir+json' }
  const lookup = { id: 'one', config: { url: pipeline.upstream.url, headers } }
  const path = await pipeline.register({ requests: { lookup } })
  const theirs = { 'x-theirs': '1', cookie: 'a=b', authorization: 'Bearer theirs' }
  await pipeline.service.fetch(path, json('POST', {}, theirs))
  const { headers: sent } = pipeline.upstream.received.at(-1) as Received
  assert.deepEqual(
    [sent.authorization, sent['x-own'], sent.accept, sent.host],
    ['Basic c2VjcmV0', 'a; b="c"', 'application/fhir+json', new URL(pipeline.upstream.url).host],
  )
  assert.deepEqual([sent['x-theirs'], sent.cookie, sent['content-type']], [undefined, undefined, undefined])
})

describe('the body of a lookup that forwards what came', () => {
  /** What JSON.parse and JSON.stringify would not give back as it was. */
  const EXACT_JSON = '{ "b": 1.0,\n "1": 12345678901234567890, "a": "\\u00e5å" }'
  const EXACT_XML = '<m  a="1"><!-- kept --><b>å</b>\n</m>'
  type Came = { method?: string; input?: string; type?: string; body?: string | Buffer }
  type Case = { name: string; own?: string; came: Came; body: string; type?: string; forwards?: boolean }
  const cases: Case[] = [
    { name: 'goes as it came: JSON', came: { body: EXACT_JSON }, body: EXACT_JSON },
    {
      name: 'goes as it came: XML that is asked for',
      own: 'text/xml',
      came: { body: EXACT_XML, input: 'XML', type: 'application/xml' },
      body: EXACT_XML,
    },
    {
      name: 'goes as UTF-8 where it came as something else',
      came: { body: Buffer.from('{"a":"å"}', 'utf16le'), type: 'application/json; charset=utf-16' },
      body: '{"a":"å"}',
    },
    {
      name: 'goes as JSON where it came as XML',
      came: { body: '<m><a>1</a></m>', input: 'XML', type: 'application/xml' },
      body: '{"a":"1"}',
    },
    {
      name: 'goes as XML where that is asked for and it came as JSON',
      own: 'application/soap+xml; charset=utf-8',
      came: { body: '{"m":{"a":[1,2]}}' },
      body: '<m><a>1</a><a>2</a></m>',
    },
    { name: 'is an empty object where there was none', came: {}, body: '{}' },
    { name: 'is nothing that was never parsed', came: { method: 'DELETE', body: '{"a":' }, body: '{}' },
    { name: 'goes only where it should', forwards: false, came: { body: '{"a":1}' }, body: '' },
  ]
  for (const { name, own, came, body, type = own ?? 'application/json', forwards = true } of cases) {
    it(name, async () => {
      const { method = 'POST', input = 'JSON', type: given = 'application/json', body: given_ } = came
      const config = {
        url: pipeline.upstream.url,
        method: 'PUT',
        headers: own === undefined ? {} : { 'CONTENT-type': own },
      }
      const lookup = { id: 'one', config, forwardExistingRequestBody: forwards }
      const transformation = { input, output: 'JSON' }
      const path = await pipeline.register({ endpoint: { method }, transformation, requests: { lookup } })
      const [received] = await pipeline.receivedIn(() =>
        pipeline.service.fetch(path, {
          method,
          headers: { 'content-type': given },
          ...(given_ === undefined ? {} : { body: given_ }),
        }),
      )
      assert.equal(body === EXACT_XML ? received?.body : elements(received?.body ?? ''), body)
      assert.deepEqual([received?.method, received?.headers['content-type']], ['PUT', forwards ? type : undefined])
    })
  }
})

describe('the body of a response request', () => {
  const [asJson, asXml] = ['{"m":{"a":[1,2]}}', '<m><a>1</a><a>2</a></m>']
  const cases: [name: string, format: string, body: string, type?: string, own?: string][] = [
    ['is the output', 'JSON', asJson, 'application/json'],
    ['is the output', 'XML', asXml, 'application/xml'],
    ['is the output', 'FHIR+JSON', asJson, 'application/fhir+json'],
    ['is JSON where it says so', 'XML', asJson, 'application/json', 'application/json'],
    ['is XML where it says so', 'JSON', asXml, 'text/xml', 'text/xml'],
    ['is the output where it says neither', 'XML', asXml, 'application/xml', 'text/plain'],
  ]
  for (const [name, format, body, type, own] of cases) {
    it(`${name}: ${format} and ${own}`, async () => {
      const headers = own === undefined ? {} : { 'Content-Type': own }
      const received = await receivedOf('response', [{ headers }], { format, body: { m: { a: [1, 2] } } })
      assert.deepEqual(
        received.map((request) => [elements(request.body), request.headers['content-type']]),
        [[body, type]],
      )
    })
  }

  it('is what was mapped, not what came', async () => {
    const more = { inputMapping: { 'requestBody.a': 'b' } }
    const configs = [{}, { headers: { 'content-type': 'application/xml' } }]
    const received = await receivedOf('response', configs, { body: { a: 1, c: 2 }, more })
    assert.deepEqual(received.map(({ body }) => elements(body)).toSorted(), ['<b>1</b>', '{"b":1}'])
  })

  it('is none with GET and HEAD', async () => {
    const configs = [{ method: 'GET' }, { method: 'head' }, { method: 'DELETE' }]
    const received = await receivedOf('response', configs, { body: { a: 1 } })
    assert.deepEqual(received.map(({ method, body, headers }) => [method, body, headers['content-type']]).toSorted(), [
      ['DELETE', '{"a":1}', 'application/json'],
      ['GET', '', undefined],
      ['HEAD', '', undefined],
    ])
  })

  it('is reported at registration where its Content-Type gives way', async () => {
    const config = { url: pipeline.upstream.url, headers: { 'content-type': 'text/html' } }
    const requests = { response: { id: 'one', config } }
    const document = endpointDocument({ endpoint: { pattern: '/gives-way' }, requests })
    const reply = await pipeline.service.fetch('/endpoints', json('POST', document))
    assert.equal(reply.status, 201)
    assert.match(reply.headers.get('x-crosswalk-warnings') ?? '', /requests\.response\[0\]\.config\.headers/)
  })
})
