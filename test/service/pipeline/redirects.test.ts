import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, startUpstream, type Upstream } from '../../support/service.ts'
import { dataOf, failureOf, openPipeline } from './fixture.ts'

const pipeline = openPipeline()
let upstream: Upstream
let other: Upstream

/** `/<n>` leads on to `/<n - 1>`, and `/0` answers; `/away` leads to another origin, `/round` to that and back. */
const start = () =>
  startUpstream(({ url }, response) => {
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
  })
before(async () => {
  upstream = await start()
  other = await start()
})
after(() => Promise.all([upstream.stop(), other.stop()]))

/** The reply, and what both received for it. */
async function send(
  kind: 'lookup' | 'response',
  path: string,
  config: JsonObject = {},
  more: JsonObject = {},
  body: Json = {},
) {
  for (const { received } of [upstream, other]) received.length = 0
  const request = { id: 'one', config: { url: `${upstream.url}${path}`, ...config }, ...more }
  return pipeline.service.fetch(await pipeline.register({ requests: { [kind]: request } }), json('POST', body))
}
const counts = () => [upstream.received.length, other.received.length]

const headers = { Authorization: 'Bearer secret', 'X-Own': 'own' }

describe('a GET lookup', () => {
  it('follows five redirects within its origin, with its headers', async () => {
    const config = { headers, params: { query: { q: { path: 'payload.q' } } } }
    const reply = await send('lookup', '/5', config, {}, { q: 'x' })
    assert.deepEqual(dataOf(reply), { arrived: '/0' })
    assert.deepEqual(
      upstream.received.map((one) => [one.url, one.headers.authorization, one.headers['x-own']]),
      ['/5?q=x', '/4', '/3', '/2', '/1', '/0'].map((url) => [url, 'Bearer secret', 'own']),
    )
  })

  const answers: [name: string, path: string, config: JsonObject, calls: number, says: RegExp][] = [
    ['a sixth one', '/6', {}, 6, /It redirects too many times/],
    ['one to another origin', '/away', {}, 1, /to another origin.*"followRedirects"/],
    ['any, with followRedirects: 0', '/1', { followRedirects: 0 }, 1, /answered 302 to GET \S+: moved$/],
    ['more than followRedirects', '/2', { followRedirects: 1 }, 2, /It redirects too many times/],
    ['any, of a POST', '/1', { method: 'POST' }, 1, /answered 302 to POST \S+: moved$/],
    ['any, of a HEAD', '/1', { method: 'HEAD' }, 1, /answered 302 to HEAD \S+$/],
  ]
  for (const [name, path, config, calls, says] of answers) {
    it(`has as its answer: ${name}`, async () => {
      const reply = await send('lookup', path, config)
      assert.deepEqual(failureOf(reply).slice(0, 2), [502, 'LOOKUP_REFUSED'])
      assert.match(String(reply.json().error), says)
      assert.deepEqual(counts(), [calls, 0])
    })
  }

  const allowed: [statuses: Json, data: Json, calls: number][] = [
    [['2xx', 302], 'moved', 1],
    [['3xx'], 'moved', 1],
    [['2xx', '304'], { arrived: '/0' }, 2],
    [['*'], { arrived: '/0' }, 2],
  ]
  for (const [statuses, data, calls] of allowed) {
    it(`gets ${JSON.stringify(data)} where its allowedStatuses are ${JSON.stringify(statuses)}`, async () => {
      const reply = await send('lookup', '/1', {}, { allowedStatuses: statuses })
      assert.deepEqual([dataOf(reply), ...counts()], [data, calls, 0])
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
    // The calls of documents are told from those of callers on this machine, after a redirect too.
    assert.equal(other.received[0]?.headers.via, '1.1 crosswalk')
  })
})

for (const method of ['GET', 'POST']) {
  it(`a response request follows as many as followRedirects says, by itself none: ${method}`, async () => {
    const passed = await send('response', '/1', { method })
    assert.deepEqual([passed.status, passed.headers.get('location'), ...counts()], [302, `${upstream.url}/0`, 1, 0])
    const reply = await send('response', '/2', { method, followRedirects: 2 })
    assert.deepEqual([reply.status, reply.json()], [200, { arrived: '/0' }])
  })
}
