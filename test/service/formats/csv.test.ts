/** CSV with the options of an endpoint, in its messages, answers, failures, records and tests. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService({ MESSAGE_LOG: 'all', REDACT_PATHS: 'ssn' })
  upstream = await startUpstream(({ url }, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).end(url === '/plain' ? 'a,b\n1,2\n' : 'a;b\n1,5;2\n')
    return undefined
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const post = (path: string, body: string, type = 'text/csv') =>
  service.fetch(path, { method: 'POST', headers: { 'content-type': type }, body })
const semicolons: JsonObject = { csv: { delimiter: ';' } }
const CSV = { input: 'CSV', output: 'CSV' }

describe('the options of an endpoint', () => {
  it('are those of its messages and of its failures', async () => {
    await service.register({ endpoint: { pattern: '/semicolons' }, transformation: CSV, ...semicolons })
    const reply = await post('/semicolons', 'a;b\n1,5;2\n', 'text/csv; header=present')
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/csv'])
    assert.equal(reply.text, 'a;b\r\n1,5;2\r\n')
    const failed = await post('/semicolons', 'a;b\n1\n')
    assert.deepEqual([failed.status, failed.headers.get('content-type')], [400, 'text/csv'])
    assert.match(
      failed.text,
      /^error;code;stage;path;messageId\r\nThe CSV .* at line 2.*;BODY_UNREADABLE;parse;transformation\.input;/,
    )
  })

  it('are those of answers in CSV, else those of RFC 4180', async () => {
    const lookup = (path: string) => ({ lookup: [{ id: 'l', config: { url: `${upstream.url}${path}` } }] })
    const inputMapping = { 'lookupRequests.l.data.rows': 'rows' }
    const route = (pattern: string) => ({ endpoint: { pattern, method: 'GET' }, inputMapping })
    await service.register({ ...route('/one'), ...semicolons, requests: lookup('/') })
    await service.register({ ...route('/other'), requests: lookup('/plain') })
    assert.deepEqual((await service.fetch('/one')).json(), { rows: [{ a: '1,5', b: '2' }] })
    assert.deepEqual((await service.fetch('/other')).json(), { rows: [{ a: '1', b: '2' }] })
  })

  it('are those of what a request sends as CSV; its answer is converted', async () => {
    const config = { url: upstream.url, headers: { 'Content-Type': 'text/csv' } }
    await service.register({
      endpoint: { pattern: '/sends' },
      ...semicolons,
      requests: { response: [{ id: 'r', config }] },
    })
    const reply = await service.fetch('/sends', json('POST', { rows: [{ a: 'x', b: 1 }] }))
    assert.deepEqual(reply.json(), { rows: [{ a: '1,5', b: '2' }] })
    const { body, headers } = upstream.received.at(-1) ?? assert.fail('nothing was sent')
    assert.deepEqual([body, headers['content-type']], ['a;b\r\nx;1\r\n', 'text/csv'])
  })

  it('are those of its records', async () => {
    await service.register({ endpoint: { pattern: '/redacted' }, transformation: CSV, ...semicolons })
    const reply = await post('/redacted', 'id;ssn\n7;123-45\n')
    const id = reply.headers.get('x-crosswalk-message-id')
    const bodyOf = (which: string) => fetch(`${service.adminUrl}/messages/${id}/body/${which}`)
    const { status } = await until(
      () => bodyOf('incoming'),
      (one) => one.status === 200,
    )
    assert.equal(status, 200)
    for (const which of ['incoming', 'answer']) {
      const text = await (await bodyOf(which)).text()
      assert.match(text, /^id;ssn\r\n7;/)
      assert.doesNotMatch(text, /123-45/)
    }
  })

  it('are those of its tests and suggestions', async () => {
    const document: JsonObject = { name: 'Tested', endpoint: { pattern: '/t' }, transformation: CSV, ...semicolons }
    const message = { body: 'a;b\n1;2', contentType: 'text/csv' }
    const expected: Json = { answer: { body: { rows: [{ a: '1', b: '2' }] } } }
    const tests = { tests: [{ name: 'one', given: { message }, expect: expected }] }
    const run = await fetch(`${service.adminUrl}/endpoints/tests/run`, json('POST', { endpoint: document, tests }))
    assert.equal(((await run.json()) as JsonObject).passed, 1)
    const target = { sample: { rows: [{ a: '1', b: '2' }] } }
    const request = { source: message, target, endpoint: document }
    const { suggestions } = (await (
      await fetch(`${service.adminUrl}/endpoints/suggest`, json('POST', request))
    ).json()) as Readonly<{ suggestions: readonly JsonObject[] }>
    assert.deepEqual(suggestions.map(({ source }) => source).sort(), ['requestBody.rows[].a', 'requestBody.rows[].b'])
  })
})
