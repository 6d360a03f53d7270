/** ETags, and writes that hold only for the version that was read (RFC 9110 sections 8.8.3 and 13.1.1). */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../../src/domain/json.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const send = (method: string, path: string, body?: Json, headers: Record<string, string> = {}) =>
  service.fetch(path, json(method, body, headers))
const STRONG = /^"[!#-~]+"$/

test('every read and write carries a strong tag, the same for the same representation', async () => {
  const document: JsonObject = {
    name: 'tagged',
    endpoint: { pattern: '/tagged' },
    transformation: { input: 'JSON', output: 'JSON' },
  }
  const posted = await send('POST', '/endpoints', document)
  const path = posted.headers.get('location') ?? ''
  const get = async () => (await service.fetch(path)).headers.get('etag') ?? 'none'
  const list = async () => (await service.fetch('/endpoints')).headers.get('etag') ?? 'none'
  const seen = [await get()]
  const lists = [await list()]
  assert.equal(posted.headers.get('etag'), seen[0])
  for (const [method, body] of [
    ['PUT', document],
    ['PATCH', { description: 'x' }],
  ] as const) {
    const reply = await send(method, path, body)
    seen.push(await get())
    lists.push(await list())
    assert.equal(reply.headers.get('etag'), seen.at(-1), method)
  }
  const deleted = await send('DELETE', path)
  lists.push(await list())
  for (const tag of [...seen, ...lists, deleted.headers.get('etag') ?? 'none']) assert.match(tag, STRONG)
  assert.equal(new Set(seen).size, 3)
  assert.equal(new Set(lists).size, 4)
})

test('a read whose tag the caller has already is answered with 304 and no body', async () => {
  const { _id } = await service.register({ endpoint: { pattern: '/cached' } })
  const tag = (await service.fetch(`/endpoints/${_id}`)).headers.get('etag') ?? ''
  const again = await service.fetch(`/endpoints/${_id}`, { headers: { 'if-none-match': tag } })
  assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', tag])
  assert.equal((await service.fetch(`/endpoints/${_id}`, { headers: { 'if-none-match': '"other"' } })).status, 200)
})

describe('If-Match', () => {
  const cases: readonly { name: string; header: (current: string, stale: string) => string; holds: boolean }[] = [
    { name: 'the current tag', header: (current) => current, holds: true },
    { name: 'any version', header: () => '*', holds: true },
    { name: 'a list with the current tag', header: (current, stale) => `"x",${stale} , ${current}`, holds: true },
    { name: 'a stale tag', header: (_, stale) => stale, holds: false },
    { name: 'a list without the current tag', header: (_, stale) => `"x", ${stale}`, holds: false },
    { name: 'the current tag, but weak', header: (current) => `W/${current}`, holds: false },
    { name: 'the current tag without its quotes', header: (current) => current.slice(1, -1), holds: false },
    { name: 'a quoted star', header: () => '"*"', holds: false },
    { name: 'nothing', header: () => '', holds: false },
  ]
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    for (const { name, header, holds } of cases) {
      test(`${method} with ${name} ${holds ? 'goes through' : 'is refused'}`, async () => {
        const stored = await service.register({ endpoint: { pattern: '/conditional' } })
        const path = `/endpoints/${stored._id}`
        const first = await service.fetch(path)
        const second = await send('PATCH', path, { description: 'someone else was here' })
        const condition = header(second.headers.get('etag') ?? '', first.headers.get('etag') ?? '')
        const body = method === 'DELETE' ? undefined : { ...stored, description: 'mine' }
        const reply = await send(method, path, body, { 'if-match': condition })
        const now = await service.fetch(path)
        if (holds) {
          assert.equal(reply.status, 200, reply.text)
          assert.equal(
            now.status === 404 ? 'deleted' : now.json().description,
            method === 'DELETE' ? 'deleted' : 'mine',
          )
        } else {
          assert.deepEqual([reply.status, reply.json().code], [412, 'PRECONDITION_FAILED'])
          assert.equal(now.text, second.text)
        }
        await send('DELETE', path)
      })
    }
  }

  test('of concurrent changes on one version lets exactly one through', async () => {
    const { _id } = await service.register({ endpoint: { pattern: '/raced' } })
    const tag = (await service.fetch(`/endpoints/${_id}`)).headers.get('etag') ?? ''
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        send('PATCH', `/endpoints/${_id}`, { description: `change ${n}` }, { 'if-match': tag }),
      ),
    )
    const won = replies.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    assert.equal(replies.filter(({ status }) => status === 412).length, 19)
    const now = (await service.fetch(`/endpoints/${_id}`)).json<StoredEndpoint>()
    assert.deepEqual(now, won[0]?.json())
  })
})
