/** Which endpoints touch the store of states at all. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkDocument } from '../../../../src/config/checks/check-document.ts'
import type { JsonObject } from '../../../../src/domain/json.ts'
import { usesState } from '../../../../src/pipeline/stages/state.ts'

const path = 'state.lookupHttpStatus'
const config = { url: 'http://example.org/a' }

describe('an endpoint uses state', () => {
  const cases: readonly { name: string; fields: JsonObject; uses: boolean }[] = [
    { name: 'nowhere', fields: {}, uses: false },
    { name: 'in state.extract', fields: { state: { extract: { requestBody: { a: 'a' } } } }, uses: true },
    { name: 'in the mapping', fields: { inputMapping: { [path]: 'a' } }, uses: true },
    { name: 'in an expression', fields: { inputTransforms: { a: `${path} + 1` } }, uses: true },
    { name: 'in a business key', fields: { messageKeys: { status: path } }, uses: true },
    {
      name: 'in a query parameter',
      fields: { requests: { lookup: [{ id: 'a', config: { ...config, params: { query: { a: { path } } } } }] } },
      uses: true,
    },
    {
      name: 'in the items of forEach',
      fields: { requests: { response: [{ id: 'a', config, forEach: { items: 'state.requestBody.list' } }] } },
      uses: true,
    },
    {
      name: 'in the key of a record',
      fields: { requests: { response: [{ id: 'a', kafkaProducerTopic: 'a', key: { path } }] } },
      uses: true,
    },
    { name: 'not by a field of that name', fields: { inputMapping: { 'requestBody.state': 'a' } }, uses: false },
  ]
  for (const { name, fields, uses } of cases) {
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
