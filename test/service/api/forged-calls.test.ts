/**
 * Calls of the management API that must not be taken: from elsewhere while no caller needs a key, of web pages, of proxies and of
 * endpoints themselves. What decides is the same for all routes, so each way of asking goes to its share of the table of routes.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ELSEWHERE } from '../../support/api/access/service-with-keys.ts'
import { type CallOptions, call } from '../../support/inbound/http/management/call.ts'
import { exchange, statusesIn } from '../../support/raw-exchange.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'

type Port = 'message' | 'admin'
type Route = Readonly<{ port: Port; method: string; path: string; needed: string }>

const JSON_TYPE = { 'content-type': 'application/json' }
const everywhere = { HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0' }
const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE']

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const baseOf = (port: Port, of = service) => (port === 'message' ? of.url : of.adminUrl)

/** Every method of each route of a service, with something in the place of parameters. */
const routesOf = ({ app }: Service): readonly Route[] =>
  app.managementRoutes.flatMap(({ port, methods, url, needed }) => {
    const path = url
      .replace(/:\w+\(\^\(\?:([^|]+)\|.*\)\$\)$/, '$1')
      .replace(/:(id|plan)\b/g, '0'.repeat(24))
      .replace(/:\w+/g, '1')
      .replace(/\*$/, 'x')
    return methods.filter((one) => one !== 'CONNECT').map((method) => ({ port, method, path, needed }))
  })
/** Those that change something, as /openapi.json lists them. */
async function changing(): Promise<readonly Route[]> {
  const { paths } = (await call(service.adminUrl, 'GET', '/openapi.json')).json<{ paths: Record<string, object> }>()
  const known = new Set(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '*')}`),
    ),
  )
  return routesOf(service).filter(
    ({ method, path }) =>
      CHANGING.includes(method) && known.has(`${method} ${path.replace(/\/(0{24}|1)(?=\/|$)/g, '/*')}`),
  )
}
const share = <T>(all: readonly T[], part: number, parts: number): readonly T[] =>
  all.filter((_, at) => at % parts === part)

/** What the routes answer, each answer once. */
async function answersOf(routes: readonly Route[], options: CallOptions): Promise<string[]> {
  assert.ok(routes.length > 3)
  const answers = new Set<string>()
  for (const { port, method, path } of routes) {
    const { status, text, json } = await call(baseOf(port), method, path, options)
    answers.add(`${status} ${text === '' ? '' : json().code}`)
  }
  return [...answers]
}

describe('where HOST is not loopback', {
  skip: ELSEWHERE === undefined ? 'this machine has no other address' : false,
}, () => {
  let open: Service
  before(async () => {
    open = await startService(everywhere)
    await open.register({ endpoint: { pattern: '/open' } })
  })
  after(() => open.stop())
  const there = (port: Port) => `http://${ELSEWHERE}:${port === 'admin' ? open.app.adminPort : open.app.messagePort}`

  test('a call from elsewhere is refused, whatever it claims of itself', async () => {
    const body = JSON.stringify(endpointDocument({ endpoint: { pattern: '/let/in' } }))
    const headers = { ...JSON_TYPE, host: 'localhost', 'x-forwarded-for': '127.0.0.1' }
    const closed = routesOf(open).filter(({ needed, method }) => needed !== 'open' && method !== 'HEAD')
    const spelled = ['/%65ndpoints', '/endpoints/x/y'].map((path) => ({ port: 'message' as Port, method: 'GET', path }))
    for (const { port, method, path } of [...share(closed, 0, 8), ...spelled]) {
      const reply = await call(there(port), method, path, { headers, body })
      assert.deepEqual([reply.status, reply.json().code], [403, 'MANAGEMENT_REFUSED'], `${port} ${method} ${path}`)
      assert.match(reply.json<{ error: string }>().error, /this machine.*MANAGEMENT_AUTH/)
    }
    assert.equal((await open.fetch('/let/in', json('POST', {}))).status, 404)
  })

  test('messages, uptime and callers on this machine are let in', async () => {
    assert.equal((await call(there('message'), 'POST', '/open', { headers: JSON_TYPE, body: '{}' })).status, 200)
    for (const port of ['message', 'admin'] as const) {
      assert.equal((await call(there(port), 'GET', '/uptime')).status, 200)
      assert.equal((await call(baseOf(port, open), 'GET', '/endpoints')).status, 200)
    }
  })
})

test('a call that another program passes on is not one from this machine', async () => {
  const paths = new Set<string>()
  const closed = routesOf(service).filter(({ port, path, needed, method }) => {
    const isFirst = !paths.has(`${port} ${path}`) && method !== 'HEAD'
    if (isFirst) paths.add(`${port} ${path}`)
    return isFirst && needed !== 'open'
  })
  assert.ok(closed.length > 50, String(closed.length))
  const headers = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']
  for (const [part, name] of headers.entries()) {
    const given = { ...JSON_TYPE, [name]: name === 'via' ? '1.1 crosswalk' : '127.0.0.1' }
    const routes = share(closed, part, headers.length)
    assert.deepEqual(await answersOf(routes, { headers: given, body: '{}' }), ['403 MANAGEMENT_REFUSED'], name)
  }
})

describe('a call that changes something', () => {
  test('is refused from the pages of others', async () => {
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
    const routes = await changing()
    assert.ok(routes.length > 30, String(routes.length))
    for (const [part, headers] of others.entries()) {
      const options = { headers: { ...JSON_TYPE, ...headers }, body: '{}' }
      const answers = await answersOf(share(routes, part, others.length), options)
      assert.deepEqual(answers, ['403 MANAGEMENT_REFUSED'], JSON.stringify(headers))
    }
  })

  test('is not refused with the origin of the service, or where the user wrote the address', async () => {
    for (const port of ['message', 'admin'] as const) {
      const own = { origin: baseOf(port) }
      for (const headers of [own, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }]) {
        const options = { headers: { ...JSON_TYPE, ...headers }, body: '{}' }
        assert.equal((await call(baseOf(port), 'POST', '/endpoints', options)).status, 400)
      }
    }
  })

  test('is refused with a type that a page sends unasked, with a body and without; DELETE needs none', async () => {
    const types = [
      undefined,
      'text/plain',
      'text/plain; charset=application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'nonsense',
    ]
    const routes = await changing()
    const withBody = routes.filter(({ method }) => method !== 'DELETE')
    for (const [part, type] of types.entries()) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
      for (const options of [{ headers, body: '{}' }, { headers }]) {
        const answers = await answersOf(share(withBody, part, types.length), options)
        assert.deepEqual(answers, ['415 MEDIA_TYPE_WRONG'], type)
      }
    }
    const deletions = await answersOf(
      routes.filter(({ method }) => method === 'DELETE'),
      {},
    )
    assert.deepEqual(deletions.sort(), ['404 ENDPOINT_UNKNOWN', '404 KEY_UNKNOWN', '404 TABLE_UNKNOWN'])
  })
})

describe('MANAGEMENT_AUTH=off', () => {
  let off: Service
  before(async () => {
    const hosts = 'admin.example.org, *.lan.example.org'
    const more = { PUBLIC_URL: 'https://messages.example.org/', MANAGEMENT_HOSTS: hosts }
    off = await startService({ ...everywhere, ...more, MANAGEMENT_AUTH: 'off' })
  })
  after(() => off.stop())
  const ask = (port: Port, headers: Record<string, string>, path = '/endpoints') =>
    call(baseOf(port, off), 'GET', path, { headers })

  test('lets in everyone who reaches a port', { skip: ELSEWHERE === undefined }, async () => {
    for (const port of [off.app.messagePort, off.app.adminPort])
      assert.equal((await call(`http://${ELSEWHERE}:${port}`, 'GET', '/endpoints')).status, 200)
  })

  test('takes calls to the hosts of the service only: other names may lead here', async () => {
    const OWN = `127.0.0.1:3004 localhost [::1]:3004 203.0.113.7:3004 [2001:db8::7] crosswalk-2:3004 console.localhost
      messages.example.org ADMIN.example.org:8443 admin.example.org. a.lan.example.org`.split(/\s+/)
    const OTHERS = `rebound.example example.org 127.0.0.1.example xlan.example.org lan.example.org 1.2.3.4.5`.split(' ')
    for (const [at, host] of [...OWN, ...OTHERS].entries()) {
      const port = at % 2 === 0 ? 'message' : 'admin'
      const reply = await ask(port, { host })
      assert.equal(reply.status, OWN.includes(host) ? 200 : 403, host)
      if (!OWN.includes(host)) assert.match(reply.json<{ error: string }>().error, /MANAGEMENT_HOSTS/)
      assert.equal((await ask(port, { host }, '/uptime')).status, 200)
    }
  })

  test('refuses calls of endpoints, of other instances too, and takes those of proxies', async () => {
    for (const [via, status] of [
      ['1.1 crosswalk', 403],
      ['1.0 fred, 1.1 Crosswalk (x), 1.1 nginx', 403],
      ['1.1 crosswalk.example.org', 200],
      ['1.1 nginx', 200],
    ] as const) {
      for (const port of ['message', 'admin'] as const) assert.equal((await ask(port, { via })).status, status, via)
    }
  })
})

describe('no browser guesses the type of an answer, and none runs what an answer of the message port holds', () => {
  const NOSNIFF = 'nosniff'
  const POLICY = "sandbox; default-src 'none'"

  test('of each route', async () => {
    const seen = new Map<string, number>()
    for (const { port, method, path } of routesOf(service)) {
      // The first methods of a route: the others have one handler.
      const count = seen.get(`${port} ${path}`) ?? 0
      seen.set(`${port} ${path}`, count + 1)
      if (path === '/events' || count > 2) continue
      const { headers, status } = await call(baseOf(port), method, path)
      assert.equal(headers['x-content-type-options'], NOSNIFF, `${status} ${port} ${method} ${path}`)
      if (port === 'message') assert.equal(headers['content-security-policy'], POLICY, `${status} ${method} ${path}`)
    }
  })

  const get = (path: string, ...headers: string[]) =>
    ['GET ', path, ' HTTP/1.1\r\nconnection: close\r\n', ...headers.map((one) => `${one}\r\n`), '\r\n'].join('')
  const HOST = 'host: localhost'
  const requests: readonly (readonly [name: string, text: string, status: number, at?: Port])[] = [
    ['a message', get('/marked', HOST), 200, 'message'],
    ['a message that the router must find', get('/marke%64', HOST), 200, 'message'],
    ['a message that fails', get('/refused', HOST), 400, 'message'],
    ['another method', get('/marked', HOST).replace('GET', 'PUT'), 405, 'message'],
    ['an unknown path', get('/x', HOST), 404],
    ['an unknown path below a reserved one', get('/uptime/x', HOST), 404],
    ['a malformed URL', get('/%zz', HOST), 400],
    ['a malformed reserved URL', get('/endpoints/%zz', HOST), 400],
    ['no host', get('/'), 400],
    ['no request', 'nonsense\r\n\r\n', 400],
    ['large headers', get('/', HOST, `x: ${'x'.repeat(20_000)}`), 431],
    ['an unknown expectation', get('/', HOST, 'expect: x'), 417],
    ['a stream of events', get('/events?types=x', HOST), 400, 'admin'],
  ]
  before(async () => {
    const endpoint = (pattern: string) => ({ pattern, method: 'GET' })
    await service.register({ endpoint: endpoint('/marked') })
    await service.register({ endpoint: endpoint('/refused'), inputValidation: { required: ['query'] } })
  })
  for (const [name, text, status, at] of requests) {
    test(`of ${name}`, async () => {
      for (const port of at === undefined ? (['admin', 'message'] as const) : [at]) {
        const received = await exchange(baseOf(port), text)
        assert.deepEqual(statusesIn(received), [status], received)
        const valuesOf = (header: string) =>
          [...received.matchAll(new RegExp(`^${header}: (.*)\r$`, 'gim'))].map(([, value]) => value)
        assert.deepEqual(valuesOf('x-content-type-options'), [NOSNIFF], received)
        if (port === 'message') assert.deepEqual(valuesOf('content-security-policy'), [POLICY], received)
      }
    })
  }
})
