/** Calls that a web page makes a browser send: every call that changes something, as /openapi.json lists them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type CallOptions, call } from '../../../../support/adapters/http-server/management/call.ts'
import { exchange, statusesIn } from '../../../../support/raw-exchange.ts'
import { type Service, startService } from '../../../../support/service.ts'

let service: Service
let changing: readonly Readonly<{ port: 'message' | 'admin'; method: string; path: string }>[]

const baseOf = (port: 'message' | 'admin') => (port === 'message' ? service.url : service.adminUrl)
const JSON_TYPE = { 'content-type': 'application/json' }

before(async () => {
  service = await startService()
  const { paths } = (await call(service.adminUrl, 'GET', '/openapi.json')).json<{ paths: Record<string, object> }>()
  changing = Object.entries(paths).flatMap(([url, operations]) => {
    const path = url.replace(/\{(id|plan)\}/g, '0'.repeat(24)).replace(/\{\w+\}/g, '1')
    const ports = url.startsWith('/endpoints') ? (['message', 'admin'] as const) : (['admin'] as const)
    const methods = Object.keys(operations).filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
    return methods.flatMap((method) => ports.map((port) => ({ port, method: method.toUpperCase(), path })))
  })
  assert.ok(changing.length > 30)
})
after(() => service.stop())

/** The answers to every call that changes something, unless `chosen` leaves it out. */
async function refusals(options: CallOptions, chosen: (method: string) => boolean = () => true): Promise<string[]> {
  const answers = []
  for (const { port, method, path } of changing) {
    if (!chosen(method)) continue
    const { status, text, json } = await call(baseOf(port), method, path, options)
    const answer = `${status} ${text === '' ? '' : json().code}`
    // Some of these are on the admin port only.
    if (port === 'admin' || answer !== '404 ROUTE_UNKNOWN') answers.push(answer)
  }
  return [...new Set(answers)]
}

describe('a call that changes something', () => {
  const others: readonly Record<string, string>[] = [
    { origin: 'https://example.org' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'http://' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': '' },
    { 'sec-fetch-site': 'another' },
  ]
  for (const headers of others) {
    test(`is refused with ${JSON.stringify(headers)}`, async () => {
      const answers = await refusals({ headers: { ...JSON_TYPE, ...headers }, body: '{}' })
      assert.deepEqual(answers, ['403 MANAGEMENT_REFUSED'])
    })
  }

  test('is not refused with the origin of the service, or where the user wrote the address', async () => {
    for (const port of ['message', 'admin'] as const) {
      for (const headers of [
        { origin: baseOf(port) },
        { 'sec-fetch-site': 'same-origin' },
        { 'sec-fetch-site': 'none' },
      ]) {
        const { status } = await call(baseOf(port), 'POST', '/endpoints', {
          headers: { ...JSON_TYPE, ...headers },
          body: '{}',
        })
        assert.equal(status, 400)
      }
    }
  })

  const withBody = (method: string) => method !== 'DELETE'
  const types: readonly (string | undefined)[] = [
    undefined,
    'text/plain',
    'text/plain; charset=application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
  ]
  for (const type of types) {
    test(`is refused with ${type === undefined ? 'no type' : `the type ${type}`}, with a body and without`, async () => {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
      assert.deepEqual(await refusals({ headers, body: '{}' }, withBody), ['415 MEDIA_TYPE_WRONG'])
      assert.deepEqual(await refusals({ headers }, withBody), ['415 MEDIA_TYPE_WRONG'])
    })
  }

  test('needs no type where its method makes a browser ask first', async () => {
    const answers = await refusals({}, (method) => method === 'DELETE')
    assert.deepEqual(answers.sort(), ['404 ENDPOINT_UNKNOWN', '404 KEY_UNKNOWN'])
  })
})

describe('no browser guesses the type of an answer, and none runs what an answer of the message port holds', () => {
  const NOSNIFF = 'nosniff'
  const POLICY = "sandbox; default-src 'none'"

  test('of each route', async () => {
    for (const { port, methods, url } of service.app.managementRoutes) {
      if (url === '/events') continue
      const path = url
        .replace(/:\w+\(.*\)\$?\)?/g, 'console.js')
        .replace(/:\w+/g, '1')
        .replace(/\*$/, 'x')
      for (const method of methods.filter((one) => one !== 'CONNECT')) {
        const { headers, status } = await call(baseOf(port), method, path)
        assert.equal(headers['x-content-type-options'], NOSNIFF, `${status} ${port} ${method} ${path}`)
        if (port === 'message') assert.equal(headers['content-security-policy'], POLICY, `${status} ${method} ${path}`)
      }
    }
  })

  const get = (path: string, ...headers: string[]) =>
    ['GET ', path, ' HTTP/1.1\r\nconnection: close\r\n', ...headers.map((one) => `${one}\r\n`), '\r\n'].join('')
  const HOST = 'host: localhost'
  const requests: readonly Readonly<{ name: string; text: string; status: number; at?: 'admin' | 'message' }>[] = [
    { name: 'a message', text: get('/marked', HOST), status: 200, at: 'message' },
    { name: 'a message that the router must find', text: get('/marke%64', HOST), status: 200, at: 'message' },
    { name: 'a message that fails', text: get('/refused', HOST), status: 400, at: 'message' },
    { name: 'another method', text: get('/marked', HOST).replace('GET', 'PUT'), status: 405, at: 'message' },
    { name: 'an unknown path', text: get('/x', HOST), status: 404 },
    { name: 'an unknown path below a reserved one', text: get('/uptime/x', HOST), status: 404 },
    { name: 'a malformed URL', text: get('/%zz', HOST), status: 400 },
    { name: 'a malformed reserved URL', text: get('/endpoints/%zz', HOST), status: 400 },
    { name: 'no host', text: get('/'), status: 400 },
    { name: 'no request', text: 'nonsense\r\n\r\n', status: 400 },
    { name: 'large headers', text: get('/', HOST, `x: ${'x'.repeat(20_000)}`), status: 431 },
    { name: 'an unknown expectation', text: get('/', HOST, 'expect: x'), status: 417 },
    { name: 'a stream of events', text: get('/events?types=x', HOST), status: 400, at: 'admin' },
  ]
  before(async () => {
    const endpoint = (pattern: string) => ({ pattern, method: 'GET' })
    await service.register({ endpoint: endpoint('/marked') })
    await service.register({ endpoint: endpoint('/refused'), inputValidation: { required: ['query'] } })
  })
  for (const { name, text, status, at } of requests) {
    for (const port of at === undefined ? (['admin', 'message'] as const) : [at]) {
      test(`of ${name}, on the ${port} port`, async () => {
        const received = await exchange(baseOf(port), text)
        assert.deepEqual(statusesIn(received), [status], received)
        const valuesOf = (header: string) =>
          [...received.matchAll(new RegExp(`^${header}: (.*)\r$`, 'gim'))].map(([, value]) => value)
        assert.deepEqual(valuesOf('x-content-type-options'), [NOSNIFF], received)
        if (port === 'message') assert.deepEqual(valuesOf('content-security-policy'), [POLICY], received)
      })
    }
  }
})
