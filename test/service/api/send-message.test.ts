/** `POST /endpoints/{id}/messages`: a message that somebody sends by hand goes the way of every other one. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let service: Service
let upstream: Upstream
before(async () => {
  process.env.CROSSWALK_SECRET_SENT = 'secret'
  upstream = await startUpstream(() => ({ stored: true }))
  service = await startService()
})
after(async () => {
  await service.stop()
  await upstream.stop()
  delete process.env.CROSSWALK_SECRET_SENT
})

const send = async (id: string, body: JsonObject) => {
  const reply = await fetch(`${service.adminUrl}/endpoints/${id}/messages`, json('POST', body))
  return { status: reply.status, answer: (await reply.json()) as JsonObject }
}

describe('a message that is sent by hand', () => {
  test('needs no credentials of a caller, is sent on, and is in the message log and the audit log', async () => {
    const { _id } = await service.register({
      endpoint: { pattern: '/patients/:id', method: 'PUT' },
      auth: { basic: { users: { lab: '$' + '{env:CROSSWALK_SECRET_SENT}' } } },
      inputMapping: {
        'urlParams.id': 'id',
        'query.from': 'from',
        'requestBody.name': 'name',
        'requestHeaders.x-site': 'site',
      },
      requests: { response: { id: 'to', config: { method: 'POST', url: upstream.url } } },
      messageLog: 'all',
    })
    const { status, answer } = await send(_id, {
      body: { name: 'Anna' },
      headers: { 'X-Site': 'north', Authorization: 'Basic bm90aGluZw==' },
      query: { from: 'lab' },
      urlParams: { id: '7' },
    })
    assert.equal(status, 200)
    const { messageId, ms, headers, ...rest } = answer
    assert.deepEqual(rest, { outcome: 'done', status: 200, answer: { stored: true } })
    assert.match(JSON.stringify(headers), /"content-type":"application\/json/)
    assert.ok(Number(ms) > 0)
    assert.deepEqual(JSON.parse(upstream.received[0]?.body ?? ''), {
      id: '7',
      from: 'lab',
      name: 'Anna',
      site: 'north',
    })
    const recorded = await until(
      () => call(service.adminUrl, 'GET', `/messages/${String(messageId)}`),
      (reply) => reply.status === 200,
    )
    assert.deepEqual([recorded.json().source, recorded.json().outcome], ['http', 'done'])
    const request = await call(service.adminUrl, 'GET', `/messages/${String(messageId)}/body/request`)
    assert.doesNotMatch(request.text, /bm90aGluZw/)
    const audit = `/audit?what=${encodeURIComponent('POST /endpoints/{id}/messages')}`
    const { entries } = (await call(service.adminUrl, 'GET', audit)).json<{ entries: JsonObject[] }>()
    const { what, target, note } = entries.find((one) => one.target === _id) ?? {}
    assert.deepEqual([what, target, note], ['POST /endpoints/{id}/messages', _id, `Message ${String(messageId)}`])
  })

  const cases: readonly Readonly<{
    what: string
    fields?: JsonObject
    message: JsonObject
    expect: readonly unknown[]
  }>[] = [
    {
      what: 'a text is read by the input type',
      message: { body: '{' },
      expect: [200, 'refused', 400, 'BODY_UNREADABLE'],
    },
    {
      what: 'a body may name its type',
      message: { body: 'a', contentType: 'text/csv' },
      expect: [200, 'refused', 415, 'MEDIA_TYPE_WRONG'],
    },
    {
      what: 'a paused endpoint refuses it',
      fields: { paused: true },
      message: {},
      expect: [200, 'failed', 503, 'ENDPOINT_PAUSED'],
    },
    {
      what: 'a part cannot have any value',
      message: { headers: 5 },
      expect: [400, undefined, undefined, 'MESSAGE_INVALID'],
    },
    {
      what: 'a schedule is run by another call',
      fields: { endpoint: {}, schedule: { every: '1h' }, transformation: { output: 'JSON' } },
      message: {},
      expect: [400, undefined, undefined, 'MESSAGE_INVALID'],
    },
  ]
  for (const [index, { what, fields, message, expect }] of cases.entries()) {
    test(what, async () => {
      const { _id } = await service.register({ endpoint: { pattern: `/case/${index}` }, ...fields })
      const { status, answer } = await send(_id, message)
      assert.deepEqual([status, answer.outcome, answer.status, answer.code], expect)
    })
  }

  test('finds no endpoint that is not there', async () => {
    const { status, answer } = await send('0'.repeat(24), {})
    assert.deepEqual([status, answer.code], [404, 'ENDPOINT_UNKNOWN'])
  })
})
