/** Every management route, taken from the service's own table, with every credential that must not open it. */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { ROLES, type Role } from '../../../../src/core/access.ts'
import {
  bearer,
  ELSEWHERE,
  JSON_TYPE,
  type Port,
  type ServiceWithKeys,
  startServiceWithKeys,
} from '../../../support/api/access/service-with-keys.ts'
import { LONG } from '../../../support/form.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { endpointDocument } from '../../../support/service.ts'

let withKeys: ServiceWithKeys
/** Thousands of calls: to open a connection for each would take longer than to answer it. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
before(async () => {
  withKeys = await startServiceWithKeys()
})
after(async () => {
  agent.destroy()
  await withKeys.service.stop()
})

type Route = Readonly<{ port: Port; method: string; path: string; needed: string; isFirst: boolean }>

/** Of a route that takes certain names alone, the path with the first of them. */
const firstOf = (url: string): string =>
  url.replace(/:\w+\(\^\(\?:([^|]+)\|.*\)\$\)$/, (_all, name: string) => name.replaceAll('\\', ''))

/**
 * Each route and method, with something in the place of parameters; `isFirst`: of the methods of the route. CONNECT never gets as
 * far as a route.
 */
const routes = (): readonly Route[] =>
  withKeys.service.app.managementRoutes.flatMap(({ port, methods, url, needed }) =>
    methods
      .filter((method) => method !== 'CONNECT')
      .map((method, index) => ({
        port,
        method,
        path: firstOf(url).replace(/:id/g, '0'.repeat(24)).replace(/:\w+/g, '1').replace(/\*$/, 'x/y/z'),
        needed,
        isFirst: index === 0,
      })),
  )
const isClosed = ({ needed }: Route): boolean => needed !== 'open'

/** All in the long form; in the short one every so many of them, beginning with another one for each `part`. */
const sampled = (all: readonly Route[], every: number, part = 0): readonly Route[] =>
  LONG ? all : all.filter((_, at) => at % every === part % every)

const body = JSON.stringify(endpointDocument({ endpoint: { pattern: '/let/in' } }))

/** The most that a stranger has: a key that differs in one character, a part of one, one of another kind. */
const WRONG: readonly (readonly [name: string, headers: () => Record<string, string>, challenge?: RegExp])[] = [
  ['none', () => ({}), /^Bearer realm="crosswalk"$/],
  ['an empty header', () => ({ authorization: '' }), /invalid_token|realm/],
  ['no token', () => ({ authorization: 'Bearer' })],
  ['another scheme', () => ({ authorization: `Basic ${withKeys.keys.admin}` })],
  ['the key alone', () => ({ authorization: withKeys.keys.admin })],
  ['two keys', () => bearer(`${withKeys.keys.admin} ${withKeys.keys.admin}`)],
  ['nonsense', () => bearer('nonsense')],
  ['a key that was never made', () => bearer(`cwk_${'0'.repeat(16)}_${'A'.repeat(43)}`)],
  ['a key with another secret', () => bearer(`${withKeys.keys.admin.slice(0, 21)}${'A'.repeat(43)}`)],
  [
    'a key but for its last character',
    () => bearer(withKeys.keys.admin.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))),
  ],
  ['a longer key', () => bearer(`${withKeys.keys.admin}A`)],
  ['a key in capitals', () => bearer(withKeys.keys.admin.toUpperCase())],
  ['a revoked key', () => bearer(withKeys.keys.revoked)],
  ['a key in another header', () => ({ 'x-api-key': withKeys.keys.admin }), /realm/],
  ['a key as a cookie', () => ({ cookie: `authorization=${withKeys.keys.admin}` }), /realm/],
]

test('the table has every part of the API, on both ports', () => {
  const urls = (port: Port) => new Set(routes().flatMap((route) => (route.port === port ? [route.path] : [])))
  assert.ok(
    [...urls('message')].every((path) => /^\/(endpoints|uptime)\b/.test(path)),
    'the rest belongs to users',
  )
  for (const path of ['/endpoints', '/messages', '/keys', '/audit', '/metrics', '/consumers', '/openapi.json', '/']) {
    assert.ok(urls('admin').has(path), path)
  }
  assert.ok(routes().length > 500)
})

test('what is open is the state of the service and the files of the console', () => {
  const open = new Set(routes().flatMap((route) => (isClosed(route) ? [] : [route.path])))
  for (const path of open)
    assert.match(path, /^\/(uptime(\/x\/y\/z)?|sign-in|health(\/(live|ready))?|console(\/.*)?|)$/)
})

for (const [part, [name, headers, challenge = /invalid_token/]] of WRONG.entries()) {
  test(`with ${name} every route answers 401 and does nothing`, async () => {
    // The credential is read before the method counts: one of them goes through all methods.
    const closed = routes().filter(isClosed)
    const first = closed.filter(({ isFirst }) => isFirst)
    for (const route of name === 'none' ? [...first, ...sampled(closed, 8)] : sampled(first, 4, part)) {
      // Open on this machine, so asked for from elsewhere below.
      if (route.needed === 'metrics') continue
      const options = { agent, headers: { ...JSON_TYPE, ...headers() }, ...(route.method === 'HEAD' ? {} : { body }) }
      const reply = await call(withKeys.baseUrl(route.port), route.method, route.path, options)
      assert.equal(reply.status, 401, `${route.port} ${route.method} ${route.path}: ${reply.text}`)
      assert.match(reply.headers['www-authenticate'] ?? '', challenge)
      if (route.method !== 'HEAD') assert.equal(reply.json().code, 'CREDENTIALS_REFUSED')
    }
    assert.equal((await withKeys.service.fetch('/let/in', { method: 'POST' })).status, 404)
  })
}

const CANNOT: Readonly<Record<Role, readonly string[]>> = {
  viewer: ['operator', 'author', 'operator or author', 'admin'],
  operator: ['author', 'admin'],
  author: ['operator', 'admin'],
  admin: [],
}

for (const role of ROLES) {
  test(`a key of the role ${role} opens what is for it, and answers 403 elsewhere`, async () => {
    const closed = routes().filter(isClosed)
    // One handler answers the methods that a route does not take.
    const own = closed.filter(({ isFirst, method }) => isFirst || /^(GET|POST|PUT|PATCH|DELETE)$/.test(method))
    for (const route of [...(role === 'admin' ? own : sampled(own, 2, ROLES.indexOf(role))), ...sampled(closed, 20)]) {
      const headers = { ...JSON_TYPE, ...bearer(withKeys.keys[role]) }
      // A body that nothing accepts: what is let in is refused for that.
      // A stream of events does not end by itself: test/events reads it.
      if (route.path === '/events' && route.method === 'GET') continue
      const options = route.method === 'HEAD' ? { agent, headers } : { agent, headers, body: '[]' }
      const reply = await call(withKeys.baseUrl(route.port), route.method, route.path, options)
      const refused = CANNOT[role].some((other) => other === route.needed)
      const said = `${route.port} ${route.method} ${route.path}: ${reply.status} ${reply.text}`
      assert.equal(reply.status === 403, refused, said)
      assert.notEqual(reply.status, 401, said)
      assert.ok(reply.status < 500, said)
      if (refused && route.method !== 'HEAD') assert.equal(reply.json().code, 'ACCESS_DENIED')
    }
  })
}

describe('from elsewhere', { skip: ELSEWHERE === undefined ? 'this machine has no other address' : false }, () => {
  test('every route answers 401 without a key, metrics too', async () => {
    for (const { port, method, path } of sampled(routes().filter(isClosed), 8)) {
      const reply = await call(withKeys.baseUrl(port, ELSEWHERE), method, path, {
        agent,
        headers: { host: 'localhost' },
      })
      assert.equal(reply.status, 401, `${port} ${method} ${path}`)
    }
  })

  test('the key of a viewer reads the metrics', async () => {
    const headers = bearer(withKeys.keys.viewer)
    const reply = await call(withKeys.baseUrl('admin', ELSEWHERE), 'GET', '/metrics', { headers })
    assert.equal(reply.status, 200)
    assert.match(reply.text, /crosswalk_build_info/)
  })
})

test('metrics are open on this machine, but not to pages and proxies on it', async () => {
  const base = withKeys.baseUrl('admin')
  assert.equal((await call(base, 'GET', '/metrics')).status, 200)
  for (const headers of [{ host: 'rebound.example.org' }, { 'x-forwarded-for': '10.0.0.1' }, { forwarded: 'for=x' }]) {
    assert.equal((await call(base, 'GET', '/metrics', { headers })).status, 401)
  }
})

describe('spellings of a path', () => {
  const id = '0'.repeat(24)
  const spellings =
    `//endpoints ///endpoints /endpoints/ /endpoints// /endpoints? /endpoints?x=/uptime /endpoints#/uptime
    /endpoints;x /%65ndpoints /endpoint%73 /endpoints%2f /endpoints%3f /endpoints%00 /ENDPOINTS /Endpoints
    /uptime/../endpoints /uptime/..%2fendpoints /uptime/%2e%2e/endpoints /./endpoints /health/live/../../endpoints
    /console/assets/../../endpoints /console/assets/x.js/../../../keys \\endpoints /%2e/endpoints
    /endpoints/${id}/ //endpoints/${id} //keys /keys/ /%6beys /KEYS //audit /audit/ /aud%69t //messages /messages/
    /m%65ssages http://127.0.0.1/endpoints http://127.0.0.1/keys HTTP://127.0.0.1/keys http://127.0.0.1//endpoints
    http://127.0.0.1/uptime/../endpoints http://127.0.0.1/%65ndpoints http://127.0.0.1/endpoints#x
    /endpoints/dry%2drun`.split(/\s+/)
  for (const path of spellings) {
    test(`${path} opens nothing`, async () => {
      // On the message port a path that is not ours belongs to users, and no endpoint listens there; what is below
      // /uptime is as open as that, and there is nothing.
      // Files of the console are as open as /uptime, and there is none of these names.
      const isOpen = /^(http:\/\/[^/]+)?\/(?:uptime|console\/assets)\//.test(path)
      for (const port of ['message', 'admin'] as const) {
        const expected = port === 'message' || isOpen ? [400, 401, 404, 405] : [400, 401]
        for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
          const options = { agent, headers: JSON_TYPE }
          const reply = await call(withKeys.baseUrl(port), method, path, options).catch(() => undefined)
          if (reply !== undefined) assert.ok(expected.includes(reply.status), `${port} ${method}: ${reply.status}`)
        }
      }
    })
  }
})

describe('another method than that of the request', () => {
  test('is taken from no header, query or body', async () => {
    const make = { headers: { ...JSON_TYPE, ...bearer(withKeys.keys.author) }, body }
    const { _id } = (await call(withKeys.baseUrl('admin'), 'POST', '/endpoints', make)).json<{ _id: string }>()
    const path = `/endpoints/${_id}`
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override', '_method']) {
      const headers = { ...JSON_TYPE, [name]: 'DELETE', ...bearer(withKeys.keys.viewer) }
      for (const port of ['message', 'admin'] as const) {
        const base = withKeys.baseUrl(port)
        assert.equal((await call(base, 'GET', `${path}?_method=DELETE`, { headers })).status, 200)
        assert.equal((await call(base, 'POST', path, { headers, body: '_method=DELETE' })).status, 405)
        assert.equal((await call(base, 'GET', path, { headers })).status, 200)
      }
    }
  })
})

test('what is refused does not wait for its body', async () => {
  const reply = await call(withKeys.baseUrl('admin'), 'POST', '/endpoints', {
    headers: { ...JSON_TYPE, 'content-length': '1000000' },
  })
  assert.equal(reply.status, 401)
  assert.equal(reply.headers.connection, 'close')
})
