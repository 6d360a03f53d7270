import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'

let service: Service
let upstream: Upstream
let away: string
before(async () => {
  service = await startService()
  /** Answers with the status and type that the path names, and the body of its query: `/404/text/plain?no`. */
  upstream = await startUpstream(({ url }, response) => {
    const { pathname, search } = new URL(url, 'http://a')
    const [status, ...type] = pathname.slice(1).split('/')
    if (status === 'silent') return undefined
    response.writeHead(Number(status), {
      'x-own': 'theirs',
      ...(type.length === 0 ? {} : { 'content-type': type.join('/') }),
    })
    response.end(decodeURIComponent(search.slice(1)))
    return undefined
  })
  away = await nowhere()
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

/** The path at which the upstream answers so. */
const path = (status: number, type = '', body = '') =>
  `/${status}${type === '' ? '' : `/${type}`}${body === '' ? '' : `?${encodeURIComponent(body)}`}`

let routes = 0

async function send(response: readonly JsonObject[], output = 'JSON', document: JsonObject = {}) {
  routes += 1
  const transformation = { input: 'JSON', output }
  await service.register({
    endpoint: { pattern: `/several-${routes}` },
    transformation,
    requests: { response },
    ...document,
  })
  return service.fetch(`/several-${routes}`, json('POST', { m: 1 }))
}

const to = (id: string, where: string, more: JsonObject = {}): JsonObject => ({
  id,
  config: { url: where.startsWith('/') ? upstream.url + where : where },
  ...more,
})

/** XML without its declaration and the white space between elements. */
const elements = (xml: string) => xml.replace(/^<\?xml[^>]*\?>\s*/, '').replace(/>\s+</g, '><')

describe('several answers are one, keyed by id', () => {
  const good = () => [
    to('z', path(201, 'application/json', '{"a":[1]}')),
    to('my.x', path(200, 'text/xml', '<m><b>2</b></m>')),
    to('t', path(299, 'text/plain', 'said')),
    to('n', path(204)),
  ]

  it('as JSON', async () => {
    const reply = await send(good())
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
    assert.equal(reply.text, '{"z":{"a":[1]},"my.x":{"b":"2"},"t":"said","n":null}')
    assert.deepEqual([reply.headers.get('x-crosswalk-status'), reply.headers.get('x-own')], [null, null])
  })

  it('as XML', async () => {
    const reply = await send(good(), 'XML')
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/xml'])
    assert.equal(elements(reply.text), '<root><z><a>1</a></z><my.x><b>2</b></my.x><t>said</t><n/></root>')
  })

  for (const [output, type] of [
    ['FHIR+JSON', 'application/fhir+json'],
    ['JSON+OPENHIM', 'application/json+openhim'],
  ] as const) {
    it(`as ${output}`, async () => {
      const reply = await send([to('a', path(200)), to('b', path(200))], output)
      assert.deepEqual([reply.headers.get('content-type'), reply.text], [type, '{"a":null,"b":null}'])
    })
  }
})

describe('a failed one is reported, and the answer is partial', () => {
  const cases: { name: string; failed: () => JsonObject; holds: Json | RegExp }[] = [
    {
      name: 'with its own error body',
      failed: () => to('f', path(404, 'application/json', '{"why":"gone"}')),
      holds: { why: 'gone' },
    },
    { name: 'with its own error text', failed: () => to('f', path(500, 'text/plain', 'broken')), holds: 'broken' },
    {
      name: 'with its own body though it is not what it declares',
      failed: () => to('f', path(500, 'application/json', '<p>')),
      holds: '<p>',
    },
    { name: 'with its status where it has no body', failed: () => to('f', path(503)), holds: /503/ },
    { name: 'where a redirect came back', failed: () => to('f', path(302)), holds: /302/ },
    { name: 'where nothing came back', failed: () => to('f', away), holds: /connection refused/ },
    { name: 'where it timed out', failed: () => to('f', '/silent', { timeoutMs: 50 }), holds: /50 ms/ },
    {
      name: 'where its status is not one of allowedStatuses',
      failed: () => to('f', path(200, 'application/json', '{"a":1}'), { allowedStatuses: ['201'] }),
      holds: { a: 1 },
    },
  ]
  for (const { name, failed, holds } of cases) {
    it(name, async () => {
      const reply = await send([failed(), to('ok', path(200, 'application/json', '{"a":1}'))])
      assert.deepEqual([reply.status, reply.headers.get('x-crosswalk-status')], [200, 'partial'])
      const { f, ok, ...others } = reply.json<Record<string, Json>>()
      assert.deepEqual([ok, others], [{ a: 1 }, {}])
      if (holds instanceof RegExp) assert.match((f as { error: string }).error, holds)
      else assert.deepEqual(f, holds)
    })
  }

  it('as XML too', async () => {
    const reply = await send([to('f', path(404, 'application/json', '{"why":"gone"}')), to('ok', path(200))], 'XML')
    assert.deepEqual([reply.status, reply.headers.get('x-crosswalk-status')], [200, 'partial'])
    assert.equal(elements(reply.text), '<root><f><why>gone</why></f><ok/></root>')
  })

  it('where all failed', async () => {
    const reply = await send([to('a', away), to('b', path(500, 'text/plain', 'no'))])
    assert.deepEqual([reply.status, reply.headers.get('x-crosswalk-status')], [200, 'partial'])
    assert.deepEqual(Object.keys(reply.json()), ['a', 'b'])
  })
})

it('takes a refusal that allowedStatuses name as a success', async () => {
  const allowed = { allowedStatuses: ['2xx', '404'] }
  const reply = await send([to('a', path(404, 'application/json', '{"n":1}'), allowed), to('b', path(404), allowed)])
  assert.deepEqual([reply.json(), reply.headers.get('x-crosswalk-status')], [{ a: { n: 1 }, b: null }, null])
})

describe('a forEach is an array in the order of its items', () => {
  const each = (id: string, items: string, more: JsonObject = {}): JsonObject => ({
    id,
    forEach: { items },
    config: { url: `${upstream.url}/:status`, params: { url: { status: { path: 'item' } } } },
    ...more,
  })

  it('keyed by its id though it is the only one', async () => {
    const reply = await send([each('e', 'constants.s')], 'JSON', { constants: { s: [200, 201] } })
    assert.deepEqual([reply.status, reply.json()], [200, { e: [null, null] }])
    assert.equal(reply.headers.get('x-crosswalk-status'), null)
  })

  it('also where it is marked primary', async () => {
    const document = { constants: { s: [200, 201] } }
    const reply = await send([each('e', 'constants.s', { primary: true }), to('o', path(202))], 'JSON', document)
    assert.deepEqual([reply.status, reply.json()], [200, { e: [null, null], o: null }])
  })

  it('with what went wrong in the place of the item, and the items behind it', async () => {
    const document = { constants: { s: [200, 404, 201, 500, 202] } }
    const from = upstream.received.length
    const reply = await send([each('e', 'constants.s'), to('o', path(200))], 'JSON', document)
    assert.deepEqual([reply.status, reply.headers.get('x-crosswalk-status')], [200, 'partial'])
    const { e, o } = reply.json<{ e: ({ error: string } | null)[]; o: Json }>()
    assert.equal(o, null)
    const errors = e.map((item) => (item === null ? null : /\d{3}/.exec(item.error)?.[0]))
    assert.deepEqual(errors, [null, '404', null, '500', null])
    assert.equal(upstream.received.length - from, 6)
  })

  it('as XML', async () => {
    const config = { url: `${upstream.url}/200/text/plain`, params: { query: { v: { path: 'item' } } } }
    const reply = await send([each('e', 'constants.s', { config })], 'XML', { constants: { s: ['a', 'b'] } })
    assert.equal(elements(reply.text), '<root><e>v=a</e><e>v=b</e></root>')
  })
})

describe('a primary response', () => {
  const spellings: { name: string; primary: (where: string) => JsonObject }[] = [
    { name: 'config.primary', primary: (where) => ({ id: 'p', config: { url: upstream.url + where, primary: true } }) },
    { name: 'primary', primary: (where) => to('p', where, { primary: true }) },
  ]
  for (const { name, primary } of spellings) {
    it(`answers alone, and the others are sent: ${name}`, async () => {
      const from = upstream.received.length
      const mine = primary(path(202, 'application/json', '{"n":2.0}'))
      const each = to('e', path(200), { forEach: { items: 'constants.list' } })
      const document = { constants: { list: [1, 2] } }
      const others = [to('a', path(200, 'application/json', '{"n":1}')), to('b', path(500))]
      const reply = await send([...others, mine, each], 'JSON', document)
      assert.deepEqual([reply.status, reply.text, reply.headers.get('x-own')], [202, '{"n":2.0}', 'theirs'])
      assert.equal(reply.headers.get('x-crosswalk-status'), null)
      const sent = upstream.received.slice(from).map(({ body }) => body)
      assert.deepEqual(sent.toSorted(), ['1', '2', '{"m":1}', '{"m":1}', '{"m":1}'])
    })
  }

  it('answers with its refusal', async () => {
    const refusing = to('p', path(409, 'application/json', '{"n":1}'), { primary: true })
    const reply = await send([to('a', path(200)), refusing])
    assert.deepEqual([reply.status, reply.text], [409, '{"n":1}'])
  })

  it('fails the message where it cannot be reached, and the others do not', async () => {
    const working = path(200, 'application/json', '{"n":1}')
    const failed = await send([to('a', working), to('p', away, { primary: true })])
    const { code, path: blames } = failed.json()
    assert.deepEqual([failed.status, code, blames], [502, 'RESPONSE_UNREACHABLE', 'requests.response[1]'])
    const fine = await send([to('p', working, { primary: true }), to('b', away)])
    assert.deepEqual([fine.status, fine.text, fine.headers.get('x-crosswalk-status')], [200, '{"n":1}', null])
  })
})
