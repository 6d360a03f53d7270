/** Credentials that a conversion moves out of documents: no document and no report has one afterwards. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { convertOne, convertSet, endpoint, faultsOf, lookup } from './conversion-rig.ts'

const CANARY = 'canary-7f3a'

const withConfig = (fields: JsonObject, id = 'dhis2', name = 'Org units!'): JsonObject =>
  endpoint({
    name,
    endpoint: { pattern: `/${id}` },
    requests: { lookup: [lookup(id, { config: { method: 'get', url: 'http://h.example.org/x', ...fields } })] },
    inputMapping: { 'requestBody.b': 'b' },
  })

/** `config`: as converted. `secrets`: name without its beginning → value. */
const CASES: Readonly<
  Record<string, Readonly<{ given: JsonObject; config: JsonObject; secrets: Readonly<Record<string, string>> }>>
> = {
  'basic authentication': {
    given: { headers: { Authorization: `Basic ${CANARY}` } },
    config: { headers: { Authorization: 'Basic ${env:CROSSWALK_SECRET_ORG_UNITS_DHIS2_AUTHORIZATION}' } },
    secrets: { AUTHORIZATION: CANARY },
  },
  'a bearer token, in any case': {
    given: { headers: { authorization: `bearer  ${CANARY}` } },
    config: { headers: { authorization: 'bearer  ${env:CROSSWALK_SECRET_ORG_UNITS_DHIS2_AUTHORIZATION}' } },
    secrets: { AUTHORIZATION: CANARY },
  },
  'API keys and cookies': {
    given: { headers: { 'X-API-Key': CANARY, Cookie: `session=${CANARY}` } },
    config: {
      headers: {
        'X-API-Key': '${env:CROSSWALK_SECRET_ORG_UNITS_DHIS2_X_API_KEY}',
        Cookie: '${env:CROSSWALK_SECRET_ORG_UNITS_DHIS2_COOKIE}',
      },
    },
    secrets: { X_API_KEY: CANARY, COOKIE: `session=${CANARY}` },
  },
  'a user in the URL, which replaces the header': {
    given: {
      url: `https://admin:${CANARY}%21@h.example.org/x`,
      headers: { authorization: 'Basic other', Accept: '*/*' },
    },
    config: {
      url: 'https://h.example.org/x',
      headers: { Accept: '*/*', Authorization: 'Basic ${env:CROSSWALK_SECRET_ORG_UNITS_DHIS2_AUTHORIZATION}' },
    },
    secrets: { AUTHORIZATION: Buffer.from(`admin:${CANARY}!`).toString('base64') },
  },
  'a user in the options of the HTTP client': {
    given: { auth: { username: 'admin', password: CANARY } },
    config: { headers: { Authorization: 'Basic ${env:CROSSWALK_SECRET_ORG_UNITS_DHIS2_AUTHORIZATION}' } },
    secrets: { AUTHORIZATION: Buffer.from(`admin:${CANARY}`).toString('base64') },
  },
  'tokens in the query': {
    given: { url: `http://h.example.org/x?a=1&access_token=${CANARY}%2B+1&key=:id&api_key=` },
    config: {
      url: 'http://h.example.org/x?a=1&access_token=${env:CROSSWALK_SECRET_ORG_UNITS_DHIS2_ACCESS_TOKEN}&key=:id&api_key=',
    },
    secrets: { ACCESS_TOKEN: `${CANARY}+ 1` },
  },
  'references stay': {
    given: { headers: { Authorization: 'Bearer ${env:TOKEN}' } },
    config: { headers: { Authorization: 'Bearer ${env:TOKEN}' } },
    secrets: {},
  },
}

describe('credentials', () => {
  for (const [name, { given, config, secrets }] of Object.entries(CASES)) {
    test(name, async () => {
      const { document, changes, secrets: lines } = convertOne(withConfig(given))
      const [request] = (document.requests as { lookup: JsonObject[] }).lookup
      assert.deepEqual(request?.config, { method: 'get', url: 'http://h.example.org/x', ...config })
      const prefix = 'CROSSWALK_SECRET_ORG_UNITS_DHIS2_'
      assert.deepEqual(
        lines,
        Object.entries(secrets).map(([line, value]) => ({ name: prefix + line, value })),
      )
      assert.doesNotMatch(JSON.stringify([document, changes]), new RegExp(CANARY))
      assert.deepEqual(await faultsOf([{ document }]), [[]])
    })
  }

  test('the same value has one name; other values have names of their own', () => {
    const one = withConfig({ headers: { Authorization: 'Bearer first' } }, 'a', 'One')
    const same = withConfig({ headers: { 'X-Token': 'first' } }, 'b', 'Two')
    const other = withConfig({ headers: { Authorization: 'Bearer second' } }, 'a', 'one!')
    const { secrets } = convertSet([one, same, other])
    assert.deepEqual(secrets, [
      { name: 'CROSSWALK_SECRET_ONE_A_AUTHORIZATION', value: 'first' },
      { name: 'CROSSWALK_SECRET_ONE_A_AUTHORIZATION_2', value: 'second' },
    ])
  })

  test('no report has the credential of a part that is left out', () => {
    const { changes, secrets } = convertOne(
      endpoint({
        apiToken: CANARY,
        nested: { deep: [{ password: CANARY }, `Bearer ${CANARY}`, `https://u:${CANARY}@h.example.org`] },
        requests: {
          response: [
            {
              id: 'r',
              config: { url: `http://h.example.org?token=${CANARY}`, headers: { Authorization: `Basic ${CANARY}` } },
            },
          ],
        },
      }),
    )
    assert.doesNotMatch(JSON.stringify(changes), new RegExp(CANARY))
    assert.deepEqual(secrets, [])
  })

  test('nor that of a name that stands twice', () => {
    const path = 'requests.lookup[0].config.headers.Authorization'
    const { changes } = convertOne(withConfig({ headers: { Authorization: 'Basic second' } }), {
      duplicateNames: [{ path, dropped: CANARY }],
    })
    assert.doesNotMatch(JSON.stringify(changes), new RegExp(CANARY))
  })
})
