/** Methods that a path does not take, those too that no route ever has: each is answered under its own name. */
import assert from 'node:assert/strict'
import { Agent, METHODS } from 'node:http'
import { after, before, test } from 'node:test'
import { call } from '../../support/inbound/http/management/call.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const agent = new Agent({ keepAlive: true })
before(async () => {
  service = await startService()
  await service.register({ endpoint: { pattern: '/mine' } })
})
after(async () => {
  agent.destroy()
  await service.stop()
})

const ID = '0123456789abcdef01234567'
/** Without methods there is nothing at the path. */
const cases: readonly (readonly [ports: string, path: string, allow?: string])[] = [
  ['message', '/mine', 'POST'],
  ['message', '/keys'],
  ['message and admin', '/nowhere'],
  ['message and admin', '/uptime', 'GET'],
  ['message and admin', '/endpoints', 'GET, POST'],
  ['message and admin', '/endpoints/batch', 'POST'],
  ['message and admin', '/endpoints/dry-run', 'POST'],
  ['message and admin', `/endpoints/${ID}`, 'GET, PUT, PATCH, DELETE'],
  ['message and admin', `/endpoints/${ID}/stats`, 'GET'],
  ['message and admin', `/endpoints/${ID}/diff`, 'POST'],
  ['message and admin', `/endpoints/${ID}/versions/1`, 'GET'],
  ['message and admin', '/endpoints/0/1/2'],
  ['admin', '/keys', 'GET, POST'],
]
for (const [ports, path, allow] of cases) {
  test(`${path}: ${allow ?? 'nothing'}, on the ports: ${ports}`, async () => {
    for (const port of ports.split(' and ')) {
      const base = port === 'message' ? service.url : service.adminUrl
      for (const method of METHODS.filter((one) => one !== 'CONNECT' && !allow?.split(', ').includes(one))) {
        const { status, headers, text } = await call(base, method, path, { agent })
        assert.deepEqual([status, headers.allow], [allow === undefined ? 404 : 405, allow], `${port} ${method}`)
        if (method === 'HEAD') continue
        const { code, error } = JSON.parse(text)
        assert.equal(code, allow === undefined ? 'ROUTE_UNKNOWN' : 'METHOD_NOT_ALLOWED')
        if (allow !== undefined) assert.match(error, RegExp(` does not take ${method}, but `))
      }
    }
  })
}

test('a body of another method counts for nothing', async () => {
  for (const base of [service.url, service.adminUrl]) {
    for (const headers of [{}, { 'content-type': 'nonsense' }]) {
      const reply = await call(base, 'POST', '/uptime', { headers, body: 'x'.repeat(1_100_000) })
      assert.deepEqual([reply.status, reply.headers.allow], [405, 'GET'])
    }
  }
})
