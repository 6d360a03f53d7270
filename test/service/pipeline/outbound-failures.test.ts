import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'

let service: Service
/** Gives a message 500 ms, retries once by itself, and reads answers of up to 1 KiB. */
let strict: Service
let upstream: Upstream
/** A URL that nothing listens on. */
let away: string
before(async () => {
  // The upstream fails on purpose, more often than it may.
  const open = { CIRCUIT_BREAKER_FAILURES: '0', REQUEST_RETRY_BUDGET_PERCENT: '100' }
  service = await startService(open)
  strict = await startService({ ...open, MESSAGE_TIMEOUT_MS: '500', REQUEST_RETRIES: '1', ANSWER_LIMIT: '1kb' })
  /**
   * Answers by the steps of the path: `/<name>/503/reset/200` refuses the first request, breaks off the second and
   * takes the third; the last step goes on for ever. `silent` never answers, `slow` after 100 ms, `large` with 2 KiB.
   */
  upstream = await startUpstream(async ({ url }, response) => {
    const [, ...steps] = url.slice(1).split('/')
    const step = steps[Math.min(countOf(url), steps.length) - 1] ?? '200'
    if (step === 'silent') return undefined
    if (step === 'slow') await new Promise((resolve) => setTimeout(resolve, 100))
    if (step === 'reset') response.destroy()
    if (/^\d{3}$/.test(step)) response.statusCode = Number(step)
    return step === 'large' ? { text: 'x'.repeat(2048) } : { step }
  })
  away = await nowhere()
})
after(async () => {
  await service.stop()
  await strict.stop()
  await upstream.stop()
})

const countOf = (path: string) => upstream.received.filter(({ url }) => url === path).length

let routes = 0

async function send(requests: JsonObject, to: Service = service, body: JsonObject = {}) {
  routes += 1
  await to.register({ endpoint: { pattern: `/failing-${routes}` }, requests })
  return to.fetch(`/failing-${routes}`, json('POST', body))
}

/** A path of the upstream that nothing else uses. */
const fresh = (steps: string): string => {
  routes += 1
  return `/n${routes}/${steps}`
}

describe('a request without an answer', () => {
  const noName = `http://${'a'.repeat(64)}.invalid/`
  const cases: { name: string; url: () => string; timeoutMs?: number; status: number; code: string; says: RegExp }[] = [
    { name: 'refused', url: () => away, status: 502, code: 'UNREACHABLE', says: /connection refused/ },
    { name: 'of no host', url: () => noName, status: 502, code: 'UNREACHABLE', says: /name not found/ },
    { name: 'cut off', url: () => upstream.url + fresh('reset'), status: 502, code: 'UNREACHABLE', says: /clos|reset/ },
    {
      name: 'timed out',
      url: () => upstream.url + fresh('silent'),
      timeoutMs: 100,
      status: 504,
      code: 'TIMED_OUT',
      says: /100 ms/,
    },
  ]
  for (const { name, url, timeoutMs, status, code, says } of cases) {
    for (const kind of ['lookup', 'response']) {
      it(`is a ${status}, naming the request: ${kind} ${name}`, async () => {
        const request = { id: 'the-one', config: { url: url() }, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
        const reply = await send({ [kind]: [request] })
        const failure = reply.json<Record<string, string>>()
        assert.deepEqual(
          [reply.status, failure.code, failure.stage, failure.path],
          [status, `${kind.toUpperCase()}_${code}`, kind === 'lookup' ? 'lookup' : 'respond', `requests.${kind}[0]`],
        )
        assert.match(failure.error ?? '', /"the-one"/)
        assert.match(failure.error ?? '', says)
      })
    }
  }

  it('is reported without what its query or its headers may hide', async () => {
    const config = {
      url: `${away}/open/:patient?key=hidden1`,
      headers: { authorization: 'hidden2' },
      params: { url: { patient: { path: 'payload.patient' } }, query: { token: { path: 'payload.token' } } },
    }
    const reply = await send({ lookup: [{ id: 'one', config }] }, service, { token: 'hidden3', patient: 'P4711' })
    assert.match(reply.text, /open\/P4711/)
    assert.doesNotMatch(reply.text, /hidden/)
    const log = JSON.stringify(service.log)
    assert.doesNotMatch(log, /hidden/)
    // The sender of the message knows its patient; a reader of the log need not.
    assert.doesNotMatch(log, /P4711/)
    assert.ok(log.includes(`GET ${away} got no complete answer`), log)
  })
})

it('refuses an answer that is larger than ANSWER_LIMIT', async () => {
  for (const [kind, code] of [
    ['lookup', 'LOOKUP_UNREADABLE'],
    ['response', 'RESPONSE_UNREADABLE'],
  ] as const) {
    const request = { id: 'one', config: { url: upstream.url + fresh('large') } }
    const reply = await send({ [kind]: [request] }, strict)
    assert.deepEqual([reply.status, reply.json().code], [502, code])
    assert.match(reply.text, /larger than the limit of 1024 bytes/)
    assert.equal((await send({ [kind]: [request] })).status, 200)
  }
})

describe('retries', () => {
  type Case = { name: string; request: JsonObject; method?: string; steps: string; calls: number; status: number }
  const cases: Case[] = [
    { name: 'are none by default', request: {}, steps: '503/200', calls: 1, status: 503 },
    { name: 'follow a 503', request: { retries: 1 }, steps: '503/200', calls: 2, status: 200 },
    { name: 'follow a 502 and a 504', request: { retries: 2 }, steps: '502/504/200', calls: 3, status: 200 },
    { name: 'follow a broken connection', request: { retries: 1 }, steps: 'reset/200', calls: 2, status: 200 },
    { name: 'end', request: { retries: 1 }, steps: '503', calls: 2, status: 503 },
    { name: 'follow no other refusal', request: { retries: 2 }, steps: '500/200', calls: 1, status: 500 },
    { name: 'follow a PUT', method: 'put', request: { retries: 1 }, steps: '503/200', calls: 2, status: 200 },
    { name: 'follow a DELETE', method: 'DELETE', request: { retries: 1 }, steps: '503/200', calls: 2, status: 200 },
    { name: 'follow no POST', method: 'POST', request: { retries: 2 }, steps: '503/200', calls: 1, status: 503 },
    {
      name: 'follow no POST that broke',
      method: 'POST',
      request: { retries: 2 },
      steps: 'reset/200',
      calls: 1,
      status: 502,
    },
    { name: 'follow no PATCH', method: 'PATCH', request: { retries: 2 }, steps: '503/200', calls: 1, status: 503 },
    {
      name: 'follow a POST that is idempotent',
      method: 'POST',
      request: { retries: 1, idempotent: true },
      steps: '503/200',
      calls: 2,
      status: 200,
    },
  ]
  for (const { name, request, method = 'GET', steps, calls, status } of cases) {
    for (const kind of ['lookup', 'response']) {
      it(`${name}: ${kind}`, async () => {
        const path = fresh(steps)
        const reply = await send({ [kind]: [{ id: 'one', config: { method, url: upstream.url + path }, ...request }] })
        assert.deepEqual([reply.status, countOf(path)], [status, calls])
      })
    }
  }

  it('are by default as many as REQUEST_RETRIES says', async () => {
    const lookups = [
      { path: fresh('503/200'), request: {}, method: 'GET', calls: 2 },
      { path: fresh('503/200'), request: { retries: 0 }, method: 'GET', calls: 1 },
      { path: fresh('503/200'), request: {}, method: 'POST', calls: 1 },
    ]
    for (const { path, request, method, calls } of lookups) {
      await send({ lookup: [{ id: 'one', config: { method, url: upstream.url + path }, ...request }] }, strict)
      assert.equal(countOf(path), calls)
    }
  })

  it('warn at registration where they will never be made', async () => {
    const request = { id: 'one', config: { method: 'POST', url: away }, retries: 1 }
    const document = endpointDocument({ endpoint: { pattern: '/warned' }, requests: { response: [request] } })
    const reply = await service.fetch('/endpoints', json('POST', document))
    assert.equal(reply.status, 201)
    assert.match(reply.headers.get('x-crosswalk-warnings') ?? '', /requests\.response\[0\]\.retries.*idempotent/)
  })
})

describe('MESSAGE_TIMEOUT_MS', () => {
  it('ends a forEach whose calls are each fast enough', async () => {
    const path = fresh('slow')
    const lookup = { id: 'one', forEach: { items: 'payload.list' }, config: { url: upstream.url + path } }
    const startedAt = performance.now()
    const reply = await send({ lookup: [lookup] }, strict, { list: Array.from({ length: 100 }, () => 1) })
    assert.ok(['LOOKUP_TIMED_OUT', 'DEADLINE_EXCEEDED'].includes(String(reply.json().code)), reply.text)
    assert.equal(reply.status, 504)
    assert.ok(performance.now() - startedAt < 5_000)
    assert.ok(countOf(path) >= 1 && countOf(path) <= 6, `${countOf(path)} calls`)
  })

  for (const kind of ['lookup', 'response']) {
    it(`ends a ${kind} whose own time is longer`, async () => {
      const request = { id: 'one', timeoutMs: 10_000, config: { url: upstream.url + fresh('silent') } }
      const startedAt = performance.now()
      const reply = await send({ [kind]: [request] }, strict)
      assert.ok(performance.now() - startedAt < 5_000)
      assert.deepEqual([reply.status, reply.json().code], [504, `${kind.toUpperCase()}_TIMED_OUT`])
    })
  }

  it('sends no response once the lookups used it up', async () => {
    const path = fresh('200')
    const lookup = { id: 'one', config: { url: upstream.url + fresh('silent') } }
    const response = { id: 'two', config: { url: upstream.url + path } }
    const reply = await send({ lookup: [lookup], response: [response] }, strict)
    assert.deepEqual([reply.status, countOf(path)], [504, 0])
  })
})
