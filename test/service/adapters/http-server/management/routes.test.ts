/** Which endpoint a request reaches, and what its parameters are. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { call } from '../../../../support/adapters/http-server/management/call.ts'
import { endpointDocument, json, type Service, startService } from '../../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const post = (path: string) =>
  call(service.url, 'POST', path, { headers: { 'content-type': 'application/json' }, body: '{}' })

/** Answers its own pattern and the parameters it was given. */
const register = (pattern: string, method = 'POST') =>
  service.register({
    endpoint: { pattern, method },
    constants: { pattern, method },
    inputMapping: { 'constants.pattern': 'pattern', 'constants.method': 'method', urlParams: 'params' },
  })

const patterns = [
  '/a/b',
  '/a/:x',
  '/a/:y/b',
  '/a/b/:z',
  '/a/:x/:y/c',
  '/:first/b',
  '/a',
  "/x-y_z.~!$&'+,;=@",
  '/',
  '/slash/:org-id/in/',
]
type Reached = readonly [pattern: string, params: Record<string, string>] | number

const cases: readonly { path: string; reaches: Reached }[] = [
  { path: '/a/b', reaches: ['/a/b', {}] },
  { path: '/a/b?x=1', reaches: ['/a/b', {}] },
  { path: '/a/c', reaches: ['/a/:x', { x: 'c' }] },
  { path: '/a/bb', reaches: ['/a/:x', { x: 'bb' }] },
  { path: '/a/B', reaches: ['/a/:x', { x: 'B' }] },
  { path: '/a/c/b', reaches: ['/a/:y/b', { y: 'c' }] },
  { path: '/a/b/b', reaches: ['/a/b/:z', { z: 'b' }] },
  { path: '/a/b/c', reaches: ['/a/b/:z', { z: 'c' }] },
  { path: '/a/c/c', reaches: 404 },
  { path: '/a/b/d/c', reaches: ['/a/:x/:y/c', { x: 'b', y: 'd' }] },
  { path: '/c/b', reaches: ['/:first/b', { first: 'c' }] },
  { path: '/a', reaches: ['/a', {}] },
  { path: '/', reaches: ['/', {}] },
  { path: "/x-y_z.~!$&'+,;=@", reaches: ["/x-y_z.~!$&'+,;=@", {}] },
  // A last slash makes no difference, on either side.
  { path: '/a/', reaches: ['/a', {}] },
  { path: '/a/b/?x=1', reaches: ['/a/b', {}] },
  { path: '/a/c/', reaches: ['/a/:x', { x: 'c' }] },
  { path: '/slash/o-1/in/', reaches: ['/slash/:org-id/in/', { 'org-id': 'o-1' }] },
  { path: '/slash/o-1/in', reaches: ['/slash/:org-id/in/', { 'org-id': 'o-1' }] },
  { path: '/slash/o-1/in//', reaches: 404 },
  { path: '//', reaches: 404 },
  // Whole paths only.
  { path: '/a//', reaches: 404 },
  { path: '/a//b', reaches: 404 },
  { path: '//a', reaches: 404 },
  { path: '/ab', reaches: 404 },
  { path: '/A', reaches: 404 },
  { path: '/a;v=1', reaches: 404 },
  { path: '/a/b/c/d/e', reaches: 404 },
  // Parameters, decoded once.
  { path: '/a/c%2Fd', reaches: ['/a/:x', { x: 'c/d' }] },
  { path: '/a/%C3%A9%F0%9F%98%80', reaches: ['/a/:x', { x: 'é😀' }] },
  { path: '/a/1+2%2B3', reaches: ['/a/:x', { x: '1+2+3' }] },
  { path: '/a/%2541', reaches: ['/a/:x', { x: '%41' }] },
  { path: '/a/%3Fq%23f', reaches: ['/a/:x', { x: '?q#f' }] },
  { path: '/a/c;d=1', reaches: ['/a/:x', { x: 'c;d=1' }] },
  { path: '/a/c:d', reaches: ['/a/:x', { x: 'c:d' }] },
  { path: '/a/%20', reaches: ['/a/:x', { x: ' ' }] },
  { path: `/a/${'long'.repeat(500)}`, reaches: ['/a/:x', { x: 'long'.repeat(500) }] },
  // An encoded letter is the letter.
  { path: '/%61/%62', reaches: ['/a/b', {}] },
  { path: '/a%2Fb', reaches: 404 },
  { path: '/a/%zz', reaches: 400 },
  { path: '/a/%C3', reaches: 400 },
]

for (const order of ['as listed', 'in reverse']) {
  describe(`with patterns registered ${order}`, () => {
    before(async () => {
      for (const pattern of order === 'as listed' ? patterns : patterns.toReversed()) await register(pattern)
    })
    after(async () => {
      for (const { _id } of (await service.fetch('/endpoints')).json<{ _id: string }[]>()) {
        await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
      }
    })
    for (const { path, reaches } of cases) {
      test(path.slice(0, 60), async () => {
        const reply = await post(path)
        if (typeof reaches === 'number') assert.equal(reply.status, reaches, reply.text)
        else {
          const [pattern, params] = reaches
          assert.deepEqual(reply.json(), { pattern, method: 'POST', params })
        }
      })
    }
  })
}

describe('methods', () => {
  test('have routes of their own, and a wrong one is answered with the right ones', async () => {
    await register('/m/:a', 'GET')
    await register('/m/:b', 'PUT')
    await register('/m/literal', 'DELETE')
    const ask = async (method: string, path: string) => {
      const { status, headers, text } = await call(service.url, method, path)
      return status === 405 ? headers.allow : JSON.parse(text).pattern
    }
    assert.equal(await ask('GET', '/m/1'), '/m/:a')
    assert.equal(await ask('PUT', '/m/1'), '/m/:b')
    assert.equal(await ask('DELETE', '/m/literal'), '/m/literal')
    assert.equal(await ask('GET', '/m/literal'), '/m/:a')
    assert.equal(await ask('POST', '/m/literal'), 'GET, PUT, DELETE')
    for (const method of ['DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND', 'QUERY']) {
      assert.equal(await ask(method, '/m/1'), 'GET, PUT', method)
    }
  })

  test('of unknown paths are unknown', async () => {
    for (const method of ['GET', 'POST', 'PATCH', 'PROPFIND']) {
      const reply = await call(service.url, method, '/unknown')
      assert.deepEqual([reply.status, reply.json().code], [404, 'ROUTE_UNKNOWN'], method)
    }
  })
})

describe('reserved paths', () => {
  for (const pattern of ['/uptime', '/uptime/x', '/endpoints', '/endpoints/:id', '/endpoints/a/b']) {
    test(`${pattern} is refused`, async () => {
      const reply = await service.fetch('/endpoints', json('POST', endpointDocument({ endpoint: { pattern } })))
      assert.equal(reply.status, 400)
      const paths = reply.json<{ details: { path: string }[] }>().details.map(({ path }) => path)
      assert.deepEqual(paths, ['endpoint.pattern'])
    })
  }

  test('are reached by no pattern that would match them', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      for (const pattern of ['/:a', '/:a/:b', '/:a/:b/:c']) await register(pattern, method)
    }
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      for (const path of ['/uptime', '/%75ptime', '/uptime/', '/uptime/x', '/uptime/x/y']) {
        const { text } = await call(service.url, method, path)
        assert.doesNotMatch(text, /pattern/, `${method} ${path}`)
      }
      for (const path of ['/endpoints/', '/endpoints/x', '/%65ndpoints/x', '/endpoints/x/y']) {
        const { status, text } = await call(service.url, method, path)
        assert.ok(status >= 400, text)
        assert.doesNotMatch(text, /params/, `${method} ${path}`)
      }
      const neighbour = await call(service.url, method, '/Uptime')
      assert.deepEqual(neighbour.json(), { pattern: '/:a', method, params: { a: 'Uptime' } })
    }
  })
})
