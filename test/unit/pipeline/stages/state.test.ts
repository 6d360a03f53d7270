/** Which endpoints touch the store of states at all. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import { usesState } from '../../../../src/pipeline/stages/state.ts'

const path = 'state.lookupHttpStatus'
const config = { url: 'http://example.org/a' }

describe('an endpoint uses state', () => {
  const cases: [name: string, fields: JsonObject, uses: boolean][] = [
    ['nowhere', {}, false],
    ['in state.extract', { state: { extract: { requestBody: { a: 'a' } } } }, true],
    ['in the mapping', { inputMapping: { [path]: 'a' } }, true],
    ['in an expression', { inputTransforms: { a: `${path} + 1` } }, true],
    ['in a business key', { messageKeys: { status: path } }, true],
    [
      'in a query parameter',
      { requests: { lookup: [{ id: 'a', config: { ...config, params: { query: { a: { path } } } } }] } },
      true,
    ],
    [
      'in the items of forEach',
      { requests: { response: [{ id: 'a', config, forEach: { items: 'state.requestBody.list' } }] } },
      true,
    ],
    ['in the key of a record', { requests: { response: [{ id: 'a', kafkaProducerTopic: 'a', key: { path } }] } }, true],
    ['not by a field of that name', { inputMapping: { 'requestBody.state': 'a' } }, false],
  ]
  for (const [name, fields, uses] of cases) {
    test(name, () => {
      const { endpoint, lints } = checkDocument({
        name: 'a',
        endpoint: { pattern: '/a' },
        transformation: { input: 'JSON', output: 'JSON' },
        ...fields,
      })
      assert.deepEqual(lints, [])
      assert.equal(usesState(endpoint), uses)
    })
  }
})
