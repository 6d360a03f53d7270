/** `GET /endpoints`: the order, and filters that only ever compare texts. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { sendList } from '../../../src/api/send-list.ts'
import { VERSIONS_OF_AN_ENDPOINT } from '../../../src/core/stored-document.ts'
import { createServer } from '../../../src/inbound/http/server.ts'
import { answerFailure } from '../../../src/pipeline/reply.ts'
import {
  json,
  type LogLine,
  loggerInto,
  readTestSettings,
  type Service,
  type StoredEndpoint,
  startService,
} from '../../support/service.ts'

let service: Service
let stored: readonly StoredEndpoint[] = []
before(async () => {
  service = await startService()
  const lookup = (id: string, allowedStatuses: readonly string[]) => ({
    id,
    allowedStatuses,
    config: { url: 'http://127.0.0.1:9/' },
  })
  stored = [
    await service.register({
      name: 'C',
      endpoint: { pattern: '/c', method: 'GET' },
      constants: { 'a.b': 'dotted', level: 1, on: true, 'Ünï &+=%': 'é + &' },
      requests: { lookup: [lookup('x', ['2xx', '404']), lookup('y', ['201'])] },
    }),
    await service.register({ name: 'a', endpoint: { pattern: '/a' }, constants: { level: 10, on: false, none: null } }),
    await service.register({
      name: 'B',
      description: '',
      endpoint: { pattern: '/b' },
      labels: { team: 'lab', 'example.org/owned-by': 'a b' },
    }),
  ]
})
after(() => service.stop())

const list = async (query: string) => {
  const reply = await service.fetch(`/endpoints${query}`)
  return { status: reply.status, body: reply.json<StoredEndpoint[]>() }
}

test('gives whole documents, oldest first, whatever was changed since', async () => {
  const [first] = stored
  const put = await service.fetch(`/endpoints/${first?._id}`, json('PUT', { ...first, description: 'changed last' }))
  assert.deepEqual((await list('')).body, [put.json(), stored[1], stored[2]])
})

describe('filters', () => {
  const cases: readonly (readonly [name: string, query: string, gives: readonly string[]])[] = [
    ['by a field', '?name=a', ['a']],
    ['compare case', '?name=A', []],
    ['compare whole texts', '?endpoint.pattern=/', []],
    ['by a default', '?endpoint.method=POST', ['a', 'B']],
    ['by a number', '?constants.level=1', ['C']],
    ['by a boolean', '?constants.on=false', ['a']],
    ['by null', '?constants.none=null', ['a']],
    ['by an empty text', '?description=', ['B']],
    ['by what the service sets', '?__v=0', ['C', 'a', 'B']],
    ['by a field of any element', '?requests.lookup.id=y', ['C']],
    ['by an element', '?requests.lookup[0].id=y', []],
    ['by an element, as a number', '?requests.lookup.1.id=y', ['C']],
    ['by an array within arrays', '?requests.lookup.allowedStatuses=404', ['C']],
    ['do not take a missing field of an element for null', '?requests.lookup.retries=null', []],
    ['by a label', '?labels.team=lab', ['B']],
    ['by a label with a dot', '?labels.example%5C.org/owned-by=a+b', ['B']],
    ['by an escaped dot', '?constants.a%5C.b=dotted', ['C']],
    ['by anything that a URL can encode', '?constants.%C3%9Cn%C3%AF%20%26%2B%3D%25=%C3%A9+%2B+%26', ['C']],
    ['must all match', '?endpoint.method=POST&name=a', ['a']],
    ['take any of the values of a repeated name', '?name=C&name=B&name=zzz', ['C', 'B']],
    ['on an object match nothing', '?endpoint=[object+Object]', []],
    ['on an unknown field match nothing', '?nothing.at.all=1', []],
    ['are no operators', '?$where=1', []],
    ['are no SQL', "?name=a'+OR+1=1+--", []],
    ['read own fields only', '?__proto__=x&constructor=x', []],
    ['reach no prototype', '?constructor.name=Object', []],
    ['reach no method', '?name.length=1', []],
  ]
  for (const [name, query, gives] of cases) {
    test(`${name}: ${query}`, async () => {
      const { status, body } = await list(query)
      assert.equal(status, 200)
      assert.deepEqual(
        body.map((document) => document.name),
        gives,
      )
    })
  }

  test('that name no field path are refused', async () => {
    for (const query of ['?name[$ne]=x', '?name[]=a&name[', '?=x', '?a..b=1', '?[0]=1', '?*=1']) {
      const reply = await service.fetch(`/endpoints${query}`)
      assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'], reply.text)
    }
  })
})

describe('a long list that is read slowly', () => {
  let large: Service
  const ids: string[] = []
  before(async () => {
    large = await startService()
    for (let n = 0; n < 60; n += 1) {
      const document = { name: `n${n}`, endpoint: { pattern: `/n${n}` }, description: `${n % 2}`.repeat(250_000) }
      ids.push((await large.register(document))._id)
    }
  })
  after(() => large.stop())

  const startReading = async () => {
    const [response] = (await once(get(`${large.url}/endpoints`), 'response')) as [IncomingMessage]
    return response.pause()
  }
  const describeAs = (id: string | undefined, description: string) =>
    large.fetch(`/endpoints/${id}`, json('PATCH', { description }))

  test('is cut short where a version is no longer stored, and the log has the cause', async () => {
    const response = await startReading()
    for (let n = 0; n <= VERSIONS_OF_AN_ENDPOINT; n += 1) assert.equal((await describeAs(ids[59], `${n}`)).status, 200)
    await assert.rejects(response.resume().toArray(), { code: 'ECONNRESET' })
    assert.deepEqual(
      large.log
        .filter(({ level }) => level !== 'info')
        .map(({ level, fields: { route, err }, message }) => ({ level, route, cause: String(err), message })),
      [
        {
          level: 'warn',
          route: 'GET /endpoints',
          cause: `VersionGone: Version 1 of ${ids[59]} is no longer stored.`,
          message: 'A list of endpoints was cut short',
        },
      ],
    )
  })

  test('is sent as its ETag says, whatever is changed or deleted meanwhile', async () => {
    const before = createHash('sha256')
    const response = await startReading()
    for (const id of ids.slice(40, 50)) assert.equal((await describeAs(id, '')).status, 200)
    for (const id of ids.slice(50)) {
      assert.equal((await large.fetch(`/endpoints/${id}`, { method: 'DELETE' })).status, 200)
    }
    for await (const chunk of response) before.update(chunk)
    assert.equal(response.headers.etag, `"${before.digest('base64url')}"`)
    assert.notEqual((await large.fetch('/endpoints')).headers.get('etag'), response.headers.etag)
  })
})

test('a long list is cut short where the store fails, and the log has the cause', async () => {
  const bytes = Buffer.alloc(2 * 1024 * 1024)
  const lost = new Error('lost')
  const log: LogLine[] = []
  const server = createServer(readTestSettings({}), (failure) => answerFailure(failure, 'JSON'))
  server.get('/endpoints', (request, reply) =>
    sendList(
      request,
      reply,
      {
        async *list() {
          yield [{ id: '1', version: 1, bytes }]
        },
        async *readAgain() {
          yield [bytes]
          throw lost
        },
      },
      [],
      loggerInto(log),
    ),
  )
  await assert.rejects(server.inject('/endpoints'))
  assert.deepEqual(log, [
    { level: 'error', fields: { err: lost, route: 'GET /endpoints' }, message: 'A list of endpoints was cut short' },
  ])
})

test('a list of many megabytes is sent in pieces, as its documents were stored, with its ETag', async () => {
  const large = await startService()
  try {
    const texts: string[] = []
    for (let n = 0; n < 12; n += 1) {
      const document = { name: `n${n}`, endpoint: { pattern: `/n${n}` }, description: `${n % 2}`.repeat(200_000) }
      texts.push(JSON.stringify(await large.register(document)))
    }
    for (const [query, expected] of [
      ['', texts],
      [`?description=${'1'.repeat(10)}`, []],
      ['?name=n3&name=n4', texts.slice(3, 5)],
      ['?endpoint.method=POST', texts],
    ] as const) {
      const reply = await large.fetch(`/endpoints${query}`)
      assert.equal(reply.text, `[${expected.join()}]`)
      const etag = reply.headers.get('etag') ?? ''
      assert.equal(etag, `"${createHash('sha256').update(reply.text).digest('base64url')}"`)
      assert.equal((await large.fetch(`/endpoints${query}`, { headers: { 'if-none-match': etag } })).status, 304)
      assert.equal(reply.headers.get('transfer-encoding'), reply.text.length > 1024 * 1024 ? 'chunked' : null)
    }
  } finally {
    await large.stop()
  }
})
