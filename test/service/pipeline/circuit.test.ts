import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'
import { until } from '../../support/until.ts'

let service: Service
let upstream: Upstream
before(async () => {
  upstream = await startUpstream((_request, response) => {
    response.writeHead(503, { 'retry-after': '30' }).end('busy')
    return undefined
  })
  process.env.CROSSWALK_SECRET_CIRCUIT = upstream.url
  service = await startService()
})
after(async () => {
  delete process.env.CROSSWALK_SECRET_CIRCUIT
  await service.stop()
  await upstream.stop()
})

const lookupOf = (url: string, more: JsonObject = {}): JsonObject => ({
  requests: { lookup: [{ id: 'one', ...more, config: { url } }] },
})

async function sendSix(pattern: string, document: JsonObject) {
  await service.register({ endpoint: { pattern }, ...document })
  const replies = []
  for (let message = 0; message < 6; message++) replies.push(await service.fetch(pattern, json('POST', {})))
  return replies.map((reply) => ({ reply, reported: [reply.status, reply.json().code] }))
}

describe('a target that fails five times in a row', () => {
  it('is not called again for now: the status stays, the code says why, Retry-After says when', async () => {
    const reported = await sendSix('/refused', lookupOf(await nowhere()))
    assert.deepEqual(
      reported.map((one) => one.reported),
      [...Array(5).fill([502, 'LOOKUP_UNREACHABLE']), [502, 'LOOKUP_CIRCUIT_OPEN']],
    )
    const { reply } = reported[5] as (typeof reported)[number]
    assert.equal(reply.headers.get('retry-after'), '1')
    assert.match(
      String(reply.json().error),
      /"one" failed: GET http:.* was not sent: the last 5 attempts at its target failed/,
    )
  })

  it('that was too slow is answered with 504', async () => {
    const { url, stop } = await startUpstream(() => undefined)
    after(stop)
    const reported = await sendSix('/slow', lookupOf(url, { timeoutMs: 50 }))
    assert.deepEqual(reported[5]?.reported, [504, 'LOOKUP_CIRCUIT_OPEN'])
  })

  it('of a response request, too', async () => {
    const requests = { response: [{ id: 'one', config: { url: await nowhere() } }] }
    const reported = await sendSix('/response', { requests })
    assert.deepEqual(reported[5]?.reported, [502, 'RESPONSE_CIRCUIT_OPEN'])
  })

  it('of one of several response requests leaves the answer partial', async () => {
    const url = await nowhere()
    const requests = { response: ['one', 'two', 'three'].map((id) => ({ id, config: { url } })) }
    const reported = await sendSix('/several', { requests })
    const { status, headers, json: read } = (reported[5] as (typeof reported)[number]).reply
    assert.deepEqual([status, headers.get('x-crosswalk-status')], [200, 'partial'])
    assert.deepEqual(
      Object.values(read<Record<string, JsonObject>>()).map(({ code }) => code),
      Array(3).fill('RESPONSE_CIRCUIT_OPEN'),
    )
  })

  it('is in the log and the metrics, by its reference if it is a secret, and gets no request for as long as it asks', async () => {
    const name = '${env:CROSSWALK_SECRET_CIRCUIT}'
    const reported = await sendSix('/secret', lookupOf(`${name}/busy`))
    assert.deepEqual(reported[4]?.reported, [503, 'LOOKUP_REFUSED'])
    assert.deepEqual(reported[5]?.reported, [503, 'LOOKUP_CIRCUIT_OPEN'])
    const { reply } = reported[5] as (typeof reported)[number]
    assert.ok(!reply.text.includes(upstream.url), reply.text)
    const seconds = Number(reply.headers.get('retry-after'))
    assert.ok(seconds > 20 && seconds <= 30, String(seconds))
    const opened = service.log.filter(({ message }) => message.startsWith('A circuit opened')).at(-1)
    assert.deepEqual([opened?.level, opened?.fields.origin, opened?.fields.why], ['warn', name, 'status 503'])
    const metrics = (await call(service.adminUrl, 'GET', '/metrics')).text
    assert.ok(metrics.includes(`crosswalk_circuit_open{origin="${name}"} 1\n`))
    assert.ok(!metrics.includes(upstream.url))
    assert.match(metrics, /crosswalk_circuit_opened_total [1-9]/)
    assert.match(metrics, /crosswalk_circuit_refused_calls_total [1-9]/)
    assert.match(metrics, /fault="circuit-open"\} 1\n/)
  })
})

describe('CIRCUIT_BREAKER_…', () => {
  it('lets a target be called again once a probe went well', async () => {
    const quick = await startService({ CIRCUIT_BREAKER_FAILURES: '2', CIRCUIT_BREAKER_PAUSE_MS: '20' })
    after(() => quick.stop())
    let isWell = false
    const own = await startUpstream((_request, response) => {
      if (!isWell) response.destroy()
      return {}
    })
    after(() => own.stop())
    await quick.register({ endpoint: { pattern: '/probed' }, ...lookupOf(own.url) })
    const send = async () => (await quick.fetch('/probed', json('POST', {}))).status
    for (let failed = 0; failed < 4; failed++) assert.equal(await send(), 502)
    isWell = true
    await until(send, (status) => status === 200)
    const closed = quick.log.filter(({ message }) => message.startsWith('A circuit closed'))
    assert.equal(closed.length, 1)
  })

  it('FAILURES=0 lets every call through', async () => {
    const off = await startService({ CIRCUIT_BREAKER_FAILURES: '0' })
    after(() => off.stop())
    const failing = await startUpstream((_request, response) => {
      response.destroy()
      return {}
    })
    after(() => failing.stop())
    await off.register({ endpoint: { pattern: '/off' }, ...lookupOf(failing.url) })
    for (let message = 0; message < 8; message++) {
      const reply = await off.fetch('/off', json('POST', {}))
      assert.equal(reply.json().code, 'LOOKUP_UNREACHABLE')
    }
    assert.equal(failing.received.length, 8)
  })
})
