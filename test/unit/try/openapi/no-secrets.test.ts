/** OpenAPI documents hold nothing of upstreams and no secret, whatever a document holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { checked, published } from '../../../support/try/openapi/documents.ts'

/** The OpenAPI document of an endpoint that has these fields, as text. */
async function textOf(fields: JsonObject): Promise<string> {
  const transformation = { input: 'JSON', output: 'JSON' }
  const endpoint = checked({ name: 'guarded', endpoint: { pattern: '/guarded/:id' }, transformation, ...fields })
  return JSON.stringify(await published([{ endpoint }]))
}

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
      const text = await textOf({
        auth: {
          apiKey: { keys: [reference()] },
          jwt: { issuer: `https://${one()}/`, audience: one(), jwksUrl: `https://${one()}/keys` },
        },
        constants: { token: reference(), held: { inside: reference() } },
        inputMapping: { 'constants.token': 'token', 'constants.held': 'held', 'constants.held.inside': 'inside' },
        requests: { lookup: [call('lookup')] },
      })
      for (const secret of canaries) assert.ok(!text.includes(secret), secret)
      assert.doesNotMatch(text, /\$\{/)
    }),
    { numRuns: LONG ? 50 : 10 },
  )
})

test('names no constant that the answer does not hold', async () => {
  const text = await textOf({
    constants: { inner: 'only-for-the-upstream' },
    inputMapping: { 'constants.inner': 'code' },
    requests: { response: [{ id: 'upstream', config: { url: 'http://127.0.0.1/' } }] },
  })
  assert.doesNotMatch(text, /only-for-the-upstream/)
})

test('describes constants whose names or values are those of credentials by their type', async () => {
  const text = await textOf({
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
  assert.doesNotMatch(text, /canary/)
  for (const city of ['Bern', 'Basel']) assert.ok(text.includes(city), city)
})
