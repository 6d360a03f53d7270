/** Messages with an `Idempotency-Key`, one after the other: which are worked on, and what the others get. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { describeServices } from '../../support/databases.ts'
import { keyed, passingOn, REPLAYED } from '../../support/idempotency/keys.ts'
import {
  type Answering,
  json,
  type Reply,
  type StoredEndpoint,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

const answering =
  (code: number): Answering =>
  (_request, response) => {
    response.statusCode = code
    return { said: code }
  }

describeServices('repeated messages', { IDEMPOTENCY_ANSWER_LIMIT: '1kb', REQUEST_TIMEOUT_MS: '2000' }, (stage) => {
  let upstream: Upstream
  let answer: Answering = () => ({})
  let serial = 0
  before(async () => {
    upstream = await startUpstream((request, response) => answer(request, response))
  })
  after(() => upstream.stop())

  /** A route of its own for each case. */
  async function register(
    changes: JsonObject = {},
    method = 'POST',
  ): Promise<{ path: string; stored: StoredEndpoint }> {
    const path = `/orders-${serial++}`
    const endpoint = { pattern: path, method }
    const stored = await stage.service.register(passingOn(upstream.url, { endpoint, ...changes }))
    return { path, stored }
  }
  const callsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = upstream.received.length
    await work()
    return upstream.received.length - before
  }
  const assertRepeats = (again: Reply, first: Reply): void => {
    assert.deepEqual([again.status, again.text], [first.status, first.text])
    assert.equal(first.headers.get(REPLAYED), null)
    assert.equal(again.headers.get(REPLAYED), 'true')
    assert.notEqual(again.headers.get('x-crosswalk-message-id'), first.headers.get('x-crosswalk-message-id'))
    const others = (reply: Reply) =>
      [...reply.headers].filter(([name]) => ![REPLAYED, 'date', 'x-crosswalk-message-id'].includes(name))
    assert.deepEqual(others(again), others(first))
  }

  it('the first answer is given again, status, headers and body, with one call', async () => {
    const { path } = await register()
    answer = (_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'x-order': '7', 'set-cookie': ['a=1', 'b=2'] })
      response.end('{"order":7, "näme":"ü"}')
      return undefined
    }
    const calls = await callsOf(async () => {
      const first = await stage.service.fetch(path, keyed('one', { a: 1 }))
      assert.equal(first.status, 201)
      for (let n = 0; n < 3; n += 1) assertRepeats(await stage.service.fetch(path, keyed('one', { a: 1 })), first)
    })
    assert.equal(calls, 1)
  })

  it('an answer that cannot be made is given again, as its requests were sent', async () => {
    answer = () => ({})
    for (const status of ['"x"', '$error("no")']) {
      const { path } = await register({ answer: { status: { expression: status } } })
      const calls = await callsOf(async () => {
        const first = await stage.service.fetch(path, keyed('one', { a: 1 }))
        assert.equal(first.status, 500)
        assertRepeats(await stage.service.fetch(path, keyed('one', { a: 1 })), first)
      })
      assert.equal(calls, 1)
    }
  })

  it('a PATCH is worked on once too', async () => {
    const { path } = await register({}, 'PATCH')
    answer = () => ({})
    const patch = { ...keyed('one', { a: 1 }), method: 'PATCH' }
    const calls = await callsOf(async () => {
      const first = await stage.service.fetch(path, patch)
      assertRepeats(await stage.service.fetch(path, patch), first)
    })
    assert.equal(calls, 1)
  })

  it('a text beyond ASCII is given again byte for byte', async () => {
    const { path } = await register()
    answer = (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
        .end(Buffer.from([0xe4, 0xfc, 0x20, 0xdf]))
      return undefined
    }
    const ask = async () => {
      const response = await fetch(`${stage.service.url}${path}`, keyed('bytes'))
      const bytes = Buffer.from(await response.arrayBuffer()).toString('hex')
      return { bytes, type: response.headers.get('content-type'), again: response.headers.has(REPLAYED) }
    }
    const first = await ask()
    assert.ok(first.bytes.length > 0)
    assert.deepEqual(await ask(), { ...first, again: true })
  })

  it('a key that was used for another message is refused, and nothing is called', async () => {
    const { path } = await register()
    answer = () => ({})
    assert.equal((await stage.service.fetch(path, keyed('same', { a: 1 }))).status, 200)
    const others: readonly (readonly [query: string, init: RequestInit])[] = [
      ['', keyed('same', { a: 2 })],
      ['', { ...keyed('same'), body: '{ "a": 1 }' }],
      ['?x=1', keyed('same', { a: 1 })],
      ['', keyed('same', { a: 1 }, { 'content-type': 'application/fhir+json' })],
    ]
    const calls = await callsOf(async () => {
      for (const [query, init] of others) {
        const reply = await stage.service.fetch(`${path}${query}`, init)
        assert.deepEqual([reply.status, reply.json().code], [422, 'IDEMPOTENCY_KEY_REUSED'])
      }
    })
    assert.equal(calls, 0)
    assert.equal((await stage.service.fetch(path, keyed('same', { a: 1 }))).headers.get(REPLAYED), 'true')
  })

  it('the order of a query does not make another message; a parameter of the path does', async () => {
    const { path } = await register({ endpoint: { pattern: `/orders-${serial}/:id` } })
    const at = path.replace(/\d+$/, (number) => number)
    answer = () => ({})
    const first = await stage.service.fetch(`${at}/1?a=1&b=2`, keyed('q'))
    assertRepeats(await stage.service.fetch(`${at}/1?b=2&a=1`, keyed('q')), first)
    assert.equal((await stage.service.fetch(`${at}/2?a=1&b=2`, keyed('q'))).status, 422)
  })

  it('another key, another endpoint and a message without a key are other messages', async () => {
    const [one, two] = [await register(), await register()]
    answer = () => ({})
    const calls = await callsOf(async () => {
      for (const [{ path }, init] of [
        [one, keyed('a')],
        [one, keyed('b')],
        [two, keyed('a')],
        [one, json('POST', {})],
        [one, json('POST', {})],
      ] as const) {
        const reply = await stage.service.fetch(path, init)
        assert.deepEqual([reply.status, reply.headers.get(REPLAYED)], [200, null])
      }
    })
    assert.equal(calls, 5)
  })

  const headers: readonly (readonly [value: string | undefined, required: boolean, status: number, code?: string])[] = [
    [undefined, true, 400, 'IDEMPOTENCY_KEY_MISSING'],
    [undefined, false, 200],
    ['', false, 400, 'IDEMPOTENCY_KEY_INVALID'],
    ['bare', true, 400, 'IDEMPOTENCY_KEY_INVALID'],
    [`"${'x'.repeat(256)}"`, false, 400, 'IDEMPOTENCY_KEY_INVALID'],
    [`"${'x'.repeat(255)}"`, true, 200],
  ]
  it('a message without a sound key is refused where it needs one, or has another', async () => {
    answer = () => ({})
    for (const [value, required, ...expect] of headers) {
      const { path } = await register({ idempotency: { required } })
      const calls = await callsOf(async () => {
        const init = json('POST', {}, value === undefined ? {} : { 'idempotency-key': value })
        const reply = await stage.service.fetch(path, init)
        assert.deepEqual([reply.status, reply.json().code], [expect[0], expect[1]], value)
      })
      assert.equal(calls, expect[0] === 200 ? 1 : 0)
    }
  })

  /** What an upstream does first; whether the message is worked on again when it is sent again. */
  const lookup = { lookup: { id: 'patient', config: { method: 'GET', url: 'UPSTREAM' } } }
  const outcomes: readonly (readonly [
    name: string,
    does: Answering,
    status: number,
    again: boolean,
    requests?: JsonObject,
  ])[] = [
    ['a refusal of the target', answering(422), 422, false],
    ['a clash at the target', answering(409), 409, false],
    ['a failure of the target', answering(500), 500, true],
    ['a target that asks to slow down', answering(429), 429, true],
    ['a target that refuses our credentials', answering(401), 401, true],
    ['a target that breaks the connection', (_request, response) => void response.destroy(), 502, true],
    ['a target that does not answer in time', () => undefined, 504, true],
    ['a lookup that finds nothing yet', answering(404), 404, true, lookup],
  ]
  for (const [name, does, status, again, requests] of outcomes) {
    it(`after ${name} the same message ${again ? 'is worked on again' : 'gets the same answer'}`, async () => {
      const { path } = await register(JSON.parse(JSON.stringify({ requests }).replace('UPSTREAM', upstream.url)))
      answer = does
      const first = await stage.service.fetch(path, keyed('o'))
      assert.equal(first.status, status)
      answer = () => ({ now: 'well' })
      const calls = await callsOf(async () => {
        const second = await stage.service.fetch(path, keyed('o'))
        if (again) assert.deepEqual([second.status, second.headers.get(REPLAYED)], [200, null])
        else assertRepeats(second, first)
        assertRepeats(await stage.service.fetch(path, keyed('o')), again ? second : first)
      })
      assert.equal(calls, again ? 1 : 0)
    })
  }

  it('a message that is refused for what it is gets the same refusal, though the document was changed meanwhile', async () => {
    const { path, stored } = await register({ inputValidation: { required: ['nr'] } })
    answer = () => ({})
    const first = await stage.service.fetch(path, keyed('v'))
    assert.deepEqual([first.status, first.json().code], [400, 'VALIDATION_FAILED'])
    const { inputValidation: _, ...rest } = stored
    assert.equal((await stage.service.fetch(`/endpoints/${stored._id}`, json('PUT', rest))).status, 200)
    assertRepeats(await stage.service.fetch(path, keyed('v')), first)
    assert.equal((await stage.service.fetch(path, keyed('w'))).status, 200)
  })

  it('a message that was done in part is not done again', async () => {
    const { path } = await register({
      requests: {
        response: ['good', 'bad'].map((id) => ({ id, config: { method: 'POST', url: `${upstream.url}/${id}` } })),
      },
    })
    answer = ({ url }, response) => {
      if (url === '/good') return {}
      response.destroy()
      return undefined
    }
    const first = await stage.service.fetch(path, keyed('p'))
    assert.equal(first.status, 200)
    assert.equal(await callsOf(async () => assertRepeats(await stage.service.fetch(path, keyed('p')), first)), 0)
  })

  it('of an answer that is too large it is known that the message was done', async () => {
    const { path } = await register()
    answer = () => ({ large: 'x'.repeat(1_024) })
    const first = await stage.service.fetch(path, keyed('large'))
    assert.equal(first.status, 200)
    const calls = await callsOf(async () => {
      const again = await stage.service.fetch(path, keyed('large'))
      assert.deepEqual([again.status, again.json().code], [409, 'IDEMPOTENCY_ANSWER_NOT_KEPT'])
      assert.match(
        again.text,
        new RegExp(`already processed, as ${first.headers.get('x-crosswalk-message-id')} \\(status 200\\)`),
      )
    })
    assert.equal(calls, 0)
  })

  it('a record says whose answer was given again, and keeps no bodies; a replay and a dry run ask for no key', async () => {
    const { path, stored } = await register({ messageLog: 'all', idempotency: { required: true } })
    answer = () => ({ secret: 'in the answer' })
    const first = await stage.service.fetch(path, keyed('log'))
    await stage.service.fetch(path, keyed('log'))
    const ask = async (path: string, init?: RequestInit) =>
      (await (await fetch(`${stage.service.adminUrl}${path}`, init)).json()) as JsonObject
    const { messages } = (await ask(`/messages?endpoint=${stored._id}`)) as { messages: JsonObject[] }
    const id = first.headers.get('x-crosswalk-message-id') as string
    assert.deepEqual(
      messages.map(({ outcome, answerOf, bodies, stages }) => [
        outcome,
        answerOf,
        (bodies as Json[]).length > 0,
        (stages as Json[]).length > 0,
      ]),
      [
        ['done', id, false, false],
        ['done', undefined, true, true],
      ],
    )
    const calls = await callsOf(async () => {
      assert.equal((await ask(`/messages/${id}/replay`, json('POST', {}))).outcome, 'done')
    })
    assert.equal(calls, 1)
    const dry = await stage.service.fetch(
      '/endpoints/dry-run',
      json('POST', { endpointId: stored._id, message: { body: {} } }),
    )
    assert.deepEqual([dry.status, dry.json().outcome], [200, 'done'], dry.text)
  })
})
