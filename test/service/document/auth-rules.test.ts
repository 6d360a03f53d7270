/** The rules of `auth`: what is there only by half would leave an endpoint open, or shut for all. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'
import rich from '../../data/rich-document.json' with { type: 'json' }
import { endpointDocument } from '../../support/service.ts'

const key = `\${env:CROSSWALK_SECRET_LAB}`
const { secret: _, ...remote } = rich.auth.jwt
const shared = { secret: key }

const cases: readonly (readonly [auth: JsonObject, ...faults: (readonly [path: string, part: string])[]])[] = [
  [{ apiKey: { keys: [key] } }],
  [{ apiKey: { keys: [`prefix-${key}`, `\${file:/run/secrets/lab}`], header: 'Authorization' } }],
  [{ basic: { users: { lab: key } } }],
  [{ jwt: shared }],
  [{ jwt: remote }],
  [{}, ['auth', 'needs "apiKey", "basic" or "jwt"']],
  [{ apiKey: { keys: [] } }, ['auth.apiKey.keys', 'at least one']],
  [{ apiKey: {} }, ['auth.apiKey.keys', '']],
  [{ apiKey: { keys: ['hunter2'] } }, ['auth.apiKey.keys[0]', 'must not contain a secret']],
  [{ apiKey: { keys: [`\${env:}`] } }, ['auth.apiKey.keys[0]', 'write a reference']],
  [{ apiKey: { keys: [`$${key}`] } }, ['auth.apiKey.keys[0]', 'must not contain a secret']],
  [{ apiKey: { keys: [`\${file:lab}`] } }, ['auth.apiKey.keys[0]', 'write a reference']],
  [{ apiKey: { keys: [key], header: 'a b' } }, ['auth.apiKey.header', 'cannot be the header']],
  [{ apiKey: { keys: [key], header: 'Host' } }, ['auth.apiKey.header', 'cannot be the header']],
  [{ apiKey: { keys: [key], header: 'authorization' }, jwt: shared }, ['auth.apiKey.header', '"basic" and "jwt" use']],
  [{ basic: { users: {} } }, ['auth.basic.users', 'There is no user']],
  [{ basic: { users: { 'a:b': key } } }, ['auth.basic.users.a:b', 'colon']],
  [{ basic: { users: { lab: 'hunter2' } } }, ['auth.basic.users.lab', 'must not contain a secret']],
  [{ jwt: {} }, ['auth.jwt', 'give one of the two']],
  [{ jwt: { ...remote, ...shared } }, ['auth.jwt', 'give one of the two']],
  [{ jwt: { secret: 'hunter2' } }, ['auth.jwt.secret', 'must not contain a secret']],
  [{ jwt: { ...remote, jwksUrl: 'file:///keys' } }, ['auth.jwt.jwksUrl', 'absolute http or https']],
  [{ jwt: { ...remote, jwksUrl: 'http://a:b@x.example' } }, ['auth.jwt.jwksUrl', 'without credentials']],
  [
    { jwt: { jwksUrl: remote.jwksUrl } },
    ['auth.jwt.issuer', 'required beside "jwksUrl"'],
    ['auth.jwt.audience', 'required beside "jwksUrl"'],
  ],
  [{ apikey: { keys: [key] } }, ['auth.apikey', 'apiKey']],
]

function faultsOf(document: JsonObject): readonly Lint[] {
  const { endpoint, lints } = checkDocument(document)
  const all = [...lints]
  lintEndpoint(endpoint, collectInto(all))
  return all
}

describe('auth', () => {
  for (const [auth, ...faults] of cases) {
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
