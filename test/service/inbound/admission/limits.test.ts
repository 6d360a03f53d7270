/** `limits` and `rateLimit` of endpoints, and the queue, over HTTP; what was done is counted at the upstream. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { connectTo, readToEnd, requestText, statusesIn } from '../../../support/raw-exchange.ts'
import { json, type Reply, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'

const WAIT_MS = 5_000

let service: Service
let upstream: Upstream
/** Calls that the upstream has not answered yet, by the path that they came for, oldest first. */
const held: { url: string; release: () => void }[] = []

before(async () => {
  upstream = await startUpstream(({ url }) => new Promise((resolve) => held.push({ url, release: () => resolve({}) })))
  service = await startService({
    MAX_MESSAGES_IN_FLIGHT: '4',
    MAX_MESSAGES_WAITING: '4',
    MESSAGE_WAIT_MS: `${WAIT_MS}`,
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

/** An endpoint that calls the upstream, under its own path, for each message. */
const register = (path: string, changes: JsonObject = {}) =>
  service.register({
    endpoint: { pattern: path },
    requests: { lookup: [{ id: 'up', config: { url: `${upstream.url}${path}` } }] },
    ...changes,
  })
const send = (path: string): Promise<Reply> => service.fetch(path, json('POST', { a: 1 }))
const sendMany = (path: string, count: number) => Array.from({ length: count }, () => send(path))

/** Polls; the runner's own limit ends a wait in vain. */
async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setImmediate(resolve))
}
const untilHeld = (count: number) => until(() => held.length === count)
const untilWaiting = (count: number, at: Service = service) =>
  until(async () => {
    const { text } = await call(at.adminUrl, 'GET', '/metrics')
    return text.includes(`\ncrosswalk_messages_waiting ${count}\n`)
  })
const releaseAll = async (replies: readonly Promise<Reply>[]) => {
  let ended = false
  const all = Promise.all(replies).finally(() => {
    ended = true
  })
  await until(() => {
    for (const { release } of held.splice(0)) release()
    return ended
  })
  return (await all).map(({ status }) => status)
}
const refusalOf = ({ status, headers, json: body }: Reply) => [status, headers.get('retry-after'), body().code]

describe('limits of an endpoint', () => {
  test('let so many be under way, some wait in their order, and refuse the rest at once', async () => {
    await register('/own', { limits: { concurrency: 1, queue: 2 } })
    const before = upstream.received.length
    const replies = sendMany('/own', 3)
    await untilHeld(1)
    await untilWaiting(2)
    const refused = await send('/own')
    assert.deepEqual(refusalOf(refused), [503, '1', 'OVERLOADED'])
    assert.match(refused.text, /1 message of this endpoint is in progress already;/)
    assert.equal(upstream.received.length, before + 1)
    assert.deepEqual(await releaseAll(replies), [200, 200, 200])
    assert.equal(upstream.received.length, before + 3)
  })

  test('hold for the configuration that a message was matched with, and the new ones from the next on', async () => {
    const { _id } = await register('/changed', { limits: { concurrency: 1, queue: 2 }, constants: { version: 1 } })
    const replies = sendMany('/changed', 2)
    await untilWaiting(1)
    const { status } = await service.fetch(
      `/endpoints/${_id}`,
      json('PATCH', { limits: { concurrency: 2, queue: 0 }, inputMapping: { 'constants.version': 'changed' } }),
    )
    assert.equal(status, 200)
    const last = send('/changed')
    await untilHeld(2)
    assert.deepEqual((await send('/changed')).status, 503)
    assert.deepEqual(await releaseAll([...replies, last].slice(0, 2)), [200, 200])
    assert.equal((await replies[1])?.text.includes('changed'), false)
    await last
  })

  test('do not keep those from being done who waited when their endpoint was deleted', async () => {
    const { _id } = await register('/deleted', { limits: { concurrency: 1, queue: 1 } })
    const replies = sendMany('/deleted', 2)
    await untilWaiting(1)
    assert.equal((await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })).status, 200)
    assert.equal((await send('/deleted')).status, 404)
    assert.deepEqual(await releaseAll(replies), [200, 200])
  })
})

describe('the queue of the service', () => {
  test('gives the others their turn where one endpoint is flooded', async () => {
    await register('/flooded')
    await register('/calm')
    const flood = sendMany('/flooded', 8)
    await untilHeld(4)
    await untilWaiting(4)
    const calm = send('/calm')
    await Promise.any(flood.map(async (one) => assert.equal((await one).status, 503)))
    held.shift()?.release()
    held.shift()?.release()
    await until(() => held.some(({ url }) => url === '/calm'))
    const statuses = await releaseAll([...flood, calm])
    assert.deepEqual(statuses.toSorted(), [...Array(8).fill(200), 503])
    assert.equal(statuses.at(-1), 200)
  })

  test('is left by a caller who goes', async () => {
    await register('/left', { limits: { concurrency: 1, queue: 1 } })
    const ways: readonly ((caller: Socket) => unknown)[] = [
      (caller) => caller.resetAndDestroy(),
      (caller) => caller.destroy(),
      (caller) => caller.end(),
    ]
    for (const leave of ways) {
      const before = upstream.received.length
      const first = send('/left')
      await untilHeld(1)
      const caller = await connectTo(service.url)
      const received = readToEnd(caller)
      caller.write(requestText('POST /left', ['content-type: application/json', 'content-length: 2'], '{}'))
      await untilWaiting(1)
      leave(caller)
      await untilWaiting(0)
      // Of these callers, the last one still reads.
      assert.deepEqual(statusesIn(await received), leave === ways.at(-1) ? [503] : [])
      assert.deepEqual(await releaseAll([first]), [200])
      assert.equal(upstream.received.length, before + 1)
    }
  })

  const ownService = async (env: Record<string, string>, queue: number) => {
    const own = await startService(env)
    await own.register({
      endpoint: { pattern: '/held' },
      limits: { concurrency: 1, queue },
      requests: { lookup: [{ id: 'up', config: { url: `${upstream.url}/held` } }] },
    })
    return own
  }

  test('is not for longer than MESSAGE_WAIT_MS, which count for the deadline', async (t) => {
    const hurried = await ownService({ MESSAGE_WAIT_MS: '30' }, 1)
    t.after(hurried.stop)
    const first = hurried.fetch('/held', json('POST', {}))
    await untilHeld(1)
    assert.deepEqual(refusalOf(await hurried.fetch('/held', json('POST', {}))), [503, '1', 'OVERLOADED'])
    assert.deepEqual(await releaseAll([first]), [200])
  })

  test('is worked off by a service that stops', async () => {
    const stopping = await ownService({}, 2)
    const replies = Array.from({ length: 3 }, () => stopping.fetch('/held', json('POST', {})))
    await untilHeld(1)
    await untilWaiting(2, stopping)
    const stopped = stopping.stop()
    assert.deepEqual(await releaseAll(replies), [200, 200, 200])
    for (const reply of replies) assert.equal((await reply).headers.get('connection'), 'close')
    await stopped
  })
})

describe('the rate of an endpoint', () => {
  test('refuses what is too much with 429, and counts neither replays nor what was refused', async () => {
    await service.register({
      endpoint: { pattern: '/rated' },
      rateLimit: { messages: 2, seconds: 3_600 },
      messageLog: 'all',
    })
    const statuses = []
    for (let count = 0; count < 3; count += 1) statuses.push((await send('/rated')).status)
    assert.deepEqual(statuses, [200, 200, 429])
    const refused = await send('/rated')
    const [status, retryAfter, code] = refusalOf(refused)
    assert.deepEqual([status, code], [429, 'RATE_LIMITED'])
    assert.ok(Number(retryAfter) > 1_790 && Number(retryAfter) <= 1_800, `${retryAfter}`)
    assert.equal(refused.json().path, 'rateLimit')
    const { messages } = (await call(service.adminUrl, 'GET', '/messages?outcome=done&limit=1')).json<{
      messages: { id: string }[]
    }>()
    const replayed = await call(service.adminUrl, 'POST', `/messages/${messages[0]?.id}/replay`, {
      headers: { 'content-type': 'application/json' },
    })
    assert.deepEqual([replayed.status, replayed.json().outcome], [200, 'done'])
  })

  test('is counted on when the document is changed', async () => {
    const { _id } = await service.register({
      endpoint: { pattern: '/kept' },
      rateLimit: { messages: 1, seconds: 3_600 },
    })
    assert.equal((await send('/kept')).status, 200)
    const change = json('PATCH', { description: 'the same' })
    assert.equal((await service.fetch(`/endpoints/${_id}`, change)).status, 200)
    assert.equal((await send('/kept')).status, 429)
    assert.equal((await service.fetch(`/endpoints/${_id}`, json('PATCH', { rateLimit: null }))).status, 200)
    assert.equal((await send('/kept')).status, 200)
  })
})

test('a message that is too much leaves its connection open where its body is short', async () => {
  await service.register({ endpoint: { pattern: '/short' }, rateLimit: { messages: 1, seconds: 3_600 } })
  assert.equal((await send('/short')).status, 200)
  const refused = await send('/short')
  assert.deepEqual([refused.status, refused.headers.get('connection')], [429, 'keep-alive'])
  const long = await service.fetch('/short', json('POST', 'x'.repeat(100_000)))
  assert.deepEqual([long.status, long.headers.get('connection')], [429, 'close'])
})

test('a message that holds the processor for long is no load that others are refused for', async (t) => {
  const slowed = await startService({ EXPRESSION_TIMEOUT_MS: '400' })
  t.after(slowed.stop)
  const endless = { a: '($f := function($n) { $f($n + 1) }; $f(1))' }
  await slowed.register({ endpoint: { pattern: '/endless' }, inputTransforms: endless })
  await slowed.register({ endpoint: { pattern: '/quick' } })
  const sendTo = (path: string) => slowed.fetch(path, json('POST', {}))
  // From the first round on, the loop lags.
  for (let round = 0; round < 2; round += 1) {
    const held = sendTo('/endless')
    const others = Array.from({ length: 100 }, () => sendTo('/quick'))
    const statuses = (await Promise.all([held, ...others])).map(({ status }) => status)
    assert.deepEqual(statuses, [500, ...Array(100).fill(200)])
  }
})
