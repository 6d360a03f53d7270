/** ETags, and writes that hold only for the version that was read (RFC 9110 sections 8.8.3 and 13.1.1). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const send = (method: string, path: string, body?: Json, headers: Record<string, string> = {}) =>
  service.fetch(path, json(method, body, headers))
const tagOf = async (path: string) => (await service.fetch(path)).headers.get('etag') ?? 'none'

test('every read and write carries a strong tag, the same for the same representation', async () => {
  const document = endpointDocument({ endpoint: { pattern: '/tagged' } })
  const posted = await send('POST', '/endpoints', document)
  const path = posted.headers.get('location') ?? ''
  const seen = [await tagOf(path)]
  const lists = [await tagOf('/endpoints')]
  assert.equal(posted.headers.get('etag'), seen[0])
  for (const [method, body] of [
    ['PUT', document],
    ['PATCH', { description: 'x' }],
  ] as const) {
    const reply = await send(method, path, body)
    seen.push(await tagOf(path))
    lists.push(await tagOf('/endpoints'))
    assert.equal(reply.headers.get('etag'), seen.at(-1), method)
  }
  const tag = seen.at(-1) ?? ''
  for (const [read, current] of [
    [path, tag],
    ['/endpoints', lists.at(-1) ?? ''],
    [`${path}/openapi.json`, await tagOf(`${path}/openapi.json`)],
  ] as const) {
    for (const known of [current, `W/${current}`, `"other", ${current}`, '*']) {
      const again = await service.fetch(read, { headers: { 'if-none-match': known } })
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', current], `${read} ${known}`)
    }
    assert.equal((await service.fetch(read, { headers: { 'if-none-match': '"other"' } })).status, 200)
  }
  const deleted = await send('DELETE', path)
  lists.push(await tagOf('/endpoints'))
  for (const one of [...seen, ...lists, deleted.headers.get('etag') ?? 'none']) assert.match(one, /^"[!#-~]+"$/)
  assert.deepEqual([new Set(seen).size, new Set(lists).size], [3, 4])
})

const cases: readonly (readonly [name: string, holds: boolean, header: (current: string, stale: string) => string])[] =
  [
    ['the current tag', true, (current) => current],
    ['any version', true, () => '*'],
    ['a list with the current tag', true, (current, stale) => `"x",${stale} , ${current}`],
    ['a stale tag', false, (_, stale) => stale],
    ['the current tag, but weak', false, (current) => `W/${current}`],
    ['nothing', false, () => ''],
  ]
for (const [name, holds, header] of cases) {
  test(`If-Match with ${name} ${holds ? 'lets a change through' : 'refuses it'}`, async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const stored = await service.register({ endpoint: { pattern: '/conditional' } })
      const path = `/endpoints/${stored._id}`
      const stale = await tagOf(path)
      const second = await send('PATCH', path, { description: 'someone else was here' })
      const body = method === 'DELETE' ? undefined : { ...stored, description: 'mine' }
      const condition = header(second.headers.get('etag') ?? '', stale)
      const reply = await send(method, path, body, { 'if-match': condition })
      const now = await service.fetch(path)
      if (holds) {
        assert.equal(reply.status, 200, reply.text)
        assert.equal(now.status === 404 ? 'gone' : now.json().description, method === 'DELETE' ? 'gone' : 'mine')
      } else {
        assert.deepEqual([reply.status, reply.json().code], [412, 'PRECONDITION_FAILED'])
        assert.equal(now.text, second.text)
      }
      await send('DELETE', path)
    }
  })
}

test('If-Match of concurrent changes on one version lets exactly one through', async () => {
  const { _id } = await service.register({ endpoint: { pattern: '/raced' } })
  const headers = { 'if-match': await tagOf(`/endpoints/${_id}`) }
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, n) => send('PATCH', `/endpoints/${_id}`, { description: `change ${n}` }, headers)),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(19).fill(412)])
  const won = replies.find(({ status }) => status === 200)
  assert.deepEqual((await service.fetch(`/endpoints/${_id}`)).json(), won?.json())
})
