import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

let service: Service
let upstream: Upstream
/** Decides when the upstream answers; by default at once. */
let held: (path: string) => Promise<void> = async () => {}
before(async () => {
  service = await startService()
  /** `/<status>` answers that status; anything else gives its own path and body. */
  upstream = await startUpstream(async ({ url, body }, response) => {
    await held(url)
    if (/^\/\d{3}$/.test(url)) response.statusCode = Number(url.slice(1))
    return { url, body }
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** Registers an endpoint with one forEach lookup, and gives its path. */
async function register(items: string, forEach: JsonObject = {}, document: JsonObject = {}): Promise<string> {
  routes += 1
  const params = { url: { item: { path: 'item' } } }
  const lookup = { id: 'each', forEach: { items, ...forEach }, config: { url: `${upstream.url}/:item`, params } }
  await service.register({ endpoint: { pattern: `/each-${routes}` }, requests: { lookup }, ...document })
  return `/each-${routes}`
}

type Found = {
  requestBody: Json
  lookupRequests: { each: { data: { url: string; body: string }; headers: JsonObject }[] }
}

async function urlsOf(path: string, body: Json) {
  const reply = await service.fetch(path, json('POST', body))
  assert.equal(reply.status, 200, reply.text)
  return reply.json<Found>().lookupRequests.each.map(({ data }) => data.url)
}

const strings = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `i${from + index}`)

describe('forEach.concurrency', () => {
  const cases: { concurrency?: number | string; most: number }[] = [
    { most: 1 },
    { concurrency: 1, most: 1 },
    { concurrency: 3, most: 3 },
    { concurrency: '3', most: 3 },
    { concurrency: '10', most: 10 },
    { concurrency: 1000, most: 12 },
  ]
  for (const { concurrency, most } of cases) {
    it(`calls ${most} at a time where it is ${JSON.stringify(concurrency)}`, async () => {
      let underWay = 0
      let highest = 0
      let full = () => {}
      const filled = new Promise<void>((resolve) => {
        full = resolve
      })
      held = async () => {
        underWay += 1
        highest = Math.max(highest, underWay)
        // One call more than there should be would have arrived before what the service is asked now.
        if (underWay === most) void service.fetch('/uptime').then(full)
        await filled
        underWay -= 1
      }
      const path = await register('payload.list', concurrency === undefined ? {} : { concurrency })
      try {
        const items = strings(12)
        const urls = await urlsOf(path, { list: items })
        assert.deepEqual(
          urls,
          items.map((item) => `/${item}`),
        )
        assert.equal(highest, most)
      } finally {
        held = async () => {}
      }
    })
  }

  for (const concurrency of [0, -1, 1.5, 'many', '', '1e3', null]) {
    it(`is refused at registration where it is ${JSON.stringify(concurrency)}`, async () => {
      const forEach = { items: 'payload.list', concurrency }
      const lookup = { id: 'each', forEach, config: { url: upstream.url } }
      const document = endpointDocument({ endpoint: { pattern: '/refused' }, requests: { lookup: [lookup] } })
      const reply = await service.fetch('/endpoints', json('POST', document))
      const { details } = reply.json<{ details: { path: string }[] }>()
      assert.deepEqual(
        [reply.status, details.map(({ path }) => path)],
        [400, ['requests.lookup[0].forEach.concurrency']],
      )
    })
  }
})

it('keeps the order of the items, whichever is answered first', async () => {
  const path = await register('payload.list', { concurrency: 4 })
  const waiting: (() => void)[] = []
  /** Answers the four calls last to first. */
  held = () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 4) answerBackwards()
    })
  const answerBackwards = () => {
    waiting.pop()?.()
    // The service has an answer before what it is asked after it.
    if (waiting.length > 0) void service.fetch('/uptime').then(answerBackwards)
  }
  try {
    assert.deepEqual(await urlsOf(path, { list: ['a', 'b', 'c', 'd'] }), ['/a', '/b', '/c', '/d'])
  } finally {
    held = async () => {}
  }
})

describe('the items', () => {
  const cases: { name: string; items: string; body: Json; constants?: JsonObject; urls: string[] }[] = [
    { name: 'come from the payload', items: 'payload.a.list', body: { a: { list: ['x'] } }, urls: ['/x'] },
    { name: 'come from the body', items: 'requestBody.list', body: { list: ['x', 'y'] }, urls: ['/x', '/y'] },
    { name: 'may be the whole body', items: 'payload', body: ['x', 2], urls: ['/x', '/2'] },
    { name: 'come from the query', items: 'query.tag', body: {}, urls: ['/t1', '/t2'] },
    { name: 'come from constants', items: 'constants.codes', body: {}, constants: { codes: ['c'] }, urls: ['/c'] },
    {
      name: 'may be fields of elements',
      items: 'payload.rows.id',
      body: { rows: [{ id: 1 }, { id: 2 }] },
      urls: ['/1', '/2'],
    },
    { name: 'may be one value', items: 'payload.list[]', body: { list: 'x' }, urls: ['/x'] },
    { name: 'may be a field of one value', items: 'payload.rows[].id', body: { rows: { id: 1 } }, urls: ['/1'] },
    { name: 'may be none', items: 'payload.list', body: { list: [] }, urls: [] },
    {
      name: 'may be 1,000',
      items: 'payload.list',
      body: { list: strings(1_000) },
      urls: strings(1_000).map((one) => `/${one}`),
    },
  ]
  for (const { name, items, body, constants = {}, urls } of cases) {
    it(name, async () => {
      const path = await register(items, { concurrency: 20 }, { constants })
      assert.deepEqual(await urlsOf(`${path}?tag=t1&tag=t2`, body), urls)
    })
  }

  const wrong: { name: string; body: Json }[] = [
    { name: 'nothing', body: {} },
    { name: 'null', body: { list: null } },
    { name: 'a text', body: { list: 'a,b' } },
    { name: 'an object', body: { list: { 0: 'a', length: 1 } } },
    { name: '1,001 items', body: { list: strings(1_001) } },
  ]
  for (const { name, body } of wrong) {
    it(`are a 400 where they are ${name}, and nothing is sent`, async () => {
      const path = await register('payload.list')
      const from = upstream.received.length
      const reply = await service.fetch(path, json('POST', body))
      const { code, stage, path: blames } = reply.json()
      assert.deepEqual(
        [reply.status, code, stage, blames],
        [400, 'FOREACH_INVALID', 'lookup', 'requests.lookup[0].forEach.items'],
      )
      assert.equal(upstream.received.length, from)
    })
  }

  it('are a 400 where one has no value for the URL, and nothing is sent', async () => {
    const path = await register('payload.list', { concurrency: 5 })
    const from = upstream.received.length
    const reply = await service.fetch(path, json('POST', { list: ['a', { b: 1 }, 'c'] }))
    assert.deepEqual([reply.status, reply.json().code, upstream.received.length - from], [400, 'PARAMETER_INVALID', 0])
  })
})

it('reads the fields of an item beside the roots of the message, each item for itself', async () => {
  routes += 1
  const query = {
    own: { path: 'item.own', prefix: 'p-' },
    rare: { path: 'item.rare' },
    shared: { path: 'payload.shared' },
    constant: { path: 'constants.c' },
  }
  const lookup = {
    id: 'each',
    forEach: { items: 'payload.list', concurrency: 2 },
    config: { url: `${upstream.url}/q`, params: { query } },
  }
  await service.register({ endpoint: { pattern: `/each-${routes}` }, requests: { lookup }, constants: { c: 1 } })
  const list = [{ own: 1, rare: 'r' }, { own: 2 }, { own: 3, rare: 's' }]
  assert.deepEqual(await urlsOf(`/each-${routes}`, { shared: 'all', list }), [
    '/q?own=p-1&rare=r&shared=all&constant=1',
    '/q?own=p-2&shared=all&constant=1',
    '/q?own=p-3&rare=s&shared=all&constant=1',
  ])
})

it('changes nothing that later stages see', async () => {
  const path = await register('payload.list', { concurrency: 2 }, { constants: { c: { d: 1 } } })
  const body = { list: ['a', 'b'], item: 'own', payload: { x: 1 } }
  const reply = await service.fetch(path, json('POST', body))
  assert.deepEqual(reply.json<Found>().requestBody, body)
  const transforming = await register(
    'payload.list',
    {},
    { inputTransforms: { roots: '$sort($keys($$))' }, inputMapping: { 'transforms.roots': 'roots' } },
  )
  const { roots } = (await service.fetch(transforming, json('POST', body))).json<{ roots: string[] }>()
  assert.deepEqual(roots, [
    'constants',
    'lookupRequests',
    'query',
    'requestBody',
    'requestHeaders',
    'state',
    'timestamps',
    'transforms',
    'urlParams',
  ])
})

it('forwards each item as the body of its own call', async () => {
  routes += 1
  const forEach = { items: 'payload.list', concurrency: 3 }
  const each = (id: string, headers: JsonObject) => ({
    id,
    forEach,
    forwardExistingRequestBody: true,
    config: { method: 'POST', url: `${upstream.url}/${id}-${routes}`, headers },
  })
  const lookup = [each('each', {}), each('xml', { 'Content-Type': 'application/soap+xml' })]
  await service.register({ endpoint: { pattern: `/each-${routes}` }, requests: { lookup } })
  const list = [{ n: 1 }, 'text', [2]]
  const reply = await service.fetch(`/each-${routes}`, json('POST', { list }))
  assert.equal(reply.status, 200, reply.text)
  const { each: asJson, xml } = reply.json<{ lookupRequests: Record<string, { data: { body: string } }[]> }>()
    .lookupRequests
  assert.deepEqual(
    asJson?.map(({ data }) => JSON.parse(data.body)),
    list,
  )
  const bodies = xml?.map(({ data }) => data.body.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><'))
  assert.deepEqual(bodies, ['<n>1</n>', '<root>text</root>', '<root><item>2</item></root>'])
  const types = upstream.received
    .filter(({ url }) => url.endsWith(`-${routes}`))
    .map(({ url, headers }) => `${url} ${headers['content-type']}`)
  assert.deepEqual(new Set(types), new Set([`/each-${routes} application/json`, `/xml-${routes} application/soap+xml`]))
})

it('starts no item after one has failed', async () => {
  const path = await register('payload.list')
  const from = upstream.received.length
  const reply = await service.fetch(path, json('POST', { list: ['a', '404', 'b', 'c'] }))
  assert.deepEqual([reply.status, reply.json().code], [404, 'LOOKUP_REFUSED'])
  assert.deepEqual(
    upstream.received.slice(from).map(({ url }) => url),
    ['/a', '/404'],
  )
})
