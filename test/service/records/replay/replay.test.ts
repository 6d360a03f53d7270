/** `POST /messages/{id}/replay`: one message once more, and why another cannot be. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { PlanView } from '../../../../src/records/replay/replay-plans.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { describeLogged, until } from '../../../support/records/message-log/log-stage.ts'
import { json, type Reply, startUpstream, type Upstream } from '../../../support/service.ts'

const messageIdOf = ({ headers }: Reply): string => headers.get('x-crosswalk-message-id') ?? ''

type Replayed = JsonObject & { id: string; replayOf: string; outcome: string; status: number; answer: JsonObject }

describeLogged('a replay', (stage) => {
  let upstream: Upstream
  let away = true
  before(async () => {
    upstream = await startUpstream(({ url, body }, response) => {
      if (away) {
        response.destroy()
        return undefined
      }
      return { url, got: JSON.parse(body) }
    })
    await stage.service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders/:ward' },
      inputMapping: {
        'requestBody.nr': 'nr',
        'urlParams.ward': 'ward',
        'query.urgent': 'urgent',
        'requestHeaders.x-source': 'source',
        'requestHeaders.authorization': 'token',
        'requestHeaders.content-length': 'length',
      },
      requests: { response: [{ id: 'target', config: { method: 'POST', url: `${upstream.url}/in` } }] },
    })
  })
  after(() => upstream.stop())
  beforeEach(() => {
    away = true
  })

  const send = async (path: string, body: string, headers: Record<string, string> = {}): Promise<string> => {
    const reply = await stage.service.fetch(path, { ...json('POST', undefined, headers), body })
    const id = messageIdOf(reply)
    await stage.record(id)
    return id
  }
  const refusalOf = async (path: string, body?: Json) => {
    const reply = await stage.post(path, body)
    assert.deepEqual([reply.status, reply.json().code], [409, 'REPLAY_REFUSED'], reply.text)
    return reply.json<{ error: string }>().error
  }

  test('runs what came then, and is a message of its own, linked to it', async () => {
    const id = await send('/orders/7?urgent=yes', '{"nr":1}', { 'x-source': 'lab', authorization: 'Bearer planted' })
    const before = await stage.record(id)
    assert.equal(before.outcome, 'failed')
    away = false
    const reply = await stage.post(`/messages/${id}/replay`)
    assert.equal(reply.status, 200, reply.text)
    const { ms, ...replayed } = reply.json<Replayed>()
    // The secret header was not kept, so the message runs without it.
    const got = { nr: 1, ward: '7', urgent: 'yes', source: 'lab', length: '8' }
    assert.ok(Number(ms) > 0)
    assert.deepEqual(replayed, {
      id: replayed.id,
      replayOf: id,
      outcome: 'done',
      status: 200,
      requests: [{ request: 'target', sent: 1, stored: 0, left: 0 }],
      answer: { url: '/in', got },
    })
    const record = await stage.record(replayed.id)
    assert.deepEqual(
      [record.source, record.replayOf, record.outcome, record.endpoint, record.status],
      ['replay', id, 'done', 'Orders', 200],
    )
    const after = { ...(await stage.record(id)), replayable: { can: true } }
    assert.deepEqual(after, { ...before, replayable: { can: true } })
  })

  test('reports what went wrong again', async () => {
    const id = await send('/orders/7', '{"nr":2}')
    const replayed = (await stage.post(`/messages/${id}/replay`)).json<Replayed>()
    assert.deepEqual(
      [replayed.outcome, replayed.status, replayed.code, replayed.answer.code, replayed.answer.messageId],
      ['failed', 502, 'RESPONSE_UNREACHABLE', 'RESPONSE_UNREACHABLE', replayed.id],
    )
    assert.equal(replayed.error, replayed.answer.error)
  })

  test('takes another body, with its own type, in place of the one that came', async () => {
    const id = await send('/orders/9?urgent=no', '{"nr":', { 'x-source': 'lab' })
    assert.equal((await stage.record(id)).code, 'BODY_UNREADABLE')
    away = false
    const replayed = (await stage.post(`/messages/${id}/replay`, { nr: 33 })).json<Replayed>()
    const got = { nr: 33, ward: '9', urgent: 'no', source: 'lab', length: '9' }
    assert.deepEqual([replayed.outcome, replayed.answer], ['done', { url: '/in', got }])
    const xml = { headers: { 'content-type': 'application/xml' }, body: '<a/>' }
    const wrong = await call(stage.service.adminUrl, 'POST', `/messages/${id}/replay`, xml)
    assert.deepEqual([wrong.status, wrong.json<Replayed>().status, wrong.json().code], [200, 415, 'MEDIA_TYPE_WRONG'])
  })

  test('goes through the endpoint as it is now', async () => {
    const { _id } = await stage.service.register({
      endpoint: { pattern: '/changed' },
      inputMapping: { 'requestBody.a': 'a' },
    })
    const id = await send('/changed', '{"a":1,"b":2}')
    await stage.service.fetch(
      `/endpoints/${_id}`,
      json('PATCH', { inputMapping: { 'requestBody.a': null, 'requestBody.b': 'b' } }),
    )
    assert.deepEqual((await stage.post(`/messages/${id}/replay`)).json<Replayed>().answer, { b: 2 })
  })

  test('gives an answer that is no JSON as text', async () => {
    await stage.service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'JSON', output: 'XML' } })
    const id = await send('/xml', '{"a":1}')
    assert.match(String((await stage.post(`/messages/${id}/replay`)).json<Replayed>().answer), /^<\?xml .*\s<a>1<\/a>/)
  })

  test('runs a message without a body', async () => {
    await stage.service.register({
      endpoint: { pattern: '/get/:id', method: 'GET' },
      inputMapping: { 'urlParams.id': 'id', 'query.a': 'a' },
    })
    const reply = await stage.service.fetch('/get/5?a=1&a=2')
    const { id } = await stage.record(messageIdOf(reply))
    assert.deepEqual((await stage.post(`/messages/${id}/replay`)).json<Replayed>().answer, { id: '5', a: ['1', '2'] })
  })

  test('can be replayed itself', async () => {
    const id = await send('/orders/7', '{"nr":4}')
    const first = (await stage.post(`/messages/${id}/replay`)).json<Replayed>()
    await stage.record(first.id)
    away = false
    const second = (await stage.post(`/messages/${first.id}/replay`)).json<Replayed>()
    assert.deepEqual([second.outcome, second.replayOf], ['done', first.id])
    const found = async (replayed: boolean) =>
      (await stage.recorded(`replayed=${replayed}`, 0)).map((record) => record.id)
    assert.ok((await found(true)).includes(id))
    for (const one of [id, first.id]) assert.ok(!(await found(false)).includes(one))
    const plan = (await stage.post('/messages/replay', { replayed: true })).json()
    assert.deepEqual(plan.filter, {
      replayed: ['true'],
      outcome: ['refused', 'failed'],
      source: ['http', 'broker', 'mllp', 'schedule'],
    })
  })

  test('names an earlier replay that ended done, and runs all the same', async () => {
    const id = await send('/orders/7', '{"nr":5}')
    const failed = (await stage.post(`/messages/${id}/replay`)).json<Replayed>()
    away = false
    const first = (await stage.post(`/messages/${failed.id}/replay`)).json<Replayed>()
    assert.deepEqual([failed.outcome, failed.alreadyDoneBy], ['failed', undefined])
    assert.deepEqual([first.outcome, first.alreadyDoneBy], ['done', undefined])
    const again = (await stage.post(`/messages/${id}/replay`)).json<Replayed>()
    assert.deepEqual([again.outcome, again.alreadyDoneBy], ['done', first.id])
  })

  test('is refused if the message was refused before it was read', async () => {
    const id = await send('/orders/7', `{"a":"${'x'.repeat(1_100_000)}"}`)
    assert.equal((await stage.record(id)).code, 'BODY_TOO_LARGE')
    assert.match(await refusalOf(`/messages/${id}/replay`), /was not recorded/)
  })

  test('of nothing that there is, or by another method, is refused', async () => {
    const none = await stage.post(`/messages/${'0'.repeat(24)}/replay`)
    assert.deepEqual([none.status, none.json().code], [404, 'MESSAGE_UNKNOWN'])
    const get = await stage.get(`/messages/${'0'.repeat(24)}/replay`)
    assert.deepEqual([get.status, get.headers.allow], [405, 'POST'])
  })
})

describeLogged(
  'a replay of what was kept in parts',
  (stage) => {
    let id: string
    const send = async (pattern: string, body: JsonObject) => {
      const reply = await stage.service.fetch(pattern, json('POST', body))
      id = messageIdOf(reply)
      await stage.record(id)
    }
    const pattern = '/parts'
    before(() => stage.service.register({ endpoint: { pattern } }))

    test('is refused for a credential in its query, which no setting names', async () => {
      const part = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const token = `${part({ alg: 'HS256' })}.${part({ sub: 'ann' })}.${'x'.repeat(43)}`
      await send(`${pattern}?note=${token}`, { a: 1 })
      const { error } = (await stage.post(`/messages/${id}/replay`)).json<{ error: string }>()
      assert.match(error, /are masked: they hold a credential, such as a token or a secret\.$/)
    })

    test('is left out of a plan, which says so; what failed is kept whole up to PARSER_LIMIT, and replayed', async () => {
      const { _id } = await stage.service.register({
        name: 'Long',
        endpoint: { pattern: '/failing' },
        inputValidation: { required: ['a'] },
      })
      const long = 'x'.repeat(19_000)
      await send(`/failing?q=${'y'.repeat(3_000)}`, { b: long })
      const longId = id
      await send('/failing', { ssn: '1' })
      await send('/failing', { b: 'short' })
      const { count, cannot } = (await stage.post('/messages/replay', { endpoint: 'Long' })).json<
        PlanView & JsonObject
      >()
      assert.deepEqual([count, cannot.map(({ reason }) => reason)], [2, ['masked']])
      const { bodies } = await stage.record(longId)
      assert.deepEqual(
        bodies.map(({ which, cut }) => [which, cut]),
        [
          ['request', undefined],
          ['incoming', undefined],
          ['answer', undefined],
        ],
      )
      await stage.service.fetch(
        `/endpoints/${_id}`,
        json('PATCH', { inputValidation: null, inputMapping: { 'requestBody.b': 'b' } }),
      )
      const { outcome, answer } = (await stage.post(`/messages/${longId}/replay`)).json<Replayed>()
      assert.deepEqual([outcome, answer], ['done', { b: long }])
    })
  },
  { MESSAGE_LOG_BODY_LIMIT: '1kb', PARSER_LIMIT: '20kb', REDACT_PATHS: 'ssn' },
)

describeLogged(
  'a replay of what was not kept',
  (stage) => {
    test('is refused, but not with another body, which runs alone', async () => {
      await stage.service.register({
        endpoint: { pattern: '/bare' },
        inputMapping: { 'requestBody.a': 'a', 'query.q': 'q' },
      })
      const sent = await stage.service.fetch('/bare?q=1', json('POST', { a: 1 }))
      const { id } = await stage.record(messageIdOf(sent))
      const refused = await stage.post(`/messages/${id}/replay`)
      assert.deepEqual([refused.status, refused.json().code], [409, 'REPLAY_REFUSED'])
      assert.match(refused.json<{ error: string }>().error, /Its request was not recorded: .*MESSAGE_LOG/)
      const replayed = (await stage.post(`/messages/${id}/replay`, { a: 2 })).json<Replayed>()
      assert.deepEqual([replayed.outcome, replayed.answer, replayed.withoutHeadersAndQuery], ['done', { a: 2 }, true])
    })

    test('is refused with another body too where the route has parameters', async () => {
      await stage.service.register({ endpoint: { pattern: '/bare/:id' } })
      const sent = await stage.service.fetch('/bare/1', json('POST', { a: 1 }))
      const { id } = await stage.record(messageIdOf(sent))
      const refused = await stage.post(`/messages/${id}/replay`, { a: 2 })
      assert.deepEqual([refused.status, refused.json().code], [409, 'REPLAY_REFUSED'])
    })
  },
  { MESSAGE_LOG: 'metadata' },
)

describeLogged(
  'a replay while the service is full',
  (stage) => {
    test('is refused as any message, and has not run', async () => {
      const held = Promise.withResolvers<void>()
      const upstream = await startUpstream(async ({ body }) => {
        await held.promise
        return JSON.parse(body)
      })
      await stage.service.register({ endpoint: { pattern: '/quick' } })
      await stage.service.register({
        endpoint: { pattern: '/held' },
        requests: { response: [{ id: 'target', config: { method: 'POST', url: upstream.url } }] },
      })
      const sent = await stage.service.fetch('/quick', json('POST', {}))
      const { id } = await stage.record(messageIdOf(sent))
      const underWay = stage.service.fetch('/held', json('POST', {}))
      await until(
        async () => upstream.received.length,
        (length) => length === 1,
      )
      const reply = await stage.post(`/messages/${id}/replay`)
      assert.deepEqual([reply.status, reply.json().code], [503, 'OVERLOADED'])
      held.resolve()
      assert.equal((await underWay).status, 200)
      assert.equal((await stage.post(`/messages/${id}/replay`)).status, 200)
      assert.equal((await stage.recorded(`replayOf=${id}`, 1)).length, 1)
      await upstream.stop()
    })
  },
  { MAX_MESSAGES_IN_FLIGHT: '1' },
)

describeLogged('a replay where messages are not logged any more', (stage) => {
  test('leaves a record without bodies and keys, and is not repeated by a plan', async () => {
    const { service } = stage
    const { _id } = await service.register({
      endpoint: { pattern: '/orders' },
      messageKeys: { nr: 'requestBody.nr' },
      inputValidation: { required: ['name'] },
    })
    const id = messageIdOf(await service.fetch('/orders', json('POST', { nr: 1 })))
    await stage.recorded('outcome=refused', 1)
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { inputValidation: null, messageLog: 'off' }))
    const ordinary = messageIdOf(await service.fetch('/orders', json('POST', { nr: 2 })))
    const replayed = (await stage.post(`/messages/${id}/replay`)).json<{ id: string; outcome: string }>()
    assert.equal(replayed.outcome, 'done')
    const { replayOf, source, bodies, keys } = await stage.record(replayed.id)
    assert.deepEqual({ replayOf, source, bodies, keys }, { replayOf: id, source: 'replay', bodies: [], keys: {} })
    assert.equal((await stage.get(`/messages/${ordinary}`)).status, 404)
    const plan = (await stage.post('/messages/replay', {})).json<{ count: number; cannot: readonly object[] }>()
    assert.equal(plan.count, 0)
  })
})
