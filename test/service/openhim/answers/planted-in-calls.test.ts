/** Credentials and redacted values, planted wherever calls hold some: a core learns none of them, in whatever form. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { json, type Service, startUpstream, type Upstream } from '../../../support/service.ts'
import { startMediating, TRANSACTION, wrapperOf } from './wrapped-service.ts'
import { wrapperFaults } from './wrapper-schema.ts'

/** By where each is planted. */
const CANARIES = {
  configuredAuthorization: 'canary-01/authorization+',
  configuredKey: 'canary-02 key',
  configuredVendorToken: 'canary-03 vendor:token',
  configuredCookie: 'canary-04-cookie',
  basicPassword: 'canary-05 password',
  referencedHeader: 'canary-06 "referenced"',
  referencedBase: 'canary-07-base',
  referencedPath: 'canary-08-in the path',
  referencedQuery: 'canary-09 in&the query',
  referencedConstant: 'canary-10 <constant>',
  urlToken: 'canary-11 url token',
  urlSignature: 'canary-12 signature',
  callerHeader: 'canary-13-caller-header',
  callerQuery: 'canary-14 caller query',
  callerJwt: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnktMTUifQ.canary-15',
  answerCookie: 'canary-16-set-cookie',
  answerToken: 'canary-17-answer-token',
  redactedInBody: 'canary-18 ssn, ü',
  redactedInLookup: 'canary-19 name/of patient',
  redactedInXml: 'canary-20 <xml> value',
  mediatorHeader: 'canary-21-mediator-header',
  mediatorQuery: 'canary-22 mediator query',
  mediatorBody: 'canary-23 mediator body',
  renamed: 'canary-24 renamed field',
  redactedHeader: 'canary-25-redacted-header',
} as const

const SECRETS = ['referencedHeader', 'referencedPath', 'referencedQuery', 'referencedConstant'] as const

const inLowerCase = (url: string): string => url.replace(/%../g, (code) => code.toLowerCase())

/** Each canary as it is, and as URLs, JSON, XML and Base64 write it. */
const formsOfCanary = (value: string): readonly string[] => {
  const url = encodeURIComponent(value)
  const xml = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const encoded = ['', 'u', 'u:'].flatMap((before) =>
    (['base64', 'base64url'] as const).map((encoding) =>
      Buffer.from(before + value)
        .toString(encoding)
        .slice(4, -4),
    ),
  )
  const urls = [url, url.replaceAll('%20', '+'), encodeURI(value), encodeURIComponent(url)]
  return [value, JSON.stringify(value).slice(1, -1), ...urls, ...urls.map(inLowerCase), xml, ...encoded]
}

const found = (text: string): readonly string[] =>
  Object.entries(CANARIES).flatMap(([name, value]) =>
    formsOfCanary(value).flatMap((form) => (text.includes(form) ? [`${name}: ${form}`] : [])),
  )

let upstream: Upstream
const services: Record<string, Service> = {}

/** An upstream repeats whatever it got, in every form, beside data of its own. */
const repeated = (text: string): JsonObject => ({
  plain: text,
  encoded: encodeURIComponent(text),
  lowerCase: inLowerCase(encodeURIComponent(text)),
  encodedTwice: encodeURIComponent(encodeURIComponent(text)),
  base64: Buffer.from(text).toString('base64'),
  shifted: Buffer.from(`u${text}`).toString('base64url'),
})

before(async () => {
  for (const name of SECRETS) process.env[`CANARY_${name}`] = CANARIES[name]
  upstream = await startUpstream(({ method, url, headers, body }, response) => {
    response.setHeader('set-cookie', `session=${CANARIES.answerCookie}; Path=/`)
    response.setHeader('x-auth-token', CANARIES.answerToken)
    const decoded = Object.values(Object.fromEntries(new URL(url, 'http://h').searchParams))
    if (url.startsWith('/xml')) {
      response.setHeader('content-type', 'application/xml')
      response.end(
        `<p><ssn>${CANARIES.redactedInXml.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</ssn><note>fine</note></p>`,
      )
      return undefined
    }
    if (url.startsWith('/mediator')) {
      response.setHeader('content-type', 'application/json+openhim')
      const exchange = {
        headers: { authorization: CANARIES.mediatorHeader },
        body: JSON.stringify({
          ssn: CANARIES.mediatorBody,
          fine: true,
          again: [CANARIES.mediatorHeader, CANARIES.mediatorQuery].map(repeated),
        }),
        timestamp: '2026-01-01T00:00:00.000Z',
      }
      const path = `/p/${CANARIES.mediatorHeader}?token=${encodeURIComponent(CANARIES.mediatorQuery)}`
      response.end(
        JSON.stringify({
          'x-mediator-urn': 'urn:other',
          response: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":1}' },
          orchestrations: [
            {
              name: 'theirs',
              request: { ...exchange, host: `u:${CANARIES.mediatorHeader}@h`, path },
              response: exchange,
            },
          ],
        }),
      )
      return undefined
    }
    return {
      method,
      patient: { name: CANARIES.redactedInLookup },
      ssn: CANARIES.redactedInBody,
      again: [url, body, ...decoded, ...Object.values(headers).flat()].map((one) => repeated(String(one))),
    }
  })
  process.env.CANARY_base = `${upstream.url}/${CANARIES.referencedBase}`
  for (const detail of ['metadata', 'bodies']) {
    const service = await startMediating({
      OPENHIM_ORCHESTRATIONS: detail,
      SECRETS_ALLOW: 'CANARY_*',
      REDACT_PATHS: 'ssn,patient.name,private',
      REDACT_HEADERS: 'x-hidden',
    })
    services[detail] = service
    await service.register(documentOf(upstream.url))
  }
})
after(async () => {
  for (const name of [...SECRETS, 'base']) delete process.env[`CANARY_${name}`]
  for (const service of Object.values(services)) await service.stop()
  await upstream?.stop()
})

function documentOf(url: string): JsonObject {
  const encoded = encodeURIComponent
  const headers = {
    authorization: `Bearer ${CANARIES.configuredAuthorization}`,
    'x-api-key': CANARIES.configuredKey,
    'x-vendor-token': CANARIES.configuredVendorToken,
    cookie: `session=${CANARIES.configuredCookie}`,
    'x-plain': '${env:CANARY_referencedHeader}',
    'x-hidden': CANARIES.redactedHeader,
  }
  const basic = { authorization: `Basic ${Buffer.from(`user:${CANARIES.basicPassword}`).toString('base64')}` }
  const query = `token=${encoded(CANARIES.urlToken)}&sig=${encoded(CANARIES.urlSignature)}&fine=yes`
  return {
    endpoint: { pattern: '/planted' },
    constants: { secret: '${env:CANARY_referencedConstant}' },
    inputTransforms: {
      basic: '$base64encode("user:" & constants.secret)',
      out: '{ "ssn": requestBody.ssn, "identifier": [requestBody.private], "note": "of " & requestBody.private, "n": requestBody.n }',
      sent: '{ "header": requestHeaders."x-caller-token", "query": query.api_key, "jwt": query.jwt, "constant": constants.secret, "basic": $base64encode("user:" & constants.secret) }',
    },
    inputMapping: { 'transforms.out': 'out', 'transforms.sent': 'sent' },
    requests: {
      lookup: [
        { id: 'plain', config: { method: 'GET', url: `${url}/plain?${query}`, headers } },
        { id: 'basic', config: { method: 'GET', url: `${url}/basic`, headers: basic } },
        {
          id: 'referenced',
          config: { method: 'GET', url: `${url}/x/\${env:CANARY_referencedPath}?q=\${env:CANARY_referencedQuery}` },
        },
        {
          id: 'parameters',
          config: {
            method: 'GET',
            url: `${url}/people/:ssn`,
            params: { url: { ssn: { path: 'requestBody.ssn' } }, query: { private: { path: 'requestBody.private' } } },
          },
        },
        { id: 'based', config: { method: 'GET', url: '${env:CANARY_base}/x' } },
        { id: 'xml', config: { method: 'GET', url: `${url}/xml` } },
        { id: 'mediator', config: { method: 'GET', url: `${url}/mediator` } },
      ],
      response: [
        { id: 'send', forEach: { items: 'requestBody.items' }, config: { method: 'POST', url: `${url}/send` } },
        { id: 'all', config: { method: 'POST', url: `${url}/all`, headers } },
        {
          id: 'stored',
          config: { method: 'POST', url: `${url}/x/\${env:CANARY_referencedPath}?${query}`, headers },
          delivery: { schedule: ['24h'] },
        },
        { id: 'answer', config: { method: 'GET', url: `${url}/xml` }, primary: true },
      ],
    },
  }
}

const message: JsonObject = {
  ssn: CANARIES.redactedInBody,
  private: CANARIES.renamed,
  n: 17,
  items: [
    { ssn: CANARIES.redactedInBody, item: 1 },
    { ssn: 1, item: CANARIES.redactedInBody },
  ],
}

async function wrapperFrom(detail: string) {
  const query = new URLSearchParams({ api_key: CANARIES.callerQuery, jwt: CANARIES.callerJwt })
  const headers = { ...TRANSACTION, 'x-caller-token': CANARIES.callerHeader }
  const reply = await services[detail]?.fetch(`/planted?${query}`, json('POST', message, headers))
  assert.equal(reply?.status, 200, reply?.text)
  return wrapperOf(reply)
}

describe('a wrapper has none of the planted values', () => {
  test('with metadata', async () => {
    const wrapper = await wrapperFrom('metadata')
    assert.deepEqual(wrapperFaults(wrapper), [])
    assert.equal(wrapper.orchestrations.length, 13)
    assert.deepEqual(found(JSON.stringify(wrapper.orchestrations)), [])
    assert.deepEqual(found(JSON.stringify({ ...wrapper, response: {} })), [])
    assert.ok(!JSON.stringify(wrapper.orchestrations).includes('"body"'))
  })

  test('with bodies, of which the rest is there', async () => {
    const wrapper = await wrapperFrom('bodies')
    assert.deepEqual(wrapperFaults(wrapper), [])
    const texts = wrapper.orchestrations.flatMap(({ request, response }) => [
      JSON.stringify(request),
      JSON.stringify(response),
      request?.body ?? '',
      response?.body ?? '',
    ])
    assert.deepEqual(found(texts.join('\n')), [])
    const named = (name: string) => wrapper.orchestrations.find((one) => one.name === name)
    const [method] = [JSON.parse(named('plain')?.response?.body ?? '') as JsonObject]
    assert.deepEqual([method.method, method.ssn, method.patient], ['GET', '***', { name: '***' }])
    const plain = named('plain')?.request
    assert.equal(plain?.querystring, 'token=***&sig=***&fine=yes')
    assert.equal(plain?.headers.authorization, '***')
    assert.equal(plain?.headers['x-plain'], '***')
    assert.match(named('xml')?.response?.body ?? '', /<ssn>\*\*\*<\/ssn>\s*<note>fine<\/note>/)
    const stored = named('stored')
    const { host, path, querystring, headers, body } = stored?.request ?? assert.fail()
    assert.deepEqual([stored?.group, stored?.response, host], ['deliveries', undefined, '127.0.0.1'])
    assert.deepEqual([path, querystring], ['/x/${env:CANARY_referencedPath}', 'token=***&sig=***&fine=yes'])
    assert.deepEqual([headers.authorization, JSON.parse(body ?? '').out.n], ['***', 17])
    assert.equal(named('based')?.request.host, '${env:CANARY_base}')
    assert.equal(named('referenced')?.request.path, '/x/${env:CANARY_referencedPath}')
    assert.equal(named('parameters')?.request.path, '/people/***')
    assert.equal(JSON.parse(named('theirs')?.response?.body ?? '').fine, true)
    assert.equal(JSON.parse(named('all')?.request?.body ?? '').out.n, 17)
    assert.deepEqual(JSON.parse(named('send[1]')?.request?.body ?? ''), { ssn: '***', item: '***' })
  })

  test('and the upstreams got them all', () => {
    const got = upstream.received.map(({ url, headers, body }) => url + JSON.stringify(headers) + body).join('\n')
    const names = new Set(found(got).map((one) => one.split(':')[0]))
    const ofAnswers = [
      'answerCookie',
      'answerToken',
      'redactedInLookup',
      'redactedInXml',
      'mediatorHeader',
      'mediatorQuery',
      'mediatorBody',
    ]
    assert.deepEqual(
      Object.keys(CANARIES).filter((name) => !names.has(name)),
      ofAnswers,
    )
  })
})
