/** What people see of deliveries, and what they do with them. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { deliveryRoutes } from '../../../src/api/deliveries.ts'
import { describeApi } from '../../../src/api/openapi.ts'
import type { DeliveryAttempt } from '../../../src/core/deliveries/delivery.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { describeDocument } from '../../../src/document/schema/public-schema.ts'
import { createAnswerCheck } from '../../support/api/described-answers.ts'
import { ENDPOINT_ID, openDeliveryStage, REQUEST } from '../../support/deliveries/delivery-stage.ts'
import type { Called } from '../../support/inbound/http/management/call.ts'

let stage: Awaited<ReturnType<typeof openDeliveryStage>>
const open = async (env: Record<string, string>) => {
  await stage.stop()
  stage = await openDeliveryStage(env)
}
beforeEach(async () => {
  stage = await openDeliveryStage()
})
afterEach(() => stage.stop())

const NO_ID = '0'.repeat(24)
const failed = (status: number, at = '2026-01-02T03:04:05.678Z'): DeliveryAttempt => ({
  at,
  ms: 12,
  status,
  message: `http://lab.test answered with status ${status}. It said: no patient 17`,
})
const codeOf = (reply: Called) => [reply.status, reply.json().code]
const idsOf = async (query: string) => {
  const reply = await stage.get(`/deliveries?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json<{ deliveries: { id: string }[] }>().deliveries.map(({ id }) => id)
}
const stateOf = async (id: string) => (await stage.get(`/deliveries/${id}`)).json().state
const contentOf = async (id: string) => (await stage.get(`/deliveries/${id}/request`)).json()

describe('the list', () => {
  test('is found by each filter, newest first', async () => {
    const first = await stage.add({ orderKey: 'a' })
    const second = await stage.add({ requestId: 'copy', target: 'http://copy.test', endpointId: 'f'.repeat(24) })
    await stage.leave(second, 'undeliverable', [failed(400)])
    const { messageId } = (await stage.get(`/deliveries/${first}`)).json()
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['', [second, first]],
      ['state=undeliverable', [second]],
      [`endpoint=${ENDPOINT_ID}`, [first]],
      ['request=copy', [second]],
      ['target=http://copy.test', [second]],
      ['key=a', [first]],
      [`message=${messageId}`, [first]],
      ['from=-1m', [second, first]],
      ['to=-1m', []],
      ['state=delivered', []],
    ]
    for (const [query, ids] of cases) assert.deepEqual(await idsOf(query), ids, query)
  })

  test('comes in pages', async () => {
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.unshift(await stage.add())
    const seen: string[] = []
    let next = ''
    do {
      const page = (await stage.get(`/deliveries?limit=2${next}`)).json<{ deliveries: JsonObject[]; next?: string }>()
      seen.push(...page.deliveries.map(({ id }) => String(id)))
      next = page.next === undefined ? '' : `&cursor=${page.next}`
    } while (next !== '')
    assert.deepEqual(seen, ids)
  })

  test('goes on after its last delivery was removed between two pages', async () => {
    const [oldest, middle, newest] = [await stage.add(), await stage.add(), await stage.add()]
    const { next } = (await stage.get('/deliveries?limit=2')).json()
    await stage.store.cancel([middle])
    assert.equal(await stage.store.purge(-60_000, 9), 1)
    assert.deepEqual(await idsOf(`cursor=${next}`), [oldest])
    assert.deepEqual(await idsOf(''), [newest, oldest])
    assert.deepEqual(await idsOf(`cursor=${Buffer.alloc(12, 255).toString('base64url')}`), [newest, oldest])
  })

  const wrong: readonly (readonly [string, RegExp])[] = [
    ['state=lost', /There is no state "lost"/],
    ['endpoint=Nowhere', /No active endpoint has the name "Nowhere".* The deliveries of a deleted one/],
    ['message=1', /message cannot be "1"; it is the id of a message/],
    ['from=soon', /from cannot be "soon"/],
    ['colour=red', /There is no filter "colour"/],
    ['limit=501', /limit cannot be "501"/],
    ['cursor=x', /cursor must be/],
    ['key=', /key cannot be ""; it is a text/],
  ]
  for (const [query, says] of wrong) {
    test(`refuses ${query}`, async () => {
      const reply = await stage.get(`/deliveries?${query}`)
      assert.deepEqual(codeOf(reply), [400, 'FILTER_INVALID'])
      assert.match(String(reply.json().error), says)
    })
  }

  test('has counts by endpoint, request, target and state', async () => {
    const id = await stage.add()
    await stage.add()
    await stage.add({ requestId: 'copy' })
    await stage.leave(id, 'delivered')
    const { counts, oldestAt } = (await stage.get('/deliveries/counts')).json<{
      counts: JsonObject[]
      oldestAt: string
    }>()
    const shown = counts.map(({ endpoint, request, state, count }) => [endpoint, request, state, count])
    assert.deepEqual(shown.sort(), [
      ['Orders', 'copy', 'pending', 1],
      ['Orders', 'store', 'delivered', 1],
      ['Orders', 'store', 'pending', 1],
    ])
    assert.ok(counts.every(({ bytes, state }) => state === 'delivered' || Number(bytes) > 7))
    assert.ok(Date.parse(oldestAt) <= Date.now())
  })

  test('has groups of what is alike, the largest first', async () => {
    const left = async (target: string, attempt: DeliveryAttempt) => {
      const id = await stage.add({ target })
      await stage.leave(id, 'undeliverable', [failed(500), attempt])
      return id
    }
    await left('http://a.test', failed(400))
    const newest = await left('http://a.test', failed(400))
    const gone = await left('http://a.test', failed(410))
    const away = await left('http://b.test', { at: '2026-01-02T03:04:05.678Z', ms: 1, fault: 'refused' })
    await stage.add({ target: 'http://a.test' })
    const { groups, ...rest } = (await stage.get('/deliveries/groups')).json<{ groups: JsonObject[] }>()
    assert.deepEqual(rest, { count: 4, more: false })
    assert.deepEqual(
      groups.map(({ target, status, fault, count, sampleId }) => [target, status, fault, count, sampleId]),
      [
        ['http://a.test', 400, undefined, 2, newest],
        ['http://b.test', undefined, 'refused', 1, away],
        ['http://a.test', 410, undefined, 1, gone],
      ],
    )
    assert.ok(String(groups[0]?.firstAt) <= String(groups[0]?.lastAt))
    const reply = await stage.get('/deliveries/groups?state=pending')
    assert.deepEqual(codeOf(reply), [400, 'FILTER_INVALID'])
  })
})

describe('one delivery', () => {
  test('is shown with its attempts, without values of the message', async () => {
    const id = await stage.add({ item: 3, orderKey: 'ward' })
    await stage.leave(id, 'pending', [failed(500), failed(503)])
    const { lastAttempts, lastAttempt, outgoing, item, key } = (await stage.get(`/deliveries/${id}`)).json()
    assert.deepEqual([item, key, lastAttempt], [3, 'ward', failed(503)])
    assert.deepEqual(lastAttempts, [failed(500), failed(503)])
    assert.deepEqual(outgoing, {
      method: 'POST',
      url: 'http://lab.test/orders/7',
      headers: {
        authorization: 'Bearer ${env:LAB_TOKEN}',
        'x-api-key': '***',
        accept: 'application/json',
        'x-patient': '***',
        cookie: '***',
      },
      contentType: 'application/json',
    })
  })

  test('shows what it sends, without credentials, to those who may read bodies', async () => {
    const credential = REQUEST.values.cookie?.slice('session='.length)
    const id = await stage.add({ body: `{"patient":17,"session":"${credential}"}` })
    const { url, headers, body, masked } = await contentOf(id)
    assert.equal(url, 'http://lab.test/orders/7?patient=17')
    assert.deepEqual([(headers as JsonObject)['x-patient'], (headers as JsonObject).cookie], ['17', '***'])
    assert.deepEqual([body, masked], ['{"patient":17,"session":"***"}', true])
    assert.deepEqual(stage.entries, [
      { who: 'local', address: '127.0.0.1', what: 'GET /deliveries/{id}/request', target: id, status: 200 },
    ])
  })

  test('hides what REDACT_PATHS names in each text', async () => {
    await open({ REDACT_PATHS: 'patient.ssn' })
    const id = await stage.add({
      body: '{"patient":{"ssn":"123-45-6789"}}',
      orderKey: '123-45-6789',
      request: {
        ...REQUEST,
        url: 'http://lab.test/123-45-6789',
        query: 'ssn=123-45-6789',
        values: { 'x-ssn': '123-45-6789' },
      },
    })
    await stage.leave(id, 'undeliverable', [
      { at: '2026-01-02T03:04:05.678Z', ms: 1, status: 400, message: 'It answered with status 400. It said: 123-45' },
    ])
    const texts = [
      await stage.get(`/deliveries/${id}`),
      await stage.get('/deliveries'),
      await stage.get(`/deliveries/${id}/request`),
    ]
    for (const { status, text } of texts) {
      assert.equal(status, 200, text)
      assert.doesNotMatch(text, /123-45/)
    }
    assert.deepEqual(await contentOf(id), {
      ...(await contentOf(id)),
      url: 'http://lab.test/***?ssn=***',
      body: '{"patient":{"ssn":"***"}}',
      masked: true,
    })
  })

  test('shows a body that is not UTF-8 in Base64, and none of a request without', async () => {
    const binary = await stage.add({ body: Buffer.from([0xff, 0x00]), request: { ...REQUEST, contentType: 'image/x' } })
    assert.equal((await contentOf(binary)).bodyBase64, '/wA=')
    const none = await stage.add({ body: undefined, request: { ...REQUEST, contentType: undefined, method: 'GET' } })
    const { body, bodyBase64, contentType } = await contentOf(none)
    assert.deepEqual([body, bodyBase64, contentType], [undefined, undefined, undefined])
  })

  for (const path of ['', '/request', '/retry', '/cancel']) {
    test(`that is not there: ${path}`, async () => {
      const ask = (id: string) =>
        path === '/retry' || path === '/cancel'
          ? stage.post(`/deliveries/${id}${path}`)
          : stage.get(`/deliveries/${id}${path}`)
      assert.deepEqual(codeOf(await ask(NO_ID)), [404, 'DELIVERY_UNKNOWN'])
      assert.deepEqual(codeOf(await ask('x')), [400, 'ID_MALFORMED'])
    })
  }
})

describe('a retry', () => {
  test('sends what was undeliverable or cancelled again', async () => {
    for (const state of ['undeliverable', 'cancelled', 'pending'] as const) {
      const id = await stage.add()
      await stage.leave(id, state, [failed(400)])
      const reply = await stage.post(`/deliveries/${id}/retry`)
      const attempts = state === 'undeliverable' ? 0 : reply.json().attempts
      assert.deepEqual([reply.status, reply.json().state, reply.json().attempts], [200, 'pending', attempts])
      assert.equal((await contentOf(id)).body, '{"a":1}')
    }
  })

  test('takes another body: a text unchanged, any other value as JSON', async () => {
    const cases: readonly (readonly [Json, string])[] = [
      ['{"a": 2}', '{"a": 2}'],
      [{ a: 2 }, '{"a":2}'],
      [null, 'null'],
      ['', ''],
    ]
    const id = await stage.add()
    for (const [body, text] of cases) {
      assert.equal((await stage.post(`/deliveries/${id}/retry`, { body })).status, 200)
      assert.equal((await contentOf(id)).body ?? '', text)
    }
    const notes = new Set(stage.entries.map(({ note }) => note))
    assert.deepEqual(notes, new Set(['then, with another body', undefined]))
  })

  test('refuses a body that the delivery cannot have, and unknown fields', async () => {
    const text = await stage.add({ request: { ...REQUEST, contentType: 'text/plain' } })
    const none = await stage.add({ body: undefined, request: { ...REQUEST, contentType: undefined } })
    const cases: readonly (readonly [string, JsonObject, RegExp])[] = [
      [text, { body: { a: 1 } }, /is text\/plain: give "body" as a text/],
      [none, { body: 'a' }, /has no body; leave "body" out/],
      [text, { endpoint: 'later' }, /endpoint/],
      [text, { bodi: 'a' }, /did you mean "body"/],
    ]
    for (const [id, request, says] of cases) {
      const reply = await stage.post(`/deliveries/${id}/retry`, request)
      assert.deepEqual(codeOf(reply), [400, 'DELIVERY_RETRY_INVALID'])
      assert.match(reply.text.replaceAll('\\"', '"'), says)
    }
  })

  test('refuses another body while the present one is being sent', async () => {
    const id = await stage.add()
    const [claimed] = await stage.store.claim('test', 'http://lab.test', 1, 60_000)
    const reply = await stage.post(`/deliveries/${id}/retry`, { body: { a: 2 } })
    assert.deepEqual(codeOf(reply), [409, 'DELIVERY_BUSY'])
    assert.match(String(reply.json().error), /is being sent .* Try again when the attempt has ended\.$/)
    assert.equal((await contentOf(id)).body, '{"a":1}')
    assert.equal((await stage.post(`/deliveries/${id}/retry`)).status, 200)
    await stage.store.end([{ id, lease: claimed?.lease ?? '', attempt: failed(500), state: 'pending' }])
    assert.equal((await stage.post(`/deliveries/${id}/retry`, { body: { a: 2 } })).status, 200)
  })

  test('refuses what has arrived', async () => {
    const id = await stage.add()
    await stage.leave(id, 'delivered')
    for (const request of [{}, { endpoint: 'now' }]) {
      const reply = await stage.post(`/deliveries/${id}/retry`, request)
      assert.deepEqual(codeOf(reply), [409, 'DELIVERY_ENDED'])
      assert.match(String(reply.json().error), /has arrived \(.*Z\)\. To send its message again, replay the message/)
    }
    assert.equal(stage.replays.length, 0)
  })

  test('through the document of today replays the message, and cancels the delivery if that succeeds', async () => {
    const messageId = 'a'.repeat(24)
    const id = await stage.add({ messageId, item: 1 })
    await stage.add({ messageId, item: 0 })
    await stage.add({ messageId, requestId: 'copy' })
    await stage.leave(id, 'undeliverable', [failed(400)])
    stage.outcome = 'failed'
    const again = (await stage.post(`/deliveries/${id}/retry`, { endpoint: 'now' })).json<{
      state: string
      replay: JsonObject
    }>()
    assert.deepEqual(
      [again.state, again.replay.outcome, again.replay.code],
      ['undeliverable', 'failed', 'MAPPING_FAILED'],
    )
    stage.outcome = 'done'
    const done = await stage.post(`/deliveries/${id}/retry`, { endpoint: 'now', body: { a: 2 } })
    assert.deepEqual([done.status, done.json().state], [200, 'cancelled'])
    const [record, { edited, delivered } = {}] = stage.replays.at(-1) ?? []
    assert.deepEqual([record?.id, String(edited?.body)], [messageId, '{"a":2}'])
    assert.deepEqual(
      [...(delivered ?? [])],
      [
        ['["copy",null]', true],
        ['["store",0]', true],
      ],
    )
  })

  test('through the document of today is refused if the message cannot be replayed', async () => {
    const id = await stage.add()
    stage.outcome = 'blocked'
    const reply = await stage.post(`/deliveries/${id}/retry`, { endpoint: 'now' })
    assert.deepEqual(codeOf(reply), [409, 'REPLAY_REFUSED'])
    assert.equal(await stateOf(id), 'pending')
  })
})

describe('a cancellation', () => {
  test('ends what is pending or undeliverable, and refuses what has ended', async () => {
    for (const [state, expected] of [
      ['pending', 200],
      ['undeliverable', 200],
      ['delivered', 409],
      ['cancelled', 409],
    ] as const) {
      const id = await stage.add()
      await stage.leave(id, state)
      const reply = await stage.post(`/deliveries/${id}/cancel`)
      assert.equal(reply.status, expected, reply.text)
      assert.equal(await stateOf(id), state === 'delivered' ? 'delivered' : 'cancelled')
    }
  })
})

describe('many', () => {
  test('are sent again or cancelled by filter, with one entry in the audit log', async () => {
    const ids: string[] = []
    for (let count = 0; count < 4; count++) ids.unshift(await stage.add({ requestId: count < 3 ? 'store' : 'copy' }))
    const [copy = '', ...others] = ids
    for (const id of ids) await stage.leave(id, 'undeliverable', [failed(400)])
    const some = (await stage.post('/deliveries/retry', { request: 'store', max: 2 })).json()
    assert.deepEqual(some, { count: 2, ids: others.slice(1).reverse(), more: true })
    const rest = (await stage.post('/deliveries/retry', { request: 'store' })).json()
    assert.deepEqual(rest, { count: 1, ids: others.slice(0, 1), more: false })
    assert.equal(await stateOf(copy), 'undeliverable')
    const ended = (await stage.post('/deliveries/cancel', { endpoint: ENDPOINT_ID })).json()
    assert.deepEqual(ended, { count: 3, ids: others, more: false })
    assert.equal(await stateOf(copy), 'undeliverable')
    assert.deepEqual(
      stage.entries.map(({ what, note }) => [what, note]),
      [
        ['POST /deliveries/retry', '2 changed: {"request":"store"}'],
        ['POST /deliveries/retry', '1 changed: {"request":"store"}'],
        ['POST /deliveries/cancel', `3 changed: {"endpoint":"${ENDPOINT_ID}"}`],
      ],
    )
  })

  test('are more than a page', async () => {
    for (let count = 0; count < 1_203; count++) await stage.add()
    const { count, ids, more } = (await stage.post('/deliveries/cancel', { state: 'pending' })).json<{
      count: number
      ids: readonly string[]
      more: boolean
    }>()
    assert.deepEqual([count, ids.length, more], [1_203, 1_000, false])
  })

  const wrong: readonly (readonly ['retry' | 'cancel', Json, RegExp])[] = [
    ['retry', {}, /Give a filter, such as \{ "state": "undeliverable" \}/],
    ['cancel', { max: 10 }, /Give a filter, such as \{ "state": "pending" \}/],
    ['retry', { state: 'delivered' }, /replay its messages/],
    ['cancel', { state: 'cancelled' }, /What is cancelled cannot be cancelled/],
    ['retry', { max: 0, state: 'pending' }, /max cannot be 0; it is a whole number from 1 to 10000/],
    ['retry', { key: 5 }, /key cannot be 5; it is a text/],
    ['retry', { colour: 'red' }, /There is no filter "colour"/],
    ['cancel', [], /The filter is an object such as/],
  ]
  for (const [act, request, says] of wrong) {
    test(`are not changed by ${act} ${JSON.stringify(request)}`, async () => {
      const reply = await stage.post(`/deliveries/${act}`, request)
      assert.deepEqual(codeOf(reply), [400, 'FILTER_INVALID'])
      assert.match(String(reply.json().error), says)
    })
  }
})

test('each call is answered as /openapi.json says', async () => {
  const description = describeApi(describeDocument(), '0.0.0')
  const faultsOf = createAnswerCheck(description)
  const bodies: Readonly<Record<string, Json>> = {
    '/deliveries/{id}/retry': { endpoint: 'now' },
    '/deliveries/retry': { state: 'cancelled' },
    '/deliveries/cancel': { key: '/deliveries/cancel', state: 'undeliverable' },
  }
  for (const { method, path: declared } of deliveryRoutes) {
    const path = declared.replace(':id', '{id}')
    const id = await stage.add({ orderKey: declared, item: 0 })
    await stage.leave(id, 'undeliverable', [failed(500), failed(400)])
    const url = path.replace('{id}', id)
    const reply = method === 'GET' ? await stage.get(url) : await stage.post(url, bodies[path])
    assert.equal(reply.status, 200, `${method} ${path}: ${reply.text}`)
    assert.deepEqual(faultsOf(method.toLowerCase(), path, reply), [])
  }
})
