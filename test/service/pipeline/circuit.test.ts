import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { json, type Reply, startService } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'
import { until } from '../../support/until.ts'
import { openPipeline } from './fixture.ts'

const NAME = 'CROSSWALK_SECRET_CIRCUIT'
const pipeline = openPipeline()
after(() => {
  delete process.env[NAME]
})

const request = (url: string, more: JsonObject = {}) => ({ id: 'one', ...more, config: { url } })
const resetting = () => `${pipeline.upstream.url}/reset`

async function sendSix(requests: JsonObject) {
  const path = await pipeline.register({ requests })
  const replies: Reply[] = []
  for (let message = 0; message < 6; message++) replies.push(await pipeline.service.fetch(path, json('POST', {})))
  return { sixth: replies[5] as Reply, reported: replies.map((reply) => [reply.status, reply.json().code]) }
}

describe('a target that fails five times in a row', () => {
  it('is not called again for now: the status stays, the code says why, Retry-After says when', async () => {
    const { sixth, reported } = await sendSix({ lookup: request(await nowhere()) })
    const opened = [502, 'LOOKUP_CIRCUIT_OPEN']
    assert.deepEqual(reported, [...Array(5).fill([502, 'LOOKUP_UNREACHABLE']), opened])
    assert.equal(sixth.headers.get('retry-after'), '1')
    const says = /"one" failed: GET http:.* was not sent: the last 5 attempts at its target failed/
    assert.match(String(sixth.json().error), says)
  })

  it('of a response request, too, which leaves the answer partial where there are several', async () => {
    const response = request(await nowhere())
    assert.deepEqual((await sendSix({ response })).reported[5], [502, 'RESPONSE_CIRCUIT_OPEN'])
    const url = await nowhere()
    const { sixth } = await sendSix({ response: ['a', 'b', 'c'].map((id) => ({ id, config: { url } })) })
    assert.deepEqual([sixth.status, sixth.headers.get('x-crosswalk-status')], [200, 'partial'])
    const codes = Object.values(sixth.json<Record<string, JsonObject>>()).map(({ code }) => code)
    assert.deepEqual(codes, Array(3).fill('RESPONSE_CIRCUIT_OPEN'))
  })

  it('is in the log and the metrics, by its reference if it is a secret, and gets no request for as long as it asks', async (t) => {
    const url = pipeline.at({ status: 503, headers: { 'retry-after': '30' }, body: 'busy' })
    const { origin, pathname } = new URL(url)
    // A name of its own, as circuits are of origins.
    process.env[NAME] = origin.replace('127.0.0.1', 'localhost')
    t.after(() => delete process.env[NAME])
    const name = `\${env:${NAME}}`
    const { sixth, reported } = await sendSix({ lookup: request(`${name}${pathname}`) })
    assert.deepEqual(reported.slice(4), [
      [503, 'LOOKUP_REFUSED'],
      [503, 'LOOKUP_CIRCUIT_OPEN'],
    ])
    assert.ok(!sixth.text.includes('localhost'), sixth.text)
    const seconds = Number(sixth.headers.get('retry-after'))
    assert.ok(seconds > 20 && seconds <= 30, String(seconds))
    const opened = pipeline.service.log.findLast(({ message }) => message.startsWith('A circuit opened'))
    assert.deepEqual([opened?.level, opened?.fields.origin, opened?.fields.why], ['warn', name, 'status 503'])
    const metrics = (await call(pipeline.service.adminUrl, 'GET', '/metrics')).text
    assert.ok(metrics.includes(`crosswalk_circuit_open{origin="${name}"} 1\n`))
    assert.ok(!metrics.includes('localhost'))
    assert.match(metrics, /crosswalk_circuit_opened_total [1-9]/)
    assert.match(metrics, /crosswalk_circuit_refused_calls_total [1-9]/)
    assert.match(metrics, /fault="circuit-open"\} 1\n/)
  })
})

describe('CIRCUIT_BREAKER_…', () => {
  it('lets a target be called again once a probe went well', async (t) => {
    const quick = await startService({ CIRCUIT_BREAKER_FAILURES: '2', CIRCUIT_BREAKER_PAUSE_MS: '20' })
    t.after(() => quick.stop())
    let isWell = false
    const url = pipeline.at((_request, response) => {
      if (!isWell) response.destroy()
      return {}
    })
    await quick.register({ endpoint: { pattern: '/probed' }, requests: { lookup: request(url) } })
    const send = async () => (await quick.fetch('/probed', json('POST', {}))).status
    for (let failed = 0; failed < 4; failed++) assert.equal(await send(), 502)
    isWell = true
    await until(send, (status) => status === 200)
    const closed = quick.log.filter(({ message }) => message.startsWith('A circuit closed'))
    assert.equal(closed.length, 1)
  })

  it('FAILURES=0 lets every call through', async (t) => {
    const off = await startService({ CIRCUIT_BREAKER_FAILURES: '0' })
    t.after(() => off.stop())
    await off.register({ endpoint: { pattern: '/off' }, requests: { lookup: request(resetting()) } })
    const received = await pipeline.receivedIn(async () => {
      for (let message = 0; message < 8; message++) {
        assert.equal((await off.fetch('/off', json('POST', {}))).json().code, 'LOOKUP_UNREACHABLE')
      }
    })
    assert.equal(received.length, 8)
  })
})
