/** However much a message does, what a core learns of it is bounded. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { json, type Service, startUpstream, type Upstream } from '../../../support/service.ts'
import { startMediating, TRANSACTION, wrapperOf } from './wrapped-service.ts'
import { wrapperFaults } from './wrapper-schema.ts'

const OPENHIM = 'application/json+openhim'

/** The wrapper of a mediator that reports more than the core gets. */
const manyReports = JSON.stringify({
  'x-mediator-urn': 'urn:other',
  response: { status: 200, body: '' },
  orchestrations: [
    { name: 'long', request: { path: `/${'a'.repeat(1_000_000)}` } },
    { name: 'too long', request: { path: `/${'a'.repeat(100_000)}` } },
    { name: 'body', response: { body: 'a'.repeat(100_000) } },
    { name: 'short', request: { path: '/a' } },
  ],
})

let upstream: Upstream
const services: Service[] = []

async function startWith(env: Record<string, string>): Promise<Service> {
  const service = await startMediating({ OPENHIM_ORCHESTRATIONS: 'bodies', PARSER_LIMIT: '9mb', ...env })
  services.push(service)
  await service.register({
    endpoint: { pattern: '/items' },
    requests: {
      response: [
        {
          id: 'send',
          forEach: { items: 'requestBody.items', concurrency: 8 },
          config: {
            method: 'POST',
            url: `${upstream.url}/:path`,
            params: { url: { path: { path: 'item.path' } }, query: { q: { path: 'item.q' } } },
          },
        },
      ],
    },
  })
  return service
}

const send = async (service: Service, items: readonly JsonObject[]) => {
  const wrapper = wrapperOf(await service.fetch('/items', json('POST', { items }, TRANSACTION)))
  assert.deepEqual(wrapperFaults(wrapper), [])
  return wrapper
}

before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    if (url.startsWith('/bytes')) response.end(Buffer.from([0xff, 0xfe, 0x00]))
    else if (url.startsWith('/mediator')) response.writeHead(200, { 'content-type': OPENHIM }).end(manyReports)
    else if (url.startsWith('/no')) response.writeHead(500).end()
    else if (url.startsWith('/text')) response.setHeader('content-type', 'text/plain').end('private text')
    else return { long: 'ü'.repeat(600) }
    return undefined
  })
})
after(async () => {
  for (const service of services) await service.stop()
  await upstream?.stop()
})

describe('what a core learns is bounded', () => {
  test('in calls: of more than 200, failed ones are shown first', async () => {
    const service = await startWith({})
    const items = Array.from({ length: 205 }, (_, n) => ({ path: n > 200 ? 'no' : 'yes', n }))
    const { orchestrations, properties } = await send(service, items)
    assert.equal(orchestrations.length, 200)
    assert.equal(properties.orchestrationsOmitted, 5)
    const failed = orchestrations.filter(({ response }) => response?.status === 500).map(({ name }) => name)
    assert.deepEqual(failed.sort(), ['send[201]', 'send[202]', 'send[203]', 'send[204]'])
  })

  test('in bodies: each is cut, within a character never', async () => {
    const service = await startWith({ MESSAGE_LOG_BODY_LIMIT: '1kb' })
    const [one] = (await send(service, [{ path: 'yes', n: 'a'.repeat(2_000) }])).orchestrations
    assert.match(one?.request.body ?? '', /^\{"path":"yes","n":"a+… \[cut, 2021 bytes in all\]$/)
    assert.match(String(one?.response?.body), /^\{"long":"ü+… \[cut, 1211 bytes in all\]$/)
    const { orchestrations } = await send(
      service,
      Array.from({ length: 20 }, () => ({ path: 'yes' })),
    )
    const shown = orchestrations.map(({ response }) => String(response?.body).length)
    assert.ok(shown.filter((length) => length > 100).length <= 16, `${shown}`)
  })

  test('in what other mediators report: of more than 1 MiB, the rest is left out', async () => {
    const service = await startWith({ REDACT_PATHS: 'ssn' })
    await service.register({
      endpoint: { pattern: '/other' },
      requests: { lookup: [{ id: 'other', config: { method: 'GET', url: `${upstream.url}/mediator` } }] },
    })
    const reply = await service.fetch('/other', json('POST', { ssn: '1234567' }, TRANSACTION))
    const { orchestrations } = wrapperOf(reply)
    assert.deepEqual(
      orchestrations.map(({ name }) => name),
      ['other', 'long', 'body', 'short'],
    )
  })

  test('in bytes that it is sent: bodies that are no text are not', async () => {
    const service = await startWith({})
    const [one] = (await send(service, [{ path: 'bytes' }])).orchestrations
    assert.equal(one?.response?.body, '[3 bytes that are not text]')
  })

  test('in what is read: of larger bodies than 4 MiB together, the size is shown', async () => {
    const service = await startWith({})
    const items = [3, 2, 0.5].map((n) => ({ path: 'yes', text: 'a'.repeat(n * 1024 * 1024) }))
    const bodies = (await send(service, items)).orchestrations.map(({ request }) => request.body ?? '')
    assert.equal(
      bodies.filter((body) => /^\[\d{7} bytes, not shown\]$/.test(body)).length,
      1,
      `${bodies.map((body) => body.slice(0, 40))}`,
    )
  })

  test('in time: with REDACT_PATHS, text that no path can reach is not shown', async () => {
    const service = await startWith({ REDACT_PATHS: 'secret' })
    const [one] = (await send(service, [{ path: 'text', secret: 'a-secret', q: 'of a-secret' }])).orchestrations
    assert.equal(one?.response?.body, '[12 bytes, not shown]')
    assert.equal(one?.request.querystring, 'q=of%20***')
    assert.deepEqual(JSON.parse(one?.request.body ?? ''), { path: 'text', secret: '***', q: 'of ***' })
  })

  for (const [name, secrets] of [
    ['values are redacted than are searched for', Array.from({ length: 1_001 }, (_, n) => `secret-${n}`)],
    ['bytes are to be searched than are read', ['a'.repeat(5 * 1024 * 1024)]],
  ] as const) {
    test(`in time: if more ${name}, nothing is shown that may hold one`, async () => {
      const service = await startWith({ REDACT_PATHS: 'secret' })
      const [one] = (await send(service, [{ path: 'yes', q: 'q', secret: secrets }])).orchestrations
      const { path, querystring, method, host } = one?.request ?? assert.fail()
      assert.deepEqual([path, querystring, method, host], ['***', '***=***', 'POST', '***'])
      assert.match(one?.request.body ?? '', /^\[\d+ bytes, not shown\]$/)
      assert.equal(one?.response?.status, 200)
    })
  }
})
