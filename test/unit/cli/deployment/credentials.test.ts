/** Credentials are found by their place. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { replaceCredentials } from '../../../../src/cli/deployment/credentials.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'

const request = (config: JsonObject): JsonObject => ({ requests: { lookup: [{ id: 'a', config }] } })
const URL = 'http://host.test/'

/** `*` stands for what is replaced; without `hidden`, nothing is. */
const CASES: Readonly<Record<string, Readonly<{ document: JsonObject; hidden?: JsonObject }>>> = {
  'a header with the name of a credential': {
    document: request({ url: URL, headers: { 'X-Api-Key': 'canary' } }),
    hidden: request({ url: URL, headers: { 'X-Api-Key': '*' } }),
  },
  'what follows a scheme': {
    document: request({ url: URL, headers: { Authorization: 'Basic canary==', Other: 'Bearer canary' } }),
    hidden: request({ url: URL, headers: { Authorization: 'Basic *', Other: 'Bearer *' } }),
  },
  'parameters and passwords of URLs': {
    document: request({ url: 'http://user:canary@host.test/?a=1&api_key=canary&sig=canary&token=:token' }),
    hidden: request({ url: 'http://user:*@host.test/?a=1&api_key=*&sig=*&token=:token' }),
  },
  'texts around a parameter': {
    document: request({ url: URL, params: { query: { token: { path: 'x', prefix: 'canary' } } } }),
    hidden: request({ url: URL, params: { query: { token: { path: 'x', prefix: '*' } } } }),
  },
  'texts around the value of a header, but for the name of a scheme or of a cookie': {
    document: request({
      url: URL,
      headers: {
        Authorization: { path: 'x', prefix: 'Bearer canary' },
        'X-Api-Key': { expression: 'x', prefix: 'canary-', postfix: 'canary' },
        Cookie: { path: 'x', prefix: 'session=' },
        'Proxy-Authorization': { path: 'x', prefix: 'Bearer ', postfix: null },
      },
    }),
    hidden: request({
      url: URL,
      headers: {
        Authorization: { path: 'x', prefix: 'Bearer *' },
        'X-Api-Key': { expression: 'x', prefix: '*', postfix: '*' },
        Cookie: { path: 'x', prefix: 'session=' },
        'Proxy-Authorization': { path: 'x', prefix: 'Bearer ', postfix: null },
      },
    }),
  },
  'where the value of a header or a parameter comes from is none': {
    document: {
      requests: {
        lookup: [
          {
            id: 'a',
            when: 'requestHeaders.authorization = "x"',
            config: {
              url: URL,
              headers: {
                Authorization: { path: 'requestHeaders.authorization' },
                'X-Api-Key': { expression: '"Basic " & $base64encode(constants.key)' },
              },
              params: {
                query: { token: { path: 'query.token' }, url: { expression: '"http://a/?token=" & query.t' } },
                url: { token: { path: 'urlParams.token', prefix: '' } },
              },
              body: { expression: '{ "url": "http://a/?token=b" }' },
            },
            validation: { properties: { url: { const: 'http://a/?token=b' } } },
          },
        ],
        response: [{ id: 'b', key: { path: 'headers.token' }, mapping: { 'requestHeaders.url': 'headers.token' } }],
      },
    },
  },
  'a private key beside a certificate': {
    document: request({ url: URL, auth: { tls: { cert: '-----BEGIN PRIVATE KEY-----\nMII' } } }),
    hidden: request({ url: URL, auth: { tls: { cert: '*' } } }),
  },
  'constants by their names at any depth, and by their form': {
    document: {
      constants: {
        apiKey: 'canary',
        password: 17,
        credentials: { user: 'canary' },
        db: 'pg://u:canary@h/',
        h: 'Bearer canary',
      },
    },
    hidden: { constants: { apiKey: '*', password: '*', credentials: { user: '*' }, db: 'pg://u:*@h/', h: 'Bearer *' } },
  },
  'secrets of callers': {
    document: {
      auth: {
        apiKey: { header: 'X-Token', keys: ['canary'] },
        basic: { users: { lab: 'canary' } },
        jwt: { issuer: 'x', secret: 'canary' },
      },
    },
    hidden: {
      auth: {
        apiKey: { header: 'X-Token', keys: ['*'] },
        basic: { users: { lab: '*' } },
        jwt: { issuer: 'x', secret: '*' },
      },
    },
  },
  'secrets of requests': {
    document: request({
      url: URL,
      headers: { auth: 'x' },
      auth: {
        basic: { username: 'lab', password: 'canary' },
        bearer: 'canary',
        oauth2: { tokenUrl: 'http://host.test/?api_key=canary', clientId: 'me', clientSecret: 'canary', scope: 's' },
        tls: { cert: 'c', key: 'canary', ca: 'a' },
      },
    }),
    hidden: request({
      url: URL,
      headers: { auth: 'x' },
      auth: {
        basic: { username: 'lab', password: '*' },
        bearer: '*',
        oauth2: { tokenUrl: 'http://host.test/?api_key=*', clientId: 'me', clientSecret: '*', scope: 's' },
        tls: { cert: 'c', key: '*', ca: 'a' },
      },
    }),
  },
  'references are none': {
    document: request({ url: URL, headers: { Authorization: 'Bearer ${env:A}', Cookie: '${file:/b}' } }),
  },
  'other texts are none': { document: request({ url: 'http://host.test/?q=1', headers: { Accept: 'a/b' } }) },
  'a sentence after a word like a scheme is none': { document: { constants: { panel: 'Basic metabolic panel' } } },
  'paths, code, schemas and texts for people are none': {
    document: {
      name: 'token',
      description: 'Token x',
      inputMapping: { 'requestBody.password': 'password' },
      inputTransforms: { token: '"x"' },
      inputValidation: { properties: { token: { const: 'x' } } },
    },
  },
}

describe('credentials in documents', () => {
  for (const [name, { document, hidden = document }] of Object.entries(CASES)) {
    test(name, () => {
      assert.deepEqual(replaceCredentials(document, [], () => '*') as Json, hidden)
    })
  }

  test('a part of a document is known by its place', () => {
    const place = ['requests', 'lookup', { id: 'a' }, 'config', 'headers', 'Cookie'] as const
    assert.equal(
      replaceCredentials('canary', place, () => '*'),
      '*',
    )
    assert.equal(
      replaceCredentials('canary', ['description'], () => '*'),
      'canary',
    )
  })
})
