/** Requests that are not answered as they should: their failures, retries, and the deadline of the message. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'
import { failureOf, openPipeline } from './fixture.ts'

// The upstream fails on purpose, more often than it may.
const OPEN = { CIRCUIT_BREAKER_FAILURES: '0', REQUEST_RETRY_BUDGET_PERCENT: '100' }
const pipeline = openPipeline(OPEN)
/** Gives a message 300 ms, retries once by itself, and reads answers of up to 1 KiB. */
const strict = openPipeline({ ...OPEN, MESSAGE_TIMEOUT_MS: '300', REQUEST_RETRIES: '1', ANSWER_LIMIT: '1kb' })

const KINDS = ['lookup', 'response'] as const
const send = (kind: string, request: JsonObject, { on = pipeline, body = {} as Json } = {}) =>
  on.send({ requests: { [kind]: [{ id: 'the-one', ...request }] } }, body)

/** A URL that is answered step by step, `503/reset/200`, the last step for ever; `count()` are its calls. */
function stepping(steps: string) {
  let calls = 0
  const url = pipeline.at((_request, response) => {
    const all = steps.split('/')
    const step = all[Math.min(calls, all.length - 1)]
    calls += 1
    if (step === 'reset') response.destroy()
    else response.statusCode = Number(step)
    return {}
  })
  return { url, count: () => calls }
}

describe('a request without an answer', () => {
  it('is reported without what its query or its headers may hide', async () => {
    const away = await nowhere()
    const config = {
      url: `${away}/open/:patient?key=hidden1`,
      headers: { authorization: 'hidden2' },
      params: { url: { patient: { path: 'payload.patient' } }, query: { token: { path: 'payload.token' } } },
    }
    const reply = await send('lookup', { config }, { body: { token: 'hidden3', patient: 'P4711' } })
    assert.match(reply.text, /open\/P4711/)
    assert.doesNotMatch(reply.text, /hidden/)
    const log = JSON.stringify(pipeline.service.log)
    // The sender of the message knows its patient; a reader of the log need not.
    assert.doesNotMatch(log, /hidden|P4711/)
    assert.ok(log.includes(`GET ${away} got no complete answer`), log)
  })
})

it('refuses an answer that is larger than ANSWER_LIMIT', async () => {
  for (const kind of KINDS) {
    const config = { url: pipeline.at({ body: 'x'.repeat(2048) }) }
    const reply = await send(kind, { config }, { on: strict })
    assert.deepEqual(failureOf(reply).slice(0, 2), [502, `${kind.toUpperCase()}_UNREADABLE`])
    assert.match(reply.text, /larger than the limit of 1024 bytes/)
    assert.equal((await send(kind, { config })).status, 200)
  }
})

describe('retries', () => {
  type Case = [name: string, method: string, request: JsonObject, steps: string, calls: number, status: number]
  const cases: Case[] = [
    ['are none by default', 'GET', {}, '503/200', 1, 503],
    ['follow a 503', 'GET', { retries: 1 }, '503/200', 2, 200],
    ['follow a broken connection', 'GET', { retries: 1 }, 'reset/200', 2, 200],
    ['follow no POST', 'POST', { retries: 2 }, '503/200', 1, 503],
    ['follow a POST that is idempotent', 'POST', { retries: 1, idempotent: true }, '503/200', 2, 200],
  ]
  for (const [name, method, request, steps, calls, status] of cases) {
    it(name, async () => {
      const kinds = method === 'GET' ? KINDS : (['response'] as const)
      for (const kind of kinds) {
        const { url, count } = stepping(steps)
        const reply = await send(kind, { config: { method, url }, ...request })
        assert.deepEqual([reply.status, count()], [status, calls])
      }
    })
  }

  it('are by default as many as REQUEST_RETRIES says', async () => {
    for (const [method, request, calls] of [
      ['GET', {}, 2],
      ['GET', { retries: 0 }, 1],
      ['POST', {}, 1],
    ] as const) {
      const { url, count } = stepping('503/200')
      await send('lookup', { config: { method, url }, ...request }, { on: strict })
      assert.equal(count(), calls)
    }
  })

  it('warn at registration where they will never be made', async () => {
    const response = [{ id: 'one', config: { method: 'POST', url: 'http://a/' }, retries: 1 }]
    const document = endpointDocument({ endpoint: { pattern: '/warned' }, requests: { response } })
    const reply = await pipeline.service.fetch('/endpoints', json('POST', document))
    assert.match(reply.headers.get('x-crosswalk-warnings') ?? '', /requests\.response\[0\]\.retries.*idempotent/)
  })
})

describe('MESSAGE_TIMEOUT_MS', () => {
  it('ends a forEach whose calls are each fast enough', async () => {
    let calls = 0
    const url = pipeline.at(async () => {
      calls += 1
      await new Promise((resolve) => setTimeout(resolve, 60))
      return {}
    })
    const body = Array.from({ length: 100 }, () => 1)
    const reply = await send('lookup', { forEach: { items: 'payload' }, config: { url } }, { on: strict, body })
    assert.ok(['LOOKUP_TIMED_OUT', 'DEADLINE_EXCEEDED'].includes(String(reply.json().code)), reply.text)
    assert.equal(reply.status, 504)
    assert.ok(calls >= 1 && calls <= 6, `${calls} calls`)
  })

  it('ends a request whose own time is longer', async () => {
    for (const kind of KINDS) {
      const config = { url: `${pipeline.upstream.url}/silent` }
      const reply = await send(kind, { timeoutMs: 60_000, config }, { on: strict })
      assert.deepEqual(failureOf(reply).slice(0, 2), [504, `${kind.toUpperCase()}_TIMED_OUT`])
    }
  })

  it('sends no response once the lookups used it up', async () => {
    const { url, count } = stepping('200')
    const lookup = { id: 'one', config: { url: `${pipeline.upstream.url}/silent` } }
    const reply = await strict.send({ requests: { lookup, response: { id: 'two', config: { url } } } })
    assert.deepEqual([reply.status, count()], [504, 0])
  })
})
