/** What HTTP allows and callers seldom do: other methods, expectations, and much of everything. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { exchange, requestText, statusesIn } from '../../../support/raw-exchange.ts'
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
  test('reaches what its path names', async () => {
    for (const [url, status] of cases) {
      const sent = requestText(`POST ${url}`, [JSON_TYPE, 'content-length: 2'], '{}')
      assert.deepEqual(statusesIn(await exchange(service.url, sent)), [status], url)
    }
  })

  test('has the query that it says', async () => {
    const sent = requestText('POST http://elsewhere.example/seen?a=%20b', [JSON_TYPE, 'content-length: 2'], '{}')
    assert.match(await exchange(service.url, sent), /"query":\{"a":" b"\}/)
  })
})

describe('what is long', () => {
  type Seen = { query: JsonObject; headers: JsonObject }
  test('arrives', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `p${index}`)
    const long = 'x'.repeat(10_000)
    const see = async (query: string) =>
      (await service.fetch(`/seen?${query}`, json('POST', {}, { 'x-long': long }))).json<Seen>()
    const { query, headers } = await see(`q=${'x'.repeat(4_000)}`)
    assert.deepEqual([query.q, headers['x-long']], ['x'.repeat(4_000), long])
    const withShortHeader = async (query: string) =>
      (await service.fetch(`/seen?${query}`, json('POST', {}))).json<Seen>()
    assert.equal((await withShortHeader(`q=${'x'.repeat(15_000)}`)).query.q, 'x'.repeat(15_000))
    assert.deepEqual(Object.keys((await withShortHeader(names.map((name) => `${name}=`).join('&'))).query), names)
    assert.deepEqual((await withShortHeader('a=1&'.repeat(3_000))).query.a, Array(3_000).fill('1'))
  })

  test('is no route as a path', async () => {
    assert.equal((await service.fetch(`/${'x'.repeat(15_000)}`, json('POST', {}))).status, 404)
  })
})
