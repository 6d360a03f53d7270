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
let held: () => Promise<void> = async () => {}
before(async () => {
  service = await startService()
  upstream = await startUpstream(async ({ url }) => {
    await held()
    return { url }
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** Sends a message to an endpoint with these responses; gives the reply and what the upstream received. */
async function send(responses: readonly JsonObject[], body: Json, document: JsonObject = {}) {
  routes += 1
  const response = responses.map(({ url = '/a', method, headers, params, ...rest }, index) => ({
    id: `r${index}`,
    config: {
      url: `${upstream.url}${url}`,
      ...(method === undefined ? {} : { method }),
      ...(headers === undefined ? {} : { headers }),
      ...(params === undefined ? {} : { params }),
    },
    ...rest,
  }))
  await service.register({ endpoint: { pattern: `/respond-${routes}` }, requests: { response }, ...document })
  const from = upstream.received.length
  const reply = await service.fetch(`/respond-${routes}`, json('POST', body))
  return { reply, received: upstream.received.slice(from) }
}

/** XML without its declaration and the white space between elements; anything else as it is. */
const elements = (text: string) =>
  text.startsWith('<?xml') ? text.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><') : text

const output = (format: string): JsonObject => ({ transformation: { input: 'JSON', output: format } })

describe('the body that a response request gets', () => {
  const asJson = '{"m":{"a":[1,2]}}'
  const asXml = '<m><a>1</a><a>2</a></m>'
  const cases: { name: string; format: string; own?: string; body: string; type: string }[] = [
    { name: 'is the output', format: 'JSON', body: asJson, type: 'application/json' },
    { name: 'is the output', format: 'XML', body: asXml, type: 'application/xml' },
    { name: 'is the output', format: 'FHIR+JSON', body: asJson, type: 'application/fhir+json' },
    { name: 'is the output', format: 'JSON+OPENHIM', body: asJson, type: 'application/json+openhim' },
    {
      name: 'is JSON where it says so',
      format: 'XML',
      own: 'application/json',
      body: asJson,
      type: 'application/json',
    },
    {
      name: 'is JSON where a suffix says so',
      format: 'XML',
      own: 'application/fhir+json; charset=utf-8',
      body: asJson,
      type: 'application/fhir+json; charset=utf-8',
    },
    { name: 'is XML where it says so', format: 'JSON', own: 'text/xml', body: asXml, type: 'text/xml' },
    {
      name: 'is XML where a suffix says so',
      format: 'FHIR+JSON',
      own: 'application/soap+xml',
      body: asXml,
      type: 'application/soap+xml',
    },
    { name: 'is of the type that it says', format: 'JSON', own: 'text/json', body: asJson, type: 'text/json' },
    {
      name: 'is the output where it says neither',
      format: 'XML',
      own: 'text/plain',
      body: asXml,
      type: 'application/xml',
    },
  ]
  for (const { name, format, own, body, type } of cases) {
    it(`${name}: ${format}${own === undefined ? '' : ` and ${own}`}`, async () => {
      const headers = own === undefined ? {} : { 'Content-Type': own }
      const { received } = await send([{ headers }], { m: { a: [1, 2] } }, output(format))
      assert.deepEqual(
        received.map((request) => [elements(request.body), request.headers['content-type']]),
        [[body, type]],
      )
    })
  }

  it('is what was mapped, not what came', async () => {
    const mapping = { inputMapping: { 'requestBody.a': 'b' } }
    const { received } = await send([{}, { headers: { 'content-type': 'application/xml' } }], { a: 1, c: 2 }, mapping)
    assert.deepEqual(received.map(({ body }) => elements(body)).toSorted(), ['<b>1</b>', '{"b":1}'])
  })

  it('is none with GET and HEAD', async () => {
    const { received } = await send([{ method: 'GET' }, { method: 'head' }, { method: 'DELETE' }], { a: 1 })
    const sent = received.map(({ method, body, headers }) => [method, body, headers['content-type']])
    assert.deepEqual(sent.toSorted(), [
      ['DELETE', '{"a":1}', 'application/json'],
      ['GET', '', undefined],
      ['HEAD', '', undefined],
    ])
  })

  it('is reported at registration where its Content-Type gives way', async () => {
    const response = { id: 'one', config: { url: upstream.url, headers: { 'content-type': 'text/csv' } } }
    const document = endpointDocument({ endpoint: { pattern: '/gives-way' }, requests: { response: [response] } })
    const reply = await service.fetch('/endpoints', json('POST', document))
    assert.equal(reply.status, 201)
    assert.match(reply.headers.get('x-crosswalk-warnings') ?? '', /requests\.response\[0\]\.config\.headers/)
  })
})

describe('the request of a response', () => {
  const methods: { method?: string; sent: string }[] = [
    { sent: 'POST' },
    { method: 'post', sent: 'POST' },
    { method: 'Put', sent: 'PUT' },
    { method: 'pATCH', sent: 'PATCH' },
    { method: 'delete', sent: 'DELETE' },
  ]
  for (const { method, sent } of methods) {
    it(`has the method ${sent} where the document says ${method}`, async () => {
      const { received } = await send([method === undefined ? {} : { method }], {})
      assert.deepEqual(
        received.map((request) => request.method),
        [sent],
      )
    })
  }

  it('has its own headers and parameters', async () => {
    const params = {
      url: { id: { path: 'responseBody.id' } },
      query: { filter: { path: 'payload.code', prefix: 'code:', postfix: ':section:52' } },
    }
    const headers = { Authorization: 'Basic c2VjcmV0', 'X-Own': 'own' }
    const { received } = await send(
      [
        {
          url: '/p/:id/:idType',
          params: { ...params, url: { ...params.url, idType: { path: 'payload.code' } } },
          headers,
        },
      ],
      {
        id: 'a/b',
        code: '1223',
      },
    )
    const sent = received.map((request) => [request.url, request.headers.authorization, request.headers['x-own']])
    assert.deepEqual(sent, [['/p/a%2Fb/1223?filter=code:1223:section:52', 'Basic c2VjcmV0', 'own']])
  })
})

it('sends all responses at once', async () => {
  let arrived = 0
  let open = () => {}
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  held = () => {
    arrived += 1
    if (arrived === 3) open()
    return all
  }
  try {
    const { reply } = await send(
      [{ url: '/0' }, { url: '/1' }, { url: '/2' }].map((one) => ({ ...one, timeoutMs: 5_000 })),
      {},
    )
    assert.deepEqual(reply.json(), { r0: { url: '/0' }, r1: { url: '/1' }, r2: { url: '/2' } })
    assert.equal(reply.headers.get('x-crosswalk-status'), null)
  } finally {
    held = async () => {}
  }
})

describe('a response with forEach', () => {
  const each = (items: string, more: JsonObject = {}): JsonObject => ({ forEach: { items }, ...more })

  it('is sent once an item, whose body is that item', async () => {
    const list = [{ n: 1 }, 'text', 3, null, [4], false]
    const { reply, received } = await send([each('payload.list')], { list })
    assert.deepEqual(
      received.map(({ body, headers }) => [JSON.parse(body), headers['content-type']]),
      list.map((item) => [item, 'application/json']),
    )
    assert.deepEqual(reply.json(), { r0: list.map(() => ({ url: '/a' })) })
  })

  it('takes its items from what was mapped', async () => {
    const mapping = { inputMapping: { 'requestBody.list[].id': 'ids' } }
    const { received } = await send([each('responseBody.ids')], { list: [{ id: 'a' }, { id: 'b' }] }, mapping)
    assert.deepEqual(
      received.map(({ body }) => body),
      ['"a"', '"b"'],
    )
  })

  it('sends items in the form of the output, or of its own Content-Type', async () => {
    const responses = [each('payload.list'), each('payload.list', { headers: { 'content-type': 'application/json' } })]
    const { received } = await send(responses, { list: [{ m: 1 }] }, output('XML'))
    assert.deepEqual(received.map(({ body }) => elements(body)).toSorted(), ['<m>1</m>', '{"m":1}'])
  })

  it('fills its parameters for each item', async () => {
    const params = { url: { id: { path: 'item.id' } }, query: { all: { path: 'payload.all' } } }
    const { reply } = await send([each('payload.list', { url: '/p/:id', params })], {
      all: 'x',
      list: [{ id: 1 }, { id: 2 }],
    })
    assert.deepEqual(reply.json(), { r0: [{ url: '/p/1?all=x' }, { url: '/p/2?all=x' }] })
  })

  for (const { concurrency, most } of [
    { concurrency: undefined, most: 1 },
    { concurrency: '3', most: 3 },
  ]) {
    it(`calls ${most} at a time where concurrency is ${JSON.stringify(concurrency)}`, async () => {
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
      try {
        const forEach = { items: 'payload.list', ...(concurrency === undefined ? {} : { concurrency }) }
        const params = { url: { id: { path: 'item' } } }
        const { reply } = await send([{ url: '/:id', params, forEach }], { list: [1, 2, 3, 4, 5, 6, 7] })
        assert.deepEqual(reply.json(), { r0: [1, 2, 3, 4, 5, 6, 7].map((id) => ({ url: `/${id}` })) })
        assert.equal(highest, most)
      } finally {
        held = async () => {}
      }
    })
  }

  it('sends nothing over an empty array', async () => {
    const { reply, received } = await send([each('payload.list')], { list: [] })
    assert.deepEqual([reply.status, reply.json(), received], [200, { r0: [] }, []])
  })

  const wrong: { name: string; body: Json }[] = [
    { name: 'nothing', body: {} },
    { name: 'an object', body: { list: { a: 1 } } },
    { name: '1,001 items', body: { list: new Array(1_001).fill(1) } },
  ]
  for (const { name, body } of wrong) {
    it(`is a 400 over ${name}, and no response is sent`, async () => {
      const { reply, received } = await send([{}, each('payload.list')], body)
      const { code, stage, path } = reply.json()
      assert.deepEqual(
        [reply.status, code, stage, path, received],
        [400, 'FOREACH_INVALID', 'respond', 'requests.response[1].forEach.items', []],
      )
    })
  }

  it('is never primary: the mark is a warning, and the answer is keyed by id', async () => {
    const response = [{ id: 'one', primary: true, forEach: { items: 'payload' }, config: { url: upstream.url } }]
    const document = endpointDocument({ endpoint: { pattern: '/never-primary' }, requests: { response } })
    const reply = await service.fetch('/endpoints', json('POST', document))
    assert.equal(reply.status, 201)
    assert.match(reply.headers.get('x-crosswalk-warnings') ?? '', /requests\.response\[0\]\.primary/)
    const answer = await service.fetch('/never-primary', json('POST', [1, 2]))
    assert.deepEqual(Object.keys(answer.json()), ['one'])
  })
})
