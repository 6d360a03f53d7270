/** What OpenAPI says of the failures of lookups that read others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFailures } from '../../../../src/try/openapi/failure-responses.ts'
import { checked } from '../../../support/try/openapi/documents.ts'

const statusesOf = (path: string): readonly string[] => {
  const config = (name: string) => ({ url: 'http://x.example/:x', params: { url: { x: { path: name } } } })
  const lookup = [
    { id: 'a', config: config('urlParams.x') },
    { id: 'b', config: config(path) },
  ]
  const endpoint = { pattern: '/a/:x', method: 'GET' }
  const { components } = describeFailures(
    checked({ name: 'a', endpoint, transformation: { output: 'JSON' }, requests: { lookup } }),
  )
  const all = Object.entries(components) as [string, { 'x-crosswalk-codes'?: readonly string[] }][]
  return all.flatMap(([name, one]) =>
    one['x-crosswalk-codes']?.includes('PARAMETER_INVALID') ? [name.split('-')[1] ?? ''] : [],
  )
}

test('a value that another lookup did not give is a 502, and no sender is told of it otherwise', () => {
  assert.deepEqual(statusesOf('urlParams.x'), ['400'])
  assert.deepEqual(statusesOf('lookupRequests.a.data.id'), ['400', '502'])
})
