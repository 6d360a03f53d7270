import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endToEnd, isHeaderName, isHeaderValue } from '../../../src/language/headers.ts'

const names = [
  { name: 'content-type', valid: true },
  { name: "X-1_!#$%&'*+.^`|~", valid: true },
  { name: '', valid: false },
  { name: 'a b', valid: false },
  { name: 'a:', valid: false },
  { name: 'a\n', valid: false },
  { name: 'é', valid: false },
]
test('isHeaderName takes tokens only', () => {
  for (const { name, valid } of names) assert.equal(isHeaderName(name), valid, JSON.stringify(name))
})

const values = [
  { value: '', valid: true },
  { value: 'a\tb c, "d"; é', valid: true },
  { value: 'a\r\nb: c', valid: false },
  { value: 'a\n', valid: false },
  { value: 'a\0', valid: false },
  { value: 'a\x7f', valid: false },
  { value: 'łódź', valid: false },
]
test('isHeaderValue takes no control characters and nothing above U+00FF', () => {
  for (const { value, valid } of values) assert.equal(isHeaderValue(value), valid, JSON.stringify(value))
})

/** What makes browsers, proxies or callers believe something of the service that another system said. */
const STEERING = `
  accept-ch access-control-allow-credentials access-control-allow-origin access-control-expose-headers
  activate-storage-access alt-svc clear-site-data content-security-policy content-security-policy-report-only
  critical-ch cross-origin-embedder-policy cross-origin-opener-policy cross-origin-resource-policy
  document-policy expect-ct feature-policy idempotency-replayed integrity-policy nel origin-agent-cluster
  origin-trial permissions-policy public-key-pins referrer-policy refresh report-to reporting-endpoints
  sec-session-registration service-worker-allowed set-cookie2 set-login sourcemap speculation-rules
  strict-transport-security timing-allow-origin x-accel-redirect x-content-type-options x-crosswalk-code
  x-crosswalk-message-id x-crosswalk-status x-crosswalk-warnings x-frame-options x-sendfile x-sourcemap
  x-xss-protection
`

test('endToEnd keeps what belongs to the answer and drops what belongs to its way, to browsers or to this service', () => {
  const kept = {
    'content-type': 'text/plain',
    etag: '"1"',
    link: ['a', 'b'],
    'x-own': '1',
    server: 's',
    'www-authenticate': 'Basic',
    location: '/b',
  }
  const dropped = {
    connection: ['close, X-Hop ', 'x-other'],
    'content-encoding': 'gzip',
    'content-length': '12',
    'keep-alive': 'timeout=5',
    'proxy-authenticate': 'Basic',
    'proxy-connection': 'close',
    'set-cookie': ['a=1', 'b=2'],
    te: 'trailers',
    trailer: 'x-sum',
    'transfer-encoding': 'chunked',
    upgrade: 'h2c',
    'x-hop': '1',
    'x-other': '2',
    ...Object.fromEntries(
      STEERING.trim()
        .split(/\s+/)
        .map((name) => [name, 'x']),
    ),
  }
  assert.deepEqual(endToEnd({ ...dropped, ...kept }), kept)
  assert.deepEqual(endToEnd({ connection: 'etag', etag: '1', server: 's' }), { server: 's' })
})

test('endToEnd takes a header named like a property of every object as any other', () => {
  const odd = JSON.parse('{"__proto__":"a","constructor":"b"}')
  assert.equal(JSON.stringify(endToEnd(odd)), '{"__proto__":"a","constructor":"b"}')
})
