/** `GET /endpoints`: the order, and filters that only ever compare texts. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { json, type Service, type StoredEndpoint, startService } from '../../../../support/service.ts'

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
  const cases: readonly { name: string; query: string; gives: readonly string[] }[] = [
    { name: 'by a field', query: '?name=a', gives: ['a'] },
    { name: 'compare case', query: '?name=A', gives: [] },
    { name: 'compare whole texts', query: '?endpoint.pattern=/', gives: [] },
    { name: 'by a nested field', query: '?endpoint.pattern=/c', gives: ['C'] },
    { name: 'by a default', query: '?endpoint.method=POST', gives: ['a', 'B'] },
    { name: 'by a number', query: '?constants.level=1', gives: ['C'] },
    { name: 'by a boolean', query: '?constants.on=false', gives: ['a'] },
    { name: 'by null', query: '?constants.none=null', gives: ['a'] },
    { name: 'by an empty text', query: '?description=', gives: ['B'] },
    { name: 'by what the service sets', query: '?__v=0', gives: ['C', 'a', 'B'] },
    { name: 'by a field of any element', query: '?requests.lookup.id=y', gives: ['C'] },
    { name: 'by an element', query: '?requests.lookup[0].id=y', gives: [] },
    { name: 'by an element, as a number', query: '?requests.lookup.1.id=y', gives: ['C'] },
    { name: 'by another element, as a number', query: '?requests.lookup.0.id=y', gives: [] },
    { name: 'by an array within arrays', query: '?requests.lookup.allowedStatuses=404', gives: ['C'] },
    { name: 'do not take a missing field of an element for null', query: '?requests.lookup.retries=null', gives: [] },
    { name: 'by a label', query: '?labels.team=lab', gives: ['B'] },
    { name: 'by another value of a label', query: '?labels.team=Lab', gives: [] },
    { name: 'by a label with a dot', query: '?labels.example%5C.org/owned-by=a+b', gives: ['B'] },
    { name: 'by an escaped dot', query: '?constants.a%5C.b=dotted', gives: ['C'] },
    {
      name: 'by anything that a URL can encode',
      query: '?constants.%C3%9Cn%C3%AF%20%26%2B%3D%25=%C3%A9+%2B+%26',
      gives: ['C'],
    },
    { name: 'must all match', query: '?endpoint.method=POST&name=a', gives: ['a'] },
    { name: 'must all match, and one does not', query: '?endpoint.method=GET&name=a', gives: [] },
    { name: 'take any of the values of a repeated name', query: '?name=C&name=B&name=zzz', gives: ['C', 'B'] },
    { name: 'on an object match nothing', query: '?endpoint=[object+Object]', gives: [] },
    { name: 'on an unknown field match nothing', query: '?nothing.at.all=1', gives: [] },
    { name: 'are no operators', query: '?$where=1', gives: [] },
    { name: 'are no SQL', query: "?name=a'+OR+1=1+--", gives: [] },
    { name: 'are no pattern', query: '?name=%25', gives: [] },
    { name: 'read own fields only', query: '?__proto__=x&constructor=x', gives: [] },
    { name: 'reach no prototype', query: '?constructor.name=Object', gives: [] },
    { name: 'reach no method', query: '?name.length=1', gives: [] },
  ]
  for (const { name, query, gives } of cases) {
    test(`${name}: ${query}`, async () => {
      const { status, body } = await list(query)
      assert.equal(status, 200)
      assert.deepEqual(
        body.map((document) => document.name),
        gives,
      )
    })
  }

  for (const query of ['?name[$ne]=x', '?name[]=a&name[', '?=x', '?a..b=1', '?[0]=1', '?*=1']) {
    test(`that name no field path are refused: ${query}`, async () => {
      const reply = await service.fetch(`/endpoints${query}`)
      assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'], reply.text)
    })
  }
})

test('a long list that is read slowly is sent as its ETag says, whatever is changed or deleted meanwhile', async () => {
  const large = await startService()
  try {
    const ids: string[] = []
    for (let n = 0; n < 60; n += 1) {
      const document = { name: `n${n}`, endpoint: { pattern: `/n${n}` }, description: `${n % 2}`.repeat(250_000) }
      ids.push((await large.register(document))._id)
    }
    const before = createHash('sha256')
    const [response] = (await once(get(`${large.url}/endpoints`), 'response')) as [IncomingMessage]
    response.pause()
    for (const id of ids.slice(40, 50)) {
      assert.equal((await large.fetch(`/endpoints/${id}`, json('PATCH', { description: '' }))).status, 200)
    }
    for (const id of ids.slice(50)) {
      assert.equal((await large.fetch(`/endpoints/${id}`, { method: 'DELETE' })).status, 200)
    }
    for await (const chunk of response) before.update(chunk)
    assert.equal(response.headers.etag, `"${before.digest('base64url')}"`)
    assert.notEqual((await large.fetch('/endpoints')).headers.get('etag'), response.headers.etag)
  } finally {
    await large.stop()
  }
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
