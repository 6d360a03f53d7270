/** Requests that are made once for each item. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { type Answering, json, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { elements, failureOf, openPipeline, output } from './fixture.ts'

const pipeline = openPipeline()

type Each = { items?: string; forEach?: JsonObject; more?: JsonObject; url?: string }

/** A lookup whose items stand in its URL. */
const each = ({ items = 'payload.list', forEach = {}, more, url = `${pipeline.upstream.url}/:item` }: Each = {}) => ({
  id: 'each',
  forEach: { items, ...forEach },
  config: { url, params: { url: { item: { path: 'item' } } } },
  ...more,
})

type Found = { lookupRequests: { each: { data: { url: string; body: string } }[] } }

async function urlsOf(lookup: JsonObject, body: Json, document: JsonObject = {}, query = '') {
  const path = await pipeline.register({ requests: { lookup }, ...document })
  const reply = await pipeline.service.fetch(`${path}${query}`, json('POST', body))
  assert.equal(reply.status, 200, reply.text)
  return reply.json<Found>().lookupRequests.each.map(({ data }) => data.url)
}

const strings = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`)

/** Answers none of so many requests before all have come; `highest()` are the most that were under way. */
function filling(most: number) {
  let [underWay, highest] = [0, 0]
  const filled = Promise.withResolvers<void>()
  const answer: Answering = async ({ url }) => {
    underWay += 1
    highest = Math.max(highest, underWay)
    // One call more than there should be would have arrived before what the service is asked now.
    if (underWay === most) void pipeline.service.fetch('/uptime').then(() => filled.resolve())
    await filled.promise
    underWay -= 1
    return { url }
  }
  return { answer, highest: () => highest }
}

describe('forEach.concurrency', () => {
  const cases: { concurrency?: number | string; most: number }[] = [
    { most: 1 },
    { concurrency: 1, most: 1 },
    { concurrency: '3', most: 3 },
    { concurrency: 1000, most: 12 },
  ]
  for (const { concurrency, most } of cases) {
    it(`calls ${most} at a time where it is ${JSON.stringify(concurrency)}`, async () => {
      const forEach = { items: 'payload.list', ...(concurrency === undefined ? {} : { concurrency }) }
      for (const kind of ['lookup', 'response']) {
        const { answer, highest } = filling(most)
        const request = { id: 'each', forEach, config: { url: pipeline.at(answer) } }
        const reply = await pipeline.send({ requests: { [kind]: request } }, { list: strings(12) })
        assert.deepEqual([reply.status, highest()], [200, most])
      }
    })
  }

  it('is bounded by REQUEST_CONNECTIONS_PER_ORIGIN', async (t) => {
    const service = await startService({ REQUEST_CONNECTIONS_PER_ORIGIN: '2' })
    t.after(service.stop)
    let [open, most] = [0, 0]
    const url = pipeline.at(async () => {
      open += 1
      most = Math.max(most, open)
      // No request is answered before as many have come as may.
      await until(
        () => most,
        (count) => count >= 2,
      )
      open -= 1
      return {}
    })
    const lookup = { id: 'each', forEach: { items: 'payload', concurrency: 10 }, config: { url } }
    await service.register({ endpoint: { pattern: '/each' }, requests: { lookup } })
    const { status } = await service.fetch('/each', json('POST', strings(6)))
    assert.deepEqual([status, most], [200, 2])
  })
})

describe('the items', () => {
  const cases: { name: string; items: string; body: Json; urls: string[] }[] = [
    { name: 'come from the payload', items: 'payload.a.list', body: { a: { list: ['x'] } }, urls: ['/x'] },
    { name: 'may be the whole body', items: 'payload', body: ['x', 2], urls: ['/x', '/2'] },
    { name: 'come from constants', items: 'constants.codes', body: {}, urls: ['/c'] },
    { name: 'may be one value', items: 'payload.list[]', body: { list: 'x' }, urls: ['/x'] },
    { name: 'may be none', items: 'payload.list', body: { list: [] }, urls: [] },
    { name: 'may be 1,000', items: 'payload', body: strings(1_000), urls: strings(1_000).map((one) => `/${one}`) },
  ]
  for (const { name, items, body, urls } of cases) {
    it(name, async () => {
      const lookup = each({ items, forEach: { concurrency: 20 } })
      assert.deepEqual(await urlsOf(lookup, body, { constants: { codes: ['c'] } }, '?tag=t1&tag=t2'), urls)
    })
  }

  const wrong: [name: string, body: Json, items?: string][] = [
    ['nothing', {}],
    ['null, where one value would be taken', { list: null }, 'payload.list[]'],
    ['a text', { list: 'a,b' }],
    ['1,001 items', { list: strings(1_001) }],
  ]
  for (const [name, body, items = 'payload.list'] of wrong) {
    it(`are a 400 where they are ${name}, and nothing is sent`, async () => {
      for (const [kind, stage] of [
        ['lookup', 'lookup'],
        ['response', 'respond'],
      ] as const) {
        const from = pipeline.upstream.received.length
        const other = { id: 'other', config: { url: pipeline.upstream.url } }
        const reply = await pipeline.send({ requests: { [kind]: [other, each({ items })] } }, body)
        assert.deepEqual(failureOf(reply), [400, 'FOREACH_INVALID', stage, `requests.${kind}[1].forEach.items`])
        assert.equal(pipeline.upstream.received.length, from)
      }
    })
  }

  it('are a 400 where one has no value for the URL, and nothing is sent', async () => {
    const from = pipeline.upstream.received.length
    const lookup = each({ forEach: { concurrency: 5 } })
    const reply = await pipeline.send({ requests: { lookup } }, { list: ['a', { b: 1 }, 'c'] })
    assert.deepEqual([failureOf(reply)[1], pipeline.upstream.received.length - from], ['PARAMETER_INVALID', 0])
  })
})

it('reads the fields of an item beside the roots of the message, each item for itself', async () => {
  const query = {
    own: { path: 'item.own', prefix: 'p-' },
    rare: { path: 'item.rare' },
    shared: { path: 'payload.shared' },
    constant: { path: 'constants.c' },
  }
  const list = [{ own: 1, rare: 'r' }, { own: 2 }, { own: 3, rare: 's' }]
  const urls = [
    '/q?own=p-1&rare=r&shared=all&constant=1',
    '/q?own=p-2&shared=all&constant=1',
    '/q?own=p-3&rare=s&shared=all&constant=1',
  ]
  for (const kind of ['lookup', 'response']) {
    const request = {
      id: 'each',
      forEach: { items: 'payload.list' },
      config: { url: `${pipeline.upstream.url}/q`, params: { query } },
    }
    const received = await pipeline.receivedIn(() =>
      pipeline.send({ requests: { [kind]: request }, constants: { c: 1 } }, { shared: 'all', list }),
    )
    assert.deepEqual(
      received.map(({ url }) => url),
      urls,
    )
  }
})

it('changes nothing that later stages see', async () => {
  const document = {
    requests: { lookup: each() },
    inputTransforms: { roots: '$sort($keys($$))' },
    inputMapping: { 'transforms.roots': 'roots', requestBody: 'body' },
  }
  const body = { list: ['a', 'b'], item: 'own', payload: { x: 1 } }
  assert.deepEqual((await pipeline.send(document, body)).json(), {
    roots: [
      ...['constants', 'lookupRequests', 'query', 'requestBody', 'requestHeaders', 'state', 'timestamps', 'transforms'],
      'urlParams',
    ],
    body,
  })
})

it('forwards each item as the body of its own call', async () => {
  const list = [{ n: 1 }, 'text', [2]]
  for (const [type, bodies] of [
    ['application/json', list.map((item) => JSON.stringify(item))],
    ['application/soap+xml', ['<n>1</n>', '<root>text</root>', '<root><item>2</item></root>']],
  ] as const) {
    const config = { method: 'POST', url: pipeline.upstream.url, headers: { 'Content-Type': type } }
    const lookup = { id: 'each', forEach: { items: 'payload.list' }, forwardExistingRequestBody: true, config }
    const received = await pipeline.receivedIn(() => pipeline.send({ requests: { lookup } }, { list }))
    assert.deepEqual(
      received.map(({ body, headers }) => [elements(body), headers['content-type']]),
      bodies.map((body) => [body, type]),
    )
  }
})

it('starts no lookup after one has failed', async () => {
  const from = pipeline.upstream.received.length
  const reply = await pipeline.send({ requests: { lookup: each() } }, { list: ['a', '404', 'b', 'c'] })
  assert.deepEqual(failureOf(reply).slice(0, 2), [404, 'LOOKUP_REFUSED'])
  const urls = pipeline.upstream.received.slice(from).map(({ url }) => url)
  assert.deepEqual(urls, ['/a', '/404'])
})

describe('a response with forEach', () => {
  const send = async (requests: readonly JsonObject[], body: Json, document: JsonObject = {}) => {
    const response = requests.map((request, at) => ({
      id: `r${at}`,
      config: { url: `${pipeline.upstream.url}/200` },
      ...request,
    }))
    let reply = {} as Awaited<ReturnType<typeof pipeline.send>>
    const received = await pipeline.receivedIn(async () => {
      reply = await pipeline.send({ requests: { response }, ...document }, body)
    })
    return { reply, bodies: received.map(({ body: sent }) => elements(sent)) }
  }
  const forEach = { items: 'payload.list' }

  it('is sent once an item, whose body is that item', async () => {
    const list = [{ n: 1 }, 'text', 3, null, [4], false]
    const { reply, bodies } = await send([{ forEach }], { list })
    const sent = list.map((item) => JSON.stringify(item))
    assert.deepEqual(bodies, sent)
    assert.deepEqual(reply.json(), { r0: sent.map((body) => ({ method: 'POST', url: '/200', body })) })
  })

  it('takes its items from what was mapped', async () => {
    const document = { inputMapping: { 'requestBody.list[].id': 'ids' } }
    const { bodies } = await send(
      [{ forEach: { items: 'responseBody.ids' } }],
      { list: [{ id: 'a' }, { id: 'b' }] },
      document,
    )
    assert.deepEqual(bodies, ['"a"', '"b"'])
  })

  it('sends items in the form of the output, or of its own Content-Type', async () => {
    const config = { url: `${pipeline.upstream.url}/200`, headers: { 'content-type': 'application/json' } }
    const { bodies } = await send([{ forEach }, { forEach, config }], { list: [{ m: 1 }] }, output('XML'))
    assert.deepEqual(bodies.toSorted(), ['<m>1</m>', '{"m":1}'])
  })

  it('sends nothing over an empty array', async () => {
    const { reply, bodies } = await send([{ forEach }], { list: [] })
    assert.deepEqual([reply.status, reply.json(), bodies], [200, { r0: [] }, []])
  })
})
