import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'

function warningsOf(changes: JsonObject): string[] {
  const document = {
    name: 'a',
    endpoint: { pattern: '/a' },
    transformation: { input: 'JSON', output: 'JSON' },
    ...changes,
  }
  const lints: Lint[] = []
  lintEndpoint(checkDocument(document).endpoint, collectInto(lints))
  assert.ok(lints.every(({ severity, message }) => severity === 'warning' && message.includes('${env:NAME}')))
  return lints.map(({ path }) => path)
}

const lookup = (config: JsonObject): JsonObject => ({
  requests: { lookup: { id: 'l', config: { url: 'http://h/', ...config } } },
})
const AT = 'requests.lookup[0].config'

describe('a literal that looks like a credential is warned of', () => {
  const cases: { document: JsonObject; path: string }[] = [
    { document: lookup({ headers: { Authorization: 'Basic YTpi' } }), path: `${AT}.headers.Authorization` },
    { document: lookup({ headers: { authorization: 'Bearer abc' } }), path: `${AT}.headers.authorization` },
    { document: lookup({ headers: { 'X-Upstream': 'bearer abc' } }), path: `${AT}.headers.X-Upstream` },
    { document: lookup({ headers: { 'X-Api-Key': 'abc' } }), path: `${AT}.headers.X-Api-Key` },
    { document: lookup({ headers: { Cookie: 'session=1' } }), path: `${AT}.headers.Cookie` },
    { document: lookup({ headers: { Authorization: '$${env:A}' } }), path: `${AT}.headers.Authorization` },
    { document: lookup({ url: 'http://h/?a=1&api_key=abc' }), path: `${AT}.url` },
    { document: { constants: { a: ['x', { b: 'Basic YTpi' }] } }, path: 'constants.a[1].b' },
    { document: { constants: { db: 'postgres://user:pass@host/db' } }, path: 'constants.db' },
    {
      document: { requests: { response: { id: 'r', config: { url: 'http://h/', headers: { 'x-token': 'a' } } } } },
      path: 'requests.response[0].config.headers.x-token',
    },
  ]
  for (const { document, path } of cases) {
    test(JSON.stringify(document), () => assert.deepEqual(warningsOf(document), [path]))
  }
})

describe('no credential is', () => {
  const cases: JsonObject[] = [
    lookup({
      headers: { Authorization: 'Basic ${env:CROSSWALK_SECRET_A}', 'X-Api-Key': '${file:/run/secrets/crosswalk/a}' },
    }),
    lookup({ headers: { Accept: 'application/json', 'X-Basic': 'basically', Authorization: '' } }),
    lookup({ url: 'http://h/?token=${env:A}&a=1' }),
    lookup({ url: 'http://h/?token=:t', params: { url: { t: { path: 'query.t' } } } }),
    { constants: { system: 'http://loinc.org', text: 'Basic', at: 'http://h/a:b@c', token: 'a' } },
  ]
  for (const document of cases) {
    test(JSON.stringify(document), () => assert.deepEqual(warningsOf(document), []))
  }
})
