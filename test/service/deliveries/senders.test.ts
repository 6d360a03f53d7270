/** What the senders of messages see of their deliveries, at the path that the answer to the message names. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { type Called, call } from '../../support/inbound/http/management/call.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const PASSWORD = 'a password of the sender'
const BASIC = { authorization: `Basic ${Buffer.from(`lab:${PASSWORD}`).toString('base64')}` }
const WRONG = { authorization: `Basic ${Buffer.from('lab:wrong').toString('base64')}` }
/** A call from elsewhere, so that it manages nothing. */
const RELAYED = { 'x-forwarded-for': '10.0.0.1' }
const NO_ID = '0'.repeat(24)

let target: Upstream
const services: Partial<Record<'on' | 'off', Service>> = {}
before(async () => {
  process.env.CROSSWALK_SECRET_SENDER = PASSWORD
  target = await startUpstream(({ url }, response) => {
    response.statusCode = url.startsWith('/refused') ? 422 : 200
    return {}
  })
  for (const management of ['on', 'off'] as const) {
    services[management] = await startService({ MESSAGE_PORT_MANAGEMENT: management })
  }
})
after(async () => {
  delete process.env.CROSSWALK_SECRET_SENDER
  await Promise.all([...Object.values(services).map((service) => service.stop()), target.stop()])
})

/** Registers an endpoint with a durable request to that path, and sends it a message; resolves to where its deliveries are. */
async function send(service: Service, to: string, document: JsonObject = {}, headers = {}) {
  const pattern = `/in-${Math.random()}`
  const made = await fetch(
    `${service.adminUrl}/endpoints`,
    json('POST', {
      name: pattern,
      endpoint: { pattern },
      transformation: { input: 'JSON', output: 'JSON' },
      requests: {
        response: [
          {
            id: 'out',
            config: { method: 'POST', url: `${target.url}${to}?patient=17` },
            delivery: { key: 'requestBody.p' },
          },
          { id: 'each', config: { url: `${target.url}/each` }, forEach: { items: 'requestBody.items' }, delivery: {} },
        ],
      },
      ...document,
    }),
  )
  assert.equal(made.status, 201, await made.clone().text())
  const { _id } = (await made.json()) as { _id: string }
  const body = json('POST', { p: 'patient-17', items: [1, 2] })
  const reply = await service.fetch(pattern, { ...body, headers: { ...(body.headers as object), ...headers } })
  assert.equal(reply.status, 202, reply.text)
  const taken = reply.json<{ messageId: string; deliveries: { id: string; request: string }[] }>()
  return { ...taken, endpointId: _id, path: reply.headers.get('location') ?? '' }
}

const get = (service: Service, port: 'message' | 'admin', path: string, headers = {}): Promise<Called> =>
  call(port === 'message' ? service.url : service.adminUrl, 'GET', path, { headers })
const AUTH = { auth: { basic: { users: { lab: '$' + '{env:CROSSWALK_SECRET_SENDER}' } } } }

for (const management of ['on', 'off'] as const) {
  describe(`MESSAGE_PORT_MANAGEMENT=${management}`, () => {
    const running = () => services[management] ?? assert.fail()

    test('shows the deliveries of a message, in their order, and nothing of the target', async () => {
      const sent = await send(running(), '/refused')
      const { deliveries, messageId } = await until(
        async () =>
          (await get(running(), 'message', sent.path, RELAYED)).json<{ messageId: string; deliveries: JsonObject[] }>(),
        (shown) => shown.deliveries.every(({ state }) => state !== 'pending'),
      )
      assert.equal(messageId, sent.messageId)
      assert.deepEqual(
        deliveries.map(({ id, request, item, state, attempts, lastStatus }) => [
          { id, request },
          [item, state, attempts, lastStatus],
        ]),
        [
          [sent.deliveries[0], [undefined, 'undeliverable', 1, 422]],
          [sent.deliveries[1], [0, 'delivered', 1, 200]],
          [sent.deliveries[2], [1, 'delivered', 1, 200]],
        ],
      )
      const { text, headers } = await get(running(), 'message', sent.path, RELAYED)
      assert.doesNotMatch(text, /patient|127\.0\.0\.1/)
      assert.equal(headers['cache-control'], 'no-store')
    })

    test('asks on the message port for the credentials of a sender, on the admin port for those of a viewer', async () => {
      const { path } = await send(running(), '/', AUTH, BASIC)
      const cases: readonly (readonly [name: string, 'message' | 'admin', headers: object, status: number])[] = [
        ['the sender', 'message', { ...RELAYED, ...BASIC }, 200],
        ['another password', 'message', { ...RELAYED, ...WRONG }, 401],
        ['nobody', 'message', RELAYED, 401],
        // Who may manage the service needs no credentials of a sender, where the port takes management calls.
        ['a manager', 'message', {}, management === 'on' ? 200 : 401],
        ['the sender', 'admin', { ...RELAYED, ...BASIC }, 403],
        ['a manager', 'admin', {}, 200],
      ]
      for (const [name, port, headers, status] of cases) {
        const reply = await get(running(), port, path, headers)
        assert.equal(reply.status, status, `${name}, ${port}: ${reply.text}`)
      }
      const refused = await get(running(), 'message', path, RELAYED)
      assert.match(refused.headers['www-authenticate'] ?? '', /^Basic/)
    })

    test('has nothing of other endpoints, other messages and messages without deliveries', async () => {
      const one = await send(running(), '/')
      const other = await send(running(), '/')
      const cases: readonly (readonly [path: string, message: string, admin: string])[] = [
        [`/endpoints/${other.endpointId}/deliveries/${one.messageId}`, 'DELIVERY_UNKNOWN', 'DELIVERY_UNKNOWN'],
        [`/endpoints/${one.endpointId}/deliveries/${NO_ID}`, 'DELIVERY_UNKNOWN', 'DELIVERY_UNKNOWN'],
        [`/endpoints/${one.endpointId}/deliveries/x`, 'ID_MALFORMED', 'ID_MALFORMED'],
        [
          `/endpoints/${NO_ID}/deliveries/${one.messageId}`,
          management === 'on' ? 'DELIVERY_UNKNOWN' : 'ENDPOINT_UNKNOWN',
          'DELIVERY_UNKNOWN',
        ],
      ]
      for (const [path, message, admin] of cases) {
        for (const [port, code] of [
          ['message', message],
          ['admin', admin],
        ] as const) {
          assert.equal((await get(running(), port, path)).json().code, code, `${port} ${path}`)
        }
      }
      const reply = await call(running().url, 'POST', one.path, { headers: { 'content-type': 'application/json' } })
      assert.deepEqual([reply.status, reply.headers.allow], [405, 'GET'])
    })

    test('leaves the deliveries of an endpoint that was deleted to those who manage the service', async () => {
      const { path, endpointId } = await send(running(), '/')
      const deleted = await call(running().adminUrl, 'DELETE', `/endpoints/${endpointId}`, {
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(deleted.status, 200, deleted.text)
      assert.equal((await get(running(), 'admin', path)).status, 200)
      assert.equal((await get(running(), 'message', path, RELAYED)).status, management === 'on' ? 403 : 404)
    })
  })
}
