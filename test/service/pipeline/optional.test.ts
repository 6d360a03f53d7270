/** Requests whose failure is no failure of the message. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { json } from '../../support/service.ts'
import { failureOf, openPipeline, output } from './fixture.ts'

// The upstream fails on purpose throughout.
const pipeline = openPipeline({ CIRCUIT_BREAKER_FAILURES: '0', ANSWER_LIMIT: '1kb', MESSAGE_LOG: 'all' })

const FAILING: Record<string, () => string> = {
  denied: () => 'http://169.254.169.254/',
  large: () => pipeline.at({ body: 'x'.repeat(2_000) }),
  404: () => `${pipeline.upstream.url}/404`,
  503: () => `${pipeline.upstream.url}/503`,
  reset: () => `${pipeline.upstream.url}/reset`,
  silent: () => `${pipeline.upstream.url}/silent`,
}
const broken = () => pipeline.at({ type: 'application/json', body: '{' })

const request = (id: string, url: string, more: JsonObject = {}) => ({
  id,
  timeoutMs: url.endsWith('silent') ? 100 : 5_000,
  config: { url },
  ...more,
})
const fine = (more: JsonObject = {}) => request('fine', pipeline.at({ body: '{"fine":1}' }), more)
const optional = (url: string, more: JsonObject = {}) => request('one', url, { optional: true, ...more })
const partial = 'x-crosswalk-status'

describe('an optional lookup', () => {
  const found = async (lookup: Json, body: Json = {}) => {
    const reply = await pipeline.send({ requests: { lookup } }, body)
    assert.deepEqual([reply.status, reply.headers.get(partial)], [200, null], reply.text)
    return reply.json<{ lookupRequests: Json }>().lookupRequests
  }

  for (const [name, url] of Object.entries({ ...FAILING, broken })) {
    it(`that fails (${name}) leaves its default, or nothing where it has none`, async () => {
      const more = { default: { step: ['none'] } }
      assert.deepEqual(await found(optional(url(), more)), { one: { data: more.default, headers: {} } })
      assert.deepEqual(await found(optional(url())), { one: { headers: {} } })
    })
  }

  it('takes any value as its default', async () => {
    for (const value of [null, false, 0, '', [], [1, { a: 'b' }]]) {
      const lookup = optional(`${pipeline.upstream.url}/reset`, { default: value })
      assert.deepEqual(await found(lookup), { one: { data: value, headers: {} } })
    }
  })

  it('is treated as a required one where it is answered', async () => {
    const lookup = fine({ optional: true, default: 'none' })
    const reply = await pipeline.send({ requests: { lookup }, inputMapping: { 'lookupRequests.fine.data': 'data' } })
    assert.deepEqual(reply.json(), { data: { fine: 1 } })
  })

  it('does not excuse a message whose values cannot stand in its URL', async () => {
    const config = { url: `${pipeline.upstream.url}/:id`, params: { url: { id: { path: 'payload.id' } } } }
    const reply = await pipeline.send({ requests: { lookup: optional('', { config }) } })
    assert.deepEqual(failureOf(reply).slice(0, 2), [400, 'PARAMETER_INVALID'])
  })

  it('is reported as it went: in the record, the metrics and the state', async () => {
    const name = 'reported as it went'
    const path = await pipeline.register({
      name,
      requests: { lookup: [optional(`${pipeline.upstream.url}/reset`)] },
      state: { extract: { requestBody: { a: 'a' } }, config: { networkErrors: 'include' } },
      inputMapping: { 'state.requestBody.a': 'before' },
    })
    const first = await pipeline.service.fetch(path, json('POST', { a: 'kept' }))
    assert.deepEqual((await pipeline.service.fetch(path, json('POST', {}))).json(), { before: 'kept' })
    const id = first.headers.get('x-crosswalk-message-id')
    const record = await call(pipeline.service.adminUrl, 'GET', `/messages/${id}`)
    const { outcome, calls } = record.json<{ outcome: string; calls: JsonObject[] }>()
    assert.deepEqual([outcome, calls.map(({ id, fault }) => [id, fault])], ['done', [['one', 'unreachable']]])
    const metrics = (await call(pipeline.service.adminUrl, 'GET', '/metrics')).text
    assert.match(metrics, /outbound_calls_total\{endpoint="reported as it went",.*fault="unreachable"\} 2/)
  })
})

describe('an optional response', () => {
  const send = (response: Json, document: JsonObject = {}, body: Json = { a: 1 }) =>
    pipeline.send({ requests: { response }, ...document }, body)

  for (const [name, url] of Object.entries(FAILING)) {
    it(`that fails (${name}) gives its default, and the answer is not partial; alone, it may leave the output`, async () => {
      const reply = await send([fine(), optional(url(), { default: { step: 'none' } })])
      assert.deepEqual([reply.status, reply.json()], [200, { fine: { fine: 1 }, one: { step: 'none' } }])
      assert.equal(reply.headers.get(partial), null)
      const without = await send(optional(url()))
      assert.deepEqual([without.status, without.json()], [200, { a: 1 }])
      const having = await send(optional(url(), { default: [1] }))
      assert.deepEqual([having.status, having.json()], [200, [1]])
    })
  }

  it('among others holds its own error body where it has no default', async () => {
    const reply = await send([fine(), optional(pipeline.at({ status: 404, body: '{"step":"404"}' }))])
    assert.deepEqual(reply.json(), { fine: { fine: 1 }, one: { step: '404' } })
    assert.equal(reply.headers.get(partial), null)
  })

  it('leaves the answer partial where another one failed', async () => {
    const failing = request('failing', pipeline.at({ status: 404, body: '{"step":"404"}' }))
    const reply = await send([failing, optional(`${pipeline.upstream.url}/reset`, { default: null })])
    assert.deepEqual([reply.json(), reply.headers.get(partial)], [{ failing: { step: '404' }, one: null }, 'partial'])
  })

  it('beside a primary one changes nothing of its answer', async () => {
    const reply = await send([fine({ primary: true }), optional(`${pipeline.upstream.url}/reset`)])
    assert.deepEqual([reply.status, reply.json()], [200, { fine: 1 }])
  })

  it('answers its default in the output type', async () => {
    const one = optional(`${pipeline.upstream.url}/404`, { default: { a: 'b' } })
    assert.match((await send(one, output('XML'))).text, /<a>b<\/a>/)
  })
})

it('each item of a forEach is replaced for itself', async () => {
  const steps = ['200', '500', 'reset', '201']
  for (const kind of ['lookup', 'response']) {
    const config = { url: `${pipeline.upstream.url}/:step`, params: { url: { step: { path: 'item' } } } }
    const one = optional('', { default: 'none', forEach: { items: 'payload.steps' }, config })
    const inputMapping = kind === 'lookup' ? { 'lookupRequests.one[].data': 'one' } : {}
    const reply = await pipeline.send({ requests: { [kind]: one }, inputMapping }, { steps })
    const all = reply.json<{ one: ('none' | { url: string })[] }>().one
    assert.deepEqual(
      all.map((item) => (item === 'none' ? item : item.url)),
      ['/200', 'none', 'none', '/201'],
    )
  }
})
