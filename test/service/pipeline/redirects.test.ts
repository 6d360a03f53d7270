import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import {
  type Answering,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

let service: Service
let upstream: Upstream
let other: Upstream

/** `/<n>` leads on to `/<n - 1>`, and `/0` answers; `/away` leads to another origin, `/round` to that and back. */
const answer: Answering = ({ url }, response) => {
  const { pathname } = new URL(url, 'http://a')
  const left = Number(pathname.slice(1))
  if (left === 0) return { arrived: url }
  const elsewhere: Record<string, string> = {
    '/away': `${other.url}/0`,
    '/round': `${other.url}/back`,
    '/back': `${upstream.url}/0`,
  }
  const location = elsewhere[pathname] ?? (left % 2 === 0 ? `/${left - 1}` : `${upstream.url}/${left - 1}`)
  response.writeHead(302, { location }).end('moved')
  return undefined
}
before(async () => {
  service = await startService()
  upstream = await startUpstream(answer)
  other = await startUpstream(answer)
})
after(() => Promise.all([service.stop(), upstream.stop(), other.stop()]))
beforeEach(() => {
  upstream.received.length = 0
  other.received.length = 0
})

let routes = 0

async function send(
  kind: 'lookup' | 'response',
  path: string,
  config: JsonObject = {},
  more: JsonObject = {},
  body: Json = {},
) {
  routes += 1
  const request = { id: 'one', config: { url: `${upstream.url}${path}`, ...config }, ...more }
  await service.register({ endpoint: { pattern: `/redirects-${routes}` }, requests: { [kind]: request } })
  return service.fetch(`/redirects-${routes}`, json('POST', body))
}

const headers = { Authorization: 'Bearer secret', 'X-Own': 'own' }

describe('a GET lookup', () => {
  it('follows five redirects within its origin, with its headers', async () => {
    const reply = await send(
      'lookup',
      '/5',
      { headers, params: { query: { q: { path: 'payload.q' } } } },
      {},
      { q: 'x' },
    )
    assert.equal(reply.status, 200, reply.text)
    const { lookupRequests } = reply.json<{ lookupRequests: { one: { data: Json } } }>()
    assert.deepEqual(lookupRequests.one.data, { arrived: '/0' })
    assert.deepEqual(
      upstream.received.map(({ url }) => url),
      ['/5?q=x', '/4', '/3', '/2', '/1', '/0'],
    )
    for (const { headers: sent } of upstream.received)
      assert.deepEqual([sent.authorization, sent['x-own']], ['Bearer secret', 'own'])
  })

  it('follows them for each item of a forEach', async () => {
    const forEach = { items: 'payload.list' }
    const config = { url: `${upstream.url}/:n`, params: { url: { n: { path: 'item' } } } }
    const reply = await send('lookup', '', config, { forEach }, { list: [1, 0, 2] })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(upstream.received.length, 6)
  })

  const answers: { name: string; path: string; config?: JsonObject; more?: JsonObject; calls: number; says: RegExp }[] =
    [
      { name: 'a sixth one', path: '/6', calls: 6, says: /More redirects came than are followed/ },
      { name: 'one to another origin', path: '/away', calls: 1, says: /to another origin.*"followRedirects"/ },
      {
        name: 'any, with followRedirects: 0',
        path: '/1',
        config: { followRedirects: 0 },
        calls: 1,
        says: /status 302: moved/,
      },
      {
        name: 'more than followRedirects',
        path: '/2',
        config: { followRedirects: 1 },
        calls: 2,
        says: /More redirects came/,
      },
      { name: 'any, of a POST', path: '/1', config: { method: 'POST' }, calls: 1, says: /status 302: moved/ },
      { name: 'any, of a HEAD', path: '/1', config: { method: 'HEAD' }, calls: 1, says: /status 302$/ },
    ]
  for (const { name, path, config = {}, more = {}, calls, says } of answers) {
    it(`has as its answer: ${name}`, async () => {
      const reply = await send('lookup', path, config, more)
      const { code, error } = reply.json<{ code: string; error: string }>()
      assert.deepEqual([reply.status, code], [502, 'LOOKUP_REFUSED'])
      assert.match(error, says)
      assert.deepEqual([upstream.received.length, other.received.length], [calls, 0])
    })
  }

  const allowed: { statuses: Json; data: Json; calls: number }[] = [
    { statuses: ['2xx', 302], data: 'moved', calls: 1 },
    { statuses: ['3xx'], data: 'moved', calls: 1 },
    { statuses: ['2xx', '304'], data: { arrived: '/0' }, calls: 2 },
    { statuses: ['*'], data: { arrived: '/0' }, calls: 2 },
  ]
  for (const { statuses, data, calls } of allowed) {
    it(`gets ${JSON.stringify(data)} where its allowedStatuses are ${JSON.stringify(statuses)}`, async () => {
      const reply = await send('lookup', '/1', {}, { allowedStatuses: statuses })
      const { lookupRequests } = reply.json<{ lookupRequests: { one: { data: Json } } }>()
      assert.deepEqual([lookupRequests.one.data, upstream.received.length], [data, calls])
    })
  }

  it('goes to another origin where followRedirects says so, without what may be a credential', async () => {
    const reply = await send('lookup', '/round', { headers, followRedirects: 3 })
    assert.equal(reply.status, 200, reply.text)
    const sent = [upstream.received[0], other.received[0], upstream.received[1]]
    assert.deepEqual(
      sent.map((one) => [one?.url, one?.headers.authorization, one?.headers['x-own']]),
      [
        ['/round', 'Bearer secret', 'own'],
        ['/back', undefined, undefined],
        ['/0', undefined, undefined],
      ],
    )
    assert.equal(other.received[0]?.headers.accept, 'application/json, */*;q=0.8')
  })
})

describe('a response request', () => {
  for (const method of ['GET', 'POST']) {
    it(`follows none by itself: ${method}`, async () => {
      const reply = await send('response', '/1', { method })
      assert.deepEqual(
        [reply.status, reply.headers.get('location'), upstream.received.length],
        [302, `${upstream.url}/0`, 1],
      )
    })

    it(`follows as many as followRedirects says: ${method}`, async () => {
      const reply = await send('response', '/2', { method, followRedirects: 2 })
      assert.deepEqual([reply.status, reply.json()], [200, { arrived: '/0' }])
    })
  }
})
