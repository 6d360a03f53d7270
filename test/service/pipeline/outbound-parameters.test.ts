/** What messages put into the URLs of requests. How a URL is filled: test/unit/language/url-template.test.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Reply } from '../../support/service.ts'
import { failureOf, openPipeline } from './fixture.ts'

const pipeline = openPipeline()

const BODY = {
  id: 'p1',
  kind: 'k1',
  code: '1223',
  marks: 'x&y=z#w?q',
  slash: 'a/b',
  up: '..',
  empty: '',
  blanks: [''],
  zero: 0,
  no: false,
  nothing: null,
  unicode: 'å日😀 +%',
  list: ['a', 'b'],
  mixed: [1, true, null, 'c,d:e'],
  none: [],
  nulls: [null],
  object: { a: 1 },
  objects: [{ a: 1 }],
  nested: [['a']],
  half: '\ud800',
}

/** Registers an endpoint with one lookup, and sends it BODY. */
async function lookUp(url: string, params: JsonObject, document: JsonObject = {}) {
  const lookup = { id: 'one', config: { url: `${pipeline.upstream.url}${url}`, params } }
  const path = await pipeline.register(
    { requests: { lookup }, constants: { deep: { value: 'c1' } }, ...document },
    '/:ward',
  )
  let reply = {} as Reply
  const received = await pipeline.receivedIn(async () => {
    reply = await pipeline.service.fetch(`${path}/w%2F1?tag=t1&tag=t2&one=o1`, json('POST', BODY, { 'X-Site': 's1' }))
  })
  return { reply, urls: received.map((request) => request.url) }
}

/** Parameters by name, of which `payload.x` is written `x`. */
const from = (paths: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, { path: path.includes('.') ? path : `payload.${path}` }]),
  )

describe('query parameters', () => {
  const cases: [name: string, query: JsonObject, sent: string, url?: string][] = [
    [
      'join what is there, with prefix and postfix once',
      { v: { path: 'payload.mixed', prefix: '<', postfix: '>' } },
      '/a?v=%3C1,true,c,d:e%3E',
    ],
    ['take an empty text, 0 and false', from({ u: 'empty', v: 'zero', w: 'no' }), '/a?u=&v=0&w=false'],
    [
      'are left out where nothing is found, whatever is around it',
      {
        u: { path: 'payload.missing', prefix: 'p', postfix: 'q' },
        ...from({ v: 'nothing', w: 'none', x: 'nulls', y: 'id' }),
      },
      '/a?y=p1',
    ],
    [
      'come behind those of the URL, in the order written',
      from({ z: 'id', a: 'kind' }),
      '/a?fixed=1&z=p1&a=k1',
      '/a?fixed=1',
    ],
    [
      'are read from every root that exists before the lookups',
      from({
        body: 'requestBody.id',
        payload: 'payload.list[1]',
        header: 'requestHeaders.x-site',
        tags: 'query.tag',
        one: 'query.one',
        ward: 'urlParams.ward',
        constant: 'constants.deep.value',
        since: 'state.requestBody.id',
      }),
      '/a?body=p1&payload=b&header=s1&tags=t1,t2&one=o1&ward=w%2F1&constant=c1',
    ],
  ]
  for (const [name, query, sent, url = '/a'] of cases) {
    it(name, async () => {
      const { reply, urls } = await lookUp(url, { query })
      assert.deepEqual([reply.status, urls], [200, [sent]], reply.text)
    })
  }

  it('may be the time at which the message came', async () => {
    const before = Date.now()
    const { urls } = await lookUp('/a', { query: from({ at: 'timestamps.endpointStart' }) })
    const at = new URL(urls[0] ?? '', 'http://a').searchParams.get('at') ?? ''
    assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Date.parse(at) >= before && Date.parse(at) <= Date.now())
  })
})

describe('placeholders of the URL', () => {
  const cases: [name: string, url: string, params: JsonObject, sent: string][] = [
    ['stand in path and query, as often as they like', '/a/:id/c?v=:id', from({ id: 'slash' }), '/a/a%2Fb/c?v=a%2Fb'],
  ]
  for (const [name, url, params, sent] of cases) {
    it(name, async () => {
      const { reply, urls } = await lookUp(url, { url: params })
      assert.deepEqual([reply.status, urls], [200, [sent]], reply.text)
    })
  }
})

describe('what cannot stand in a URL is a 400, and nothing is sent', () => {
  const inUrl = 'requests.lookup[0].config.params.url.id'
  const inQuery = 'requests.lookup[0].config.params.query.v'
  const wholeUrl = 'requests.lookup[0].config.url'
  const cases: [name: string, url: string, params: JsonObject, blames: string, says?: string][] = [
    ['nothing, for a placeholder', '/a/:id', { url: from({ id: 'missing' }) }, inUrl],
    ['an object, for a placeholder', '/a/:id', { url: from({ id: 'object' }) }, inUrl],
    ['a step up', '/a/:id', { url: from({ id: 'up' }) }, wholeUrl],
    [
      'an object, in the query',
      '/a',
      { query: from({ v: 'object' }) },
      inQuery,
      '"payload.object" gave an object, which cannot stand in a URL.',
    ],
    [
      'a list in a list',
      '/a',
      { query: from({ v: 'nested' }) },
      inQuery,
      '"payload.nested" gave an array of arrays, which cannot stand in a URL.',
    ],
  ]
  for (const [name, url, params, blames, says = ''] of cases) {
    it(name, async () => {
      const { reply, urls } = await lookUp(url, params)
      assert.deepEqual([failureOf(reply), urls], [[400, 'PARAMETER_INVALID', 'lookup', blames], []])
      assert.ok(String(reply.json().error).includes(says), reply.text)
    })
  }

  it('whichever of several requests it is for', async () => {
    const good = { id: 'good', config: { url: `${pipeline.upstream.url}/good` } }
    const bad = { id: 'bad', config: { url: `${pipeline.upstream.url}/:id`, params: { url: from({ id: 'missing' }) } } }
    for (const [kind, stage] of [
      ['lookup', 'lookup'],
      ['response', 'respond'],
    ] as const) {
      const { reply, urls } = await lookUp('/unused', {}, { requests: { [kind]: [good, bad] } })
      const blames = `requests.${kind}[1].config.params.url.id`
      assert.deepEqual([failureOf(reply), urls], [[400, 'PARAMETER_INVALID', stage, blames], []])
    }
  })
})

it('reads what later stages made, in the parameters of a response', async () => {
  const query = from({
    looked: 'lookupRequests.one.data.url',
    transformed: 'transforms.upper',
    mapped: 'responseBody.out',
    payload: 'id',
    answered: 'timestamps.lookupRequests.one.requestEnd',
  })
  const config = { url: `${pipeline.upstream.url}/two/:id`, params: { url: from({ id: 'responseBody.out' }), query } }
  const document = {
    requests: {
      lookup: { id: 'one', config: { url: `${pipeline.upstream.url}/one` } },
      response: { id: 'two', config },
    },
    inputTransforms: { upper: '$uppercase(requestBody.kind)' },
    inputMapping: { 'requestBody.code': 'out' },
  }
  const { urls } = await lookUp('/unused', {}, document)
  assert.equal(urls[0], '/one')
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
  const read = String.raw`^/two/1223\?looked=%2Fone&transformed=K1&mapped=1223&payload=p1&answered=${time}$`
  assert.match(urls[1] ?? '', new RegExp(read))
})
