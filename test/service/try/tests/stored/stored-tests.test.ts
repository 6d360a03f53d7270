/** `/endpoints/{id}/tests`: what the service keeps, over every database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../../../src/core/json.ts'
import { describeServices } from '../../../../support/databases.ts'
import { endpointDocument, json } from '../../../../support/service.ts'

const FILE: JsonObject = {
  ignore: ['/at'],
  tests: [{ name: 'plain "ü" \u0000', given: { message: { body: { a: 1 } } }, expect: { outcome: 'done' } }],
}
const EMPTY: JsonObject = { tests: [] }

describeServices('stored tests', {}, (stage) => {
  const send = (method: string, path: string, body?: Json, headers: Record<string, string> = {}) =>
    stage.service.fetch(path, json(method, body, headers))
  let count = 0
  const register = async () => {
    count += 1
    const { _id } = await stage.service.register({ endpoint: { pattern: `/stored/tests/${count}` } })
    return { _id, path: `/endpoints/${_id}/tests` }
  }

  test('are none at first, and then what was sent', async () => {
    const { path } = await register()
    const none = await send('GET', path)
    assert.deepEqual([none.status, none.json()], [200, EMPTY])
    const put = await send('PUT', path, FILE)
    assert.deepEqual([put.status, put.json()], [200, FILE])
    const read = await send('GET', path)
    assert.equal(read.text, JSON.stringify(FILE))
    assert.equal(read.headers.get('etag'), put.headers.get('etag'))
    assert.notEqual(read.headers.get('etag'), none.headers.get('etag'))
    const cached = await send('GET', path, undefined, { 'if-none-match': read.headers.get('etag') ?? '' })
    assert.deepEqual([cached.status, cached.text], [304, ''])
    const deleted = await send('DELETE', path)
    assert.equal(deleted.status, 200)
    assert.deepEqual((await send('GET', path)).json(), EMPTY)
    assert.equal((await send('DELETE', path)).status, 200)
  })

  test('are written only if If-Match names those that are stored', async () => {
    const { path } = await register()
    const none = (await send('GET', path)).headers.get('etag') ?? ''
    const first = await send('PUT', path, FILE, { 'if-match': none })
    assert.equal(first.status, 200)
    const tag = first.headers.get('etag') ?? ''
    for (const [method, body] of [
      ['PUT', EMPTY],
      ['DELETE', undefined],
    ] as const) {
      const stale = await send(method, path, body, { 'if-match': none })
      assert.deepEqual([stale.status, stale.json().code], [412, 'PRECONDITION_FAILED'])
    }
    assert.equal((await send('PUT', path, EMPTY, { 'if-match': `"x", ${tag}` })).status, 200)
    assert.equal((await send('DELETE', path, undefined, { 'if-match': '*' })).status, 200)
  })

  test('are deleted with the endpoint', async () => {
    const { _id, path } = await register()
    await send('PUT', path, FILE)
    assert.equal((await send('DELETE', `/endpoints/${_id}`)).status, 200)
    const gone = await send('GET', path)
    assert.deepEqual([gone.status, gone.json().code], [404, 'ENDPOINT_UNKNOWN'])
    assert.equal((await send('POST', `/endpoints/${_id}/versions/1/restore`)).status, 200)
    assert.deepEqual((await send('GET', path)).json(), EMPTY)
  })

  test('run without being sent again, against the stored document or a draft', async () => {
    const { _id, path } = await register()
    const run = async (request: Json) => (await send('POST', '/endpoints/tests/run', request)).json()
    assert.deepEqual((await run({ endpointId: _id })).tests, [])
    await send('PUT', path, FILE)
    const report = await run({ endpointId: _id })
    assert.deepEqual([report.passed, report.failed], [1, 0])
    const draft = endpointDocument({ endpoint: { pattern: '/draft' }, inputValidation: { type: 'string' } })
    const failed = await run({ endpointId: _id, endpoint: draft })
    assert.deepEqual([failed.passed, failed.failed], [0, 1])
  })

  test('are refused with all their faults', async () => {
    const { path } = await register()
    const reply = await send('PUT', path, { test: [], tests: [{ given: { lookup: {} }, expect: {} }, { name: 'a' }] })
    assert.deepEqual([reply.status, reply.json().code], [400, 'TESTS_INVALID'])
    const { details } = reply.json<{ details: { path: string; message: string }[] }>()
    const places = ['test', 'tests[0].given.lookup', 'tests[0].name', 'tests[1].expect']
    assert.deepEqual(details.map(({ path: one }) => one).sort(), places)
    const twice = await stage.service.fetch(path, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"tests": [], "tests": []}',
    })
    assert.deepEqual([twice.status, twice.json().code], [400, 'TESTS_INVALID'])
    assert.deepEqual((await send('GET', path)).json(), EMPTY)
  })

  test('are bounded: 200 tests, and a mebibyte', async () => {
    const { path } = await register()
    const tests = (length: number, text = '') =>
      Array.from({ length }, (_, n) => ({ name: `${n}`, given: { message: { body: text } }, expect: {} }))
    assert.equal((await send('PUT', path, { tests: tests(200) })).status, 200)
    const many = await send('PUT', path, { tests: tests(201) })
    assert.deepEqual([many.status, many.json().code], [400, 'TESTS_INVALID'])
    const large = await send('PUT', path, { tests: tests(2, 'x'.repeat(550_000)) })
    assert.deepEqual([large.status, large.json().code], [413, 'BODY_TOO_LARGE'])
    assert.equal((await send('PUT', path, { tests: tests(2, 'x'.repeat(500_000)) })).status, 200)
  })
})
