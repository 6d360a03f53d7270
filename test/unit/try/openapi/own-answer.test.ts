/** `answer` of a document in the OpenAPI document of its endpoint. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { describeOperation } from '../../../../src/try/openapi/published-operation.ts'
import { checked, SETTINGS } from '../../../support/try/openapi/documents.ts'

const one = { id: 'one', config: { url: 'http://x.example/' } }

type Response = { headers: JsonObject; content?: Record<string, { schema: JsonObject }> }

function responsesOf(answer: JsonObject, response: readonly JsonObject[]): Record<string, Response> {
  const { operation } = describeOperation(
    checked({
      name: 'own',
      endpoint: { pattern: '/own', method: 'POST' },
      transformation: { input: 'JSON', output: 'JSON' },
      requests: { response },
      answer,
    }),
    SETTINGS,
  )
  return operation.responses as Record<string, Response>
}

const stored = { ...one, delivery: {} }

const cases: [name: string, answer: JsonObject, response: readonly JsonObject[], statuses: readonly string[]][] = [
  ['of a status', { status: 202 }, [], ['202']],
  ['of a status, where a refusal is passed on', { status: 202 }, [one], ['202', 'default']],
  ['of a value', { status: { path: 'responses.one.status' } }, [one], ['2XX', 'default']],
  ['of a request that is stored', { headers: { 'X-A': 'a' } }, [stored], ['202']],
  [
    'of a request that is stored, or alone or beside another',
    { headers: { 'X-A': 'a' } },
    [stored, { ...one, id: 'two', when: 'true' }],
    ['200', '202'],
  ],
  ['of a mapping alone', { mapping: { 'requestBody.id': 'id' } }, [], ['200']],
  ['of a mapping of an answer', { mapping: { 'responses.one.data.id': 'id' } }, [one], ['2XX', 'default']],
]
for (const [name, answer, response, statuses] of cases) {
  test(`the statuses of an answer ${name}`, () => {
    const own = Object.keys(responsesOf(answer, response)).filter((status) => /^2|default/.test(status))
    assert.deepEqual(own, statuses)
  })
}

test('the headers and the body are those of the document', () => {
  const answer = { headers: { Location: '/a' }, mapping: { 'responses.one.data.id': 'patient.id' }, type: 'XML' }
  const { '2XX': success, default: other } = responsesOf(answer, [one])
  assert.ok(success?.headers.Location !== undefined)
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(success?.content ?? {})
  assert.equal(type, 'application/xml')
  const { patient } = schema.properties as { patient: JsonObject }
  assert.deepEqual(Object.keys(patient.properties as JsonObject), ['id'])
  assert.equal(schema['x-crosswalk-source'], 'answer.mapping')
  assert.deepEqual(Object.keys(other?.content ?? {}), ['application/json'])
  assert.equal(responsesOf({ status: 204 }, [])[204]?.content, undefined)
})

test('only a value may give what no answer can have', () => {
  const codesOf = (answer: JsonObject) => JSON.stringify(responsesOf(answer, [])[500])
  assert.notEqual(codesOf({ headers: { 'X-A': { path: 'requestBody.a' } } }), codesOf({ headers: { 'X-A': 'a' } }))
})
