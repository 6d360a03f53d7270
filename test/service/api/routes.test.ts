/** Which endpoint a request reaches, and what its parameters are. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ENDPOINT_METHODS } from '../../../src/core/http.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

/** Answers its own pattern and the parameters it was given. */
const register = (pattern: string, method = 'POST') =>
  service.register({
    endpoint: { pattern, method },
    constants: { pattern, method },
    inputMapping: { 'constants.pattern': 'pattern', 'constants.method': 'method', urlParams: 'params' },
  })

describe('a path', () => {
  type Reached = readonly [pattern: string, params?: Record<string, string>] | number
  const cases: readonly (readonly [path: string, reaches: Reached])[] = [
    ['/a/b?x=1', ['/a/b']],
    ['/a/B', ['/a/:x', { x: 'B' }]],
    ['/a/b/c', ['/a/b/:z', { z: 'c' }]],
    ['/a/b/d/c', ['/a/:x/:y/c', { x: 'b', y: 'd' }]],
    ['/', ['/']],
    ["/x-y_z.~!$&'+,;=@", ["/x-y_z.~!$&'+,;=@"]],
    // A last slash makes no difference, on either side.
    ['/a/b/?x=1', ['/a/b']],
    ['/slash/o-1/in', ['/slash/:org-id/in/', { 'org-id': 'o-1' }]],
    ['/slash/o-1/in//', 404],
    ['//', 404],
    // Whole paths only.
    ['/a//b', 404],
    ['/A', 404],
    ['/a/b/c/d/e', 404],
    // Parameters, decoded once.
    ['/a/c%2Fd', ['/a/:x', { x: 'c/d' }]],
    ['/a/%C3%A9%F0%9F%98%80', ['/a/:x', { x: 'é😀' }]],
    ['/a/1+2%2B3', ['/a/:x', { x: '1+2+3' }]],
    ['/a/%2541', ['/a/:x', { x: '%41' }]],
    ['/a/%3Fq%23f', ['/a/:x', { x: '?q#f' }]],
    ['/a/c;d=1', ['/a/:x', { x: 'c;d=1' }]],
    ['/a/c:d', ['/a/:x', { x: 'c:d' }]],
    [`/a/${'long'.repeat(500)}`, ['/a/:x', { x: 'long'.repeat(500) }]],
    // Wildcards: what is left of the path, decoded once.
    ['/rest/a', ['/rest/*all', { all: 'a' }]],
    ['/rest/a/b%20c/d.txt/?x=1', ['/rest/*all', { all: 'a/b c/d.txt' }]],
    ['/rest', 404],
    ['/rest/', 404],
    // An encoded letter is the letter.
    ['/%61/%62', ['/a/b']],
    ['/a%2Fb', 404],
    ['/a/%zz', 400],
    ['/a/%C3', 400],
  ]
  before(async () => {
    for (const pattern of [
      '/a/b',
      '/a/:x',
      '/a/b/:z',
      '/a/:x/:y/c',
      "/x-y_z.~!$&'+,;=@",
      '/',
      '/slash/:org-id/in/',
      '/rest/*all',
    ])
      await register(pattern)
  })
  for (const [path, reaches] of cases) {
    test(path.slice(0, 60), async () => {
      const headers = { 'content-type': 'application/json' }
      const reply = await call(service.url, 'POST', path, { headers, body: '{}' })
      if (typeof reaches === 'number') assert.equal(reply.status, reaches, reply.text)
      else assert.deepEqual(reply.json(), { pattern: reaches[0], method: 'POST', params: reaches[1] ?? {} })
    })
  }
})

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
    await register('/m/:c', 'PATCH')
    assert.equal(await ask('PATCH', '/m/1'), '/m/:c')
    assert.equal(await ask('POST', '/m/literal'), 'GET, PUT, PATCH, DELETE')
  })
})

describe('reserved paths', () => {
  test('are reached by no pattern that would match them', async () => {
    for (const method of ENDPOINT_METHODS) {
      for (const pattern of ['/:a', '/:a/:b', '/:a/:b/:c']) await register(pattern, method)
    }
    for (const method of ENDPOINT_METHODS) {
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
