/** Several answers of response requests are one, keyed by id, or that of the primary one. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { type Format, MEDIA_TYPES } from '../../../src/formats/codecs.ts'
import type { Reply } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'
import { elements, failureOf, openPipeline, output, type Said } from './fixture.ts'

const pipeline = openPipeline()
let away: string
before(async () => {
  away = await nowhere()
})

const JSON_TYPE = 'application/json'
const to = (id: string, said: Said | string, more: JsonObject = {}): JsonObject => {
  const url = typeof said === 'string' ? said : pipeline.at({ headers: { 'x-own': 'theirs' }, ...said })
  return { id, config: { url }, ...more }
}
const send = (response: readonly JsonObject[], format: Format = 'JSON', document: JsonObject = {}) =>
  pipeline.send({ ...output(format), requests: { response }, ...document }, { m: 1 })
const statusOf = (reply: Reply) => [reply.status, reply.headers.get('x-crosswalk-status')]

const wholes: [Format, string][] = [
  ['JSON', '{"z":{"a":[1]},"my.x":{"b":"2"},"t":"said","n":null}'],
  ['XML', '<root><z><a>1</a></z><my.x><b>2</b></my.x><t>said</t><n/></root>'],
  ['FHIR+JSON', '{"z":{"a":[1]},"my.x":{"b":"2"},"t":"said","n":null}'],
]
for (const [format, body] of wholes) {
  it(`several answers are one, as ${format}`, async () => {
    const good = [
      to('z', { status: 201, type: JSON_TYPE, body: '{"a":[1]}' }),
      to('my.x', { type: 'text/xml', body: '<m><b>2</b></m>' }),
      to('t', { status: 299, type: 'text/plain', body: 'said' }),
      to('n', { status: 204 }),
    ]
    const reply = await send(good, format)
    assert.deepEqual([elements(reply.text), reply.headers.get('content-type')], [body, MEDIA_TYPES[format]])
    assert.deepEqual([...statusOf(reply), reply.headers.get('x-own')], [200, null, null])
  })
}

describe('a failed one is reported, and the answer is partial', () => {
  const cases: { name: string; failed: () => JsonObject; holds: Json | RegExp }[] = [
    {
      name: 'with its own error body',
      failed: () => to('f', { status: 404, type: JSON_TYPE, body: '{"why":"gone"}' }),
      holds: { why: 'gone' },
    },
    { name: 'with its status where it has no body', failed: () => to('f', { status: 503 }), holds: /503/ },
    { name: 'where a redirect came back', failed: () => to('f', { status: 302 }), holds: /302/ },
    { name: 'where nothing came back', failed: () => to('f', away), holds: /connection refused/ },
    {
      name: 'where it timed out',
      failed: () => to('f', `${pipeline.upstream.url}/silent`, { timeoutMs: 50 }),
      holds: /50 ms/,
    },
    {
      name: 'where its status is not one of allowedStatuses',
      failed: () => to('f', { type: JSON_TYPE, body: '{"a":1}' }, { allowedStatuses: ['201'] }),
      holds: { a: 1 },
    },
  ]
  for (const { name, failed, holds } of cases) {
    it(name, async () => {
      const reply = await send([failed(), to('ok', { body: '{"a":1}' })])
      assert.deepEqual(statusOf(reply), [200, 'partial'])
      const { f, ok, ...others } = reply.json<Record<string, Json>>()
      assert.deepEqual([ok, others], [{ a: 1 }, {}])
      if (holds instanceof RegExp) assert.match((f as { error: string }).error, holds)
      else assert.deepEqual(f, holds)
    })
  }

  it('as XML too', async () => {
    const failed = to('f', { status: 404, type: JSON_TYPE, body: '{"why":"gone"}' })
    const reply = await send([failed, to('ok', {})], 'XML')
    assert.deepEqual(statusOf(reply), [200, 'partial'])
    assert.equal(elements(reply.text), '<root><f><why>gone</why></f><ok/></root>')
  })

  it('where all failed', async () => {
    const reply = await send([to('a', away), to('b', { status: 500, type: 'text/plain', body: 'no' })])
    assert.deepEqual([...statusOf(reply), ...Object.keys(reply.json())], [200, 'partial', 'a', 'b'])
  })
})

it('takes a refusal that allowedStatuses name as a success', async () => {
  const allowed = { allowedStatuses: ['2xx', '404'] }
  const reply = await send([to('a', { status: 404, body: '{"n":1}' }, allowed), to('b', { status: 404 }, allowed)])
  assert.deepEqual([reply.json(), reply.headers.get('x-crosswalk-status')], [{ a: { n: 1 }, b: null }, null])
})

describe('a forEach is an array in the order of its items', () => {
  const each = (url: string, items: Json, more: JsonObject = {}) => {
    const config = { url, params: { url: { item: { path: 'item' } }, query: { v: { path: 'item' } } } }
    const request = { id: 'e', forEach: { items: 'constants.items' }, config, ...more }
    return { document: { constants: { items } }, request }
  }

  it('keyed by its id though it is the only one, or marked primary', async () => {
    const url = pipeline.at((request) => request.url.slice(-1))
    const { document, request } = each(url, ['a', 'b'])
    const alone = await send([request], 'JSON', document)
    assert.deepEqual([...statusOf(alone), alone.json()], [200, null, { e: ['a', 'b'] }])
    const primary = await send([{ ...request, primary: true }, to('o', { status: 202 })], 'JSON', document)
    assert.deepEqual([primary.status, primary.json()], [200, { e: ['a', 'b'], o: null }])
    assert.equal(elements((await send([request], 'XML', document)).text), '<root><e>a</e><e>b</e></root>')
  })

  it('with what went wrong in the place of the item, and the items behind it', async () => {
    const url = `${pipeline.upstream.url}/:item`
    const { document, request } = each(url, [200, 404, 201, 500, 202], {
      config: { method: 'HEAD', url, params: { url: { item: { path: 'item' } } } },
    })
    const from = pipeline.upstream.received.length
    const reply = await send([request, to('o', {})], 'JSON', document)
    assert.deepEqual(statusOf(reply), [200, 'partial'])
    const { e, o } = reply.json<{ e: ({ error: string } | null)[]; o: Json }>()
    const errors = e.map((item) => item && /\d{3}/.exec(item.error)?.[0])
    assert.deepEqual([errors, o], [[null, '404', null, '500', null], null])
    assert.equal(pipeline.upstream.received.length - from, 6)
  })
})

describe('a primary response', () => {
  const good = (n: string): Said => ({ type: JSON_TYPE, body: `{"n":${n}}` })

  for (const isInConfig of [true, false]) {
    it(`answers alone, and the others are sent: ${isInConfig ? 'config.primary' : 'primary'}`, async () => {
      const url = pipeline.at({ status: 202, ...good('2.0'), headers: { 'x-own': 'theirs' } })
      const config = { url, ...(isInConfig ? { primary: true } : {}) }
      const mine = { id: 'p', config, ...(isInConfig ? {} : { primary: true }) }
      const each = to('e', {}, { forEach: { items: 'constants.list' } })
      const others = [to('a', good('1')), to('b', { status: 500 })]
      const from = pipeline.upstream.received.length
      const reply = await send([...others, mine, each], 'JSON', { constants: { list: [1, 2] } })
      assert.deepEqual([reply.text, reply.headers.get('x-own'), ...statusOf(reply)], ['{"n":2.0}', 'theirs', 202, null])
      const sent = pipeline.upstream.received.slice(from).map(({ body }) => body)
      assert.deepEqual(sent.toSorted(), ['1', '2', '{"m":1}', '{"m":1}', '{"m":1}'])
    })
  }

  it('answers with its refusal', async () => {
    const refused = await send([to('a', {}), to('p', { ...good('1'), status: 409 }, { primary: true })])
    assert.deepEqual([refused.status, refused.text], [409, '{"n":1}'])
  })

  it('fails the message where it cannot be reached, and the others do not', async () => {
    const failed = await send([to('a', good('1')), to('p', away, { primary: true })])
    assert.deepEqual(failureOf(failed), [502, 'RESPONSE_UNREACHABLE', 'respond', 'requests.response[1]'])
    const fine = await send([to('p', good('1'), { primary: true }), to('b', away)])
    assert.deepEqual([fine.text, ...statusOf(fine)], ['{"n":1}', 200, null])
  })
})
