/** What one message may make in all, and what the messages in flight may make together. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

const LIMITS = {
  MESSAGE_MAX_BYTES: '100kb',
  IN_FLIGHT_MAX_BYTES: '1mb',
  REQUEST_URL_LIMIT: '1kb',
  STATE_LIMIT: '1kb',
}

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService(LIMITS)
  /** `/<bytes>` answers a text of so many bytes, `/gzip/<bytes>` the same compressed. */
  upstream = await startUpstream(({ url }, response) => {
    const bytes = Number(/\d+/.exec(url)?.[0] ?? 0)
    const body = JSON.stringify('x'.repeat(Math.max(0, bytes - 2)))
    response.setHeader('content-type', 'application/json')
    if (!url.startsWith('/gzip')) return void response.end(body)
    response.setHeader('content-encoding', 'gzip').end(gzipSync(body))
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

async function send(document: JsonObject, body: JsonObject) {
  routes += 1
  await service.register({ endpoint: { pattern: `/budget-${routes}` }, ...document })
  const from = upstream.received.length
  const reply = await service.fetch(`/budget-${routes}`, json('POST', body))
  return { reply, calls: upstream.received.length - from }
}

const items = (count: number, text = '') => Array.from({ length: count }, (_, id) => ({ id, text }))
const each = { items: 'requestBody.items', concurrency: 4 }
const query = { ward: { path: 'requestBody.ward' } }
const respond = (more: JsonObject = {}) => [
  { id: 'target', config: { method: 'POST', url: `${upstream.url}/2` }, ...more },
]

describe('a message that needs more than its budget fails at the place that passed the limit', () => {
  const cases: readonly {
    name: string
    document: () => JsonObject
    body: JsonObject
    fails: readonly [status: number, code: string, path: string]
    /** The most calls that are made. */
    calls: number
  }[] = [
    {
      name: 'a URL that is too long',
      document: () => ({
        requests: { lookup: { id: 'a', config: { method: 'GET', url: upstream.url, params: { query } } } },
      }),
      body: { ward: 'x'.repeat(1_100) },
      fails: [400, 'PARAMETER_INVALID', 'requests.lookup[0].config.params.query.ward'],
      calls: 0,
    },
    {
      name: 'a URL that is too long once it is percent-encoded',
      document: () => ({
        requests: { lookup: { id: 'a', config: { method: 'GET', url: upstream.url, params: { query } } } },
      }),
      body: { ward: 'å'.repeat(500) },
      fails: [400, 'PARAMETER_INVALID', 'requests.lookup[0].config.url'],
      calls: 0,
    },
    {
      name: 'the URLs of many items',
      document: () => ({
        requests: {
          lookup: { id: 'a', forEach: each, config: { method: 'GET', url: upstream.url, params: { query } } },
        },
      }),
      body: { items: items(200), ward: 'x'.repeat(900) },
      fails: [413, 'MESSAGE_TOO_COSTLY', 'requests.lookup[0]'],
      calls: 0,
    },
    {
      name: 'the bodies of many items',
      document: () => ({
        requests: {
          lookup: {
            id: 'a',
            forEach: each,
            forwardExistingRequestBody: true,
            config: { method: 'POST', url: upstream.url },
          },
        },
      }),
      body: { items: items(200, 'x'.repeat(900)) },
      fails: [413, 'MESSAGE_TOO_COSTLY', 'requests.lookup[0]'],
      calls: 0,
    },
    {
      name: 'the answers of many items',
      document: () => ({
        requests: { lookup: { id: 'a', forEach: each, config: { method: 'GET', url: `${upstream.url}/10000` } } },
      }),
      body: { items: items(200) },
      fails: [413, 'MESSAGE_TOO_COSTLY', 'requests.lookup[0]'],
      calls: 14,
    },
    {
      name: 'one answer',
      document: () => ({ requests: { lookup: { id: 'a', config: { method: 'GET', url: `${upstream.url}/150000` } } } }),
      body: {},
      fails: [413, 'MESSAGE_TOO_COSTLY', 'requests.lookup[0]'],
      calls: 1,
    },
    {
      name: 'one answer that is small while it is compressed',
      document: () => ({
        requests: { lookup: { id: 'a', config: { method: 'GET', url: `${upstream.url}/gzip/150000` } } },
      }),
      body: {},
      fails: [413, 'MESSAGE_TOO_COSTLY', 'requests.lookup[0]'],
      calls: 1,
    },
    {
      name: 'an output of one field many times',
      document: () => ({
        inputMapping: { 'requestBody.text': Array.from({ length: 10 }, (_, at) => `copy${at}`) },
        requests: { response: respond() },
      }),
      body: { text: 'x'.repeat(20_000) },
      fails: [413, 'MESSAGE_TOO_COSTLY', 'transformation.output'],
      calls: 0,
    },
    {
      name: 'an output as XML, which writes the name of a list around each of its items',
      document: () => ({
        transformation: { input: 'JSON', output: 'XML' },
        inputMapping: { 'requestBody.list': 'n'.repeat(500) },
        requests: { response: respond() },
      }),
      body: { list: Array.from({ length: 500 }, () => 1) },
      fails: [413, 'MESSAGE_TOO_COSTLY', 'transformation.output'],
      calls: 0,
    },
    {
      name: 'the value of an expression',
      document: () => ({
        inputTransforms: { long: '$pad("", 200000, "x")' },
        inputMapping: { 'transforms.long': 'long' },
        requests: { response: respond() },
      }),
      body: {},
      fails: [413, 'MESSAGE_TOO_COSTLY', 'inputTransforms.long'],
      calls: 0,
    },
    {
      name: 'the bodies of many response requests',
      document: () => ({ requests: { response: respond({ forEach: each }) } }),
      body: { items: items(70, 'x'.repeat(900)) },
      fails: [413, 'MESSAGE_TOO_COSTLY', 'requests.response[0]'],
      calls: 0,
    },
    {
      name: 'the answer of the only response request',
      document: () => ({
        requests: { response: respond({ config: { method: 'POST', url: `${upstream.url}/150000` } }) },
      }),
      body: {},
      fails: [413, 'MESSAGE_TOO_COSTLY', 'requests.response[0]'],
      calls: 1,
    },
    {
      name: 'a state of one field many times',
      document: () => ({
        state: { extract: { requestBody: { one: 'text', two: 'text', three: 'text' } } },
        requests: { response: respond() },
      }),
      body: { text: 'x'.repeat(400) },
      fails: [413, 'STATE_TOO_LARGE', 'state.extract'],
      calls: 0,
    },
    {
      name: 'a state whose characters take many bytes',
      document: () => ({ state: { extract: { requestBody: { one: 'text' } } }, requests: { response: respond() } }),
      body: { text: '\u0001'.repeat(200) },
      fails: [413, 'STATE_TOO_LARGE', 'state.extract'],
      calls: 0,
    },
  ]
  for (const { name, document, body, fails, calls } of cases) {
    it(name, async () => {
      const sent = await send(document(), body)
      const [code, path] = ['code', 'path'].map(
        (name) => new RegExp(`(?:"${name}":"|<${name}>)([^"<]*)`).exec(sent.reply.text)?.[1],
      )
      assert.deepEqual([sent.reply.status, code, path], fails, sent.reply.text)
      assert.ok(sent.calls <= calls, `${sent.calls} calls`)
    })
  }

  it('an answer of one of several response requests stands as its error in the aggregate', async () => {
    const response = [...respond(), { id: 'large', config: { method: 'POST', url: `${upstream.url}/150000` } }]
    const { reply } = await send({ requests: { response } }, {})
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.json<{ large: { code: string } }>().large.code, 'MESSAGE_TOO_COSTLY')
  })

  it('and the state of such a message has no values, but how its lookups went', async () => {
    routes += 1
    const document = {
      endpoint: { pattern: `/budget-${routes}` },
      state: { extract: { requestBody: { text: 'text' } } },
      inputMapping: { 'state.requestBody.text': 'before' },
    }
    await service.register(document)
    const texts = ['small', 'x'.repeat(2_000), 'small']
    const replies = []
    for (const text of texts) replies.push(await service.fetch(`/budget-${routes}`, json('POST', { text })))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 413, 200],
    )
    assert.deepEqual(replies[2]?.json(), {})
  })
})

it('a message within its budget is answered', async () => {
  const document = {
    requests: {
      lookup: { id: 'a', forEach: each, config: { method: 'GET', url: `${upstream.url}/1000`, params: { query } } },
    },
    state: { extract: { requestBody: { ward: 'ward' } } },
    inputMapping: { 'lookupRequests.a[].data': 'all' },
  }
  const { reply, calls } = await send(document, { items: items(30), ward: 'x'.repeat(900) })
  assert.deepEqual([reply.status, calls, reply.json<{ all: string[] }>().all.length], [200, 30, 30])
})

it('messages that need too much together are refused one by one until others have ended', async (t) => {
  const shared = await startService({ MESSAGE_MAX_BYTES: '1mb', IN_FLIGHT_MAX_BYTES: '1mb' })
  const held = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const slow = await startUpstream(async ({ url }) => {
    if (url === '/held') {
      asked.resolve()
      await held.promise
      return {}
    }
    return { text: 'x'.repeat(800_000) }
  })
  t.after(async () => {
    await shared.stop()
    await slow.stop()
  })
  const lookup = { id: 'large', config: { method: 'GET', url: slow.url } }
  const response = [{ id: 'held', config: { method: 'POST', url: `${slow.url}/held` } }]
  const inputMapping = { 'requestBody.id': 'id' }
  await shared.register({ endpoint: { pattern: '/first' }, inputMapping, requests: { lookup, response } })
  await shared.register({ endpoint: { pattern: '/second' }, inputMapping, requests: { lookup } })

  const first = shared.fetch('/first', json('POST', { id: 1 }))
  await asked.promise
  const refused = await shared.fetch('/second', json('POST', { id: 2 }))
  assert.deepEqual([refused.status, refused.json<{ code: string }>().code], [503, 'BUDGET_EXHAUSTED'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  held.resolve()
  assert.equal((await first).status, 200)
  assert.equal((await shared.fetch('/second', json('POST', { id: 2 }))).status, 200)
})
