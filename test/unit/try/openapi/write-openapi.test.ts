/** While the OpenAPI document of thousands of endpoints is written, other work runs, and a caller who leaves ends it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeOpenApi } from '../../../../src/try/openapi/openapi-document.ts'
import { checked, INFO, SETTINGS } from '../../../support/try/openapi/documents.ts'

const endpoint = checked({
  name: 'one',
  endpoint: { pattern: '/one' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping: { 'requestBody.code': 'code' },
})
/** Each has a schema of its own, so none is described by what another one has in common with it. */
const publish = (index: number) => ({
  endpoint: {
    ...endpoint,
    name: `endpoint ${index}`,
    endpoint: { ...endpoint.endpoint, pattern: `/many/${index}` },
    inputValidation: { required: [`field${index}`] },
  },
})

test('an aborted signal stops it with its reason', async () => {
  const [all, abortAt] = [20_000, 500]
  const controller = new AbortController()
  const reason = new Error('The caller has left.')
  let read = 0
  async function* endpoints() {
    for (; read < all; read += 1) {
      if (read === abortAt) controller.abort(reason)
      yield publish(read)
    }
  }
  await assert.rejects(writeOpenApi(endpoints(), INFO, SETTINGS, controller.signal), reason)
  assert.ok(read >= abortAt && read < all / 10, `${read} of ${all} endpoints were read`)
})

test('other work runs in between', async () => {
  const endpoints = Array.from({ length: 2_000 }, (_, index) => publish(index))
  let iterations = 0
  let isWritten = false
  const count = (): void => {
    iterations += 1
    if (!isWritten) setImmediate(count)
  }
  setImmediate(count)
  await writeOpenApi(endpoints, INFO, SETTINGS)
  isWritten = true
  assert.ok(iterations > 10, `the event loop had ${iterations} iterations`)
})
