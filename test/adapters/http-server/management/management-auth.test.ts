/** A service that the network can reach is managed from its own machine only, until its settings say otherwise. */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { endpointDocument, json, type Service, startService } from '../../../service.ts'
import { call } from './call.ts'

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

test('MANAGEMENT_AUTH=off lets everyone in', { skip }, async () => {
  const service = await startService({ ...everywhere, MANAGEMENT_AUTH: 'off' })
  for (const port of [service.app.messagePort, service.app.adminPort]) {
    assert.equal((await call(`http://${address}:${port}`, 'GET', '/endpoints')).status, 200)
  }
  await service.stop()
})
