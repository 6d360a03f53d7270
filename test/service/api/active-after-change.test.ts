/** A change is active when its answer is sent; a message in progress finishes on the version it started with. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Reply, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
/** Answers the last segment of its path; below /held only once that is released. */
let upstream: Upstream
/** Of the request that is held: resolved when it is there, and when it may go on. */
let arrived = Promise.withResolvers<void>()
let released = Promise.withResolvers<void>()

before(async () => {
  upstream = await startUpstream(async ({ url }) => {
    if (url.startsWith('/held')) {
      arrived.resolve()
      await released.promise
    }
    return { version: Number(url.split('/').at(-1)) }
  })
  service = await startService()
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const send = (method: string, path: string, body?: Json) => service.fetch(path, json(method, body))
const message = (path: string): Promise<Reply> => send('POST', path, {})

/** A configuration that shows its version in three places, one of which is asked of the upstream where there is a path. */
const version = (n: number, path: string, upstreamPath?: string): JsonObject => ({
  name: path,
  endpoint: { pattern: path },
  transformation: { input: 'JSON', output: 'JSON' },
  constants: { version: n },
  inputTransforms: { version: String(n) },
  requests: upstreamPath ? { lookup: [{ id: 'up', config: { url: `${upstream.url}${upstreamPath}/${n}` } }] } : {},
  inputMapping: {
    'constants.version': 'constant',
    'transforms.version': 'transform',
    ...(upstreamPath ? { 'lookupRequests.up.data.version': 'lookup' } : {}),
  },
})

test('each change is seen by the next message, whole or not at all by others at the same time, and none fails', async () => {
  const CHANGES = 40
  const { _id } = await service.register(version(0, '/whole'))
  let inForce = 0
  const sender = async () => {
    const atLeast = inForce
    const reply = await message('/whole')
    assert.equal(reply.status, 200, reply.text)
    const { constant, transform } = reply.json<{ constant: number; transform: number }>()
    assert.equal(transform, constant)
    assert.ok(constant >= atLeast, `version ${constant} after ${atLeast} was in force`)
  }
  const changeTo = async (n: number) => {
    const reply = await send(n % 2 === 0 ? 'PUT' : 'PATCH', `/endpoints/${_id}`, version(n, '/whole'))
    assert.equal(reply.status, 200, reply.text)
    inForce = n
    assert.deepEqual((await message('/whole')).json(), { constant: n, transform: n })
  }
  for (let n = 1; n <= CHANGES; n += 1) await Promise.all([changeTo(n), ...Array.from({ length: 8 }, sender)])
})

test('registering and deleting are in force at once', async () => {
  for (let n = 0; n < 10; n += 1) {
    const { _id } = await service.register({ endpoint: { pattern: '/here/and/gone' } })
    assert.equal((await message('/here/and/gone')).status, 200)
    await send('DELETE', `/endpoints/${_id}`)
    assert.equal((await message('/here/and/gone')).status, 404)
  }
})

describe('a message under way finishes on the configuration that it started with', () => {
  const cases: readonly (readonly [name: string, method: string, change: () => JsonObject | undefined, next: Json])[] =
    [
      ['replaced', 'PUT', () => version(2, '/under-way', '/at'), 2],
      ['patched', 'PATCH', () => version(2, '/under-way', '/at'), 2],
      ['moved to another route', 'PUT', () => version(2, '/elsewhere', '/at'), 404],
      ['deleted', 'DELETE', () => undefined, 404],
    ]
  for (const [name, method, change, after] of cases) {
    for (const keepsState of [false, true]) {
      test(`${name}${keepsState ? ', keeping state' : ''}`, async () => {
        arrived = Promise.withResolvers()
        released = Promise.withResolvers()
        const state = keepsState ? { state: { extract: { responseBody: { v: 'constant' } } } } : {}
        const { _id } = await service.register({ ...version(1, '/under-way', '/held'), ...state })
        const underWay = message('/under-way')
        await arrived.promise
        const changed = await send(method, `/endpoints/${_id}`, change())
        assert.equal(changed.status, 200, changed.text)
        const { status, text } = await message('/under-way')
        assert.equal(status === 200 ? JSON.parse(text).lookup : status, after)
        released.resolve()
        assert.deepEqual((await underWay).json(), { constant: 1, transform: 1, lookup: 1 })
        await send('DELETE', `/endpoints/${_id}`)
      })
    }
  }

  test('also where its body comes in only after the change', async () => {
    const document = { ...version(1, '/slow'), inputMapping: { 'constants.version': 'v', 'requestBody.a': 'a' } }
    const { _id } = await service.register(document)
    const slow = request(`${service.url}/slow`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': '7', expect: '100-continue' },
    })
    const answered = once(slow, 'response')
    slow.flushHeaders()
    await once(slow, 'continue')
    await send('PUT', `/endpoints/${_id}`, { ...document, constants: { version: 2 } })
    slow.end('{"a":1}')
    const [response] = await answered
    let text = ''
    for await (const chunk of response) text += chunk
    assert.equal(text, '{"v":1,"a":1}')
    assert.deepEqual((await send('POST', '/slow', { a: 1 })).json(), { v: 2, a: 1 })
  })
})
