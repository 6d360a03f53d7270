/** A delivery of a message, made anew through the document of today. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
let upstream: Upstream
let lab: JsonObject[] = []
before(async () => {
  service = await startService({ MESSAGE_LOG: 'all' })
  upstream = await startUpstream(() => ({ ok: true, ids: lab }))
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

/** Nothing listens there, so what is sent there stays pending. */
const AWAY = 'http://127.0.0.1:9/orders'

const found = async (query: string): Promise<readonly JsonObject[]> => {
  const reply = await call(service.adminUrl, 'GET', `/deliveries?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json<{ deliveries: readonly JsonObject[] }>().deliveries
}

test('runs the message for its request alone, and takes the place of the old one', async () => {
  const schedule = ['24h']
  const { _id } = await service.register({
    name: 'Orders',
    endpoint: { pattern: '/orders' },
    requests: {
      response: [
        { id: 'lab', config: { method: 'POST', url: AWAY }, delivery: { key: 'requestBody.patient', schedule } },
        { id: 'copy', config: { method: 'POST', url: AWAY }, delivery: { schedule } },
        { id: 'note', config: { method: 'POST', url: `${upstream.url}/note` } },
      ],
    },
    inputMapping: { 'requestBody.patient': 'patient' },
  })
  const sent = await service.fetch('/orders', json('POST', { patient: 'p-1' }))
  const messageId = sent.headers.get('x-crosswalk-message-id') ?? ''
  const before = await found(`message=${messageId}`)
  assert.deepEqual(before.map(({ request, state }) => [request, state]).sort(), [
    ['copy', 'pending'],
    ['lab', 'pending'],
  ])
  assert.equal(upstream.received.length, 1)
  const [lab] = await found('request=lab&key=p-1&state=pending')
  const reply = await call(service.adminUrl, 'POST', `/deliveries/${lab?.id}/retry`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint: 'now' }),
  })
  const { state, replay } = reply.json<{ state: string; replay: JsonObject }>()
  assert.deepEqual([reply.status, state, replay.outcome], [200, 'cancelled', 'done'], reply.text)
  const after = await found(`message=${replay.id}`)
  assert.deepEqual(
    after.map(({ request, endpointId, key }) => [request, endpointId, key]),
    [['lab', _id, 'p-1']],
  )
  assert.equal(upstream.received.length, 1)
  assert.deepEqual((await found('request=copy')).length, 1)
})

test('makes one item of a poll anew from what its lookups answered then', async () => {
  const { _id } = await service.register({
    name: 'Poll',
    endpoint: {},
    schedule: { every: '1h' },
    transformation: { output: 'JSON' },
    requests: {
      lookup: {
        id: 'lab',
        config: { url: `${upstream.url}/lab` },
      },
      response: {
        id: 'sink',
        forEach: { items: 'lookupRequests.lab.data.ids' },
        config: { method: 'POST', url: AWAY },
        delivery: { schedule: ['24h'] },
      },
    },
  })
  lab = [{ id: 'a' }, { id: 'b' }]
  const headers = { 'content-type': 'application/json' }
  const run = await call(service.adminUrl, 'POST', `/endpoints/${_id}/run`, { headers })
  const [one] = await found(`message=${run.json().messageId}`)
  lab = [{ id: 'c' }, { id: 'd' }]
  const asked = upstream.received.length
  const reply = await call(service.adminUrl, 'POST', `/deliveries/${one?.id}/retry`, {
    headers,
    body: JSON.stringify({ endpoint: 'now' }),
  })
  const { replay } = reply.json<{ replay: JsonObject }>()
  assert.equal(replay.outcome, 'done', reply.text)
  assert.equal((await found(`message=${replay.id}`)).length, 1)
  assert.equal(upstream.received.length, asked)
})
