/** Requests that are made for some messages only, in either place that expressions run, and what tells of those that were not. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Reply } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { failureOf, openPipeline } from './fixture.ts'

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION, MESSAGE_LOG: 'all' })

  const request = (id: string, when?: string, more: JsonObject = {}, path = `/${id}`): JsonObject => ({
    id,
    config: { url: `${pipeline.upstream.url}${path}`, method: 'POST' },
    ...(when === undefined ? {} : { when }),
    ...more,
  })

  async function send(requests: JsonObject, body: Json = {}, document: JsonObject = {}) {
    let reply = {} as Reply
    const received = await pipeline.receivedIn(async () => {
      reply = await pipeline.send({ requests, ...document }, body)
    })
    return { reply, urls: received.map(({ url }) => url).sort() }
  }

  const lookupsIn = (reply: Reply) => Object.keys(reply.json<{ lookupRequests: JsonObject }>().lookupRequests)

  describe(`lookups with "when", ISOLATION=${ISOLATION}`, () => {
    const given: readonly (readonly [when: string, isMade: boolean])[] = [
      ["payload.type = 'lab'", true],
      ["requestBody.type = 'x'", false],
      ['payload.missing', false],
      ['payload.none', false],
      ['$count(requestHeaders) = 1', true],
    ]
    for (const [when, isMade] of given) {
      it(`are ${isMade ? 'made' : 'absent'}: ${when}`, async () => {
        const { reply, urls } = await send({ lookup: request('one', when) }, { type: 'lab', none: null })
        assert.deepEqual([lookupsIn(reply), urls], isMade ? [['one'], ['/one']] : [[], []])
      })
    }

    it('read earlier ones, and those that read one that is not made find nothing', async () => {
      const lookup = [
        request('c', '$not($exists(lookupRequests.b))'),
        request('b', "lookupRequests.a.data.method = 'x'"),
        request('a'),
      ]
      const { reply, urls } = await send({ lookup })
      assert.deepEqual(
        [lookupsIn(reply), urls],
        [
          ['c', 'a'],
          ['/a', '/c'],
        ],
      )
    })

    it('are not built where they are not made', async () => {
      const forEach = { items: 'payload.missing' }
      const { reply, urls } = await send({ lookup: request('one', 'payload.all', { forEach }) }, { all: false })
      assert.deepEqual([reply.status, urls], [200, []])
    })

    for (const [when, what] of [
      ["'yes'", 'string'],
      ['1', 'number'],
      ['[true, true]', 'array'],
    ] as const) {
      it(`fail the message where it gives ${what}`, async () => {
        const { reply, urls } = await send({ lookup: [request('one'), request('two', when)] })
        assert.deepEqual(
          [...failureOf(reply), urls.length],
          [500, 'TRANSFORM_FAILED', 'lookup', 'requests.lookup[1].when', 0],
        )
        assert.match(
          reply.json<{ error: string }>().error,
          new RegExp(`gave a value of type ${what}, which is neither true nor false`),
        )
      })
    }
  })

  describe(`response requests with "when", ISOLATION=${ISOLATION}`, () => {
    const routes = (more: JsonObject = {}) => [
      request('lab', "responseBody.type = 'lab'"),
      request('ward', "responseBody.type = 'ward' or payload.type = 'both'"),
      request('both', "payload.type = 'both'", more),
    ]
    const urlOf = (reply: Reply) => reply.json<{ url?: string }>().url

    it('answer with the answer of the one that is made', async () => {
      const { reply, urls } = await send({ response: routes() }, { type: 'lab' })
      assert.deepEqual([urlOf(reply), urls], ['/lab', ['/lab']])
    })

    it('answer with those that are made by their ids, if they are several', async () => {
      const { reply, urls } = await send({ response: routes() }, { type: 'both' })
      assert.deepEqual(
        [Object.keys(reply.json()), urls],
        [
          ['ward', 'both'],
          ['/both', '/ward'],
        ],
      )
    })

    it('answer with the primary one where it is made', async () => {
      const response = routes({ primary: true })
      assert.equal(urlOf((await send({ response }, { type: 'both' })).reply), '/both')
      assert.equal(urlOf((await send({ response }, { type: 'ward' })).reply), '/ward')
    })

    it('answer with all that are always made', async () => {
      const { reply } = await send({ response: [request('always'), ...routes()] }, { type: 'ward' })
      assert.deepEqual(Object.keys(reply.json()), ['always', 'ward'])
      assert.equal(urlOf((await send({ response: [request('always'), ...routes()] }, { type: 'x' })).reply), '/always')
    })

    it('pass on what the one that is made refuses', async () => {
      const response = [request('one', 'true', {}, '/418'), request('two', 'false')]
      assert.equal((await send({ response })).reply.status, 418)
    })

    it('fail the message if none is made', async () => {
      const { reply, urls } = await send({ response: routes() }, { type: 'x' })
      assert.deepEqual([...failureOf(reply), urls], [422, 'NOT_ROUTED', 'respond', 'requests.response', []])
    })

    it('answer with the output if none is made and the document says so', async () => {
      const { reply } = await send({ response: routes() }, { type: 'x' }, { unrouted: 'answer' })
      assert.deepEqual([reply.status, reply.json()], [200, { type: 'x' }])
    })

    it('are those that "answer" of the document reads', async () => {
      const answer = { status: 201, mapping: { 'responses.ward.data.url': 'ward', 'responses.lab.status': 'lab' } }
      const made = await send({ response: routes() }, { type: 'ward' }, { answer })
      assert.deepEqual([made.reply.status, made.reply.json()], [201, { ward: '/ward' }])
      const none = await send({ response: routes() }, { type: 'x' }, { answer, unrouted: 'answer' })
      assert.deepEqual([none.reply.status, none.reply.json()], [201, {}])
    })

    it('are evaluated once for all items', async () => {
      const forEach = { items: 'payload.list' }
      const made = await send({ response: request('each', '$count(payload.list) > 1', { forEach }) }, { list: [1, 2] })
      assert.deepEqual([made.reply.json<{ each: Json[] }>().each.length, made.urls], [2, ['/each', '/each']])
    })
  })

  describe(`what tells of requests that were not made, ISOLATION=${ISOLATION}`, () => {
    const requests = () => ({
      lookup: [request('a', 'false'), request('b', undefined, {}, '/404'), request('c', undefined, { after: ['b'] })],
      response: [request('r', 'false'), request('s')],
    })
    const recordOf = async (reply: Reply) => {
      const path = `/messages/${reply.headers.get('x-crosswalk-message-id')}`
      const answer = await until(
        () => fetch(`${pipeline.service.adminUrl}${path}`),
        ({ status }) => status === 200,
      )
      return (await answer.json()) as JsonObject
    }
    const a = { kind: 'lookup', id: 'a', why: 'when' }
    const r = { kind: 'response', id: 'r', why: 'when' }

    it('is the record of the message', async () => {
      const failed = await recordOf((await send(requests())).reply)
      assert.deepEqual(failed.notMade, [a, { kind: 'lookup', id: 'c', why: 'failure' }])
      const {
        lookup: [first],
        response,
      } = requests()
      const done = await recordOf((await send({ lookup: first as JsonObject, response })).reply)
      assert.deepEqual([done.notMade, (done.calls as Json[]).length], [[a, r], 1])
      const plain = await recordOf((await send({ response: request('s') })).reply)
      assert.equal('notMade' in plain, false)
    })

    it('is a dry run, whose calls have them not', async () => {
      const {
        lookup: [first],
        response,
      } = requests()
      const endpoint = {
        name: 'dry',
        endpoint: { pattern: '/dry' },
        transformation: { input: 'JSON', output: 'JSON' },
        requests: { lookup: first as JsonObject, response },
      }
      const reply = await pipeline.service.fetch(
        '/endpoints/dry-run',
        json('POST', { endpoint, message: { body: {} } }),
      )
      const report = reply.json<{ notMade: Json; calls: { id: string }[]; coverage: { missed: { path: string }[] } }>()
      assert.deepEqual([report.notMade, report.calls.map(({ id }) => id)], [[a, r], ['s']])
      assert.deepEqual(
        report.coverage.missed.map(({ path }) => path),
        ['requests.lookup[0]', 'requests.response[0]'],
      )
    })
  })
}

describe('faults of "when" and "unrouted"', () => {
  const pipeline = openPipeline()
  const cases: readonly (readonly [document: JsonObject, place: string, message: RegExp])[] = [
    [{ requests: { response: { when: '1 +' } } }, 'requests.response[0].when', /./],
    [{ requests: { lookup: { when: 'transforms.a' } } }, 'requests.lookup[0].when', /does not exist yet/],
    [
      { requests: { lookup: { when: 'item.a', forEach: { items: 'payload.a' } } } },
      'requests.lookup[0].when',
      /"item" exists/,
    ],
    [
      { requests: { response: {} }, unrouted: 'answer' },
      'unrouted',
      /has no effect unless all response requests have "when"/,
    ],
  ]
  for (const [document, place, message] of cases) {
    it(`are told at ${place}: ${message.source}`, async () => {
      const requests = Object.fromEntries(
        Object.entries(document.requests as JsonObject).map(([kind, one]) => [
          kind,
          { id: 'one', config: { url: 'http://x.example/' }, ...(one as JsonObject) },
        ]),
      )
      const endpoint = {
        name: 'a',
        endpoint: { pattern: '/a' },
        transformation: { input: 'JSON', output: 'JSON' },
        ...document,
        requests,
      }
      const reply = await pipeline.service.fetch('/endpoints/dry-run', json('POST', { endpoint, run: false }))
      const { errors = [], warnings = [] } = reply.json<{ lint: Record<string, { path: string; message: string }[]> }>()
        .lint
      const told = [...errors, ...warnings].filter(({ path }) => path === place)
      assert.equal(told.length, 1, reply.text)
      assert.match(told[0]?.message ?? '', message)
    })
  }
})
