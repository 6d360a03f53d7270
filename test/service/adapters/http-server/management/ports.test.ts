/** The two listeners: what each serves and what it does not, and what the service reports of itself. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../../../src/domain/json.ts'
import { call } from '../../../../support/adapters/http-server/management/call.ts'
import { describeDatabases, describeServices } from '../../../../support/databases.ts'
import { endpointDocument, json, type Service, startService, startUpstream } from '../../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

type Port = 'message' | 'admin'
const baseOf = (port: Port) => (port === 'message' ? service.url : service.adminUrl)
const get = (port: Port, path: string) => call(baseOf(port), 'GET', path)
const admin = ({ service }: { service: Service }, path: string) => call(service.adminUrl, 'GET', path)

describe('what the service claims', () => {
  const cases: readonly { path: string; message: number; admin: number }[] = [
    { path: '/uptime', message: 200, admin: 200 },
    { path: '/endpoints', message: 200, admin: 200 },
    { path: '/health/live', message: 404, admin: 200 },
    { path: '/health/ready', message: 404, admin: 200 },
    { path: '/metrics', message: 404, admin: 200 },
    { path: '/openapi.json', message: 404, admin: 200 },
    { path: '/messages', message: 404, admin: 200 },
    { path: '/me', message: 404, admin: 200 },
    { path: '/endpoints/vocabulary', message: 200, admin: 200 },
    { path: '/messages/groups', message: 404, admin: 200 },
    { path: '/messages/replay', message: 404, admin: 200 },
    { path: '/messages/x/y', message: 404, admin: 404 },
    { path: '/health', message: 404, admin: 404 },
    { path: '/uptime/', message: 404, admin: 404 },
    { path: '/uptime/x', message: 404, admin: 404 },
    { path: '/endpoints/x/y', message: 404, admin: 404 },
    { path: '/unknown', message: 404, admin: 404 },
  ]
  for (const { path, message, admin } of cases) {
    test(path, async () => {
      assert.equal((await get('message', path)).status, message)
      assert.equal((await get('admin', path)).status, admin)
    })
  }

  test('on the message port leaves every other path to users', async () => {
    for (const pattern of ['/health/live', '/metrics', '/openapi.json', '/console', '/']) {
      await service.register({
        endpoint: { pattern, method: 'GET' },
        constants: { pattern },
        inputMapping: { 'constants.pattern': 'own' },
      })
      assert.deepEqual((await get('message', pattern)).json(), { own: pattern })
    }
    assert.deepEqual((await get('admin', '/health/live')).json(), { status: 'alive' })
  })

  test('on the admin port includes no route of an endpoint', async () => {
    await service.register({ endpoint: { pattern: '/dynamic', method: 'GET' } })
    assert.equal((await get('message', '/dynamic')).status, 200)
    const reply = await get('admin', '/dynamic')
    assert.deepEqual([reply.status, reply.json().code], [404, 'ROUTE_UNKNOWN'])
  })

  test('is the same management on both: what one stores, the other shows', async () => {
    const document = endpointDocument({ endpoint: { pattern: '/from/admin' } })
    const created = await fetch(`${service.adminUrl}/endpoints`, json('POST', document))
    const location = created.headers.get('location') ?? ''
    assert.equal(await created.text(), (await get('message', location)).text)
    assert.equal((await service.fetch('/from/admin', json('POST', {}))).status, 200)
  })
})

describe('MESSAGE_PORT_MANAGEMENT=off', () => {
  let apart: Service
  before(async () => {
    apart = await startService({ MESSAGE_PORT_MANAGEMENT: 'off' })
  })
  after(() => apart.stop())

  for (const [method, path] of [
    ['GET', '/endpoints'],
    ['POST', '/endpoints'],
    ['TRACE', '/endpoints'],
    ['GET', `/endpoints/${'0'.repeat(24)}`],
    ['POST', '/endpoints/dry-run'],
    ['GET', '/endpoints/openapi.json'],
    ['DELETE', '/%65ndpoints/x/y'],
  ] as const) {
    test(`leaves ${method} ${path} to the admin port`, async () => {
      const reply = await call(apart.url, method, path, {
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '10.0.0.1' },
      })
      assert.deepEqual([reply.status, reply.json().code], [404, 'ROUTE_UNKNOWN'])
      const { adminPort } = apart.app
      assert.match(reply.json<{ error: string }>().error, new RegExp(`admin port \\(${adminPort}\\).*MESSAGE_PORT_MAN`))
      const there = await call(apart.adminUrl, method, path, { headers: { 'content-type': 'application/json' } })
      assert.doesNotMatch(there.text, /MESSAGE_PORT_MANAGEMENT/)
    })
  }

  test('keeps its paths reserved, and takes messages and /uptime', async () => {
    const made = (pattern: string) => json('POST', endpointDocument({ endpoint: { pattern } }))
    assert.equal((await fetch(`${apart.adminUrl}/endpoints`, made('/endpoints/own'))).status, 400)
    assert.equal((await fetch(`${apart.adminUrl}/endpoints`, made('/own'))).status, 201)
    assert.equal((await apart.fetch('/own', json('POST', {}))).status, 200)
    assert.equal((await apart.fetch('/uptime')).status, 200)
    assert.equal((await apart.fetch('/uptime', { method: 'POST' })).status, 405)
  })
})

for (const port of ['message', 'admin'] as const) {
  describe(`GET /uptime on the ${port} port`, () => {
    test('gives whole milliseconds, which grow', async () => {
      const read = async () => {
        const reply = await get(port, '/uptime')
        assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
        const { milliseconds, ...rest } = reply.json<{ milliseconds: number }>()
        assert.ok(Number.isInteger(milliseconds), `${milliseconds}`)
        assert.deepEqual(rest, {})
        return milliseconds
      }
      const first = await read()
      assert.ok(first > 0 && first <= performance.now())
      while ((await read()) === first);
    })

    for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'LOCK']) {
      test(`is the only method: ${method} is answered with 405`, async () => {
        const reply = await call(baseOf(port), method, '/uptime')
        assert.deepEqual([reply.status, reply.headers.allow], [405, 'GET'])
      })
    }

    test('is the only method, whatever the body of another', async () => {
      for (const headers of [{}, { 'content-type': 'nonsense' }]) {
        const reply = await call(baseOf(port), 'POST', '/uptime', { headers, body: 'x'.repeat(1_100_000) })
        assert.deepEqual([reply.status, reply.headers.allow], [405, 'GET'])
      }
    })
  })

  describe(`other methods of the management on the ${port} port`, () => {
    const id = '0'.repeat(24)
    const cases = [
      { path: '/endpoints', allow: 'GET, POST', methods: ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'] },
      { path: `/endpoints/${id}`, allow: 'GET, PUT, PATCH, DELETE', methods: ['HEAD', 'POST', 'OPTIONS', 'PROPFIND'] },
    ]
    for (const { path, allow, methods } of cases) {
      for (const method of methods) {
        test(`${method} ${path}`, async () => {
          const reply = await call(baseOf(port), method, path)
          assert.deepEqual([reply.status, reply.headers.allow], [405, allow])
          if (method !== 'HEAD') assert.match(reply.text, RegExp(` does not take ${method}, but `))
        })
      }
    }
  })
}

describeServices('health', {}, (stage) => {
  test('reports what is in force and under way', async () => {
    const before = (await admin(stage, '/health/ready')).json<{ endpoints: number }>()
    assert.deepEqual(before, {
      status: 'ready',
      stopping: false,
      version: '0.0.0',
      store: 'ok',
      messageLog: 'ok',
      ...(stage.kind.shared ? { configurationVersion: 1 } : {}),
      endpoints: before.endpoints,
      endpointsNotInForce: [],
      messagesInFlight: 0,
      consumers: [],
    })
    const { _id } = await stage.service.register({ endpoint: { pattern: '/counted' } })
    const endpoints = async () => (await admin(stage, '/health/ready')).json().endpoints
    assert.equal(await endpoints(), before.endpoints + 1)
    await stage.service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
    assert.equal(await endpoints(), before.endpoints)
  })
})

describeDatabases('a service that stops', ({ withDatabase }) => {
  test(
    'is not ready, and messages under way finish',
    withDatabase(async (database) => {
      const arrived = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const upstream = await startUpstream(async () => {
        arrived.resolve()
        await released.promise
        return {}
      })
      const stopping = await startService({ DATABASE_URL: database.url })
      await stopping.register({
        endpoint: { pattern: '/held' },
        requests: { lookup: [{ id: 'up', config: { url: upstream.url } }] },
      })
      const underWay = stopping.fetch('/held', json('POST', {}))
      await arrived.promise
      const flying = await call(stopping.adminUrl, 'GET', '/health/ready')
      assert.deepEqual([flying.status, flying.json().messagesInFlight], [200, 1])
      const stopped = stopping.stop()
      const ready = await call(stopping.adminUrl, 'GET', '/health/ready')
      assert.equal(ready.status, 503)
      assert.deepEqual([ready.json().status, ready.json().stopping], ['not ready', true])
      assert.equal((await call(stopping.adminUrl, 'GET', '/health/live')).status, 200)
      released.resolve()
      assert.equal((await underWay).status, 200)
      await stopped
      await upstream.stop()
    }),
  )
})

describeServices('/metrics', {}, (stage) => {
  test('counts messages by endpoint, outcome and code', async () => {
    const counted = async (endpoint: string, outcome: string, code: string) => {
      const { text } = await admin(stage, '/metrics')
      const labels = `endpoint="${endpoint}",outcome="${outcome}",code="${code}"`
      const line = text.split('\n').find((one) => one.startsWith(`crosswalk_messages_total{${labels}} `))
      return line === undefined ? 0 : Number(line.split(' ').at(-1))
    }
    const reply = await admin(stage, '/metrics')
    assert.match(reply.headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/)
    assert.match(reply.text, /^crosswalk_messages_in_flight 0$/m)
    assert.match(reply.text, /^process_resident_memory_bytes \d+$/m)
    await stage.service.register({ name: 'metered \\ "1"', endpoint: { pattern: '/metered' } })
    const unknown = await counted('', 'refused', 'ROUTE_UNKNOWN')
    for (const body of ['{}', '{}', 'broken'])
      await stage.service.fetch('/metered', { ...json('POST', undefined), body })
    await stage.service.fetch('/nobody/home')
    const name = 'metered \\\\ \\"1\\"'
    assert.equal(await counted(name, 'done', ''), 2)
    assert.equal(await counted(name, 'refused', 'BODY_UNREADABLE'), 1)
    assert.equal(await counted('', 'refused', 'ROUTE_UNKNOWN'), unknown + 1)
  })
})

describe('/openapi.json', () => {
  type Operation = { responses: JsonObject; requestBody?: { content: JsonObject } }
  type Description = { openapi: string; info: JsonObject; paths: Record<string, Record<string, Operation>> }
  const describeApi = async () => {
    const reply = await get('admin', '/openapi.json')
    assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
    return reply.json<Description>()
  }

  test('describes calls that are all answered as it says', async () => {
    const { openapi, info, paths } = await describeApi()
    assert.match(openapi, /^3\.1\./)
    assert.ok(info.title && info.version)
    assert.deepEqual(Object.keys(paths).sort(), [
      '/audit',
      '/consumers',
      '/endpoints',
      '/endpoints/batch',
      '/endpoints/draft',
      '/endpoints/dry-run',
      '/endpoints/dry-run/value',
      '/endpoints/openapi.json',
      '/endpoints/suggest',
      '/endpoints/tests/run',
      '/endpoints/vocabulary',
      '/endpoints/{id}',
      '/endpoints/{id}/capture',
      '/endpoints/{id}/diff',
      '/endpoints/{id}/drift',
      '/endpoints/{id}/faults',
      '/endpoints/{id}/openapi.json',
      '/endpoints/{id}/stats',
      '/endpoints/{id}/tests',
      '/endpoints/{id}/versions',
      '/endpoints/{id}/versions/{version}',
      '/endpoints/{id}/versions/{version}/diff/{other}',
      '/endpoints/{id}/versions/{version}/restore',
      '/events',
      '/health/live',
      '/health/ready',
      '/keys',
      '/keys/{id}',
      '/me',
      '/messages',
      '/messages/groups',
      '/messages/groups/{key}',
      '/messages/replay',
      '/messages/replay/{plan}',
      '/messages/replay/{plan}/cancel',
      '/messages/replay/{plan}/continue',
      '/messages/replay/{plan}/pause',
      '/messages/replay/{plan}/run',
      '/messages/{id}',
      '/messages/{id}/body/{which}',
      '/messages/{id}/replay',
      '/messages/{id}/test',
      '/metrics',
      '/stats',
      '/uptime',
    ])
    for (const [path, operations] of Object.entries(paths)) {
      // test/service/adapters/http-server/openapi/message-openapi.test.ts calls these: they need a message that failed.
      // test/events calls /events, which does not end.
      // The others would ask for a key from then on; test/access calls them.
      if (path.startsWith('/messages') || path.startsWith('/keys') || path === '/events') continue
      for (const [method, operation] of Object.entries(operations)) {
        if (method === 'parameters') continue
        const { _id } = await service.register({ endpoint: { pattern: `/described/${method}` } })
        const document = endpointDocument({ endpoint: { pattern: `/by/${method}` } })
        const [type] = Object.keys(operation.requestBody?.content ?? {})
        if (path.endsWith('/capture')) {
          await fetch(`${service.adminUrl}/endpoints/${_id}/capture`, json('POST', { messages: 1 }))
        }
        const bodies: Record<string, JsonObject> = {
          '/endpoints/dry-run': { endpoint: document },
          '/endpoints/draft': { name: 'Drafted', pattern: '/drafted' },
          '/endpoints/{id}/tests': { tests: [] },
          '/endpoints/{id}/capture': { messages: 1 },
          '/endpoints/tests/run': { endpoint: document, tests: [] },
          '/endpoints/dry-run/value': { endpoint: document, at: '/answer/body' },
          '/endpoints/suggest': { source: { body: { id: 1 } }, target: { sample: { id: 2 } } },
          '/endpoints/batch': { operations: [{ op: 'delete', id: _id }] },
        }
        const reply = await call(
          service.adminUrl,
          method.toUpperCase(),
          path.replace('{id}', _id).replace('{version}', '1').replace('{other}', '1'),
          {
            headers: type === undefined ? {} : { 'content-type': type },
            ...(type === undefined ? {} : { body: JSON.stringify(bodies[path] ?? document) }),
          },
        )
        const [expected] = Object.keys(operation.responses)
        assert.equal(String(reply.status), expected, `${method} ${path}: ${reply.text}`)
        await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
        if (reply.status === 201) await service.fetch(reply.headers.location ?? '', { method: 'DELETE' })
      }
    }
  })

  test('refers to nothing that is not there', async () => {
    const description = await describeApi()
    const seen: string[] = []
    const visit = (value: Json) => {
      if (!isObject(value)) return Array.isArray(value) ? value.forEach(visit) : undefined
      if (typeof value.$ref === 'string') seen.push(value.$ref)
      Object.values(value).forEach(visit)
    }
    visit(description as unknown as Json)
    assert.ok(seen.length > 0)
    for (const reference of seen) {
      const steps = reference.split('/')
      assert.equal(steps.shift(), '#')
      const target = steps.reduce<unknown>((value, step) => (value as JsonObject | undefined)?.[step], description)
      assert.ok(isObject(target), reference)
    }
  })
})
