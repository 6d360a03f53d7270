/** Who may do what holds on every worker, from the call on that says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REFUSED_AT_ONCE } from '../../../../src/api/access/audit-log.ts'
import type { JsonObject } from '../../../../src/core/json.ts'
import { startService } from '../../../support/service.ts'
import { startProgram } from '../../../support/spawned-service.ts'
import { startCrew } from './crew.ts'

const LAB = 'CROSSWALK_SECRET_LAB'

test('keys, their revocation and the bound of refused calls hold on every worker', async (t) => {
  const crew = await startCrew(t, { env: { [LAB]: 'the-key-of-the-lab' } })
  await crew.register({ name: 'open', endpoint: { pattern: '/open' } })
  const auth = { apiKey: { keys: [`\${env:${LAB}}`] } }
  await crew.register({ name: 'guarded', endpoint: { pattern: '/guarded' }, auth })
  const lookup = { id: 'me', config: { url: `${crew.adminUrl.replace('127.0.0.1', '127.1')}/me` } }
  await crew.register({ name: 'own', endpoint: { pattern: '/own' }, requests: { lookup } })
  let callers = await crew.connectToEach('/open')
  const onEach = async (path: string, headers: Record<string, string> = {}, method = 'GET', body?: JsonObject) => {
    const statuses: number[] = []
    for (const { call } of callers) statuses.push((await call(method, path, body, headers)).status)
    return statuses
  }
  assert.deepEqual(await onEach('/endpoints'), [200, 200])
  assert.deepEqual(await onEach('/guarded', {}, 'POST', {}), [401, 401])
  // Each knows the admin port, which the system chose and one of them has.
  for (const { call } of callers) assert.equal((await call('POST', '/own', {})).body.code, 'EGRESS_DENIED')
  assert.deepEqual(await onEach('/guarded', { 'x-api-key': 'the-key-of-the-lab' }, 'POST', {}), [200, 200])

  const make = async (roles: readonly string[], headers: Record<string, string> = {}) => {
    const { status, body } = await crew.admin('POST', '/keys', { name: roles.join(), roles: [...roles] }, headers)
    assert.equal(status, 201, JSON.stringify(body))
    return { id: String(body.id), headers: { authorization: `Bearer ${body.key}` } }
  }
  const admin = await make(['admin'])
  assert.deepEqual(await onEach('/endpoints'), [401, 401], 'from the first key on, this machine is not enough')
  const viewer = await make(['viewer'], admin.headers)
  assert.deepEqual(await onEach('/endpoints', viewer.headers), [200, 200])
  assert.deepEqual(await onEach(`/endpoints/${'0'.repeat(24)}`, viewer.headers, 'DELETE'), [403, 403])
  assert.equal((await crew.admin('DELETE', `/keys/${viewer.id}`, undefined, admin.headers)).status, 200)
  assert.deepEqual(await onEach('/endpoints', viewer.headers), [401, 401], 'a revoked key opens nothing')
  const author = await make(['author'], admin.headers)
  assert.deepEqual(await onEach('/endpoints', author.headers), [200, 200])
  const { code } = await startProgram(crew.folder, { args: ['keys', 'revoke', author.id] }).ended
  assert.deepEqual(
    [code, ...(await onEach('/endpoints', author.headers))],
    [0, 401, 401],
    'revoked on the command line',
  )

  // A refused body ends its connection, and the next one may be another worker's.
  for (const caller of callers) caller.end()
  callers = await crew.connectToEach('/open')
  for (let n = 0; n < 2 * REFUSED_AT_ONCE; n += 1) await onEach('/endpoints', { authorization: 'Bearer wrong' })
  const { body } = await crew.admin('GET', '/audit?limit=500', undefined, admin.headers)
  const refused = (body.entries as JsonObject[]).filter(({ status }) => status === 401 || status === 403)
  const minutes = Math.ceil(performance.now() / 60_000)
  assert.ok(refused.length >= REFUSED_AT_ONCE, `${refused.length} entries`)
  assert.ok(refused.length <= REFUSED_AT_ONCE + 10 * minutes, `${refused.length} entries in ${minutes} minutes`)
  for (const caller of callers) caller.end()
})

test('every management route is closed on every worker, on both ports', async (t) => {
  const { app, stop } = await startService()
  t.after(stop)
  const crew = await startCrew(t)
  await crew.register({ name: 'open', endpoint: { pattern: '/open' } })
  assert.equal((await crew.admin('POST', '/keys', { name: 'one', roles: ['admin'] })).status, 201)
  const callers = await crew.connectToEach('/open')
  t.after(() => {
    for (const caller of callers) caller.end()
  })
  const usual = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
  const routes = app.managementRoutes
    .filter(({ needed }) => needed !== 'open' && needed !== 'metrics')
    .flatMap(({ port, methods, url }) =>
      methods
        .filter((method) => usual.has(method))
        .map((method) => ({ port, method, path: url.replace(/:\w+|\*$/g, 'x') })),
    )
  assert.ok(routes.length > 100, `${routes.length}`)
  for (const { port, method, path } of routes) {
    for (const headers of [{}, { authorization: `Bearer cwk_${'0'.repeat(16)}_${'A'.repeat(43)}` }]) {
      const replies = port === 'admin' ? [crew.admin] : callers.map(({ call }) => call)
      for (const ask of replies) {
        const { status } = await ask(method, path, undefined, headers)
        assert.equal(status, 401, `${port} ${method} ${path}`)
      }
    }
  }
})
