import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  upstream = await startUpstream(() => ({ found: 'f1' }))
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const BODY = {
  id: 'p1',
  kind: 'k1',
  code: '1223',
  space: 'a b',
  marks: 'x&y=z#w?q',
  slash: 'a/b',
  up: '..',
  here: '.',
  encodedUp: '%2e%2e',
  named: ':idType',
  empty: '',
  blanks: [''],
  zero: 0,
  no: false,
  nothing: null,
  plus: '1+1',
  percent: '100%',
  unicode: 'å日😀',
  list: ['a', 'b'],
  mixed: [1, true, null, 'c,d:e'],
  none: [],
  nulls: [null],
  object: { a: 1 },
  objects: [{ a: 1 }],
  nested: [['a']],
  half: '\ud800',
}

let routes = 0

/** Registers an endpoint with one lookup, and sends it BODY. */
async function lookUp(url: string, params: JsonObject, document: JsonObject = {}) {
  routes += 1
  const lookup = { id: 'one', config: { url: `${upstream.url}${url}`, params } }
  await service.register({ endpoint: { pattern: `/parameters-${routes}/:ward` }, requests: { lookup }, ...document })
  const from = upstream.received.length
  const reply = await service.fetch(
    `/parameters-${routes}/w%2F1?tag=t1&tag=t2&one=o1`,
    json('POST', BODY, { 'X-Site': 's1' }),
  )
  return { reply, urls: upstream.received.slice(from).map((request) => request.url) }
}

type Parameter = { path: string; prefix?: string; postfix?: string }

describe('query parameters', () => {
  const cases: { name: string; query: Record<string, Parameter>; url?: string; sent: string }[] = [
    {
      name: 'keep colons',
      query: { filter: { path: 'payload.code', prefix: 'code:', postfix: ':section:52' } },
      sent: '/a?filter=code:1223:section:52',
    },
    {
      name: 'encode prefix and postfix too',
      query: { v: { path: 'payload.id', prefix: 'a b&', postfix: '#/' } },
      sent: '/a?v=a%20b%26p1%23%2F',
    },
    { name: 'encode a space', query: { v: { path: 'payload.space' } }, sent: '/a?v=a%20b' },
    {
      name: 'never end a value or start another',
      query: { v: { path: 'payload.marks' } },
      sent: '/a?v=x%26y%3Dz%23w%3Fq',
    },
    { name: 'encode a slash', query: { v: { path: 'payload.slash' } }, sent: '/a?v=a%2Fb' },
    { name: 'encode a plus', query: { v: { path: 'payload.plus' } }, sent: '/a?v=1%2B1' },
    { name: 'encode a percent sign', query: { v: { path: 'payload.percent' } }, sent: '/a?v=100%25' },
    {
      name: 'encode as UTF-8',
      query: { v: { path: 'payload.unicode' } },
      sent: '/a?v=%C3%A5%E6%97%A5%F0%9F%98%80',
    },
    { name: 'encode names', query: { 'a b&c': { path: 'payload.id' } }, sent: '/a?a%20b%26c=p1' },
    { name: 'join arrays by commas', query: { v: { path: 'payload.list' } }, sent: '/a?v=a,b' },
    {
      name: 'join what is there, with prefix and postfix once',
      query: { v: { path: 'payload.mixed', prefix: '<', postfix: '>' } },
      sent: '/a?v=%3C1,true,c,d:e%3E',
    },
    { name: 'take an empty text', query: { v: { path: 'payload.empty' } }, sent: '/a?v=' },
    {
      name: 'take 0 and false',
      query: { v: { path: 'payload.zero' }, w: { path: 'payload.no' } },
      sent: '/a?v=0&w=false',
    },
    {
      name: 'are left out where nothing is found, whatever is around it',
      query: {
        u: { path: 'payload.missing', prefix: 'p', postfix: 'q' },
        v: { path: 'payload.nothing' },
        w: { path: 'payload.none' },
        x: { path: 'payload.nulls' },
        y: { path: 'payload.id' },
      },
      sent: '/a?y=p1',
    },
    { name: 'leave no question mark behind', query: { v: { path: 'payload.missing' } }, sent: '/a' },
    {
      name: 'come behind those of the URL, in the order written',
      url: '/a?fixed=1',
      query: { z: { path: 'payload.id' }, a: { path: 'payload.kind' } },
      sent: '/a?fixed=1&z=p1&a=k1',
    },
    {
      name: 'are read from every root that exists before the lookups',
      query: {
        body: { path: 'requestBody.id' },
        payload: { path: 'payload.list[1]' },
        header: { path: 'requestHeaders.x-site' },
        tags: { path: 'query.tag' },
        one: { path: 'query.one' },
        ward: { path: 'urlParams.ward' },
        constant: { path: 'constants.deep.value' },
        since: { path: 'state.requestBody.id' },
      },
      sent: '/a?body=p1&payload=b&header=s1&tags=t1,t2&one=o1&ward=w%2F1&constant=c1',
    },
  ]
  for (const { name, query, url = '/a', sent } of cases) {
    it(name, async () => {
      const { reply, urls } = await lookUp(url, { query }, { constants: { deep: { value: 'c1' } } })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(urls, [sent])
    })
  }

  it('may be the time at which the message came', async () => {
    const before = Date.now()
    const { urls } = await lookUp('/a', { query: { at: { path: 'timestamps.endpointStart' } } })
    const at = new URL(urls[0] ?? '', upstream.url).searchParams.get('at') ?? ''
    assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Date.parse(at) >= before && Date.parse(at) <= Date.now())
  })
})

describe('placeholders of the URL', () => {
  const id = (path: string, around: Omit<Parameter, 'path'> = {}) => ({ id: { path, ...around } })
  const cases: { name: string; url: string; params: Record<string, Parameter>; sent: string }[] = [
    { name: 'are replaced', url: '/p/:id', params: id('payload.id'), sent: '/p/p1' },
    {
      name: 'are whole names',
      url: '/:id/:idType/:idTypes',
      params: { ...id('payload.id'), idType: { path: 'payload.kind' }, idTypes: { path: 'payload.code' } },
      sent: '/p1/k1/1223',
    },
    {
      name: 'are not looked for in values',
      url: '/:id/:idType',
      params: { ...id('payload.named'), idType: { path: 'payload.kind' } },
      sent: '/:idType/k1',
    },
    {
      name: 'take prefix and postfix, encoded',
      url: '/:id',
      params: id('payload.id', { prefix: 'a/', postfix: '?b' }),
      sent: '/a%2Fp1%3Fb',
    },
    { name: 'stand beside other text', url: '/x-:id.json', params: id('payload.id'), sent: '/x-p1.json' },
    { name: 'stand in the query too', url: '/a?v=:id', params: id('payload.marks'), sent: '/a?v=x%26y%3Dz%23w%3Fq' },
    { name: 'may occur twice', url: '/:id/of/:id', params: id('payload.id'), sent: '/p1/of/p1' },
    { name: 'add no segment', url: '/a/:id/c', params: id('payload.slash'), sent: '/a/a%2Fb/c' },
    { name: 'add no query or fragment', url: '/a/:id', params: id('payload.marks'), sent: '/a/x%26y%3Dz%23w%3Fq' },
    {
      name: 'step up no path by a value that is encoded already',
      url: '/a/:id/c',
      params: id('payload.encodedUp'),
      sent: '/a/%252e%252e/c',
    },
    {
      name: 'take dots that are a part of a name',
      url: '/a/:id',
      params: id('payload.up', { prefix: 'v' }),
      sent: '/a/v..',
    },
    {
      name: 'are encoded as UTF-8',
      url: '/:id',
      params: id('payload.unicode'),
      sent: '/%C3%A5%E6%97%A5%F0%9F%98%80',
    },
    { name: 'join arrays by commas', url: '/:id', params: id('payload.list'), sent: '/a,b' },
    { name: 'keep colons and commas', url: '/:id', params: id('payload.mixed'), sent: '/1,true,c,d:e' },
    { name: 'take 0', url: '/:id', params: id('payload.zero'), sent: '/0' },
    { name: 'take an empty text', url: '/enrollment/:id', params: id('payload.empty'), sent: '/enrollment/' },
    { name: 'take an empty text within the path', url: '/a/:id/b', params: id('payload.empty'), sent: '/a//b' },
    { name: 'take an empty array of texts', url: '/a/:id?b=:id', params: id('payload.blanks'), sent: '/a/?b=' },
    {
      name: 'may have hyphens, of which the longest name counts',
      url: '/:org-id/:org',
      params: { org: { path: 'payload.kind' }, 'org-id': { path: 'payload.id' } },
      sent: '/p1/k1',
    },
    {
      name: 'are no other colons',
      url: '/things:search?filter=code:eq:A1',
      params: {},
      sent: '/things:search?filter=code:eq:A1',
    },
    { name: 'are none where they are not defined', url: '/:kind/:id', params: id('payload.id'), sent: '/:kind/p1' },
    { name: 'need not use every value', url: '/a', params: id('payload.missing'), sent: '/a' },
    {
      name: 'stand in names of the query',
      url: '/a?:id=1',
      params: id('payload.marks'),
      sent: '/a?x%26y%3Dz%23w%3Fq=1',
    },
    {
      name: 'leave the rest byte for byte',
      url: `/a'b?q='x'&r=[1]|{2}&s=%27&`,
      params: {},
      sent: `/a'b?q='x'&r=%5B1%5D%7C%7B2%7D&s=%27&`,
    },
    { name: 'may be followed by spaces', url: '/:id \n', params: id('payload.id'), sent: '/p1' },
  ]
  for (const { name, url, params, sent } of cases) {
    it(name, async () => {
      const { reply, urls } = await lookUp(url, { url: params })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(urls, [sent])
    })
  }
})

describe('what cannot stand in a URL is a 400, and nothing is sent', () => {
  const inUrl = 'requests.lookup[0].config.params.url.id'
  const inQuery = 'requests.lookup[0].config.params.query.v'
  const wholeUrl = 'requests.lookup[0].config.url'
  const cases: { name: string; at?: string; url?: string; query?: string; blames: string }[] = [
    { name: 'nothing, for a placeholder', url: 'payload.missing', blames: inUrl },
    { name: 'null, for a placeholder', url: 'payload.nothing', blames: inUrl },
    { name: 'an empty array, for a placeholder', url: 'payload.none', blames: inUrl },
    { name: 'an object, for a placeholder', url: 'payload.object', blames: inUrl },
    { name: 'a step up', url: 'payload.up', blames: wholeUrl },
    { name: 'a step nowhere', url: 'payload.here', blames: wholeUrl },
    { name: 'nothing, at the start of a longer path', at: '/:id/a', url: 'payload.empty', blames: wholeUrl },
    { name: 'an object, in the query', query: 'payload.object', blames: inQuery },
    { name: 'an array of objects', query: 'payload.objects', blames: inQuery },
    { name: 'an array of arrays', query: 'payload.nested', blames: inQuery },
    { name: 'half of a character', query: 'payload.half', blames: inQuery },
  ]
  for (const { name, at = '/a/:id', url, query, blames } of cases) {
    it(name, async () => {
      const params = url === undefined ? { query: { v: { path: query ?? '' } } } : { url: { id: { path: url } } }
      const { reply, urls } = await lookUp(url === undefined ? '/a' : at, params)
      const { code, stage, path } = reply.json()
      assert.deepEqual([reply.status, code, stage, path], [400, 'PARAMETER_INVALID', 'lookup', blames])
      assert.deepEqual(urls, [])
    })
  }

  it('whichever of several requests it is for', async () => {
    const good = { id: 'good', config: { url: `${upstream.url}/good` } }
    const bad = {
      id: 'bad',
      config: { url: `${upstream.url}/:id`, params: { url: { id: { path: 'payload.missing' } } } },
    }
    for (const [kind, stage] of [
      ['lookup', 'lookup'],
      ['response', 'respond'],
    ] as const) {
      const { reply, urls } = await lookUp('/unused', {}, { requests: { [kind]: [good, bad] } })
      const { stage: failed, path } = reply.json()
      const blames = `requests.${kind}[1].config.params.url.id`
      assert.deepEqual([reply.status, failed, path, urls], [400, stage, blames, []])
    }
  })
})

it('reads what later stages made, in the parameters of a response', async () => {
  const query = {
    looked: { path: 'lookupRequests.one.data.found' },
    transformed: { path: 'transforms.upper' },
    mapped: { path: 'responseBody.out' },
    payload: { path: 'payload.id' },
    answered: { path: 'timestamps.lookupRequests.one.requestEnd' },
  }
  const { reply, urls } = await lookUp(
    '/unused',
    {},
    {
      requests: {
        lookup: { id: 'one', config: { url: `${upstream.url}/one` } },
        response: { id: 'two', config: { url: `${upstream.url}/two`, params: { query } } },
      },
      inputTransforms: { upper: '$uppercase(requestBody.kind)' },
      inputMapping: { 'requestBody.code': 'out' },
    },
  )
  assert.equal(reply.status, 200, reply.text)
  const [first, second = ''] = urls
  assert.equal(first, '/one')
  assert.match(
    second,
    /^\/two\?looked=f1&transformed=K1&mapped=1223&payload=p1&answered=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  )
})
