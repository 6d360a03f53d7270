/** What OpenAPI says of the answers of endpoints whose response requests are made for some messages only. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { describeOperation } from '../../../../src/try/openapi/published-operation.ts'
import { checked, SETTINGS } from '../../../support/try/openapi/documents.ts'

const request = (id: string, more: JsonObject = {}) => ({ id, config: { url: 'http://x.example/' }, ...more })
const some = (id: string, more: JsonObject = {}) => request(id, { when: 'true', ...more })

const responsesOf = (response: readonly JsonObject[], more: JsonObject = {}) =>
  describeOperation(
    checked({
      name: 'a',
      endpoint: { pattern: '/a' },
      transformation: { input: 'JSON', output: 'JSON' },
      requests: { response },
      ...more,
    }),
    SETTINGS,
  ).operation.responses as Record<string, { description?: string; $ref?: string }>

const ONE = 'The answer of the response request that is made, with its status and headers.'
const SEVERAL =
  'The answer of the response request that is made, with its status and headers; of several, their answers by their ids.'

describe('answers of routed messages', () => {
  const cases: Readonly<
    Record<string, readonly [response: JsonObject[], more: JsonObject, success: string, isUnrouted: boolean]>
  > = {
    'one of several': [[some('a'), some('b')], {}, SEVERAL, true],
    'one that may not be made': [[some('a')], {}, ONE, true],
    'the output if none is made': [[some('a')], { unrouted: 'answer' }, `${ONE} If none is made, the output.`, false],
    'one that is always made': [[some('a'), request('b')], {}, SEVERAL, false],
    'a primary one that is always made': [
      [some('a'), request('b', { primary: true })],
      {},
      'The answer of the response request "b", with its status and headers.',
      false,
    ],
  }
  for (const [name, [response, more, success, isUnrouted]] of Object.entries(cases)) {
    test(name, () => {
      const responses = responsesOf(response, more)
      assert.equal(responses['2XX']?.description, success)
      assert.equal(responses['422'] !== undefined, isUnrouted)
    })
  }

  test('several of which none can be alone are by their ids, those that are always made required', () => {
    const responses = responsesOf([request('a'), request('b'), some('c')])
    const { content } = responses['200'] as { content?: Record<string, { schema: JsonObject }> }
    assert.deepEqual(content?.['application/json']?.schema.required, ['a', 'b'])
  })
})
