/** Texts: messages that are one, and bodies of a type that says little. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Said = Readonly<{ type: string; body: string | Buffer; status?: number }>

let service: Service
let upstream: Upstream
let said: Said
before(async () => {
  service = await startService({ MESSAGE_LOG: 'all' })
  upstream = await startUpstream((_request, response) => {
    response.writeHead(said.status ?? 200, { 'content-type': said.type }).end(said.body)
    return undefined
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const TEXT = { input: 'TEXT', output: 'TEXT' }
const post = (path: string, body: string | Buffer, type = 'text/plain') =>
  service.fetch(path, { method: 'POST', headers: { 'content-type': type }, body: Buffer.from(body) })
const request = (more: JsonObject = {}) => ({ id: 'r', config: { url: upstream.url, method: 'POST', ...more } })
let count = 0
async function route(document: () => JsonObject): Promise<string> {
  const pattern = `/text-${count++}`
  await service.register({ endpoint: { pattern }, ...document() })
  return pattern
}

describe('a message that is a text', () => {
  it('is read in its charset and written in UTF-8, which its type names', async () => {
    const path = await route(() => ({ transformation: TEXT }))
    const reply = await post(path, Buffer.from('ü', 'latin1'), 'text/plain; charset=iso-8859-1')
    assert.deepEqual([reply.status, reply.text], [200, 'ü'])
    assert.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8')
  })

  it('may be JSON, which stays a text', async () => {
    const path = await route(() => ({ transformation: { input: 'TEXT', output: 'JSON' } }))
    assert.deepEqual((await post(path, '{"a":1}')).json(), { text: '{"a":1}' })
  })

  it('is forwarded and sent as it is', async () => {
    said = { type: 'text/plain', body: 'thanks' }
    const headers = { 'Content-Type': 'text/plain' }
    const path = await route(() => ({
      transformation: TEXT,
      requests: { lookup: [{ ...request({ headers }), forwardExistingRequestBody: true }], response: [request()] },
      inputMapping: { 'requestBody.text': 'text' },
    }))
    const reply = await post(path, 'one\n')
    assert.deepEqual([reply.status, reply.text], [200, 'thanks'])
    const sent = upstream.received.slice(-2).map((one) => [one.headers['content-type'], one.body])
    assert.deepEqual(sent, [
      ['text/plain', 'one\n'],
      ['text/plain; charset=utf-8', 'one\n'],
    ])
  })

  it('is answered with the texts of others byte for byte, whatever is in them', async () => {
    const path = await route(() => ({ transformation: TEXT, requests: { response: [request()] } }))
    for (const body of ['{"a": 1}', '<a/>', 'ü']) {
      said = { type: 'text/plain', body }
      const reply = await post(path, 'x')
      assert.deepEqual([reply.text, reply.headers.get('content-type')], [body, 'text/plain; charset=utf-8'])
    }
    said = { type: 'text/plain; charset=iso-8859-1', body: Buffer.from('ü', 'latin1') }
    assert.equal((await post(path, 'x')).text, 'ü')
  })

  it('fails with a text', async () => {
    const path = await route(() => ({ transformation: TEXT, inputMapping: { 'requestBody.text': 'other' } }))
    const { status, headers, text } = await post(path, 'x')
    assert.deepEqual([status, headers.get('content-type')], [500, 'text/plain; charset=utf-8'])
    assert.match(
      text,
      /^The output cannot be written as TEXT: it needs .*\n\ncode: SERIALISE_FAILED\nstage: serialise\n/,
    )
  })

  it('has targets that a text cannot hold reported', async () => {
    const response = [request(), { ...request(), id: 's' }]
    const document = {
      name: 'two',
      endpoint: { pattern: '/two' },
      transformation: TEXT,
      requests: { lookup: [], response },
    }
    const reply = await service.fetch('/endpoints', json('POST', document))
    assert.equal(reply.status, 400)
    assert.match(reply.text, /requests\.response.*needs an object with a string \\"text\\"/)
  })
})

describe('a lookup that is answered with text/plain', () => {
  const cases: readonly (readonly [body: string, data: unknown])[] = [
    ['{"a":1}', { a: 1 }],
    ['[1]', [1]],
    ['5', { text: '5' }],
    ['<a/>', { text: '<a/>' }],
    ['{"a":', { text: '{"a":' }],
    ['two\nlines\n', { text: 'two\nlines\n' }],
  ]
  for (const [body, data] of cases) {
    it(body.replaceAll('\n', '\\n'), async () => {
      said = { type: 'text/plain', body }
      const path = await route(() => ({
        requests: { lookup: [request()] },
        inputMapping: { 'lookupRequests.r.data': 'data' },
      }))
      assert.deepEqual((await service.fetch(path, json('POST', {}))).json(), { data })
    })
  }

  it('in its charset; what is no text stays bytes', async () => {
    const path = await route(() => ({
      requests: { lookup: [request()] },
      inputMapping: { 'lookupRequests.r.data': 'd' },
    }))
    const ask = async () => (await service.fetch(path, json('POST', {}))).json()
    said = { type: 'text/plain; charset=iso-8859-1', body: Buffer.from('ü', 'latin1') }
    assert.deepEqual(await ask(), { d: { text: 'ü' } })
    said = { type: 'text/plain', body: Buffer.of(0xff, 0xfe, 0xff) }
    assert.deepEqual(await ask(), { d: { contentType: 'text/plain', base64: '//7/' } })
  })

  it('and refuses: the start of its text is in the failure', async () => {
    said = { type: 'text/plain', body: 'no such patient', status: 404 }
    const path = await route(() => ({ requests: { lookup: [request()] } }))
    const reply = await service.fetch(path, json('POST', {}))
    assert.deepEqual(
      [reply.status, / answered 404 to [A-Z]+ http:[^ ]+: no such patient/.test(reply.text)],
      [404, true],
    )
  })
})

it('a response request that is answered with text/plain has the text as its body', async () => {
  said = { type: 'text/plain', body: 'said' }
  const path = await route(() => ({ requests: { response: [request(), { ...request(), id: 's' }] } }))
  assert.deepEqual((await service.fetch(path, json('POST', {}))).json(), { r: 'said', s: 'said' })
})

it('a replay with another text needs a header that no page can send unasked', async () => {
  const path = await route(() => ({ transformation: TEXT }))
  const id = (await post(path, 'x')).headers.get('x-crosswalk-message-id')
  await until(
    () => fetch(`${service.adminUrl}/messages/${id}`),
    ({ status }) => status === 200,
  )
  const replay = (headers: Record<string, string>) =>
    fetch(`${service.adminUrl}/messages/${id}/replay`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...headers },
      body: 'y',
    })
  const refused = await replay({})
  assert.deepEqual([refused.status, /X-Requested-With/.test(await refused.text())], [415, true])
  const replayed = (await (await replay({ 'x-requested-with': 'me' })).json()) as JsonObject
  assert.deepEqual([replayed.outcome, replayed.answer], ['done', 'y'])
})
