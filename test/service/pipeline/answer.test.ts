import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  upstream = await startUpstream(({ method, url, body }) => ({ method, url, ...(body === '' ? {} : { body }) }))
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** Registers an endpoint at a path of its own, and gives that path. */
async function register(document: JsonObject, method = 'POST', parameters = ''): Promise<string> {
  routes += 1
  await service.register({ endpoint: { pattern: `/answer-${routes}${parameters}`, method }, ...document })
  return `/answer-${routes}`
}

/** XML without its declaration and the white space between elements. */
const elements = (xml: string) => xml.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><')

describe('without response requests the answer is the output', () => {
  const lookup = () => ({ id: 'l', config: { url: `${upstream.url}/l` } })
  const types: { output: string; type: string; body: string }[] = [
    { output: 'JSON', type: 'application/json', body: '{"m":{"n":1}}' },
    { output: 'XML', type: 'application/xml', body: '<m><n>1</n></m>' },
    { output: 'FHIR+JSON', type: 'application/fhir+json', body: '{"m":{"n":1}}' },
    { output: 'JSON+OPENHIM', type: 'application/json+openhim', body: '{"m":{"n":1}}' },
  ]
  for (const { output, type, body } of types) {
    it(`as ${type}`, async () => {
      const path = await register({
        transformation: { input: 'JSON', output },
        inputMapping: { 'requestBody.a': 'm.n' },
      })
      const reply = await service.fetch(path, json('POST', { a: 1, b: 2 }))
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, type])
      assert.equal(elements(reply.text), body)
    })
  }

  it('which is the parsed body where nothing is mapped', async () => {
    const path = await register({ transformation: { input: 'XML', output: 'JSON' } })
    const body = '<m a="1"><b>2</b><b>3</b></m>'
    const reply = await service.fetch(path, { method: 'POST', headers: { 'content-type': 'text/xml' }, body })
    assert.deepEqual(reply.json(), { $: { a: '1' }, b: ['2', '3'] })
  })

  it('which is the parsed body and the lookups where nothing is mapped and there are some', async () => {
    const path = await register({ requests: { lookup: lookup() } })
    const reply = await service.fetch(path, json('POST', [1]))
    type Whole = { requestBody: Json; lookupRequests: { l: { data: Json; headers: JsonObject } } }
    const { requestBody, lookupRequests, ...others } = reply.json<Whole>()
    assert.deepEqual([requestBody, lookupRequests.l.data, others], [[1], { method: 'GET', url: '/l' }, {}])
    assert.equal(lookupRequests.l.headers['content-type'], 'application/json')
  })

  it('which is the mapped output alone where there are lookups too', async () => {
    const path = await register({
      requests: { lookup: lookup() },
      inputMapping: { 'requestBody.a': 'a', 'lookupRequests.l.data.url': 'url' },
    })
    assert.equal((await service.fetch(path, json('POST', { a: 1 }))).text, '{"a":1,"url":"/l"}')
  })
})

for (const method of ['GET', 'DELETE']) {
  describe(`a ${method} endpoint`, () => {
    const transformation = { output: 'JSON' }

    it('has no body, and answers nothing as an empty object', async () => {
      const path = await register({ transformation }, method)
      assert.equal((await service.fetch(path, { method })).text, '{}')
    })

    it('sends what it was asked for in its URL', async () => {
      const params = { url: { id: { path: 'urlParams.id' } }, query: { of: { path: 'query.of' } } }
      const config = { url: `${upstream.url}/p/:id`, params }
      const requests = { lookup: { id: 'l', config }, response: { id: 'r', config: { ...config, method: 'put' } } }
      const inputMapping = { 'urlParams.id': 'id', 'lookupRequests.l.data.url': 'found' }
      const path = await register({ transformation, requests, inputMapping }, method, '/:id')
      const reply = await service.fetch(`${path}/7%2F8?of=a&of=b`, { method })
      const url = '/p/7%2F8?of=a,b'
      assert.deepEqual(reply.json(), { method: 'PUT', url, body: JSON.stringify({ id: '7/8', found: url }) })
    })
  })
}

it('never mixes messages that are under way together', async () => {
  const config = (path: string): JsonObject => ({
    url: `${upstream.url}/${path}/:n`,
    params: { url: { n: { path: 'payload.n' } }, query: { q: { path: 'query.q' }, w: { path: 'urlParams.w' } } },
  })
  const each = { items: 'payload.items', concurrency: 2 }
  const eachConfig = {
    url: `${upstream.url}/each/:n/:i`,
    params: { url: { n: { path: 'payload.n' }, i: { path: 'item' } } },
  }
  const path = await register(
    {
      requests: {
        lookup: [
          { id: 'one', config: { ...config('one'), method: 'POST' }, forwardExistingRequestBody: true },
          { id: 'each', config: eachConfig, forEach: each },
        ],
        response: [
          { id: 'first', config: config('first') },
          { id: 'second', config: config('second') },
        ],
      },
      inputTransforms: { twice: 'requestBody.n * 2' },
      inputMapping: {
        'requestBody.n': 'n',
        'transforms.twice': 'twice',
        'lookupRequests.one.data': 'one',
        'lookupRequests.each.data.url': 'each',
        'requestHeaders.x-n': 'header',
      },
    },
    'POST',
    '/:w',
  )
  const numbers = Array.from({ length: 100 }, (_, n) => n)
  const message = (n: number) => ({ n, items: Array.from({ length: n % 4 }, (_, index) => `${n}-${index}`) })
  const replies = await Promise.all(
    numbers.map((n) => service.fetch(`${path}/w${n}?q=q${n}`, json('POST', message(n), { 'x-n': `h${n}` }))),
  )
  const expected = numbers.map((n) => {
    const url = `${n}?q=q${n}&w=w${n}`
    const body = JSON.stringify(message(n))
    const each = message(n).items.map((item) => `/each/${n}/${item}`)
    const one = { method: 'POST', url: `/one/${url}`, body }
    const sent = { n, twice: 2 * n, one, each, header: `h${n}` }
    const answered = (id: string) => ({ method: 'POST', url: `/${id}/${url}`, body: JSON.stringify(sent) })
    return { first: answered('first'), second: answered('second') }
  })
  assert.deepEqual(
    replies.map((reply) => reply.json()),
    expected,
  )
})
