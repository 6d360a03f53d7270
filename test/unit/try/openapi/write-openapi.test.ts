/**
 * The paths of an OpenAPI document. While that of thousands of endpoints is written, other work runs, and a caller who leaves
 * ends it.
 */
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

test('a wildcard is a parameter, which has a path of its own beside another parameter', async () => {
  const routes = ['GET /files/*path', 'GET /files/:id', 'PUT /files/:name', 'GET /logs/*path']
  const endpoints = routes.map((route) => {
    const [method, pattern] = route.split(' ') as ['GET' | 'PUT', string]
    return { endpoint: { ...endpoint, name: route, endpoint: { method, pattern } } }
  })
  const { bytes } = await writeOpenApi(endpoints, INFO, SETTINGS)
  const { paths } = JSON.parse(Buffer.from(bytes).toString())
  const members = Object.entries<object>(paths).map(([path, item]) => [path, Object.keys(item).join(' ')])
  assert.deepEqual(members, [
    ['/files/{path}/', 'parameters get'],
    ['/files/{id}', 'parameters get put'],
    ['/logs/{path}', 'parameters get'],
  ])
  const schema = { type: 'string', minLength: 1, 'x-crosswalk-source': 'endpoint.pattern' }
  const description = 'The rest of the path, with all its segments.'
  assert.deepEqual(paths['/logs/{path}'].parameters, [
    { name: 'path', in: 'path', required: true, description, schema },
  ])
})
