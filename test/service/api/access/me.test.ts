/** `GET /me`: who the caller is and what it may do, in every mode of management. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROLES } from '../../../../src/core/access.ts'
import { messageOrigin } from '../../../../src/settings/message-origin.ts'
import { bearer, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { startService } from '../../../support/service.ts'
import { startIssuer } from './issuer.ts'

test('without keys, every caller on this machine may do everything', async () => {
  const service = await startService()
  const reply = await call(service.adminUrl, 'GET', '/me')
  const messageOrigin = service.url
  assert.deepEqual(reply.json(), { who: 'local', roles: ROLES, may: ROLES, mode: 'open', messageOrigin })
  assert.equal(reply.headers['cache-control'], 'no-store')
  await service.stop()
})

test('with MANAGEMENT_AUTH=off, every caller may; PUBLIC_URL is that of messages, also in the OpenAPI documents', async () => {
  const service = await startService({ MANAGEMENT_AUTH: 'off', PUBLIC_URL: 'https://mapper.example/messages/' })
  const { who, mode, messageOrigin } = (await call(service.adminUrl, 'GET', '/me')).json()
  assert.deepEqual([who, mode, messageOrigin], ['anyone', 'open', 'https://mapper.example/messages'])
  const { text } = await call(service.adminUrl, 'GET', '/endpoints/openapi.json')
  assert.ok(text.includes('"origin":{"default":"https://mapper.example/messages"'), text)
  await service.stop()
})

test('with keys, what the roles of the key include', async () => {
  const { service, keys, baseUrl } = await startServiceWithKeys()
  const me = (key: string) => call(baseUrl('admin'), 'GET', '/me', { headers: bearer(key) })
  const expected = {
    viewer: ['viewer'],
    operator: ['viewer', 'operator'],
    author: ['viewer', 'author'],
    admin: [...ROLES],
  }
  for (const role of ROLES) {
    const { who, name, roles, may, mode } = (await me(keys[role])).json()
    assert.match(String(who), /^key:[0-9a-f]{16}$/)
    assert.deepEqual([name, roles, may, mode], [`test ${role}`, [role], expected[role], 'keys'])
  }
  assert.equal((await me(keys.revoked)).status, 401)
  assert.equal((await call(baseUrl('admin'), 'GET', '/me')).status, 401)
  await service.stop()
})

test('with OpenID Connect, what the roles of the token include', async () => {
  const issuer = await startIssuer()
  const service = await startService({
    MANAGEMENT_AUTH: 'oidc',
    MANAGEMENT_OIDC_ISSUER: issuer.url,
    MANAGEMENT_OIDC_AUDIENCE: 'crosswalk',
  })
  const token = await issuer.token({ claims: { roles: ['crosswalk-author'], preferred_username: 'ann' } })
  const { who, name, roles, may, mode } = (
    await call(service.adminUrl, 'GET', '/me', { headers: bearer(token) })
  ).json()
  assert.match(String(who), /^token:/)
  assert.deepEqual([name, roles, may, mode], ['ann', ['author'], ['viewer', 'author'], 'oidc'])
  await service.stop()
  await issuer.stop()
})

test('the address of the message port is that of HOST, or as it was called', () => {
  const cases: readonly (readonly [host: string, calledAs: string | undefined, origin: string])[] = [
    ['127.0.0.1', 'mapper.example:3004', 'http://127.0.0.1:3003'],
    ['10.0.0.7', undefined, 'http://10.0.0.7:3003'],
    ['::1', 'localhost:3004', 'http://[::1]:3003'],
    ['0.0.0.0', 'mapper.example:3004', 'http://mapper.example:3003'],
    ['0.0.0.0', 'mapper.example', 'http://mapper.example:3003'],
    ['::', '[2001:db8::7]:3004', 'http://[2001:db8::7]:3003'],
    ['0.0.0.0', undefined, 'http://localhost:3003'],
    ['0.0.0.0', '', 'http://localhost:3003'],
    ['0.0.0.0', 'a b:c', 'http://localhost:3003'],
  ]
  for (const [host, calledAs, origin] of cases)
    assert.equal(messageOrigin({ publicUrl: undefined, host, serverPort: 3_003 }, calledAs), origin)
})
