/** The rules of `auth`: what is there only by half would leave an endpoint open, or shut for all. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkDocument } from '../../../src/config/checks/check-document.ts'
import { lintEndpoint } from '../../../src/config/checks/lint-endpoint.ts'
import type { JsonObject } from '../../../src/domain/json.ts'
import { collectInto, type Lint } from '../../../src/domain/lint.ts'
import rich from '../../data/rich-document.json' with { type: 'json' }
import { endpointDocument } from '../../support/service.ts'

const key = `\${env:CROSSWALK_SECRET_LAB}`
const { secret: _, ...remote } = rich.auth.jwt
const shared = { secret: key }

const cases: readonly { auth: JsonObject; faults: readonly (readonly [path: string, part: string])[] }[] = [
  { auth: { apiKey: { keys: [key] } }, faults: [] },
  { auth: { apiKey: { keys: [`prefix-${key}`, `\${file:/run/secrets/lab}`], header: 'Authorization' } }, faults: [] },
  { auth: { basic: { users: { lab: key } } }, faults: [] },
  { auth: { jwt: shared }, faults: [] },
  { auth: { jwt: remote }, faults: [] },
  { auth: {}, faults: [['auth', 'needs "apiKey", "basic" or "jwt"']] },
  { auth: { apiKey: { keys: [] } }, faults: [['auth.apiKey.keys', 'at least one']] },
  { auth: { apiKey: {} }, faults: [['auth.apiKey.keys', '']] },
  { auth: { apiKey: { keys: ['hunter2'] } }, faults: [['auth.apiKey.keys[0]', 'must not stand in a document']] },
  { auth: { apiKey: { keys: [`\${env:}`] } }, faults: [['auth.apiKey.keys[0]', 'write a reference']] },
  { auth: { apiKey: { keys: [`$${key}`] } }, faults: [['auth.apiKey.keys[0]', 'must not stand']] },
  { auth: { apiKey: { keys: [`\${file:lab}`] } }, faults: [['auth.apiKey.keys[0]', 'write a reference']] },
  { auth: { apiKey: { keys: [key], header: 'a b' } }, faults: [['auth.apiKey.header', 'cannot be the header']] },
  { auth: { apiKey: { keys: [key], header: 'Host' } }, faults: [['auth.apiKey.header', 'cannot be the header']] },
  {
    auth: { apiKey: { keys: [key], header: 'authorization' }, jwt: shared },
    faults: [['auth.apiKey.header', '"basic" and "jwt" use']],
  },
  { auth: { basic: { users: {} } }, faults: [['auth.basic.users', 'There is no user']] },
  { auth: { basic: { users: { 'a:b': key } } }, faults: [['auth.basic.users.a:b', 'colon']] },
  { auth: { basic: { users: { lab: 'hunter2' } } }, faults: [['auth.basic.users.lab', 'must not stand']] },
  { auth: { jwt: {} }, faults: [['auth.jwt', 'give one of the two']] },
  { auth: { jwt: { ...remote, ...shared } }, faults: [['auth.jwt', 'give one of the two']] },
  { auth: { jwt: { secret: 'hunter2' } }, faults: [['auth.jwt.secret', 'must not stand']] },
  { auth: { jwt: { ...remote, jwksUrl: 'file:///keys' } }, faults: [['auth.jwt.jwksUrl', 'absolute http or https']] },
  {
    auth: { jwt: { ...remote, jwksUrl: 'http://a:b@x.example' } },
    faults: [['auth.jwt.jwksUrl', 'without credentials']],
  },
  {
    auth: { jwt: { jwksUrl: remote.jwksUrl } },
    faults: [
      ['auth.jwt.issuer', 'required beside "jwksUrl"'],
      ['auth.jwt.audience', 'required beside "jwksUrl"'],
    ],
  },
  { auth: { apikey: { keys: [key] } }, faults: [['auth.apikey', 'apiKey']] },
]

function faultsOf(document: JsonObject): readonly Lint[] {
  const { endpoint, lints } = checkDocument(document)
  const all = [...lints]
  lintEndpoint(endpoint, collectInto(all))
  return all
}

describe('auth', () => {
  for (const { auth, faults } of cases) {
    test(`${JSON.stringify(auth)}: ${faults.map(([path]) => path).join(', ') || 'sound'}`, () => {
      const lints = faultsOf(endpointDocument({ endpoint: { pattern: '/a' }, auth }))
      assert.deepEqual(
        lints.map(({ path }) => path),
        faults.map(([path]) => path),
      )
      for (const [index, [, part]] of faults.entries()) assert.ok(lints[index]?.message.includes(part))
      assert.ok(!JSON.stringify(lints).includes('hunter2'), 'a secret is not repeated')
    })
  }
})
