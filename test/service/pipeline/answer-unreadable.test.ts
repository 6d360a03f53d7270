/** A response request that was answered with an allowed status has succeeded, whatever the body of that answer is. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'

type Given = { status?: number; type?: string; coding?: string; body: string | Buffer }

let service: Service
let upstream: Upstream
/** What the upstream answers, by path. */
const answers = new Map<string, Given>()
before(async () => {
  service = await startService({ MESSAGE_LOG: 'all' })
  upstream = await startUpstream(({ url }, response) => {
    const { status = 200, type, coding, body } = answers.get(url) ?? { body: '' }
    response.writeHead(status, {
      'x-own': 'theirs',
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    })
    response.end(body)
    return undefined
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

let routes = 0

/** A response request to an upstream that answers so. */
function to(id: string, given: Given, more: JsonObject = {}): JsonObject {
  routes += 1
  answers.set(`/target-${routes}`, given)
  return { id, config: { url: `${upstream.url}/target-${routes}` }, ...more }
}

/** The answer, with its body as it came. */
async function send(response: readonly JsonObject[], output = 'JSON', body: Json = { m: 1 }) {
  routes += 1
  const transformation = { input: 'JSON', output }
  await service.register({ endpoint: { pattern: `/unreadable-${routes}` }, transformation, requests: { response } })
  const reply = await fetch(`${service.url}/unreadable-${routes}`, json('POST', body))
  return { status: reply.status, headers: reply.headers, body: Buffer.from(await reply.arrayBuffer()) }
}

type Recorded = { outcome: string; code?: string; calls: { id: string; status: number; remark?: string }[] }

async function recordOf(headers: Headers): Promise<Recorded> {
  const record = await call(service.adminUrl, 'GET', `/messages/${headers.get('x-crosswalk-message-id')}`)
  return record.json<Recorded>()
}

const PDF = Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n', 'latin1')
const ASCII_PDF = Buffer.from('%PDF-1.0\n1 0 obj\n<< /Type /Catalog >>\n')
const BYTES = Buffer.from([0, 1, 2, 3])
const DEEP = '['.repeat(65) + ']'.repeat(65)
const UNREADABLE = /^The body of the answer cannot be read: /
const NO_TEXT = /^The body of the answer is neither JSON nor XML nor text\.$/

const unreadable: (Given & { name: string; output?: string; remark: RegExp; text?: string; base64Type?: string })[] = [
  { name: 'a PDF', type: 'application/pdf', body: PDF, remark: NO_TEXT },
  { name: 'a PDF of ASCII characters', type: 'application/pdf', body: ASCII_PDF, remark: NO_TEXT },
  { name: 'an image', type: 'image/png', body: BYTES, remark: NO_TEXT },
  { name: 'bytes of no type', body: PDF, remark: NO_TEXT, base64Type: 'application/octet-stream' },
  { name: 'bytes with a NUL', type: 'application/octet-stream', body: BYTES, remark: NO_TEXT },
  { name: 'text of another charset', type: 'text/plain', body: Buffer.from('å', 'latin1'), remark: NO_TEXT },
  { name: 'text of an unknown charset', type: 'text/plain; charset=x-none', body: 'a', remark: NO_TEXT },
  { name: 'broken JSON', type: 'application/json', body: '{"a":', remark: UNREADABLE, text: '{"a":' },
  {
    name: 'HTML that is declared as JSON',
    type: 'application/fhir+json',
    body: '<p>',
    remark: UNREADABLE,
    text: '<p>',
  },
  { name: 'JSON that is too deep', type: 'application/json', body: DEEP, remark: UNREADABLE, text: DEEP },
  { name: 'broken XML', type: 'application/xml', body: '<a><b></a>', remark: UNREADABLE, text: '<a><b></a>' },
  { name: 'broken XML, for XML', type: 'text/xml', body: '<a>', output: 'XML', remark: UNREADABLE, text: '<a>' },
  {
    name: 'JSON in a charset that it does not have',
    type: 'application/json; charset=us-ascii',
    body: '"å"',
    remark: UNREADABLE,
  },
  {
    name: 'JSON that XML cannot hold',
    type: 'application/json',
    output: 'XML',
    body: '{"a b": 1}',
    remark: /cannot be written as XML/,
    text: '{"a b": 1}',
  },
  {
    name: 'text that XML cannot hold',
    type: 'text/plain',
    output: 'XML',
    body: 'a\u0001',
    remark: /cannot be written as XML/,
  },
]

describe('the answer of a response request that was taken', () => {
  for (const { name, output, remark, text, base64Type, ...given } of unreadable) {
    it(`is passed on as it came: ${name}`, async () => {
      const reply = await send([to('one', { ...given, status: 201 })], output)
      assert.deepEqual([reply.status, reply.body], [201, Buffer.from(given.body)])
      assert.equal(reply.headers.get('content-type'), given.type ?? base64Type)
      assert.equal(reply.headers.get('x-own'), 'theirs')
      const { outcome, code, calls } = await recordOf(reply.headers)
      assert.deepEqual([outcome, code, calls.map(({ status }) => status)], ['done', undefined, [201]])
      assert.match(calls[0]?.remark ?? '', remark)
    })

    it(`stands among others as text, or as base64 with its type: ${name}`, async () => {
      const reply = await send([to('one', given), to('two', { body: '[2]' })], output)
      assert.deepEqual([reply.status, reply.headers.get('x-crosswalk-status')], [200, null])
      const type = given.type ?? base64Type
      const base64 = Buffer.from(given.body).toString('base64')
      if (output === 'XML') {
        assert.equal(reply.headers.get('content-type'), 'application/xml')
        const reported =
          text === undefined ? `<base64>${base64}</base64>` : text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
        assert.ok(reply.body.toString().includes(reported), reply.body.toString())
      } else {
        assert.deepEqual(JSON.parse(reply.body.toString()), { one: text ?? { contentType: type, base64 }, two: [2] })
      }
      const { outcome, calls } = await recordOf(reply.headers)
      assert.equal(outcome, 'done')
      assert.match(calls.find(({ id }) => id === 'one')?.remark ?? '', remark)
      assert.equal(calls.find(({ id }) => id === 'two')?.remark, undefined)
    })
  }

  const codings: { name: string; coding: string; body: Buffer }[] = [
    { name: 'one that it is not in', coding: 'gzip', body: gzipSync('{"a":1}').subarray(0, 20) },
    { name: 'one that is unknown', coding: 'x-unknown', body: Buffer.from('\xff\x00', 'latin1') },
  ]
  for (const { name, coding, body } of codings) {
    it(`is passed on as it came, with the content coding that it has: ${name}`, async () => {
      const one = to('one', { type: 'application/json', coding, body })
      routes += 1
      await service.register({ endpoint: { pattern: `/coded-${routes}` }, requests: { response: one } })
      // Not by fetch, which undoes codings.
      const reply = await call(service.url, 'POST', `/coded-${routes}`, {
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      assert.deepEqual([reply.status, reply.headers['content-encoding']], [200, coding])
      assert.equal(reply.headers['content-length'], String(body.length))
      const { calls } = await recordOf(
        new Headers({ 'x-crosswalk-message-id': String(reply.headers['x-crosswalk-message-id']) }),
      )
      assert.match(calls[0]?.remark ?? '', /content coding/)
      const among = await send([one, to('two', { body: '' })])
      assert.deepEqual(JSON.parse(among.body.toString()), {
        one: { contentType: 'application/json', contentEncoding: coding, base64: body.toString('base64') },
        two: null,
      })
    })
  }

  it('is read where only its content coding is a lie', async () => {
    const reply = await send([to('one', { type: 'application/json', coding: 'gzip', body: '{"a":1.0}' })])
    assert.deepEqual([reply.status, reply.body.toString()], [200, '{"a":1.0}'])
    assert.equal(reply.headers.get('content-type'), 'application/json')
    assert.equal(reply.headers.get('content-encoding'), null)
  })

  it('is passed on as it came beside others where it is the primary one, or optional', async () => {
    const broken = { type: 'application/json', body: '{' }
    const primary = await send([
      to('one', broken, { primary: true }),
      to('two', { type: 'application/xml', body: '<' }),
    ])
    assert.deepEqual([primary.status, primary.body.toString()], [200, '{'])
    assert.equal((await recordOf(primary.headers)).outcome, 'done')
    const optional = await send([to('one', broken, { optional: true, default: 'none' })])
    assert.deepEqual([optional.status, optional.body.toString()], [200, '{'])
  })

  it('stands in the place of its item', async () => {
    answers.set('/items/a', { type: 'application/pdf', body: PDF })
    answers.set('/items/b', { type: 'application/json', body: '{"b":1}' })
    const config = { url: `${upstream.url}/items/:id`, params: { url: { id: { path: 'item' } } } }
    const reply = await send([{ id: 'each', forEach: { items: 'payload.ids' }, config }], 'JSON', { ids: ['a', 'b'] })
    const base64 = PDF.toString('base64')
    assert.deepEqual(JSON.parse(reply.body.toString()), {
      each: [{ contentType: 'application/pdf', base64 }, { b: 1 }],
    })
    assert.equal(reply.headers.get('x-crosswalk-status'), null)
  })
})

describe('a refusal', () => {
  const cases: { name: string; given: Given; output?: string }[] = [
    { name: 'that is no text', given: { status: 422, type: 'application/pdf', body: PDF } },
    { name: 'that is declared as JSON and no text', given: { status: 500, type: 'application/json', body: PDF } },
    {
      name: 'that XML cannot hold',
      given: { status: 409, type: 'application/json', body: '{"a b":1}' },
      output: 'XML',
    },
    {
      name: 'in no content coding',
      given: { status: 503, type: 'text/plain', coding: 'br', body: Buffer.from([255]) },
    },
  ]
  for (const { name, given, output } of cases) {
    it(`keeps its status and its bytes: ${name}`, async () => {
      const request = to('one', given)
      routes += 1
      const transformation = { input: 'JSON', output: output ?? 'JSON' }
      await service.register({ endpoint: { pattern: `/r-${routes}` }, transformation, requests: { response: request } })
      const headers = { 'content-type': 'application/json' }
      const reply = await call(service.url, 'POST', `/r-${routes}`, { headers, body: '{}' })
      assert.deepEqual([reply.status, reply.headers['content-type']], [given.status, given.type])
      assert.equal(reply.headers['content-length'], String(Buffer.byteLength(given.body)))
    })
  }
})

it('is the same for a replay, and in a dry run', async () => {
  routes += 1
  const pattern = `/replayed-${routes}`
  const request = to('one', { status: 503, body: '' })
  await service.register({ endpoint: { pattern }, requests: { response: request } })
  const failed = await service.fetch(pattern, json('POST', {}))
  assert.equal(failed.status, 503)
  answers.set(new URL(String((request.config as JsonObject).url)).pathname, { type: 'application/json', body: '{' })
  const id = failed.headers.get('x-crosswalk-message-id')
  const replayed = await call(service.adminUrl, 'POST', `/messages/${id}/replay`, {
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(replayed.json().outcome, 'done', replayed.text)

  const endpoint = endpointDocument({ endpoint: { pattern: '/dry' }, requests: { response: to('one', { body: '' }) } })
  const responses = { one: { body: '{"a":', headers: { 'content-type': 'application/json' } } }
  const dry = await call(service.adminUrl, 'POST', '/endpoints/dry-run', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint, message: { body: {} }, responses }),
  })
  type Report = { outcome: string; calls: { remark?: string }[]; answer: { status: number; body: string } }
  const { outcome, calls, answer } = dry.json<Report>()
  assert.deepEqual([outcome, answer.status, answer.body], ['done', 200, '{"a":'])
  assert.match(calls[0]?.remark ?? '', UNREADABLE)
})

describe('the answer of a lookup', () => {
  const lookUp = async (given: Given) => {
    const lookup = to('one', given)
    await service.register({ endpoint: { pattern: `/lookup-${routes}` }, requests: { lookup } })
    return service.fetch(`/lookup-${routes}`, json('POST', {}))
  }
  for (const { name, output, remark, text, base64Type, ...given } of unreadable) {
    if (remark !== NO_TEXT) continue
    it(`is base64 with its type where it is no text: ${name}`, async () => {
      const reply = await lookUp(given)
      assert.equal(reply.status, 200, reply.text)
      const { lookupRequests } = reply.json<{ lookupRequests: { one: { data: Json } } }>()
      const base64 = Buffer.from(given.body).toString('base64')
      assert.deepEqual(lookupRequests.one.data, { contentType: given.type ?? base64Type, base64 })
    })
  }

  it('is JSON where it is an object, whatever it is declared as', async () => {
    const reply = await lookUp({ type: 'image/png', body: ' {"a":1}' })
    const { lookupRequests } = reply.json<{ lookupRequests: { one: { data: Json } } }>()
    assert.deepEqual(lookupRequests.one.data, { a: 1 })
  })
})
