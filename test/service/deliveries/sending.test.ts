/** Deliveries from the message to their target, by the service with its own store. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Received, type Service, startService, startUpstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SETTINGS = { CIRCUIT_BREAKER_FAILURES: '3', CIRCUIT_BREAKER_PAUSE_MS: '50', CIRCUIT_BREAKER_MAX_PAUSE_MS: '100' }

type Answer = (request: Received) => number

/** A service, and a target that answers with statuses. */
async function open(test: { after(work: () => Promise<unknown>): void }, answer: Answer, env = {}) {
  const target = await startUpstream((request, response) => {
    response.statusCode = answer(request)
    response.end()
    return undefined
  })
  const service = await startService({ ...SETTINGS, ...env })
  test.after(() => Promise.all([service.stop(), target.stop()]))
  const register = (delivery: JsonObject, pattern = '/in') =>
    service.register({
      name: pattern,
      endpoint: { pattern },
      requests: {
        response: [{ id: 'out', config: { method: 'POST', url: `${target.url}${pattern}` }, delivery }],
      },
      inputMapping: { 'requestBody.number': 'number', 'requestBody.who': 'who' },
    })
  const send = async (body: JsonObject, path = '/in') => {
    const reply = await service.fetch(path, json('POST', body))
    assert.equal(reply.status, 202, reply.text)
    return reply.json<{ deliveries: readonly { id: string }[] }>().deliveries[0]?.id as string
  }
  return { service, target, register, send }
}

const stateOf = async (service: Service, id: string) =>
  (await (await fetch(`${service.adminUrl}/deliveries/${id}`)).json()) as JsonObject

const numberIn = ({ body }: Received): unknown => (JSON.parse(body.toString()) as JsonObject).number

test('what has the same key arrives in order although the first one fails, and holds up no other key', async (test) => {
  let failed = 0
  const { service, target, register, send } = await open(test, (request) => {
    if (numberIn(request) === 1 && failed < 1) {
      failed += 1
      return 500
    }
    return 200
  })
  await register({ key: 'requestBody.who', schedule: ['0s', '1s'] })
  const ids = [
    await send({ number: 1, who: 'a' }),
    await send({ number: 2, who: 'a' }),
    await send({ number: 3, who: 'b' }),
  ]
  await until(
    () => Promise.all(ids.map((id) => stateOf(service, id))),
    (all) => all.every(({ state }) => state === 'delivered'),
  )
  const numbers = target.received.map(numberIn)
  assert.deepEqual(
    numbers.filter((number) => number !== 3),
    [1, 1, 2],
  )
  assert.ok(numbers.indexOf(3) < numbers.lastIndexOf(1))
  const keys = target.received.map(({ headers }) => headers['idempotency-key'])
  assert.deepEqual([...new Set(keys)].sort(), [...ids].sort())
})

test('what the target refuses for good is undeliverable, and a retry sends it at once', async (test) => {
  let status = 422
  const { service, register, send } = await open(test, () => status)
  await register({})
  const id = await send({ number: 1 })
  const { lastAttempts } = await until(
    () => stateOf(service, id),
    ({ state }) => state === 'undeliverable',
  )
  assert.equal((lastAttempts as readonly JsonObject[])[0]?.status, 422)
  status = 200
  const retried = await fetch(`${service.adminUrl}/deliveries/${id}/retry`, json('POST', { endpoint: 'then' }))
  assert.equal(retried.status, 200, await retried.text())
  await until(
    () => stateOf(service, id),
    ({ state }) => state === 'delivered',
  )
})

test('a target that is back gets what waits for hours', async (test) => {
  let isAway = true
  const { service, register, send } = await open(test, () => (isAway ? 503 : 200))
  await register({ schedule: ['0s', '10h'] })
  const ids: string[] = []
  for (let number = 0; number < 30; number += 1) ids.push(await send({ number }))
  const attemptsOf = async () => Promise.all(ids.map(async (id) => Number((await stateOf(service, id)).attempts)))
  await until(attemptsOf, (attempts) => attempts.filter((count) => count > 0).length >= 6)
  isAway = false
  const added = await send({ number: 99 })
  await until(
    () => Promise.all([...ids, added].map((id) => stateOf(service, id))),
    (all) => all.every(({ state }) => state === 'delivered'),
  )
  assert.ok((await attemptsOf()).every((count) => count <= 2))
})

test('signatures are those of the body that arrives', async (test) => {
  const secret = `whsec_${Buffer.from('a key of the target').toString('base64')}`
  const { service, target, register, send } = await open(test, () => 200)
  await register({ sign: { secret } })
  const id = await send({ number: 1 })
  await until(
    () => stateOf(service, id),
    ({ state }) => state === 'delivered',
  )
  const [{ headers, body } = assert.fail()] = target.received
  const hmac = createHmac('sha256', 'a key of the target').update(`${id}.${headers['webhook-timestamp']}.${body}`)
  assert.equal(headers['webhook-id'], id)
  assert.equal(headers['webhook-signature'], `v1,${hmac.digest('base64')}`)
})

test('metrics count attempts by their target and result', async (test) => {
  const { service, target, register, send } = await open(test, ({ url }) => (url === '/bad' ? 400 : 200))
  await register({})
  await register({}, '/bad')
  const ids = [await send({ number: 1 }), await send({ number: 2 }, '/bad')]
  await until(
    () => Promise.all(ids.map((id) => stateOf(service, id))),
    (all) => all.every(({ state }) => state !== 'pending'),
  )
  const lines = [
    ['/in', 'delivered'],
    ['/bad', 'undeliverable'],
  ].map(
    ([endpoint, result]) =>
      `crosswalk_delivery_attempts_total{endpoint="${endpoint}",target="${target.url}",result="${result}"} 1`,
  )
  // An attempt is counted once the store has its end.
  await until(
    async () => (await fetch(`${service.adminUrl}/metrics`)).text(),
    (text) => lines.every((line) => text.includes(line)),
  )
})
