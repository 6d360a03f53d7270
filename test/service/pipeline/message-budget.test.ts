/** What one message may make in all, and what the messages in flight may make together. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, startService } from '../../support/service.ts'
import { openPipeline } from './fixture.ts'

const LIMITS = { MESSAGE_MAX_BYTES: '100kb', IN_FLIGHT_MAX_BYTES: '1mb', REQUEST_URL_LIMIT: '1kb', STATE_LIMIT: '1kb' }
const pipeline = openPipeline(LIMITS)

/** A URL that answers a text of so many bytes. */
const answering = (bytes: number) =>
  pipeline.at({ type: 'application/json', body: JSON.stringify('x'.repeat(bytes - 2)) })
const zipped = () =>
  pipeline.at({
    type: 'application/json',
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify('x'.repeat(150_000))),
  })

const items = (count: number, text = '') => Array.from({ length: count }, (_, id) => ({ id, text }))
const each = { forEach: { items: 'requestBody.items', concurrency: 4 } }
const params = { query: { ward: { path: 'requestBody.ward' } } }
const lookup = (config: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  requests: { lookup: { id: 'a', config: { url: pipeline.upstream.url, ...config }, ...more } },
})
const response = (url = answering(2), more: JsonObject = {}) => ({
  id: 'target',
  config: { method: 'POST', url },
  ...more,
})
const respond = (...of: Parameters<typeof response>) => ({ requests: { response: [response(...of)] } })
const copies = Array.from({ length: 10 }, (_, at) => `copy${at}`)

describe('a message that needs more than its budget fails at the place that passed the limit', () => {
  const CALL = [413, 'MESSAGE_TOO_COSTLY', 'requests.lookup[0]'] as const
  const RESPONSE = [413, 'MESSAGE_TOO_COSTLY', 'requests.response[0]'] as const
  const OUTPUT = [413, 'MESSAGE_TOO_COSTLY', 'transformation.output'] as const
  const state = (...names: string[]) => ({
    state: { extract: { requestBody: Object.fromEntries(names.map((name) => [name, 'text'])) } },
  })
  /** `calls`: the most calls that are made. */
  type Case = readonly [
    name: string,
    document: () => JsonObject,
    fails: readonly [status: number, code: string, path: string],
    body?: JsonObject,
    calls?: number,
  ]
  const cases: readonly Case[] = [
    [
      'a URL that is too long',
      () => lookup({ params }),
      [400, 'PARAMETER_INVALID', 'requests.lookup[0].config.params.query.ward'],
      { ward: 'x'.repeat(1_100) },
    ],
    [
      'a URL that is too long once it is percent-encoded',
      () => lookup({ params }),
      [400, 'PARAMETER_INVALID', 'requests.lookup[0].config.url'],
      { ward: 'å'.repeat(500) },
    ],
    ['the URLs of many items', () => lookup({ params }, each), CALL, { items: items(200), ward: 'x'.repeat(900) }],
    [
      'the bodies of many items',
      () => lookup({ method: 'POST' }, { ...each, forwardExistingRequestBody: true }),
      CALL,
      { items: items(200, 'x'.repeat(900)) },
    ],
    ['the answers of many items', () => lookup({ url: answering(10_000) }, each), CALL, { items: items(200) }, 14],
    ['one answer', () => lookup({ url: answering(150_000) }), CALL, {}, 1],
    ['one answer that is small compressed', () => lookup({ url: zipped() }), CALL, {}, 1],
    [
      'an output of one field many times',
      () => ({ inputMapping: { 'requestBody.text': copies }, ...respond() }),
      OUTPUT,
      { text: 'x'.repeat(20_000) },
    ],
    [
      'an output as XML, which writes the name of a list around each of its items',
      () => ({
        transformation: { input: 'JSON', output: 'XML' },
        inputMapping: { 'requestBody.list': 'n'.repeat(500) },
        ...respond(),
      }),
      OUTPUT,
      { list: Array.from({ length: 500 }, () => 1) },
    ],
    [
      'the value of an expression',
      () => ({ inputTransforms: { long: '$pad("", 200000, "x")' }, ...respond() }),
      [413, 'MESSAGE_TOO_COSTLY', 'inputTransforms.long'],
    ],
    [
      'the bodies of many response requests',
      () => respond(undefined, each),
      RESPONSE,
      { items: items(70, 'x'.repeat(900)) },
    ],
    ['the answer of the only response request', () => respond(answering(150_000)), RESPONSE, {}, 1],
    [
      'a state of one field many times',
      () => ({ ...state('one', 'two', 'three'), ...respond() }),
      [413, 'STATE_TOO_LARGE', 'state.extract'],
      { text: 'x'.repeat(400) },
    ],
    [
      'a state whose characters take many bytes',
      () => ({ ...state('one'), ...respond() }),
      [413, 'STATE_TOO_LARGE', 'state.extract'],
      { text: '\u0001'.repeat(200) },
    ],
  ]
  for (const [name, document, fails, body = {}, calls = 0] of cases) {
    it(name, async () => {
      const from = pipeline.upstream.received.length
      const { status, text } = await pipeline.send(document(), body)
      const reportedAs = (field: string) => new RegExp(`(?:"${field}":"|<${field}>)([^"<]*)`).exec(text)?.[1]
      assert.deepEqual([status, reportedAs('code'), reportedAs('path')], fails, text)
      const made = pipeline.upstream.received.length - from
      assert.ok(made <= calls, `${made} calls`)
    })
  }

  it('an answer of one of several response requests stands as its error in the aggregate', async () => {
    const large = response(answering(150_000), { id: 'large' })
    const reply = await pipeline.send({ requests: { response: [response(), large] } })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.json<{ large: { code: string } }>().large.code, 'MESSAGE_TOO_COSTLY')
  })

  it('and the state of such a message has no values, but how its lookups went', async () => {
    const path = await pipeline.register({ ...state('text'), inputMapping: { 'state.requestBody.text': 'before' } })
    const replies = []
    for (const text of ['small', 'x'.repeat(2_000), 'small'])
      replies.push(await pipeline.service.fetch(path, json('POST', { text })))
    const statuses = replies.map(({ status }) => status)
    assert.deepEqual([statuses, replies[2]?.json()], [[200, 413, 200], {}])
  })
})

it('a message within its budget is answered', async () => {
  const from = pipeline.upstream.received.length
  const document = {
    ...lookup({ url: answering(1_000), params }, each),
    state: { extract: { requestBody: { ward: 'ward' } } },
    inputMapping: { 'lookupRequests.a[].data': 'all' },
  }
  const reply = await pipeline.send(document, { items: items(30), ward: 'x'.repeat(900) })
  const calls = pipeline.upstream.received.length - from
  assert.deepEqual([reply.status, calls, reply.json<{ all: string[] }>().all.length], [200, 30, 30])
})

it('messages that need too much together are refused one by one until others have ended', async (t) => {
  const shared = await startService({ MESSAGE_MAX_BYTES: '1mb', IN_FLIGHT_MAX_BYTES: '1mb' })
  t.after(shared.stop)
  const held = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const holding = pipeline.at(async () => {
    asked.resolve()
    await held.promise
    return {}
  })
  const { requests } = lookup({ url: answering(800_000) }) as { requests: JsonObject }
  const inputMapping = { 'requestBody.id': 'id' }
  const first = { ...requests, response: [response(holding)] }
  await shared.register({ endpoint: { pattern: '/first' }, inputMapping, requests: first })
  await shared.register({ endpoint: { pattern: '/second' }, inputMapping, requests })

  const answered = shared.fetch('/first', json('POST', { id: 1 }))
  await asked.promise
  const refused = await shared.fetch('/second', json('POST', { id: 2 }))
  assert.deepEqual([refused.status, refused.json().code], [503, 'BUDGET_EXHAUSTED'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  held.resolve()
  assert.equal((await answered).status, 200)
  assert.equal((await shared.fetch('/second', json('POST', { id: 2 }))).status, 200)
})
