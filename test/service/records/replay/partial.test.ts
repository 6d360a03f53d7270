/** A replay of a partial message sends only what was not delivered. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { describeLogged, until } from '../../../support/records/message-log/log-stage.ts'
import { json, startUpstream, type Upstream } from '../../../support/service.ts'

const PATIENTS = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }))

describeLogged('a replay of a partial message', (stage) => {
  let upstream: Upstream
  /** The ids that the target refuses. */
  let refused: ReadonlySet<string> = new Set()
  before(async () => {
    upstream = await startUpstream(({ body }, response) => {
      const { id } = JSON.parse(body)
      response.statusCode = refused.has(id) ? 503 : 201
      return { id }
    })
  })
  after(() => upstream.stop())
  beforeEach(() => {
    refused = new Set(['b', 'd'])
  })

  let made = 0
  const register = (requests: JsonObject, document: JsonObject = {}) => {
    made += 1
    return stage.service.register({
      name: `Batch ${made}`,
      endpoint: { pattern: `/batches/${made}` },
      ...document,
      requests: { response: { id: 'registry', config: { url: `${upstream.url}/in` }, ...requests } },
    })
  }
  const bodiesIn = async (work: () => Promise<unknown>) => {
    const from = upstream.received.length
    await work()
    return upstream.received.slice(from).map(({ body }) => JSON.parse(body).id)
  }
  const send = async () => {
    const reply = await stage.service.fetch(`/batches/${made}`, json('POST', { patients: PATIENTS }))
    const id = reply.headers.get('x-crosswalk-message-id') ?? ''
    assert.equal((await stage.record(id)).outcome, 'partial')
    return id
  }
  const replay = async (id: string, body?: JsonObject) => {
    const reply = await stage.post(`/messages/${id}/replay`, body)
    assert.equal(reply.status, 200, reply.text)
    return reply.json<{ id: string; outcome: string }>()
  }

  test('sends only the items that failed, and so does a replay of that', async () => {
    await register({ forEach: { items: 'payload.patients' } })
    const id = await send()
    refused = new Set(['d'])
    let again = { id: '', outcome: '' }
    assert.deepEqual(await bodiesIn(async () => (again = await replay(id))), ['b', 'd'])
    assert.equal(again.outcome, 'partial')
    const { notMade } = await stage.record(again.id)
    assert.deepEqual(
      notMade,
      [0, 2, 4].map((item) => ({ kind: 'response', id: 'registry', item, why: 'delivered' })),
    )
    refused = new Set()
    assert.deepEqual(await bodiesIn(async () => (again = await replay(again.id))), ['d'])
    assert.equal(again.outcome, 'done')
  })

  test('sends all items if they may be others: from a lookup, of another version, or with another body', async () => {
    const all = PATIENTS.map(({ id }) => id)
    await register({ forEach: { items: 'transforms.all' } }, { inputTransforms: { all: 'requestBody.patients' } })
    const ofTransform = await send()
    assert.deepEqual(await bodiesIn(() => replay(ofTransform)), all)

    const { _id: endpoint } = await register({ forEach: { items: 'requestBody.patients' } })
    const edited = await send()
    const body = { patients: PATIENTS.slice(0, 2) }
    assert.deepEqual(await bodiesIn(() => replay(edited, body)), ['a', 'b'])

    const changed = await send()
    const stored = await stage.service.fetch(`/endpoints/${endpoint}`)
    await stage.service.fetch(
      `/endpoints/${endpoint}`,
      json('PUT', { ...stored.json<JsonObject>(), description: 'changed' }),
    )
    assert.deepEqual(await bodiesIn(() => replay(changed)), all)
  })

  test('sends only the requests that failed, each with its own mapping, and asks "when" again', async () => {
    const { url } = upstream
    const to = (id: string, when: string) => ({
      id,
      when,
      config: { method: 'POST', url: `${url}/${id}` },
      mapping: { [`requestBody.ids.${id}`]: 'id' },
    })
    made += 1
    await stage.service.register({
      name: `Routes ${made}`,
      endpoint: { pattern: `/batches/${made}` },
      requests: { response: [to('lab', 'true'), to('ward', '$exists(requestBody.ids.ward)'), to('drug', 'false')] },
    })
    const reply = await stage.service.fetch(`/batches/${made}`, json('POST', { ids: { lab: 'a', ward: 'b' } }))
    const id = reply.headers.get('x-crosswalk-message-id') ?? ''
    assert.equal((await stage.record(id)).outcome, 'partial')
    let again = { id: '', outcome: '' }
    assert.deepEqual(await bodiesIn(async () => (again = await replay(id))), ['b'])
    assert.equal(again.outcome, 'partial')
    refused = new Set()
    assert.deepEqual(await bodiesIn(async () => (again = await replay(again.id))), ['b'])
    assert.equal(again.outcome, 'done')
    const { notMade = [] } = await stage.record(again.id)
    assert.deepEqual(notMade.map(({ id: request, why }) => `${request} ${why}`).sort(), ['drug when', 'lab delivered'])
  })

  test('sends what failed beside durable requests, alone or in a plan, and stores none of these again', async () => {
    // Nothing listens there, so what is stored stays pending.
    const config = { method: 'POST', url: 'http://127.0.0.1:9/' }
    const delivery = { schedule: ['24h'] }
    const items = { items: 'payload.patients' }
    made += 1
    const { _id: endpoint } = await stage.service.register({
      name: `Durable ${made}`,
      endpoint: { pattern: `/batches/${made}` },
      requests: {
        response: [
          { id: 'registry', forEach: items, config: { url: `${upstream.url}/in` } },
          { id: 'lab', forEach: items, config, delivery },
          { id: 'archive', config, delivery },
        ],
      },
    })
    const storedOf = async (message: string) => {
      const { deliveries } = (await stage.get(`/deliveries?message=${message}`)).json<{ deliveries: JsonObject[] }>()
      return deliveries.map(({ request, item = '' }) => `${request} ${item}`).sort()
    }
    const id = await send()
    const stored = ['archive ', ...PATIENTS.map((_, item) => `lab ${item}`)]
    assert.deepEqual(await storedOf(id), stored)
    let again = { id: '', outcome: '' }
    assert.deepEqual(await bodiesIn(async () => (again = await replay(id))), ['b', 'd'])
    assert.equal(again.outcome, 'partial')
    assert.deepEqual(await storedOf(again.id), [])
    const { notMade = [], deliveries } = await stage.record(again.id)
    assert.deepEqual(
      [
        deliveries,
        notMade
          .filter(({ id: request }) => request !== 'registry')
          .map(({ id: request, item = '' }) => `${request} ${item}`)
          .sort(),
      ],
      [undefined, stored],
    )

    refused = new Set(['d'])
    const plan = (await stage.post('/messages/replay', { endpoint, outcome: 'partial', source: 'http' })).json()
    const ended = async () => (await stage.get(`/messages/replay/${plan.id}`)).json()
    const inPlan = async () => {
      await stage.post(`/messages/replay/${plan.id}/run`)
      await until(ended, ({ state }) => state !== 'running')
    }
    assert.deepEqual(await bodiesIn(inPlan), ['b', 'd'])
    const counts = (await stage.get(`/deliveries/counts`)).json<{ counts: JsonObject[] }>().counts
    assert.deepEqual(
      counts
        .filter(({ endpointId }) => endpointId === endpoint)
        .map(({ request, count }) => [request, count])
        .sort(),
      [
        ['archive', 1],
        ['lab', 5],
      ],
    )
  })

  test('of a message that nobody waits for, which is failed as a whole, sends only what failed too', async () => {
    made += 1
    const { _id } = await stage.service.register({
      name: `Scheduled ${made}`,
      endpoint: {},
      schedule: { cron: '0 0 1 1 *' },
      transformation: { output: 'JSON' },
      inputMapping: { 'constants.b': 'id' },
      constants: { a: 'a', b: 'b' },
      requests: {
        response: [
          { id: 'first', config: { method: 'POST', url: upstream.url }, mapping: { 'constants.a': 'id' } },
          { id: 'second', config: { method: 'POST', url: upstream.url } },
        ],
      },
    })
    const { messageId, outcome } = (await stage.post(`/endpoints/${_id}/run`)).json<{
      messageId: string
      outcome: string
    }>()
    assert.equal(outcome, 'failed')
    await stage.record(messageId)
    refused = new Set()
    let again = { id: '', outcome: '' }
    assert.deepEqual(await bodiesIn(async () => (again = await replay(messageId))), ['b'])
    assert.equal(again.outcome, 'done')
    assert.deepEqual((await stage.record(again.id)).notMade, [{ kind: 'response', id: 'first', why: 'delivered' }])
  })
})

describeLogged(
  'a replay of a message whose durable request was not stored',
  (stage) => {
    test('sends nothing else again', async (t) => {
      const upstream = await startUpstream(() => ({}))
      t.after(upstream.stop)
      await stage.service.register({
        endpoint: { pattern: '/full' },
        requests: {
          response: [
            { id: 'registry', config: { method: 'POST', url: upstream.url } },
            { id: 'lab', config: { method: 'POST', url: 'http://127.0.0.1:9/' }, delivery: {} },
          ],
        },
      })
      const reply = await stage.service.fetch('/full', json('POST', { pad: 'x'.repeat(20_000) }))
      assert.equal(reply.status, 503, reply.text)
      const id = reply.headers.get('x-crosswalk-message-id') ?? ''
      await stage.record(id)
      const again = await stage.post(`/messages/${id}/replay`)
      const { code, notMade } = await stage.record(String(again.json().id))
      assert.deepEqual([code, notMade], ['DELIVERIES_FULL', [{ kind: 'response', id: 'registry', why: 'delivered' }]])
      assert.equal(upstream.received.length, 1)
    })
  },
  { DELIVERY_MAX_BYTES: '20000' },
)
