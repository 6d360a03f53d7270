/** A service that the network can reach is managed from its own machine only, until its settings say otherwise. */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { call } from '../../../../support/adapters/http-server/management/call.ts'
import { endpointDocument, json, type Service, startService } from '../../../../support/service.ts'

/** An address of this machine that is not its loopback: calls to it come from it. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address
const skip = address === undefined ? 'this machine has no address but its loopback' : false

const id = '0'.repeat(24)
const calls = [
  { method: 'GET', path: '/endpoints' },
  { method: 'POST', path: '/endpoints' },
  { method: 'PURGE', path: '/endpoints' },
  { method: 'GET', path: `/endpoints/${id}` },
  { method: 'PUT', path: `/endpoints/${id}` },
  { method: 'PATCH', path: `/endpoints/${id}` },
  { method: 'DELETE', path: `/endpoints/${id}` },
  { method: 'GET', path: '/%65ndpoints' },
  { method: 'GET', path: '/endpoints/x/y' },
]
const adminCalls = [
  { method: 'GET', path: '/messages' },
  { method: 'PURGE', path: '/messages' },
  { method: 'GET', path: '/messages/groups' },
  { method: 'GET', path: `/messages/${id}` },
  { method: 'GET', path: `/messages/${id}/body/incoming` },
  { method: 'POST', path: `/messages/${id}/replay` },
  { method: 'GET', path: '/messages/replay' },
  { method: 'POST', path: '/messages/replay' },
  { method: 'GET', path: `/messages/replay/${id}` },
  { method: 'POST', path: `/messages/replay/${id}/run` },
  { method: 'POST', path: `/messages/replay/${id}/cancel` },
  { method: 'GET', path: '/messages/x/y/z' },
]
const everywhere = { HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0' }

describe('where HOST is not loopback', { skip }, () => {
  let service: Service
  let bases: readonly string[] = []
  before(async () => {
    service = await startService(everywhere)
    bases = [service.app.messagePort, service.app.adminPort].map((port) => `http://${address}:${port}`)
    await service.register({ endpoint: { pattern: '/open' } })
  })
  after(() => service.stop())

  for (const { method, path } of calls) {
    test(`${method} ${path} is refused to callers elsewhere, on both ports`, async () => {
      const body = JSON.stringify(endpointDocument({ endpoint: { pattern: '/let/in' } }))
      for (const base of bases) {
        // What they claim of themselves does not count.
        const headers = { 'content-type': 'application/json', host: 'localhost', 'x-forwarded-for': '127.0.0.1' }
        const reply = await call(base, method, path, { headers, body })
        assert.deepEqual([reply.status, reply.json().code], [403, 'MANAGEMENT_REFUSED'])
        assert.match(reply.json<{ error: string }>().error, /this machine.*MANAGEMENT_AUTH/)
      }
      assert.equal((await service.fetch('/let/in', json('POST', {}))).status, 404)
    })
  }

  for (const { method, path } of adminCalls) {
    test(`${method} ${path} is refused to callers elsewhere, on the admin port`, async () => {
      const headers = { 'content-type': 'application/json', host: 'localhost', 'x-forwarded-for': '127.0.0.1' }
      const reply = await call(bases[1] ?? '', method, path, { headers, body: '{}' })
      assert.deepEqual([reply.status, reply.json().code], [403, 'MANAGEMENT_REFUSED'], reply.text)
    })
  }

  test('messages and uptime are not', async () => {
    const [base = ''] = bases
    const headers = { 'content-type': 'application/json' }
    assert.equal((await call(base, 'POST', '/open', { headers, body: '{}' })).status, 200)
    for (const one of bases) assert.equal((await call(one, 'GET', '/uptime')).status, 200)
  })

  test('callers on this machine are let in', async () => {
    assert.equal((await call(service.url, 'GET', '/endpoints')).status, 200)
    assert.equal((await call(service.adminUrl, 'GET', '/endpoints')).status, 200)
  })
})

describe('a call that another program passes on', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const headers = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']
  for (const name of headers) {
    test(`is not one from this machine, by its header ${name}, at any route of either port`, async () => {
      let closed = 0
      for (const { port, methods, url, needed } of service.app.managementRoutes) {
        const [method = ''] = methods
        if (needed === 'open' || method === 'HEAD' || method === 'CONNECT') continue
        closed += 1
        const path = url
          .replace(/:\w+\(\^\(\?:([^|]+)\|.*\)\$\)$/, '$1')
          .replace(/:\w+/g, '1')
          .replace(/\*$/, 'x')
        const base = port === 'admin' ? service.adminUrl : service.url
        const given = { 'content-type': 'application/json', [name]: name === 'via' ? '1.1 crosswalk' : '127.0.0.1' }
        const reply = await call(base, method, path, { headers: given, body: '{}' })
        assert.deepEqual([reply.status, reply.json().code], [403, 'MANAGEMENT_REFUSED'], `${port} ${method} ${path}`)
      }
      assert.ok(closed > 50)
    })
  }
})

describe('MANAGEMENT_AUTH=off', () => {
  let service: Service
  before(async () => {
    service = await startService({
      ...everywhere,
      MANAGEMENT_AUTH: 'off',
      PUBLIC_URL: 'https://messages.example.org/',
      MANAGEMENT_HOSTS: 'admin.example.org, *.lan.example.org',
    })
  })
  after(() => service.stop())

  test('lets in everyone who reaches a port', { skip }, async () => {
    for (const port of [service.app.messagePort, service.app.adminPort]) {
      assert.equal((await call(`http://${address}:${port}`, 'GET', '/endpoints')).status, 200)
    }
  })

  const hosts: readonly Readonly<{ host: string; isOwn: boolean }>[] = [
    ...['127.0.0.1:3004', 'localhost', '[::1]:3004', '203.0.113.7:3004', '[2001:db8::7]', 'crosswalk-2:3004'],
    ...[
      'console.localhost',
      'messages.example.org',
      'ADMIN.example.org:8443',
      'admin.example.org.',
      'a.lan.example.org',
    ],
  ]
    .map((host) => ({ host, isOwn: true }))
    .concat(
      ['rebound.example', 'example.org', '127.0.0.1.example', 'xlan.example.org', 'lan.example.org', '1.2.3.4.5'].map(
        (host) => ({ host, isOwn: false }),
      ),
    )
  for (const { host, isOwn } of hosts) {
    test(`${isOwn ? 'takes' : 'refuses'} a call to the host ${host}: names may lead here that are not the service's`, async () => {
      for (const base of [service.url, service.adminUrl]) {
        const reply = await call(base, 'GET', '/endpoints', { headers: { host } })
        assert.equal(reply.status, isOwn ? 200 : 403, reply.text)
        if (!isOwn) assert.match(reply.json<{ error: string }>().error, /MANAGEMENT_HOSTS/)
        assert.equal((await call(base, 'GET', '/uptime', { headers: { host } })).status, 200)
      }
    })
  }

  test('refuses calls of endpoints, of other instances too, and takes those of proxies', async () => {
    for (const base of [service.url, service.adminUrl]) {
      for (const [via, status] of [
        ['1.1 crosswalk', 403],
        ['1.0 fred, 1.1 Crosswalk (x), 1.1 nginx', 403],
        ['1.1 crosswalk.example.org', 200],
        ['1.1 nginx', 200],
      ] as const) {
        assert.equal((await call(base, 'GET', '/endpoints', { headers: { via } })).status, status, via)
      }
    }
  })
})
