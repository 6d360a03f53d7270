/** OpenAPI documents hold nothing of upstreams and no secret, whatever a document holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checked, published } from '../../support/published-api/documents.ts'

const canary = fc.stringMatching(/^[a-z]{16}$/)

test('names no upstream, header of an upstream, user, issuer or secret', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(canary, { minLength: 20, maxLength: 20 }), async (canaries) => {
      const next = canaries.values()
      const one = (): string => next.next().value as string
      const reference = (): string => `\${env:CROSSWALK_SECRET_${one()}}`
      const call = (id: string) => ({
        id,
        config: {
          url: `https://${one()}.example.org/${one()}/:place?key=${one()}`,
          headers: { [`X-${one()}`]: one(), Authorization: reference() },
          params: { url: { place: { path: 'urlParams.id', prefix: one(), postfix: one() } } },
        },
        optional: true,
        default: { secret: one() },
      })
      const endpoint = checked({
        name: 'guarded',
        endpoint: { pattern: '/guarded/:id' },
        transformation: { input: 'JSON', output: 'JSON' },
        auth: {
          apiKey: { keys: [reference()] },
          jwt: { issuer: `https://${one()}/`, audience: one(), jwksUrl: `https://${one()}/keys` },
        },
        constants: { token: reference(), held: { inside: reference() } },
        inputMapping: { 'constants.token': 'token', 'constants.held': 'held', 'constants.held.inside': 'inside' },
        requests: { lookup: [call('lookup')] },
      })
      const text = JSON.stringify(await published([{ endpoint }]))
      for (const secret of canaries) assert.ok(!text.includes(secret), secret)
      assert.doesNotMatch(text, /\$\{/)
    }),
    { numRuns: 50 },
  )
})

test('names no constant that the answer does not hold', async () => {
  const endpoint = checked({
    name: 'sending',
    endpoint: { pattern: '/sending' },
    transformation: { input: 'JSON', output: 'JSON' },
    constants: { inner: 'only-for-the-upstream' },
    inputMapping: { 'constants.inner': 'code' },
    requests: { response: [{ id: 'upstream', config: { url: 'http://127.0.0.1/' } }] },
  })
  assert.doesNotMatch(JSON.stringify(await published([{ endpoint }])), /only-for-the-upstream/)
})

test('describes constants whose names or values are those of credentials by their type', async () => {
  const endpoint = checked({
    name: 'signing',
    endpoint: { pattern: '/signing' },
    transformation: { input: 'JSON', output: 'JSON' },
    constants: {
      apiKey: 'canary-name',
      held: { password: 'canary-inside', city: 'Basel' },
      scheme: 'Bearer canary-scheme',
      place: 'https://user:canary-user@example.org/',
      secrets: ['canary-element'],
      city: 'Bern',
    },
    inputMapping: {
      'constants.apiKey': 'one',
      'constants.held': 'two',
      'constants.scheme': 'three',
      'constants.place': 'four',
      'constants.secrets': 'five',
      'constants.city': 'six',
      'constants.held.city': 'seven',
    },
  })
  const text = JSON.stringify(await published([{ endpoint }]))
  assert.doesNotMatch(text, /canary/)
  for (const city of ['Bern', 'Basel']) assert.ok(text.includes(city), city)
})
