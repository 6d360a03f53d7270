/** What differs between versions, and what a document would change, over HTTP. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../../../src/domain/json.ts'
import { describeServices } from '../../../../support/databases.ts'
import { json } from '../../../../support/service.ts'

describeServices('differences of documents', {}, (stage) => {
  const send = (method: string, path: string, body?: Json) => stage.service.fetch(path, json(method, body))
  let route = 0
  const registered = () => {
    route += 1
    return stage.service.register({
      endpoint: { pattern: `/diff/${route}` },
      inputMapping: { 'requestBody.a': 'a', 'requestBody.b': 'b' },
    })
  }

  test('between two versions, in either direction', async () => {
    const { _id, ...document } = await registered()
    const path = `/endpoints/${_id}`
    await send('PUT', path, { ...document, inputMapping: { 'requestBody.b': 'b', 'requestBody.a': 'c' } })
    const reply = await stage.service.fetch(`${path}/versions/1/diff/2`)
    assert.equal(reply.status, 200)
    const { from, to, changes } = reply.json<{ from: JsonObject; to: JsonObject; changes: JsonObject[] }>()
    assert.deepEqual([from.version, from.method, to.version, to.method], [1, 'create', 2, 'replace'])
    assert.equal('document' in from, false)
    assert.deepEqual(changes, [
      { kind: 'moved', path: 'inputMapping.requestBody\\.b', after: null },
      { kind: 'changed', path: 'inputMapping.requestBody\\.a', from: 'a', to: 'c' },
    ])
    const back = (await stage.service.fetch(`${path}/versions/2/diff/1`)).json<{ changes: JsonObject[] }>()
    assert.deepEqual(back.changes, [
      { kind: 'moved', path: 'inputMapping.requestBody\\.a', after: null },
      { kind: 'changed', path: 'inputMapping.requestBody\\.a', from: 'c', to: 'a' },
    ])
    assert.deepEqual((await stage.service.fetch(`${path}/versions/2/diff/2`)).json().changes, [])
    const etag = String(reply.headers.get('etag'))
    const again = await stage.service.fetch(`${path}/versions/1/diff/2`, { headers: { 'if-none-match': etag } })
    assert.equal(again.status, 304)
  })

  test('to a document that is sent: defaults are no difference', async () => {
    const { _id, name, endpoint, transformation, inputMapping } = await registered()
    const sparse = { name, endpoint, transformation, inputMapping: inputMapping as Json } as JsonObject
    const same = await send('POST', `/endpoints/${_id}/diff`, sparse)
    assert.deepEqual([same.status, same.json()], [200, { changes: [] }])
    const lookup = { id: 'p', config: { url: 'http://a.test/' } }
    const { changes } = (await send('POST', `/endpoints/${_id}/diff`, { ...sparse, requests: { lookup } })).json()
    assert.deepEqual(changes, [
      {
        kind: 'added',
        path: 'requests.lookup[p]',
        to: { id: 'p', config: { url: 'http://a.test/', method: 'GET' } },
        after: null,
      },
    ])
    assert.equal((await stage.service.fetch(`/endpoints/${_id}/versions`)).json<JsonObject[]>().length, 1)
  })

  test('refusals', async () => {
    const { _id } = await registered()
    const CASES: readonly (readonly [
      method: string,
      path: string,
      body: Json | undefined,
      status: number,
      code: string,
    ])[] = [
      ['GET', `/endpoints/${_id}/versions/1/diff/7`, undefined, 404, 'VERSION_UNKNOWN'],
      ['GET', `/endpoints/${_id}/versions/x/diff/1`, undefined, 404, 'VERSION_UNKNOWN'],
      ['GET', `/endpoints/${'0'.repeat(24)}/versions/1/diff/1`, undefined, 404, 'ENDPOINT_UNKNOWN'],
      ['GET', '/endpoints/x/versions/1/diff/1', undefined, 400, 'ID_MALFORMED'],
      ['DELETE', `/endpoints/${_id}/versions/1/diff/1`, undefined, 405, 'METHOD_NOT_ALLOWED'],
      ['POST', `/endpoints/${_id}/diff`, { name: 'x', unknown: 1 }, 400, 'CONFIGURATION_INVALID'],
      ['POST', `/endpoints/${'0'.repeat(24)}/diff`, { name: 'x' }, 404, 'ENDPOINT_UNKNOWN'],
      ['POST', '/endpoints/x/diff', { name: 'x' }, 400, 'ID_MALFORMED'],
      ['GET', `/endpoints/${_id}/diff`, undefined, 405, 'METHOD_NOT_ALLOWED'],
    ]
    for (const [method, path, body, status, code] of CASES) {
      const reply = await send(method, path, body)
      assert.deepEqual([reply.status, reply.json().code], [status, code], `${method} ${path}: ${reply.text}`)
    }
    const text = await stage.service.fetch(`/endpoints/${_id}/diff`, { method: 'POST', body: '{}' })
    assert.deepEqual([text.status, text.json().code], [415, 'MEDIA_TYPE_WRONG'])
    await send('DELETE', `/endpoints/${_id}`)
    const deleted = await stage.service.fetch(`/endpoints/${_id}/versions/1/diff/2`)
    assert.deepEqual([deleted.status, deleted.json().code], [404, 'VERSION_UNKNOWN'])
  })
})
