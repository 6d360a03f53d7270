/** Management by the access tokens of an OpenID Connect provider, a real one on this machine. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { bearer, JSON_TYPE } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { endpointDocument, type Service, startService } from '../../../support/service.ts'
import { nowhere } from '../../../support/services/free-ports.ts'
import { AUDIENCE, type Issuer, inSeconds, startIssuer, type TokenChanges, unsigned } from './issuer.ts'

let issuer: Issuer
let service: Service
const envOf = ({ url }: Issuer) => ({
  MANAGEMENT_AUTH: 'oidc',
  MANAGEMENT_OIDC_ISSUER: url,
  MANAGEMENT_OIDC_AUDIENCE: AUDIENCE,
})
before(async () => {
  issuer = await startIssuer()
  service = await startService(envOf(issuer))
})
beforeEach(() => issuer.break(undefined))
after(async () => {
  await service.stop()
  await issuer.stop()
})

const roles = (...names: string[]): TokenChanges => ({ claims: { roles: names, preferred_username: 'Ann' } })
const get = (path: string, headers: Record<string, string> = {}) => call(service.adminUrl, 'GET', path, { headers })

describe('a token', () => {
  const claiming = (claims: Record<string, unknown>) => issuer.token({ claims: claims as never })
  const admin = { roles: ['crosswalk-admin'] }
  type Case = readonly [name: string, status: number, token: () => string | Promise<string>, path?: string]
  const cases: readonly Case[] = [
    ['of a viewer', 200, () => issuer.token(roles('crosswalk-viewer'))],
    ['of a viewer', 403, () => issuer.token(roles('crosswalk-viewer')), '/audit'],
    ['of an admin', 200, () => issuer.token(roles('x', 'crosswalk-admin')), '/audit'],
    ['with roles in one text', 200, () => claiming({ roles: 'x crosswalk-admin' }), '/audit'],
    ['of an admin of something else', 403, () => issuer.token(roles('admin'))],
    ['without roles', 403, () => issuer.token()],
    ['with wrong roles', 403, () => claiming({ roles: { 'crosswalk-admin': true } })],
    ['without a subject', 401, () => claiming({ ...admin, sub: undefined })],
    ['by another key', 401, () => issuer.token({ forged: true })],
    ['of another issuer', 401, () => claiming({ ...admin, iss: 'https://evil.example' })],
    ['for another audience', 401, () => claiming({ ...admin, aud: 'other' })],
    ['that has expired', 401, () => claiming({ ...admin, exp: inSeconds(-3_600) })],
    [
      'without a signature',
      401,
      () => unsigned({ iss: issuer.url, aud: AUDIENCE, sub: 'x', exp: inSeconds(60), ...admin }),
    ],
    ['that is none', 401, () => 'nonsense'],
  ]
  for (const [name, status, token, path = '/endpoints'] of cases) {
    test(`${name} is answered with ${status} at ${path}`, async () => {
      const reply = await get(path, bearer(await token()))
      assert.equal(reply.status, status, reply.text)
      if (status === 401) assert.match(reply.headers['www-authenticate'] ?? '', /^Bearer realm="crosswalk", error=/)
    })
  }
})

test('without a client, the console has no provider to sign in at', async () => {
  const reply = await get('/sign-in')
  assert.deepEqual([reply.status, reply.json()], [200, {}])
})

test('neither API keys nor calls from this machine get past it', async () => {
  assert.equal((await get('/endpoints')).status, 401)
  const admin = bearer(await issuer.token(roles('crosswalk-admin')))
  const made = await call(service.adminUrl, 'POST', '/keys', {
    headers: { ...JSON_TYPE, ...admin },
    body: JSON.stringify({ name: 'of no use', roles: ['admin'] }),
  })
  assert.equal(made.status, 201)
  assert.equal((await get('/endpoints', bearer(made.json<{ key: string }>().key))).status, 401)
})

test('the audit log names the subject, and versions do', async () => {
  const token = await issuer.token(roles('crosswalk-author'))
  const stored = await call(service.adminUrl, 'POST', '/endpoints', {
    headers: { ...JSON_TYPE, ...bearer(token) },
    body: JSON.stringify({
      name: 'by Ann',
      endpoint: { pattern: '/ann' },
      transformation: { input: 'JSON', output: 'JSON' },
    }),
  })
  assert.equal(stored.status, 201)
  const admin = bearer(await issuer.token(roles('crosswalk-admin')))
  const { entries } = (await get('/audit?what=POST%20/endpoints', admin)).json<{ entries: Record<string, unknown>[] }>()
  assert.deepEqual([entries[0]?.who, entries[0]?.name, entries[0]?.after], ['token:ann', 'Ann', 1])
  const versions = await get(`/endpoints/${stored.json()._id}/versions`, admin)
  assert.match(versions.text, /"who":"token:ann","name":"Ann"/)
})

for (const how of [500, 'nonsense', 'gone'] as const) {
  test(`a provider that is away (${how}) is answered with 503 until it is there`, async () => {
    const away = await startIssuer()
    const token = await away.token(roles('crosswalk-admin'))
    const keysAt = { 500: away.jwksUrl, nonsense: '', gone: await nowhere() }
    const lonely = await startService({ ...envOf(away), MANAGEMENT_OIDC_JWKS_URL: keysAt[how] })
    try {
      if (how !== 'gone') away.break(how)
      const reply = await call(lonely.adminUrl, 'GET', '/endpoints', { headers: bearer(token) })
      assert.deepEqual([reply.status, reply.json().code], [503, 'IDENTITY_UNAVAILABLE'], reply.text)
      if (how === 'gone') return
      away.break(undefined)
      assert.equal((await call(lonely.adminUrl, 'GET', '/endpoints', { headers: bearer(token) })).status, 200)
    } finally {
      await lonely.stop()
      await away.stop()
    }
  })
}

test('a provider within the network is asked, wherever documents may not send requests', async () => {
  const strict = await startService({ ...envOf(issuer), EGRESS_PRIVATE: 'deny' })
  try {
    const headers = bearer(await issuer.token(roles('crosswalk-author')))
    const jwt = { issuer: issuer.url, audience: AUDIENCE, jwksUrl: issuer.jwksUrl }
    const body = endpointDocument({ endpoint: { pattern: '/of-document' }, auth: { jwt } })
    const stored = await call(strict.adminUrl, 'POST', '/endpoints', {
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify(body),
    })
    assert.equal(stored.status, 201, stored.text)
    assert.match(String(stored.headers['x-crosswalk-warnings']), /auth\.jwt\.jwksUrl.*never be fetched/)
    const before = issuer.fetched
    const reply = await call(strict.url, 'POST', '/of-document', { headers: { ...JSON_TYPE, ...headers }, body: '{}' })
    assert.deepEqual([reply.status, reply.json().code], [503, 'IDENTITY_UNAVAILABLE'])
    assert.equal(issuer.fetched, before)
  } finally {
    await strict.stop()
  }
})

test('roles are found in a claim within others, and in one named by a URL', async () => {
  for (const [path, claims] of [
    ['realm_access.roles', { realm_access: { roles: ['crosswalk-viewer'] } }],
    ['https://crosswalk.example/roles', { 'https://crosswalk.example/roles': ['crosswalk-viewer'] }],
  ] as const) {
    const other = await startService({ ...envOf(issuer), MANAGEMENT_OIDC_ROLES_CLAIM: path })
    const token = await issuer.token({ claims: JSON.parse(JSON.stringify(claims)) })
    const reply = await call(other.adminUrl, 'GET', '/endpoints', { headers: bearer(token) })
    await other.stop()
    assert.equal(reply.status, 200, reply.text)
  }
})
