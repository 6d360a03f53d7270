/** The rules of `config.auth`: one way to authenticate, whole, and at a target that has one. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'
import { endpointDocument } from '../../support/endpoint-document.ts'

const secret = '${env:CROSSWALK_SECRET_X}'
const basic = { username: 'lab', password: secret }
const oauth2 = { tokenUrl: 'https://id.example.org/token', clientId: 'me', clientSecret: secret }
const pair = { cert: '${file:/secrets/c}', key: '${file:/secrets/k}' }
const AT = 'requests.response[0].config'

type Case = readonly [auth: JsonObject, more: JsonObject, ...faults: (readonly [path: string, part: string])[]]
const cases: readonly Case[] = [
  [{ basic }, {}],
  [{ bearer: secret }, {}],
  [{ oauth2 }, {}],
  [{ oauth2: { ...oauth2, scope: 'a b', audience: 'x' }, tls: pair }, {}],
  [{ tls: { ca: '${file:/secrets/a}' }, bearer: secret }, {}],
  [{}, {}, ['auth', 'needs "basic", "bearer", "oauth2" or "tls"']],
  [{ basic, bearer: secret }, {}, ['auth.bearer', '"basic" is it; keep one']],
  [{ basic, bearer: secret, oauth2 }, {}, ['auth.bearer', 'keep one'], ['auth.oauth2', 'keep one']],
  [{ bearer: secret }, { headers: { AUTHORIZATION: secret } }, ['headers.AUTHORIZATION', '"auth.bearer" sets this']],
  [{ tls: pair }, { headers: { Authorization: secret } }],
  [{ basic: { ...basic, username: 'a:b' } }, {}, ['auth.basic.username', 'colon']],
  [{ basic: { username: 'a' } }, {}, ['auth.basic.password', '']],
  [{ basic: { ...basic, user: 'a' } }, {}, ['auth.basic.user', 'Unknown field']],
  [{ bearer: ' ' }, {}, ['auth.bearer', '']],
  [{ oauth2: { ...oauth2, clientSecret: 7 } }, {}, ['auth.oauth2.clientSecret', '']],
  [{ tls: {} }, {}, ['auth.tls', 'needs "cert" and "key", or "ca"']],
  [{ tls: { cert: pair.cert } }, {}, ['auth.tls', 'used with its key']],
  [{ tls: { key: pair.key, ca: pair.cert } }, {}, ['auth.tls', 'used with its key']],
  [{ tls: pair }, { url: 'http://x.example/' }, ['auth.tls', 'Only an https URL']],
  [{ tls: pair }, { url: '${env:CROSSWALK_SECRET_BASE}/a' }],
  [{ bearer: secret }, { url: 'mllp://127.0.0.1:2575' }, ['auth', 'A request over MLLP takes no "auth"']],
  [{ basic: { ...basic, password: 'hunter2' } }, {}, ['auth.basic.password', 'This is a credential']],
  [{ bearer: 'hunter2' }, {}, ['auth.bearer', 'This is a credential']],
  [{ oauth2: { ...oauth2, clientSecret: 'hunter2' } }, {}, ['auth.oauth2.clientSecret', 'This is a credential']],
  [{ tls: { ...pair, key: 'hunter2' } }, {}, ['auth.tls.key', 'This is a credential']],
  [{ bearer: '${env:}' }, {}, ['auth.bearer', 'This is a credential']],
]

describe('auth of a request', () => {
  for (const [auth, more, ...faults] of cases) {
    test(`${JSON.stringify({ auth, ...more })}: ${faults.map(([path]) => path).join(', ') || 'sound'}`, () => {
      const requests = { response: [{ id: 'r', config: { url: 'https://x.example/', auth, ...more } }] }
      const { endpoint, lints } = checkDocument(endpointDocument({ endpoint: { pattern: '/a' }, requests }))
      const all = [...lints]
      lintEndpoint(endpoint, collectInto(all))
      assert.deepEqual(
        all.map(({ path }) => path),
        faults.map(([path]) => `${AT}.${path}`),
      )
      for (const [index, [, part]] of faults.entries())
        assert.ok(all[index]?.message.includes(part), all[index]?.message)
    })
  }

  test('of a topic is refused', () => {
    const requests = { response: [{ id: 'r', kafkaProducerTopic: 'out', config: { auth: { bearer: secret } } }] }
    const { endpoint, lints } = checkDocument(endpointDocument({ endpoint: { pattern: '/a' }, requests }))
    const all = [...lints]
    lintEndpoint(endpoint, collectInto(all))
    assert.ok(
      all.some(({ path, message }) => path === `${AT}.auth` && message.includes('A request to a topic takes no')),
    )
  })
})
