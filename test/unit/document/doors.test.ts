/** What endpoints claim at the doors, and which of their messages have a body. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { hasBody, readClaims } from '../../../src/document/doors.ts'
import type { Endpoint } from '../../../src/document/schema/schema.ts'
import { endpointDocument } from '../../support/endpoint-document.ts'

const endpointOf = (fields: Parameters<typeof endpointDocument>[0]): Endpoint =>
  checkDocument(endpointDocument(fields)).endpoint

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
})

test('requests have a body by their method, records always', () => {
  assert.equal(hasBody(endpointOf({ endpoint: { pattern: '/a', method: 'PUT' } })), true)
  assert.equal(hasBody(endpointOf({ endpoint: { pattern: '/a', method: 'GET' } })), false)
  assert.equal(hasBody(endpointOf({ endpoint: { pattern: '/a', method: 'GET' }, kafkaConsumerTopic: 'in' })), true)
})
