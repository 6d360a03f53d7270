/** A change is active when its answer is sent; a message in progress finishes on the version it started with. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../../src/domain/json.ts'
import {
  json,
  type Reply,
  type Service,
  type StoredEndpoint,
  startService,
  startUpstream,
  type Upstream,
} from '../../../../support/service.ts'

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

/** A configuration that shows its version in three places, one of which is asked of the upstream. */
const version = (n: number, path: string, upstreamPath = '/at'): JsonObject => ({
  name: path,
  endpoint: { pattern: path },
  transformation: { input: 'JSON', output: 'JSON' },
  constants: { version: n },
  inputTransforms: { version: String(n) },
  requests: { lookup: [{ id: 'up', config: { url: `${upstream.url}${upstreamPath}/${n}` } }] },
  inputMapping: {
    'constants.version': 'constant',
    'transforms.version': 'transform',
    'lookupRequests.up.data.version': 'lookup',
  },
})
const shows = (n: number) => ({ constant: n, transform: n, lookup: n })

describe('a change', () => {
  // Without the lookup, which would only slow this down: messages that wait in one are below.
  const quick = (n: number, path: string) => ({
    ...version(n, path),
    requests: {},
    inputMapping: { 'constants.version': 'constant', 'transforms.version': 'transform' },
  })

  type Watch = Readonly<{ beside?: () => Promise<unknown>; whenDone?: (n: number) => void }>

  /** Makes so many changes, `beside` each of them what it says, and sends a message at once after each. */
  async function change(times: number, pattern: string, { beside, whenDone }: Watch = {}) {
    const { _id } = await service.register(quick(0, pattern))
    const changeTo = async (n: number) => {
      const reply = await send(n % 2 === 0 ? 'PUT' : 'PATCH', `/endpoints/${_id}`, quick(n, pattern))
      assert.equal(reply.status, 200, reply.text)
      whenDone?.(n)
      assert.deepEqual((await message(pattern)).json(), { constant: n, transform: n })
    }
    for (let n = 1; n <= times; n += 1) await Promise.all([changeTo(n), beside?.()])
  }

  test('is seen by the next message, each of 200 times', () => change(200, '/next'))

  test('is seen whole or not at all by 16 messages at a time, and none fails', async () => {
    let inForce = 0
    // So many, and not for as long as the change takes, which on a busy machine they would make longer still.
    const sender = async () => {
      for (let messages = 0; messages < 3; messages += 1) {
        const atLeast = inForce
        const reply = await message('/whole')
        assert.equal(reply.status, 200, reply.text)
        const { constant, transform } = reply.json<{ constant: number; transform: number }>()
        assert.equal(transform, constant)
        assert.ok(constant >= atLeast, `version ${constant} after ${atLeast} was in force`)
      }
    }
    await change(40, '/whole', {
      beside: () => Promise.all(Array.from({ length: 16 }, sender)),
      whenDone: (n) => {
        inForce = n
      },
    })
    assert.equal(inForce, 40)
  })
})

test('registering and deleting are in force at once', async () => {
  for (let n = 0; n < 20; n += 1) {
    const { _id } = await service.register({ endpoint: { pattern: '/here/and/gone' } })
    assert.equal((await message('/here/and/gone')).status, 200)
    await send('DELETE', `/endpoints/${_id}`)
    assert.equal((await message('/here/and/gone')).status, 404)
  }
})

describe('a message under way finishes on the configuration that it started with', () => {
  type Change = (stored: StoredEndpoint) => Promise<Reply>
  const put: Change = ({ _id }) => send('PUT', `/endpoints/${_id}`, version(2, '/under-way'))
  const cases: readonly { name: string; change: Change; keepsState?: true; next: Json }[] = [
    { name: 'replaced', change: put, next: shows(2) },
    {
      name: 'patched',
      change: ({ _id }) => send('PATCH', `/endpoints/${_id}`, version(2, '/under-way')),
      next: shows(2),
    },
    {
      name: 'moved to another route',
      change: ({ _id }) => send('PUT', `/endpoints/${_id}`, version(2, '/elsewhere')),
      next: 404,
    },
    { name: 'deleted', change: ({ _id }) => send('DELETE', `/endpoints/${_id}`), next: 404 },
    { name: 'replaced, keeping state', change: put, keepsState: true, next: shows(2) },
    {
      name: 'deleted, keeping state',
      change: ({ _id }) => send('DELETE', `/endpoints/${_id}`),
      keepsState: true,
      next: 404,
    },
  ]
  for (const { name, change, keepsState, next } of cases) {
    test(name, async () => {
      arrived = Promise.withResolvers()
      released = Promise.withResolvers()
      const state = keepsState ? { state: { extract: { responseBody: { v: 'constant' } } } } : {}
      const stored = await service.register({ ...version(1, '/under-way', '/held'), ...state })
      const underWay = message('/under-way')
      await arrived.promise
      const changed = await change(stored)
      assert.equal(changed.status, 200, changed.text)
      const after = await message('/under-way')
      assert.deepEqual(after.status === 200 ? after.json() : after.status, next)
      released.resolve()
      const answer = await underWay
      assert.deepEqual([answer.status, answer.text], [200, JSON.stringify(shows(1))])
      await send('DELETE', `/endpoints/${stored._id}`)
    })
  }

  test('also where its body comes in only after the change', async () => {
    const document = {
      ...version(1, '/slow'),
      requests: {},
      inputMapping: { 'constants.version': 'v', 'requestBody.a': 'a' },
    }
    const stored = await service.register(document)
    const slow = request(`${service.url}/slow`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': '7', expect: '100-continue' },
    })
    const answered = once(slow, 'response')
    slow.flushHeaders()
    await once(slow, 'continue')
    await send('PUT', `/endpoints/${stored._id}`, { ...document, constants: { version: 2 } })
    slow.end('{"a":1}')
    const [response] = await answered
    let text = ''
    for await (const chunk of response) text += chunk
    assert.equal(text, '{"v":1,"a":1}')
    assert.deepEqual((await send('POST', '/slow', { a: 1 })).json(), { v: 2, a: 1 })
  })
})
