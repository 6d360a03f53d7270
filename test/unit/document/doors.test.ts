/** What endpoints claim at the doors, and which of their messages have a body. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint, type Result } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'
import { checkPath } from '../../../src/document/checks/path-roots.ts'
import { hasBody, readClaims } from '../../../src/document/doors.ts'
import type { Endpoint } from '../../../src/document/schema/schema.ts'
import { parsePath } from '../../../src/language/paths/path.ts'
import { endpointDocument } from '../../support/endpoint-document.ts'

const endpointOf = (fields: Parameters<typeof endpointDocument>[0]): Endpoint =>
  checkDocument(endpointDocument(fields)).endpoint

const found = <T>(result: Result<T>): T => {
  assert.ok(result.ok)
  return result.value
}

const keysOf = (fields: Parameters<typeof endpointDocument>[0]): readonly string[] =>
  readClaims(endpointOf(fields)).map(({ key }) => key)

test('a route is claimed by its method and the shape of its pattern', () => {
  assert.deepEqual(readClaims(endpointOf({ endpoint: { pattern: '/patients/:id/', method: 'PUT' } })), [
    {
      key: 'http PUT /patients/:',
      path: 'endpoint.pattern',
      shown: 'PUT /patients/:id/',
      taken: 'answers the same paths already; change the pattern or the method.',
    },
  ])
  assert.deepEqual(keysOf({ endpoint: { pattern: '/a' } }), ['http POST /a'])
})

test('a pattern with a fault claims nothing, and a topic may be consumed by many', () => {
  assert.deepEqual(keysOf({ endpoint: { pattern: 'a' } }), [])
  assert.deepEqual(keysOf({ endpoint: { pattern: '/a' }, kafkaConsumerTopic: 'in' }), ['http POST /a'])
  assert.deepEqual(keysOf({ endpoint: {}, kafkaConsumerTopic: 'in' }), [])
})

test('an endpoint without a route needs a topic, and the type of its records', () => {
  const { endpoint: _, transformation: __, ...others } = endpointDocument({})
  const faultsOf = (fields: JsonObject) => checkDocument({ ...others, ...fields }).lints.map(({ path }) => path)
  const transformation = { input: 'JSON', output: 'JSON' }
  assert.deepEqual(faultsOf({ transformation }), ['endpoint.pattern'])
  assert.deepEqual(faultsOf({ transformation, endpoint: { method: 'GET' } }), ['endpoint.pattern'])
  assert.deepEqual(faultsOf({ transformation, kafkaConsumerTopic: 'in' }), [])
  assert.deepEqual(faultsOf({ transformation, kafkaConsumerTopic: 'a b' }), ['kafkaConsumerTopic'])
  assert.deepEqual(faultsOf({ transformation, endpoint: 7 }), ['endpoint'])
  assert.deepEqual(faultsOf({ transformation: { output: 'JSON' }, kafkaConsumerTopic: 'in' }), ['transformation.input'])
  assert.deepEqual(checkDocument({ ...others, transformation, kafkaConsumerTopic: 'in' }).endpoint.endpoint, {
    method: 'POST',
  })
})

test('without a route, what only its callers notice is warned of, and there are no parameters', () => {
  const { endpoint } = checkDocument(
    endpointDocument({
      endpoint: {},
      kafkaConsumerTopic: 'in',
      idempotency: {},
      rateLimit: { messages: 1, seconds: 1 },
      inputMapping: { 'urlParams.id': 'id' },
    }),
  )
  const lints: Lint[] = []
  lintEndpoint(endpoint, collectInto(lints))
  assert.deepEqual(
    lints.map(({ path, severity }) => `${severity} ${path}`),
    ['warning rateLimit', 'warning idempotency'],
  )
  checkPath(found(parsePath('urlParams.id')), 'map', endpoint, collectInto(lints).at('inputMapping'))
  assert.equal(lints.at(-1)?.message, 'There is no parameter "id" without "endpoint.pattern".')
})

test('requests have a body by their method, records always', () => {
  assert.equal(hasBody(endpointOf({ endpoint: { pattern: '/a', method: 'PUT' } })), true)
  assert.equal(hasBody(endpointOf({ endpoint: { pattern: '/a', method: 'GET' } })), false)
  assert.equal(hasBody(endpointOf({ endpoint: { pattern: '/a', method: 'GET' }, kafkaConsumerTopic: 'in' })), true)
})

test('a port for MLLP is shared by the types of messages', () => {
  const mllp = { port: 2575, types: ['ADT^A01', 'ORU', 'ADT^A01'] }
  assert.deepEqual(keysOf({ endpoint: {}, mllp }), ['mllp 2575 ADT^A01', 'mllp 2575 ORU'])
  assert.deepEqual(keysOf({ endpoint: {}, mllp: { port: 2575 } }), ['mllp 2575 '])
  const [any] = readClaims(endpointOf({ endpoint: {}, mllp: { port: 2575 } }))
  assert.equal(
    `${any?.path}: ${any?.shown} ${any?.taken}`,
    'mllp: all other types on MLLP port 2575 takes the same messages already; change the types or the port.',
  )
  assert.equal(hasBody(endpointOf({ mllp, endpoint: { method: 'GET' } })), true)
})
