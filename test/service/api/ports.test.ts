/** The two listeners: what each serves and what it does not, and what the service reports of itself. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { createAnswerCheck } from '../../support/api/described-answers.ts'
import { describeDatabases, describeServices } from '../../support/databases.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Service, startService, startUpstream } from '../../support/service.ts'

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
  test('is on both ports, on the admin port alone, or nowhere', async () => {
    const cases: readonly (readonly [message: number, admin: number, paths: readonly string[]])[] = [
      [200, 200, ['/uptime', '/endpoints', '/endpoints/vocabulary']],
      [
        404,
        200,
        ['/health/live', '/health/ready', '/metrics', '/openapi.json', '/me', '/messages', '/messages/groups'],
      ],
      [404, 404, ['/messages/x/y', '/health', '/uptime/', '/uptime/x', '/endpoints/x/y', '/unknown']],
    ]
    for (const [message, admin, paths] of cases) {
      for (const path of paths) {
        assert.deepEqual(
          [(await get('message', path)).status, (await get('admin', path)).status],
          [message, admin],
          path,
        )
      }
    }
  })

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
    const { error } = (await get('admin', '/health')).json() as { error: string }
    assert.equal(
      error,
      'There is nothing at /health: /health/ready says whether messages can be answered, /health/live whether the process runs.',
    )
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

  test('leaves management to the admin port', async () => {
    const one = `/endpoints/${'0'.repeat(24)}`
    for (const [method, path] of [
      ['GET', '/endpoints'],
      ['POST', '/endpoints'],
      ['TRACE', '/endpoints'],
      ['GET', one],
      ['POST', '/endpoints/dry-run'],
      ['DELETE', '/%65ndpoints/x/y'],
    ] as const) {
      const headers = { 'content-type': 'application/json' }
      const reply = await call(apart.url, method, path, { headers: { ...headers, 'x-forwarded-for': '10.0.0.1' } })
      assert.deepEqual([reply.status, reply.json().code], [404, 'ROUTE_UNKNOWN'], `${method} ${path}`)
      const says = new RegExp(`admin port \\(${apart.app.adminPort}\\).*MESSAGE_PORT_MAN`)
      assert.match(reply.json<{ error: string }>().error, says)
      assert.doesNotMatch((await call(apart.adminUrl, method, path, { headers })).text, /MESSAGE_PORT_MANAGEMENT/)
    }
  })

  test('keeps its paths reserved, and takes messages and /uptime', async () => {
    const made = (pattern: string) => json('POST', endpointDocument({ endpoint: { pattern } }))
    assert.equal((await fetch(`${apart.adminUrl}/endpoints`, made('/endpoints/own'))).status, 400)
    assert.equal((await fetch(`${apart.adminUrl}/endpoints`, made('/own'))).status, 201)
    assert.equal((await apart.fetch('/own', json('POST', {}))).status, 200)
    assert.equal((await apart.fetch('/uptime')).status, 200)
  })
})

for (const port of ['message', 'admin'] as const) {
  test(`GET /uptime on the ${port} port gives whole milliseconds, which grow`, async () => {
    const read = async () => {
      const { milliseconds, ...rest } = (await get(port, '/uptime')).json<{ milliseconds: number }>()
      assert.ok(Number.isInteger(milliseconds), `${milliseconds}`)
      assert.deepEqual(rest, {})
      return milliseconds
    }
    const first = await read()
    assert.ok(first > 0 && first <= performance.now())
    while ((await read()) === first);
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
      mllpPorts: [],
      deliveries: { pending: 0, delivered: 0, undeliverable: 0, cancelled: 0, bytes: 0 },
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
    await stage.service.fetch('/unknown/home')
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
    const description = await describeApi()
    const { openapi, info, paths } = description
    const faultsOf = createAnswerCheck(description as unknown as JsonObject)
    assert.match(openapi, /^3\.1\./)
    assert.ok(info.title && info.version)
    const shape = (path: string) => path.replace(/:\w+(\(.*)?|\{\w+\}/g, ':')
    const described = new Set(Object.keys(paths).map(shape))
    const served = service.app.managementRoutes.flatMap(({ port, url }) => (port === 'admin' ? [shape(url)] : []))
    // The description itself, the console, and what answers 404 below the paths of the service.
    const others = [
      '/',
      '/console',
      '/console/*',
      '/deliveries/*',
      '/endpoints/*',
      '/fhir/*',
      '/health',
      '/messages/*',
      '/openapi.json',
      '/tables/*',
      '/uptime/*',
    ]
    assert.deepEqual([...new Set(served)].filter((url) => !described.has(url)).sort(), others)
    assert.deepEqual(new Set(served).size, described.size + others.length)
    for (const [path, operations] of Object.entries(paths)) {
      // test/service/api/message-openapi.test.ts calls these: they need a message that failed.
      // test/service/observe/events calls /events, which does not end.
      // test/service/deliveries calls those of deliveries.
      // The others would ask for a key from then on; test/service/api/access calls them.
      if (/^\/(?:messages|deliveries|keys|events)\b/.test(path)) continue
      for (const [method, operation] of Object.entries(operations)) {
        if (method === 'parameters') continue
        const schedule = /\/(?:schedule|run)$/.test(path) ? { schedule: { every: '1h' } } : {}
        const durable = {
          requests: { response: { id: 'out', config: { url: 'http://127.0.0.1:9/out' }, delivery: {} } },
        }
        const isOfMessage = path.endsWith('{message}')
        const { _id } = await service.register({
          endpoint: { pattern: `/described/${method}` },
          ...(isOfMessage ? durable : schedule),
        })
        const taken = isOfMessage ? await service.fetch(`/described/${method}`, json('POST', {})) : undefined
        const message = taken?.json<{ messageId: string }>().messageId ?? ''
        const document = endpointDocument({ endpoint: { pattern: `/by/${method}` } })
        const [type] = Object.keys(operation.requestBody?.content ?? {})
        if (path.endsWith('/capture')) {
          await fetch(`${service.adminUrl}/endpoints/${_id}/capture`, json('POST', { messages: 1 }))
        }
        // Of each call another, so that its first version is there.
        const table = `described-${method}-${path.replace(/\W+/g, '-').slice(-40)}`
        const bodies: Record<string, JsonObject> = {
          '/endpoints/dry-run': { endpoint: document },
          '/endpoints/draft': { name: 'Drafted', pattern: '/drafted' },
          '/endpoints/{id}/tests': { tests: [] },
          '/endpoints/{id}/capture': { messages: 1 },
          '/endpoints/{id}/messages': { body: { id: 1 } },
          '/endpoints/tests/run': { endpoint: document, tests: [] },
          '/endpoints/dry-run/value': { endpoint: document, at: '/answer/body' },
          '/endpoints/suggest': { source: { body: { id: 1 } }, target: { sample: { id: 2 } } },
          '/endpoints/batch': { operations: [{ op: 'delete', id: _id }] },
          '/tables/{name}/rows': { rows: [{ code: 'a', text: 'c' }] },
          '/tables/{name}/unmapped': { codes: [] },
          '/fhir/ConceptMap/$translate': {
            resourceType: 'Parameters',
            parameter: [
              { name: 'url', valueUri: table },
              { name: 'code', valueCode: 'a' },
            ],
          },
        }
        const isOfTable = path.includes('/tables/') || path.includes('$translate')
        const csv = { headers: { 'content-type': 'text/csv' }, body: 'code,text\na,b\n' }
        if (isOfTable) await call(service.adminUrl, 'PUT', `/tables/${table}`, csv)
        const query =
          path.endsWith('$translate') && method === 'get'
            ? `?code=a${path.includes('/fhir/') ? `&url=${table}` : ''}`
            : ''
        const reply = await call(
          service.adminUrl,
          method.toUpperCase(),
          `${path.replace('{id}', _id).replace('{message}', message).replace('{version}', '1').replace('{other}', '1').replace('{name}', table).replace('{type}', 'Patient')}${query}`,
          type === 'text/csv'
            ? csv
            : {
                headers: type === undefined ? {} : { 'content-type': type },
                ...(type === undefined ? {} : { body: JSON.stringify(bodies[path] ?? document) }),
              },
        )
        const [expected] = Object.keys(operation.responses)
        assert.equal(String(reply.status), expected, `${method} ${path}: ${reply.text}`)
        assert.deepEqual(faultsOf(method, path, reply), [])
        await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
        if (isOfTable) await call(service.adminUrl, 'DELETE', `/tables/${table}`)
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
