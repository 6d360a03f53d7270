import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type Service, startService } from '../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
  await service.register({ endpoint: { pattern: '/known/:id' } })
  await service.register({ endpoint: { pattern: '/known/:id', method: 'GET' } })
})
after(() => service.stop())

const cases: { name: string; path: string; method: string; status: number; code: string; allow: string | null }[] = [
  { name: 'no such route', path: '/unknown', method: 'POST', status: 404, code: 'ROUTE_UNKNOWN', allow: null },
  { name: 'half a route', path: '/known', method: 'POST', status: 404, code: 'ROUTE_UNKNOWN', allow: null },
  {
    name: 'another method',
    path: '/known/1',
    method: 'PUT',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    allow: 'GET, POST',
  },
]
for (const { name, path, method, status, code, allow } of cases) {
  it(`answers ${status} for ${name}`, async () => {
    const reply = await service.fetch(path, { method })
    const { error, messageId, ...rest } = reply.json()
    assert.deepEqual([reply.status, reply.headers.get('allow'), rest], [status, allow, { code }])
    assert.match(String(error), new RegExp(path))
    assert.match(String(messageId), /^[0-9a-f]{24}$/)
  })
}
