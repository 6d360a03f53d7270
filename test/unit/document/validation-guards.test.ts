import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto } from '../../../src/core/lint.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lintEndpoint } from '../../../src/document/checks/lint-endpoint.ts'

const SMALLEST = { name: 'a', endpoint: { pattern: '/a' }, transformation: { input: 'JSON', output: 'JSON' } } as const
const lookup = { id: 'l', config: { url: 'http://x.example/' } }
const get = (change: JsonObject): JsonObject => ({ endpoint: { pattern: '/a', method: 'GET' }, ...change })

describe('parts of the message that a schema requires', () => {
  const query = { required: ['page'] }
  const cases: Readonly<Record<string, { change: JsonObject; path?: string; says?: string }>> = {
    'a query whose fields are required': {
      change: { inputValidation: { required: ['query'], properties: { query } } },
    },
    'a query that is described': { change: { inputValidation: { properties: { query: { minProperties: 1 } } } } },
    'fields of a query that need not be there': {
      change: { inputValidation: { required: ['requestBody'], properties: { query } } },
      path: 'properties.query',
      says: 'A request without any query passes this; add "query"',
    },
    'a body of a POST': { change: { inputValidation: { required: ['requestBody'] } } },
    'a body of a GET': {
      change: get({ inputValidation: { required: ['requestBody'] } }),
      path: 'required',
      says: 'Every message is refused: a GET has no "requestBody".',
    },
    'a body of records': { change: get({ inputValidation: { required: ['requestBody'] }, kafkaConsumerTopic: 't' }) },
    'lookups that there are': { change: { inputValidation: { required: ['lookupRequests'] }, requests: { lookup } } },
    'lookups that there are none of': {
      change: { inputValidation: { required: ['lookupRequests'] } },
      path: 'required',
      says: 'Every message is refused: without lookups',
    },
    'what is no list of names': { change: { inputValidation: { required: 'query', properties: [] } } },
  }
  for (const [name, { change, path, says = '' }] of Object.entries(cases)) {
    test(`${name}: ${path === undefined ? 'sound' : 'a warning'}`, () => {
      const { endpoint, lints } = checkDocument({ ...SMALLEST, ...change })
      const all = [...lints]
      lintEndpoint(endpoint, collectInto(all))
      const [lint, ...others] = all
      assert.deepEqual(others, [])
      assert.equal(lint?.path, path && `inputValidation.${path}`)
      assert.ok(lint === undefined || (lint.severity === 'warning' && lint.message.startsWith(says)), lint?.message)
    })
  }
})
