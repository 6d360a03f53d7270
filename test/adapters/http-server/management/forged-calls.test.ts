/** Calls that a web page makes a browser send: every call that changes something, as /openapi.json lists them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { exchange, statusesIn } from '../../../raw-exchange.ts'
import { type Service, startService } from '../../../service.ts'
import { type CallOptions, call } from './call.ts'

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

describe('every answer of the admin port says that its type is not to be guessed', () => {
  const isMarked = (received: string) => assert.match(received, /^x-content-type-options: nosniff\r$/im)

  test('of each route', async () => {
    for (const { port, methods, url } of service.app.managementRoutes) {
      if (port !== 'admin' || url === '/events') continue
      const path = url
        .replace(/:\w+\(.*\)\$?\)?/g, 'console.js')
        .replace(/:\w+/g, '1')
        .replace(/\*$/, 'x')
      for (const method of methods.filter((one) => one !== 'CONNECT')) {
        const { headers, status } = await call(service.adminUrl, method, path)
        assert.equal(headers['x-content-type-options'], 'nosniff', `${status} ${method} ${path}`)
      }
    }
  })

  const requests: readonly { name: string; text: string; status: number }[] = [
    { name: 'an unknown path', text: 'GET /x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', status: 404 },
    { name: 'a malformed URL', text: 'GET /%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', status: 400 },
    { name: 'no host', text: 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', status: 400 },
    { name: 'no request', text: 'nonsense\r\n\r\n', status: 400 },
    { name: 'large headers', text: `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, status: 431 },
    {
      name: 'an unknown expectation',
      text: 'GET / HTTP/1.1\r\nhost: a\r\nexpect: x\r\nconnection: close\r\n\r\n',
      status: 417,
    },
    {
      name: 'a stream of events',
      text: 'GET /events?types=x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
      status: 400,
    },
  ]
  for (const { name, text, status } of requests) {
    test(`of ${name}`, async () => {
      const received = await exchange(service.adminUrl, text)
      assert.deepEqual(statusesIn(received), [status], received)
      isMarked(received)
    })
  }
})
