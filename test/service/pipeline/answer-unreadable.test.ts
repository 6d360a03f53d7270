/** A response request that was answered with an allowed status has succeeded, whatever the body of that answer is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { NO_FORMAT } from '../../../src/formats/codecs.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument } from '../../support/service.ts'
import { dataOf, openPipeline, output, type Said } from './fixture.ts'

const pipeline = openPipeline({ MESSAGE_LOG: 'all' })

/** A response request that is answered so. */
const to = (id: string, said: Said, more: JsonObject = {}): JsonObject => ({
  id,
  config: { url: pipeline.at({ ...said, headers: { 'x-own': 'theirs', ...said.headers } }) },
  ...more,
})

/** Sends a message, and gives the answer as it came: fetch would undo content codings. */
async function send(response: readonly JsonObject[], format = 'JSON', body: Json = { m: 1 }) {
  const path = await pipeline.register({ ...output(format), requests: { response } })
  const headers = { 'content-type': 'application/json' }
  const reply = await call(pipeline.service.url, 'POST', path, { headers, body: JSON.stringify(body) })
  return { ...reply, type: reply.headers['content-type'] }
}

type Recorded = { outcome: string; code?: string; calls: { id: string; status: number; remark?: string }[] }

const recordOf = async ({ headers }: Awaited<ReturnType<typeof send>>) =>
  (await call(pipeline.service.adminUrl, 'GET', `/messages/${headers['x-crosswalk-message-id']}`)).json<Recorded>()

const PDF = Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n', 'latin1')
const UNREADABLE = /^The body of the answer cannot be read: /
const NO_TEXT = new RegExp(`^The body of the answer is ${NO_FORMAT} nor text\\.$`)
const NO_XML = /cannot be written as XML/

/** `text`: as what it stands among others; as base64 where it is left out. */
type Unreadable = [name: string, said: Said, remark: RegExp, text?: string | undefined, format?: string]
const JSON_TYPE = 'application/json'
const unreadable: Unreadable[] = [
  ['a PDF', { type: 'application/pdf', body: PDF }, NO_TEXT],
  ['bytes of no type', { body: PDF }, NO_TEXT],
  ['text of another charset', { type: 'text/plain', body: Buffer.from('å', 'latin1') }, NO_TEXT],
  ['broken JSON', { type: JSON_TYPE, body: '{"a":' }, UNREADABLE, '{"a":'],
  ['HTML that is declared as JSON', { type: 'application/fhir+json', body: '<p>' }, UNREADABLE, '<p>'],
  ['broken XML', { type: 'application/xml', body: '<a><b></a>' }, UNREADABLE, '<a><b></a>'],
  ['JSON that XML cannot hold', { type: JSON_TYPE, body: '{"a b": 1}' }, NO_XML, '{"a b": 1}', 'XML'],
  ['text that XML cannot hold', { type: 'text/plain', body: 'a\u0001' }, NO_XML, undefined, 'XML'],
]

describe('the answer of a response request that was taken', () => {
  for (const [name, said, remark, text, format] of unreadable) {
    const bytes = Buffer.from(said.body ?? '')
    const [type = 'application/octet-stream', base64] = [said.type, bytes.toString('base64')]

    it(`is passed on as it came: ${name}`, async () => {
      const reply = await send([to('one', { ...said, status: 201 })], format)
      assert.deepEqual([reply.status, reply.type, reply.headers['x-own']], [201, type, 'theirs'])
      assert.equal(reply.headers['content-length'], String(bytes.length))
      assert.equal(reply.text, bytes.toString())
      const { outcome, code, calls } = await recordOf(reply)
      assert.deepEqual([outcome, code, calls.map(({ status }) => status)], ['done', undefined, [201]])
      assert.match(calls[0]?.remark ?? '', remark)
    })

    it(`stands among others as text, or as base64 with its type: ${name}`, async () => {
      const reply = await send([to('one', said), to('two', { body: '[2]' })], format)
      assert.deepEqual([reply.status, reply.headers['x-crosswalk-status']], [200, undefined])
      if (format === 'XML') {
        const escaped = text?.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
        assert.ok(reply.text.includes(escaped ?? `<base64>${base64}</base64>`), reply.text)
      } else assert.deepEqual(reply.json(), { one: text ?? { contentType: type, base64 }, two: [2] })
      const { outcome, calls } = await recordOf(reply)
      assert.equal(outcome, 'done')
      assert.match(calls.find(({ id }) => id === 'one')?.remark ?? '', remark)
      assert.equal(calls.find(({ id }) => id === 'two')?.remark, undefined)
    })
  }

  const codings: [string, string, Buffer][] = [
    ['one that it is not in', 'gzip', gzipSync('{"a":1}').subarray(0, 20)],
    ['one that is unknown', 'x-unknown', Buffer.from('\xff\x00', 'latin1')],
  ]
  for (const [name, coding, body] of codings) {
    it(`is passed on as it came, with the content coding that it has: ${name}`, async () => {
      const one = to('one', { type: JSON_TYPE, headers: { 'content-encoding': coding }, body })
      const reply = await send([one])
      assert.deepEqual([reply.status, reply.headers['content-encoding']], [200, coding])
      assert.equal(reply.headers['content-length'], String(body.length))
      assert.match((await recordOf(reply)).calls[0]?.remark ?? '', /content coding/)
      const base64 = body.toString('base64')
      const among = await send([one, to('two', { body: '' })])
      assert.deepEqual(among.json(), { one: { contentType: JSON_TYPE, contentEncoding: coding, base64 }, two: null })
    })
  }

  it('is read where only its content coding is a lie', async () => {
    const headers = { 'content-encoding': 'gzip' }
    const reply = await send([to('one', { type: JSON_TYPE, headers, body: '{"a":1.0}' })])
    assert.deepEqual([reply.status, reply.text, reply.type], [200, '{"a":1.0}', JSON_TYPE])
    assert.equal(reply.headers['content-encoding'], undefined)
  })

  it('is passed on as it came beside others where it is the primary one, or optional', async () => {
    const broken = { type: JSON_TYPE, body: '{' }
    const primary = await send([to('one', broken, { primary: true }), to('two', { type: 'text/xml', body: '<' })])
    assert.deepEqual([primary.status, primary.text, (await recordOf(primary)).outcome], [200, '{', 'done'])
    const optional = await send([to('one', broken, { optional: true, default: 'none' })])
    assert.deepEqual([optional.status, optional.text], [200, '{'])
  })

  it('stands in the place of its item', async () => {
    const url = pipeline.at((request, response) => {
      if (request.url.endsWith('b')) return { b: 1 }
      response.setHeader('content-type', 'application/pdf').end(PDF)
      return undefined
    })
    const config = { url, params: { query: { id: { path: 'item' } } } }
    const reply = await send([{ id: 'each', forEach: { items: 'payload.ids' }, config }], 'JSON', { ids: ['a', 'b'] })
    assert.deepEqual(reply.json(), {
      each: [{ contentType: 'application/pdf', base64: PDF.toString('base64') }, { b: 1 }],
    })
    assert.equal(reply.headers['x-crosswalk-status'], undefined)
  })
})

const refusals: [string, Said, string?][] = [
  ['that is no text', { status: 422, type: 'application/pdf', body: PDF }],
  ['that is declared as JSON and no text', { status: 500, type: JSON_TYPE, body: PDF }],
  ['that XML cannot hold', { status: 409, type: JSON_TYPE, body: '{"a b":1}' }, 'XML'],
  [
    'in no content coding',
    { status: 503, headers: { 'content-encoding': 'br' }, type: 'text/plain', body: Buffer.of(255) },
  ],
]
for (const [name, said, format] of refusals) {
  it(`a refusal keeps its status and its bytes: ${name}`, async () => {
    const reply = await send([to('one', said)], format)
    assert.deepEqual([reply.status, reply.type], [said.status, said.type])
    assert.equal(reply.headers['content-length'], String(Buffer.byteLength(said.body ?? '')))
  })
}

it('is the same for a replay, and in a dry run', async () => {
  let said: Said = { status: 503 }
  const url = pipeline.at((_request, response) => {
    response.writeHead(said.status ?? 200, { 'content-type': JSON_TYPE }).end(said.body)
    return undefined
  })
  const response = { id: 'one', config: { url } }
  const failed = await send([response])
  assert.equal(failed.status, 503)
  said = { body: '{' }
  const headers = { 'content-type': 'application/json' }
  const replay = `/messages/${failed.headers['x-crosswalk-message-id']}/replay`
  const replayed = await call(pipeline.service.adminUrl, 'POST', replay, { headers })
  assert.equal(replayed.json().outcome, 'done', replayed.text)

  const endpoint = endpointDocument({ endpoint: { pattern: '/dry' }, requests: { response } })
  const responses = { one: { body: '{"a":', headers } }
  const body = JSON.stringify({ endpoint, message: { body: {} }, responses })
  const dry = await call(pipeline.service.adminUrl, 'POST', '/endpoints/dry-run', { headers, body })
  type Report = { outcome: string; calls: { remark?: string }[]; answer: { status: number; body: string } }
  const { outcome, calls, answer } = dry.json<Report>()
  assert.deepEqual([outcome, answer.status, answer.body], ['done', 200, '{"a":'])
  assert.match(calls[0]?.remark ?? '', UNREADABLE)
})

describe('the answer of a lookup', () => {
  const lookUp = (said: Said) => pipeline.send({ requests: { lookup: to('one', said) } })

  for (const [name, said] of unreadable.filter(([, , remark]) => remark === NO_TEXT)) {
    it(`is base64 with its type where it is no text: ${name}`, async () => {
      const base64 = Buffer.from(said.body ?? '').toString('base64')
      assert.deepEqual(dataOf(await lookUp(said)), { contentType: said.type ?? 'application/octet-stream', base64 })
    })
  }

  it('is JSON where it is an object, whatever it is declared as', async () => {
    assert.deepEqual(dataOf(await lookUp({ type: 'image/png', body: ' {"a":1}' })), { a: 1 })
  })
})
