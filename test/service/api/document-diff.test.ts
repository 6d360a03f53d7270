/** What differs between versions, and what a document would change, over HTTP. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { describeServices } from '../../support/databases.ts'
import { json } from '../../support/service.ts'

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
    const { from, to, changes } = reply.json<{ from: JsonObject; to: JsonObject; changes: JsonObject[] }>()
    assert.deepEqual([from.version, from.method, to.version, to.method], [1, 'create', 2, 'replace'])
    assert.equal('document' in from, false)
    assert.deepEqual(changes, [
      { kind: 'moved', path: 'inputMapping.requestBody\\.b', after: null },
      { kind: 'changed', path: 'inputMapping.requestBody\\.a', from: 'a', to: 'c' },
    ])
    const back = (await stage.service.fetch(`${path}/versions/2/diff/1`)).json<{ changes: JsonObject[] }>()
    assert.deepEqual(back.changes[1], { kind: 'changed', path: 'inputMapping.requestBody\\.a', from: 'c', to: 'a' })
    const headers = { 'if-none-match': String(reply.headers.get('etag')) }
    assert.equal((await stage.service.fetch(`${path}/versions/1/diff/2`, { headers })).status, 304)
  })

  test('to a document that is sent: defaults are no difference', async () => {
    const { _id, name, endpoint, transformation, inputMapping } = await registered()
    const sparse = { name, endpoint, transformation, inputMapping } as JsonObject
    const same = await send('POST', `/endpoints/${_id}/diff`, sparse)
    assert.deepEqual([same.status, same.json()], [200, { changes: [] }])
    const lookup = { id: 'p', config: { url: 'http://a.test/' } }
    const { changes } = (await send('POST', `/endpoints/${_id}/diff`, { ...sparse, requests: { lookup } })).json()
    const to = { id: 'p', config: { url: 'http://a.test/', method: 'GET' } }
    assert.deepEqual(changes, [{ kind: 'added', path: 'requests.lookup[p]', to, after: null }])
    assert.equal((await stage.service.fetch(`/endpoints/${_id}/versions`)).json<JsonObject[]>().length, 1)
  })

  test('refusals', async () => {
    const { _id } = await registered()
    const none = '0'.repeat(24)
    const { _id: gone } = await registered()
    await send('DELETE', `/endpoints/${gone}`)
    const CASES: readonly (readonly [method: string, path: string, status: number, code: string])[] = [
      ['GET', `${_id}/versions/1/diff/7`, 404, 'VERSION_UNKNOWN'],
      ['GET', `${_id}/versions/x/diff/1`, 404, 'VERSION_UNKNOWN'],
      ['GET', `${gone}/versions/1/diff/2`, 404, 'VERSION_UNKNOWN'],
      ['GET', `${none}/versions/1/diff/1`, 404, 'ENDPOINT_UNKNOWN'],
      ['GET', 'x/versions/1/diff/1', 400, 'ID_MALFORMED'],
      ['POST', `${_id}/diff`, 400, 'CONFIGURATION_INVALID'],
      ['POST', `${none}/diff`, 404, 'ENDPOINT_UNKNOWN'],
      ['POST', 'x/diff', 400, 'ID_MALFORMED'],
    ]
    for (const [method, path, status, code] of CASES) {
      const reply = await send(method, `/endpoints/${path}`, method === 'POST' ? { name: 'x', unknown: 1 } : undefined)
      assert.deepEqual([reply.status, reply.json().code], [status, code], `${method} ${path}: ${reply.text}`)
    }
  })
})
