/** What HTTP allows and callers seldom do: other methods, expectations, and much of everything. */
import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/domain/json.ts'
import { call } from '../../../support/adapters/http-server/management/call.ts'
import { connectTo, exchange, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import { json, type Service, startService } from '../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
  await service.register({ endpoint: { pattern: '/json' } })
  await service.register({
    endpoint: { pattern: '/seen' },
    inputMapping: { query: 'query', requestHeaders: 'headers' },
  })
})
after(() => service.stop())

const JSON_TYPE = 'content-type: application/json'

describe('methods', () => {
  for (const method of METHODS.filter((one) => !['CONNECT', 'POST'].includes(one))) {
    test(`${method}: 405 where the path is known, 404 elsewhere`, async () => {
      const known = await call(service.url, method, '/json')
      assert.deepEqual([known.status, known.headers.allow], [405, 'POST'])
      const unknown = await call(service.url, method, '/nowhere')
      assert.equal(unknown.status, 404)
      const code = (text: string) => (method === 'HEAD' ? text : JSON.parse(text).code)
      const codes = method === 'HEAD' ? ['', ''] : ['METHOD_NOT_ALLOWED', 'ROUTE_UNKNOWN']
      assert.deepEqual([code(known.text), code(unknown.text)], codes)
    })
  }
})

describe('expectations', () => {
  test('a caller who waits for 100 is asked to go on', async () => {
    const socket = await connectTo(service.url)
    const received = readToEnd(socket)
    socket.write(requestText('POST /json', [JSON_TYPE, 'expect: 100-continue', 'content-length: 7']))
    socket.once('data', () => socket.write('{"a":1}'))
    const text = await received
    assert.deepEqual(statusesIn(text), [100, 200])
    assert.ok(text.endsWith('{"a":1}'))
  })

  test('any other is refused', async () => {
    const sent = requestText('POST /json', [JSON_TYPE, 'expect: magic', 'content-length: 2'], '{}')
    assert.deepEqual(statusesIn(await exchange(service.url, sent)), [417])
  })
})

describe('a URL that is sent whole, as to a proxy', () => {
  const cases: readonly (readonly [url: string, status: number])[] = [
    ['http://elsewhere.example/json', 200],
    ['http://elsewhere.example:8080/json?a=1', 200],
    ['http://elsewhere.example', 404],
    ['http://elsewhere.example?/json', 404],
    ['http://elsewhere.example/json/json', 404],
    ['http://elsewhere.example//json', 404],
    ['ftp://elsewhere.example/json', 404],
    ['HTTP://elsewhere.example/json', 200],
    ['hTTpS://ELSEWHERE.example/json', 200],
    ['HTTP://elsewhere.example/JSON', 404],
    ['http://elsewhere.example/json#there', 200],
    ['http://elsewhere.example/json?a=1#there', 200],
    ['http://elsewhere.example/nowhere#there', 404],
  ]
  for (const [url, status] of cases) {
    test(`${url}: ${status}`, async () => {
      const sent = requestText(`POST ${url}`, [JSON_TYPE, 'content-length: 2'], '{}')
      assert.deepEqual(statusesIn(await exchange(service.url, sent)), [status])
    })
  }

  test('has the query that it says', async () => {
    const sent = requestText('POST http://elsewhere.example/seen?a=%20b', [JSON_TYPE, 'content-length: 2'], '{}')
    assert.match(await exchange(service.url, sent), /"query":\{"a":" b"\}/)
  })
})

describe('what is sent behind a request whose body is not read', () => {
  const next = requestText('POST /seen?behind', [JSON_TYPE, 'content-length: 2'], '{}')
  const large = 'x'.repeat(2 * 1024 * 1024)
  const first = (line: string, headers: readonly string[], body: string) =>
    [`${line} HTTP/1.1`, 'host: 127.0.0.1', JSON_TYPE, ...headers, '', body].join('\r\n')
  const cases = {
    'that is too large': first('POST /json', [`content-length: ${large.length}`], large),
    'that is too large, in chunks': first(
      'POST /json',
      ['transfer-encoding: chunked'],
      `200000\r\n${large}\r\n0\r\n\r\n`,
    ),
    'since no endpoint listens': first('POST /nowhere', ['content-length: 2'], '{}'),
  }
  for (const [why, sent] of Object.entries(cases)) {
    test(`${why}: is not done`, async () => {
      const before = service.log.length
      const received = await exchange(service.url, sent + next)
      assert.equal(statusesIn(received).length, 1)
      assert.match(received, /connection: close/i)
      await service.fetch('/json', json('POST', {}))
      const outcomes = service.log.slice(before).map(({ fields }) => fields.outcome)
      assert.deepEqual(outcomes, ['refused', 'done'])
    })
  }
})

describe('what is long', () => {
  type Seen = { query: JsonObject; headers: JsonObject }
  const see = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await service.fetch(path, json('POST', {}, headers))
    return { status: reply.status, seen: reply.status === 200 ? reply.json<Seen>() : undefined }
  }

  test('a query of 15,000 characters arrives', async () => {
    const { status, seen } = await see(`/seen?q=${'x'.repeat(15_000)}`)
    assert.equal(status, 200)
    assert.equal(seen?.query.q, 'x'.repeat(15_000))
  })

  test('so do 2,000 parameters', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `p${index}`)
    const { status, seen } = await see(`/seen?${names.map((name) => `${name}=`).join('&')}`)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(seen?.query ?? {}), names)
  })

  test('and one parameter 3,000 times, as an array', async () => {
    const { seen } = await see(`/seen?${'a=1&'.repeat(3_000)}`)
    assert.deepEqual(seen?.query.a, Array(3_000).fill('1'))
  })

  test('so do 10,000 bytes of a header', async () => {
    const { status, seen } = await see('/seen', { 'x-long': 'x'.repeat(10_000) })
    assert.equal(status, 200)
    assert.equal(seen?.headers['x-long'], 'x'.repeat(10_000))
  })

  const cases = [
    { name: 'a URL', sent: requestText(`POST /seen?${'x'.repeat(17_000)}`, []) },
    { name: 'one header', sent: requestText('POST /seen', [`x: ${'x'.repeat(17_000)}`]) },
    { name: 'all headers together', sent: requestText('POST /seen', Array(900).fill(`x: ${'x'.repeat(20)}`)) },
  ]
  for (const { name, sent } of cases) {
    test(`${name} beyond 16 KiB: 431`, async () => {
      const received = await exchange(service.url, sent)
      assert.deepEqual(statusesIn(received), [431])
      assert.match(received, /"code":"HEADERS_TOO_LARGE"/)
      assert.equal((await service.fetch('/json', json('POST', {}))).status, 200)
    })
  }

  test('a path of 15,000 characters is no route', async () => {
    assert.equal((await service.fetch(`/${'x'.repeat(15_000)}`, json('POST', {}))).status, 404)
  })
})
