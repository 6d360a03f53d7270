/** `GET /events`: what a caller gets, and when a stream ends. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createManagementAccess } from '../../../../src/api/access/management-access.ts'
import { addAuthHook } from '../../../../src/api/auth-hook.ts'
import { EventStreams, MAX_STREAMS } from '../../../../src/api/event-streams.ts'
import { operationRoutes } from '../../../../src/api/operation.ts'
import { addRoutes } from '../../../../src/api/register.ts'
import type { Api } from '../../../../src/api/services.ts'
import { createIds } from '../../../../src/core/id.ts'
import { createServer } from '../../../../src/inbound/http/server.ts'
import { createEventHub, EVENT_TYPES } from '../../../../src/observe/events/event-hub.ts'
import { answerFailure } from '../../../../src/pipeline/reply.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { bearer } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { type EventReader, readEvents } from '../../../support/observe/events/event-reader.ts'
import {
  json,
  loggerInto,
  readTestSettings,
  type Service,
  startService,
  startUpstream,
} from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const open = async (query = '', headers: Record<string, string> = {}): Promise<EventReader> => {
  const reader = await readEvents(`${service.adminUrl}/events${query}`, headers)
  await reader.first(({ type }) => type === 'open')
  return reader
}

describe('a stream', () => {
  test('starts with its types, in the format of server-sent events', async () => {
    const reader = await open('?types=status,replay')
    assert.equal(reader.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(reader.headers.get('cache-control'), 'no-store')
    const [first] = reader.events
    assert.deepEqual(first?.data, { types: ['status', 'replay'], heartbeatMs: 15_000 })
    assert.match(first?.id ?? '', /^[0-9a-f]{24}-\d+$/)
    reader.close()
  })

  test('counts messages by endpoint and outcome, and failures by code', async () => {
    const { _id } = await service.register({ name: 'counted', endpoint: { pattern: '/counted' } })
    await service.fetch('/counted', json('POST', {}))
    const reader = await open('?types=messages,failures')
    for (const body of ['{}', '{}', '{']) await service.fetch('/counted', { ...json('POST', undefined), body })
    const sums = () => {
      const own = reader.events
        .filter(({ type }) => type === 'messages')
        .flatMap(({ data }) => data.endpoints as { endpointId: string; done: number; refused: number }[])
        .filter(({ endpointId }) => endpointId === _id)
      return [own.reduce((sum, { done }) => sum + done, 0), own.reduce((sum, { refused }) => sum + refused, 0)]
    }
    await until(sums, ([done = 0, refused = 0]) => done + refused === 3)
    assert.deepEqual(sums(), [2, 1], 'what was before the stream is not counted')
    const failures = await reader.first(({ type }) => type === 'failures')
    const { at, ms, groups } = failures.data
    assert.ok(!Number.isNaN(Date.parse(String(at))) && Number(ms) > 0)
    assert.deepEqual(groups, [
      { endpoint: 'counted', endpointId: _id, outcome: 'refused', code: 'BODY_UNREADABLE', count: 1, isNew: true },
    ])
    await service.fetch('/counted', { ...json('POST', undefined), body: '{' })
    const again = await reader.first((event) => event.type === 'failures' && event !== failures)
    assert.equal((again.data.groups as { isNew: boolean }[])[0]?.isNew, false)
    reader.close()
  })

  test('reports changes of endpoints', async () => {
    const reader = await open('?types=endpoints')
    const { _id: id } = await service.register({ name: 'one', endpoint: { pattern: '/one' } })
    const reported = async (change: string) => {
      const has = (changes: unknown) =>
        (changes as { change: string; id: string }[]).some((one) => one.change === change)
      const { data } = await reader.first((event) => event.type === 'endpoints' && has(event.data.changes))
      return data.changes
    }
    assert.deepEqual(await reported('created'), [{ change: 'created', id, version: 1, name: 'one' }])
    await service.fetch(`/endpoints/${id}`, json('PATCH', { name: 'uno' }))
    assert.deepEqual(await reported('changed'), [{ change: 'changed', id, version: 2, name: 'uno' }])
    await service.fetch(`/endpoints/${id}`, { method: 'DELETE' })
    assert.deepEqual(await reported('deleted'), [{ change: 'deleted', id, name: 'uno' }])
    reader.close()
  })

  test('follows the replay of many messages', async () => {
    let isAway = true
    const upstream = await startUpstream((_request, response) => {
      if (!isAway) return {}
      response.writeHead(500).end()
      return undefined
    })
    await service.register({
      name: 'replayed',
      endpoint: { pattern: '/replayed' },
      requests: { lookup: [{ id: 'up', retries: 0, config: { url: upstream.url } }] },
    })
    for (let n = 0; n < 3; n += 1) await service.fetch('/replayed', json('POST', {}))
    isAway = false
    const reader = await open('?types=replay')
    const post = (path: string, body: string) =>
      call(service.adminUrl, 'POST', path, { headers: { 'content-type': 'application/json' }, body })
    const plan = (await post('/messages/replay', '{"endpoint":"replayed"}')).json()
    assert.equal(plan.count, 3)
    await post(`/messages/replay/${plan.id}/run`, '{"max":3}')
    const last = await reader.first(({ data }) => data.state === 'finished')
    const { id, count, done, left } = last.data
    assert.deepEqual({ id, count, done, left }, { id: plan.id, count: 3, done: 3, left: 0 })
    reader.close()
    await upstream.stop()
  })

  test('follows deliveries, as the health of the service counts them', async () => {
    const upstream = await startUpstream((_request, response) => void response.writeHead(422).end())
    await service.register({
      name: 'delivered',
      endpoint: { pattern: '/delivered' },
      requests: { response: { id: 'to', config: { method: 'POST', url: upstream.url }, delivery: {} } },
    })
    const reader = await open('?types=deliveries')
    await service.fetch('/delivered', json('POST', {}))
    const { data } = await reader.first(({ data: { pending, undeliverable } }) => pending === 0 && undeliverable === 1)
    assert.ok(Number(data.bytes) > 0)
    assert.deepEqual((await call(service.adminUrl, 'GET', '/health/ready')).json().deliveries, data)
    reader.close()
    await upstream.stop()
  })

  test('that is opened again asks the caller to read everything again', async () => {
    const reader = await open('', { 'last-event-id': 'x-1' })
    await reader.first(({ type }) => type === 'reset')
    reader.close()
    const other = await open()
    const shown = other.events.map(({ type }) => type)
    assert.deepEqual(shown, ['open'])
    other.close()
  })

  test('has types that exist', async () => {
    const reply = await call(service.adminUrl, 'GET', '/events?types=mesages')
    assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'])
    assert.match(String(reply.json().error), /did you mean "messages"/)
  })

  test('is not for pages of other origins', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    assert.equal((await call(service.adminUrl, 'GET', '/events', { headers })).status, 403)
  })

  test('ends when the service stops, and does not hold that up', async () => {
    const other = await startService()
    const reader = await readEvents(`${other.adminUrl}/events`)
    await reader.first(({ type }) => type === 'open')
    await Promise.all([other.stop(), reader.ended])
    assert.deepEqual(reader.events.at(-1)?.data, { reason: 'stopping', error: 'The service stops.' })
  })
})

const reaches = (holds: () => boolean) => until(holds, Boolean)

describe('a server of events alone', () => {
  const silent = loggerInto([])
  const settings = readTestSettings({ MANAGEMENT_AUTH: 'keys' })

  const start = async (heartbeatMs: number) => {
    const store = await openSqliteStore({ path: ':memory:', logger: silent })
    const access = createManagementAccess({
      settings,
      store,
      tokens: undefined as never,
      http: undefined as never,
      clock: Date.now,
      newId: createIds(Date.now, 1),
      random: randomBytes,
      logger: silent,
      workerSlot: { slot: 0, workers: 1 },
    })
    const waiting: object[] = []
    const source = {
      types: EVENT_TYPES,
      everyMs: 5,
      start: () => undefined,
      poll: () => waiting.splice(0).map((data) => ({ type: 'status' as const, data })),
    }
    const hub = createEventHub([source], 'test', silent)
    const server = createServer(settings, (failure) => answerFailure(failure, 'JSON'))
    addAuthHook(server, access)
    const eventRoutes = operationRoutes.filter(({ path }) => path === '/events')
    addRoutes(server, eventRoutes, { events: new EventStreams(hub, heartbeatMs) } as Partial<Api> as Api)
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const { key, stored } = await access.keys.create({ name: 'test', roles: ['viewer'] })
    return {
      url,
      key,
      hub,
      publish: (data: object) => void waiting.push(data),
      revoke: () => access.keys.revoke(stored.id),
      otherKey: async () => (await access.keys.create({ name: 'other', roles: ['viewer'] })).key,
      stop: async () => {
        hub.close()
        server.server.closeAllConnections()
        await server.close()
        await access.audit.stop()
        await store.close()
      },
    }
  }

  test('sends heartbeats, and ends a stream when its key is revoked', async () => {
    const { url, key, hub, revoke, stop } = await start(20)
    const reader = await readEvents(`${url}/events`, bearer(key))
    await reaches(() => reader.comments > 2)
    await revoke()
    await reader.ended
    assert.equal(reader.events.at(-1)?.data.reason, 'credentials')
    await reaches(() => hub.subscribers === 0)
    await stop()
  })

  test('shares its places among callers', async () => {
    const { url, key, otherKey, hub, stop } = await start(60_000)
    const openAs = (one: string) => readEvents(`${url}/events`, bearer(one))
    const first: EventReader[] = []
    while (first.length < MAX_STREAMS) first.push(await openAs(key))
    const refused = await openAs(key)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '15'])
    const other = await otherKey()
    const second: EventReader[] = []
    for (;;) {
      const reader = await openAs(other)
      if (reader.status !== 200) break
      second.push(reader)
    }
    assert.equal(second.length, MAX_STREAMS / 2)
    await Promise.all(first.slice(-second.length).map(({ ended }) => ended))
    assert.deepEqual(first.at(-1)?.events.at(-1)?.data, {
      reason: 'share',
      error: 'Another caller needed the slot of one of your streams.',
    })
    assert.equal(hub.subscribers, MAX_STREAMS)
    await stop()
  })

  test('drops a caller that reads too slowly, with a last event that says so', async () => {
    const { url, key, hub, publish, stop } = await start(60_000)
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(`GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    await reaches(() => hub.subscribers === 1)
    socket.pause()
    const quick = await readEvents(`${url}/events`, bearer(key))
    let sent = 0
    await reaches(() => {
      publish({ text: 'x'.repeat(64 * 1024) })
      sent += 1
      return hub.subscribers === 1
    })
    // What was sent before waits in the buffers of the system, which the test does not set.
    let text = ''
    socket.on('data', (chunk) => {
      text = (text + chunk).slice(-1_000)
    })
    socket.resume()
    await reaches(() => text.includes('event: end'))
    assert.match(text, /"reason":"slow"/)
    await reaches(() => quick.events.length > sent)
    assert.equal(quick.events.at(-1)?.type, 'status', 'another caller goes on')
    quick.close()
    socket.destroy()
    await stop()
  })

  test('asks no source for events while no caller reads them', async () => {
    let polls = 0
    const source = {
      types: EVENT_TYPES,
      everyMs: 1,
      start: () => {
        polls += 1
      },
      poll: () => {
        polls += 1
        return []
      },
    }
    const hub = createEventHub([source], 'test', silent)
    const types = new Set(EVENT_TYPES)
    const { ready, unsubscribe } = hub.subscribe({ types, receive: () => {}, end: () => {} })
    await ready
    await reaches(() => polls > 3)
    unsubscribe()
    let before = -1
    await reaches(() => {
      const isStill = polls === before
      before = polls
      return isStill
    })
    hub.close()
  })
})
