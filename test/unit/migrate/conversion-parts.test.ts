/** Parts of a conversion beside the documents: the version that they were written for, their credentials, and the stored state. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FoundState } from '../../../migrate/import/found-records.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { convertOne, convertSet, endpoint, faultsOf, type Given, lookup } from './conversion-rig.ts'

const reading = (path: string, name = 'Intake'): JsonObject =>
  endpoint({ name, requests: { lookup: [lookup('a')] }, inputMapping: { [path]: 'x' } })
const transforming = (text: string): JsonObject =>
  endpoint({ requests: { lookup: [lookup('a')] }, inputTransforms: { x: text }, inputMapping: { 'transforms.x': 'x' } })
const validating = (fields: JsonObject): JsonObject => ({
  ...reading('requestBody.b'),
  inputValidation: { properties: { lookupRequests: { properties: { a: { properties: fields } } } } },
})

/** `form`: whether `data` is put below the lookups (bare), or nothing changes (wrapped), or the import asks. */
type VersionCase = readonly [set: readonly JsonObject[], form: 'bare' | 'wrapped' | 'asks', given?: Given]
const VERSIONS: Readonly<Record<string, VersionCase>> = {
  'a field of a lookup in a mapping': [[reading('lookupRequests.a.entry')], 'bare'],
  'data in a mapping': [[reading('lookupRequests.a.data.entry')], 'wrapped'],
  'a field in an expression': [[transforming('$count(lookupRequests.a.entry)')], 'bare'],
  'a field in a schema': [[validating({ entry: {} })], 'bare'],
  'one field decides for the set': [[reading('lookupRequests.a'), reading('lookupRequests.a.entry', 'Other')], 'bare'],
  'data decides for the set': [[reading('lookupRequests.a'), reading('lookupRequests.a.data', 'Other')], 'wrapped'],
  'a lookup as a whole': [[reading('lookupRequests.a')], 'asks'],
  'a variable that is a lookup': [[transforming('($x := lookupRequests.a; $x.entry)')], 'asks'],
  'no mapping': [[endpoint({ requests: { lookup: [lookup('a')] } })], 'asks'],
  'a lookup that the document does not have': [[reading('state.lookupRequests.a.entry')], 'wrapped'],
  'parameters of version 1': [
    [
      endpoint({
        requests: {
          lookup: [lookup('a', { config: { url: 'http://x.example.org', params: { q: { path: 'query.q' } } } })],
        },
      }),
    ],
    'bare',
  ],
  'the option, before 3': [[reading('lookupRequests.a.data.entry')], 'bare', { peerVersion: '2.3.1' }],
  'the option, from 3 on': [[reading('lookupRequests.a')], 'wrapped', { peerVersion: '3.0.0' }],
}

describe('the version of a set', () => {
  for (const [name, [set, form, given]] of Object.entries(VERSIONS)) {
    test(`${name}: ${form}`, () => {
      if (form === 'asks') {
        assert.throws(
          () => convertSet(set, given),
          /0\.json\. Say which version that is, for example --peer-version 2\.4/,
        )
        return
      }
      const { documents } = convertSet(set, given)
      const isAsFound = documents.every(
        ({ document }, index) => JSON.stringify(document) === JSON.stringify(set[index]),
      )
      assert.equal(isAsFound, form === 'wrapped')
    })
  }

  test('documents that show another version than the set are reported', () => {
    const { documents } = convertSet([reading('lookupRequests.a.entry'), reading('lookupRequests.a.data.x', 'Other')])
    assert.deepEqual(
      documents.map(({ changes }) => changes.map(({ level, path }) => `${level} ${path}`)),
      [
        ['changed inputMapping.lookupRequests\\.a\\.entry'],
        ['differs ', 'changed inputMapping.lookupRequests\\.a\\.data\\.x'],
      ],
    )
    assert.match(documents[1]?.changes[0]?.reason ?? '', /--peer-version 3/)
  })

  test('documents of an earlier import show nothing and stay as they are', () => {
    const document = { ...reading('lookupRequests.a'), colour: 'red' }
    const converted = convertOne(document, { isCanonical: true })
    assert.deepEqual([converted.document, converted.changes], [document, []])
  })

  test('a folder of version 0 decides for itself alone', () => {
    const document = reading('lookupRequests.a')
    assert.deepEqual(convertOne(document, { peerVersion: '0.2.0' }).document.inputMapping, {
      'lookupRequests.a.data': 'x',
    })
  })
})

const CANARY = 'canary-7f3a'

const withConfig = (fields: JsonObject, id = 'dhis2', name = 'Org units!'): JsonObject =>
  endpoint({
    name,
    endpoint: { pattern: `/${id}` },
    requests: { lookup: [lookup(id, { config: { method: 'get', url: 'http://h.example.org/x', ...fields } })] },
    inputMapping: { 'requestBody.b': 'b' },
  })

/** `config`: as converted. `secrets`: name without its beginning → value. */
const CREDENTIALS: Readonly<
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
  for (const [name, { given, config, secrets }] of Object.entries(CREDENTIALS)) {
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

const ID = '65f000000000000000000001'
const OTHER = '65f000000000000000000002'

const stored = (createdAt: string, state: JsonObject, endpointId = ID): FoundState => ({
  source: 'states.json',
  endpointId,
  createdAt,
  state,
})

const FIRST = stored('2024-01-01T00:00:00.000Z', {
  query: { page: 1 },
  lookupHttpStatus: 200,
  lookupNetworkError: false,
})
const SECOND = stored('2024-01-02T00:00:00.000Z', {
  query: { page: 2 },
  lookupHttpStatus: 500,
  lookupNetworkError: false,
})
const THIRD = stored('2024-01-03T00:00:00.000Z', { query: { page: 3 }, lookupNetworkError: true })

type StateCase = readonly [states: readonly FoundState[], expect: JsonObject | undefined, config?: JsonObject]
const STATES: Readonly<Record<string, StateCase>> = {
  'the newest, in any order': [[SECOND, THIRD, FIRST], THIRD.state],
  'that passes the filter of network errors': [[FIRST, SECOND, THIRD], SECOND.state, { networkErrors: 'exclude' }],
  'of statuses': [[FIRST, SECOND, THIRD], FIRST.state, { includeStatuses: ['2xx', 404] }],
  'or the newest if none passes': [[FIRST, SECOND], SECOND.state, { includeStatuses: ['404'] }],
  'of this endpoint alone': [[FIRST, stored('2025-01-01T00:00:00.000Z', { query: { page: 9 } }, OTHER)], FIRST.state],
  none: [[], undefined],
  'with the known fields, also by their early names': [
    [
      stored('2024-01-01T00:00:00.000Z', {
        httpStatus: 201,
        networkError: false,
        system: {
          timestamps: {
            endpointStart: '2024-01-01T01:00:00.5+01:00',
            endpointEnd: null,
            endpointDuration: { milliseconds: 1.5 },
            lookupRequests: { r: { requestStart: '2024-01-01T00:00:00.000Z' }, s: 'nothing' },
          },
          other: 1,
        },
        requestBody: { a: 1 },
        responseBody: { b: 2 },
        query: 'nothing',
        lookupRequests: { c: { d: 3 }, e: 4 },
        colour: 'red',
      }),
    ],
    {
      requestBody: { a: 1 },
      responseBody: { b: 2 },
      lookupRequests: { c: { d: 3 } },
      system: {
        timestamps: {
          endpointStart: '2024-01-01T00:00:00.500Z',
          endpointDuration: { milliseconds: 2 },
          lookupRequests: { r: { requestStart: '2024-01-01T00:00:00.000Z' } },
        },
      },
      lookupHttpStatus: 201,
      lookupNetworkError: false,
    },
  ],
}

describe('the state of an imported endpoint', () => {
  for (const [name, [states, expect, config]] of Object.entries(STATES)) {
    test(name, async () => {
      const { documents } = convertSet([endpoint({ _id: ID, ...(config ? { state: { config } } : {}) })], {}, states)
      assert.deepEqual(documents[0]?.state, expect)
      assert.deepEqual(await faultsOf(documents), [[]])
    })
  }
})
