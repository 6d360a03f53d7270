/** Refusals of a FHIR endpoint that are made before, beside or after its stages: each is an OperationOutcome too. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { exchange, requestText } from '../../../support/raw-exchange.ts'
import { json, type Reply, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { type Issue, issuesIn } from './operation-outcomes.ts'

const KEY = 'CROSSWALK_SECRET_TEST_FHIR_KEY'
const JSON_TYPE = 'content-type: application/json'

let service: Service
let upstream: Upstream
const held: (() => void)[] = []
const releaseAll = () => {
  for (const release of held.splice(0)) release()
}

const register = (pattern: string, more: JsonObject = {}) =>
  service.register({
    name: pattern,
    endpoint: { pattern },
    transformation: { input: 'JSON', output: 'FHIR+JSON' },
    ...more,
  })
const slow = () => ({ requests: { lookup: [{ id: 'slow', config: { url: upstream.url } }] } })

before(async () => {
  process.env[KEY] = 'the-key-of-the-ward'
  upstream = await startUpstream(() => new Promise((resolve) => held.push(() => resolve({}))))
  service = await startService({
    SERVER_HEADERS_TIMEOUT_MS: '1000',
    SERVER_REQUEST_TIMEOUT_MS: '1500',
    PARSER_LIMIT: '1kb',
    MESSAGE_LOG: 'all',
  })
  await register('/open')
  await register('/guarded', { auth: { apiKey: { keys: [`\${env:${KEY}}`] } } })
  await register('/rated', { rateLimit: { messages: 1, seconds: 3_600 } })
  await register('/keyed', { idempotency: { required: true }, inputValidation: { required: ['a'] } })
  await register('/full', { limits: { concurrency: 1, queue: 0 }, ...slow() })
  await register('/slow', slow())
})
let stopped: Promise<void> | undefined
const stop = () => {
  stopped ??= service.stop()
  return stopped
}
after(async () => {
  releaseAll()
  delete process.env[KEY]
  await stop()
  await upstream.stop()
})

function assertOutcome(text: string, headers: Headers, code: string, type: string): Issue | undefined {
  assert.deepEqual([headers.get('content-type'), headers.get('x-crosswalk-code')], ['application/fhir+json', code])
  const issues = issuesIn(text)
  assert.deepEqual(
    issues.map((issue) => [issue.severity, issue.code, issue.details.coding[0]?.code]),
    [['error', type, code]],
  )
  assert.match(issues[0]?.diagnostics ?? '', new RegExp(`^messageId: ${headers.get('x-crosswalk-message-id')}`))
  return issues[0]
}

const post = (path: string, headers: Record<string, string> = {}, body: JsonObject = { a: 1 }) =>
  service.fetch(path, json('POST', body, headers))

describe('an OperationOutcome answers', () => {
  const twice = async (ask: () => Promise<Reply>) => {
    await ask()
    return ask()
  }
  const key = (value: string) => ({ 'idempotency-key': value })
  type Case = [name: string, status: number, code: string, type: string, ask: () => Promise<Reply>]
  const cases: Case[] = [
    ['no credentials', 401, 'CREDENTIALS_REFUSED', 'login', () => post('/guarded')],
    ['a message beyond the rate', 429, 'RATE_LIMITED', 'throttled', () => twice(() => post('/rated'))],
    [
      ...(['a message beyond the limits', 503, 'OVERLOADED', 'throttled'] as const),
      async () => {
        const first = post('/full')
        await until(
          () => held.length,
          (count) => count === 1,
        )
        const refused = await post('/full')
        releaseAll()
        await first
        return refused
      },
    ],
    ['a large body', 413, 'BODY_TOO_LARGE', 'too-long', () => post('/open', {}, { a: 'x'.repeat(2_000) })],
    [
      ...(['a media type that it does not take', 415, 'MEDIA_TYPE_WRONG', 'not-supported'] as const),
      () => service.fetch('/open', { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'a' }),
    ],
    ['a missing key', 400, 'IDEMPOTENCY_KEY_MISSING', 'value', () => post('/keyed')],
    ['a malformed key', 400, 'IDEMPOTENCY_KEY_INVALID', 'value', () => post('/keyed', key(''))],
    [
      ...(['a key of another message', 422, 'IDEMPOTENCY_KEY_REUSED', 'conflict'] as const),
      async () => {
        await post('/keyed', key('"one"'))
        return post('/keyed', key('"one"'), { a: 2 })
      },
    ],
    [
      ...(['a repetition of a refused message', 400, 'VALIDATION_FAILED', 'required'] as const),
      async () => {
        const again = await twice(() => post('/keyed', key('"two"'), {}))
        assert.equal(again.headers.get('idempotency-replayed'), 'true')
        // The answer is that of the first message, whose id is in it.
        const [, id = ''] = /messageId: ([0-9a-f]{24})/.exec(again.text) ?? []
        const headers = new Headers(again.headers)
        headers.set('x-crosswalk-message-id', id)
        return { ...again, headers }
      },
    ],
  ]
  for (const [name, status, code, type, ask] of cases) {
    test(name, async () => {
      const reply = await ask()
      assert.equal(reply.status, status, reply.text)
      assertOutcome(reply.text, reply.headers, code, type)
    })
  }
})

/** The last answer in the bytes of a connection. */
function answerIn(received: string): Readonly<{ status: number; headers: Headers; text: string }> {
  const [head = '', text = ''] = received.slice(received.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n')
  const [start = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]))
  return { status: Number(start.split(' ')[1]), headers, text }
}

describe('a body that does not arrive whole', { concurrency: true }, () => {
  const request = (path: string, ...rest: string[]) =>
    requestText(`POST ${path}`, [JSON_TYPE, ...rest.slice(0, 1)], rest[1])
  const cases = [
    ['and is awaited in vain', ['content-length: 9', '{'], 408, 'REQUEST_TIMED_OUT', 'timeout'],
    ['as its chunks are malformed', ['transfer-encoding: chunked', 'zz\r\n{'], 400, 'REQUEST_MALFORMED', 'structure'],
  ] as const
  for (const [name, sent, status, code, type] of cases) {
    test(`${name}, is answered with an OperationOutcome, and its record names the endpoint`, async () => {
      const { status: got, headers, text } = answerIn(await exchange(service.url, request('/open', ...sent)))
      assert.equal(got, status)
      assertOutcome(text, headers, code, type)
      const record = await fetch(`${service.adminUrl}/messages/${headers.get('x-crosswalk-message-id')}`)
      assert.equal(((await record.json()) as { endpoint: string }).endpoint, '/open')
    })

    test(`${name}, is answered in the output type of any other endpoint`, async () => {
      const pattern = `/xml-${code.toLowerCase()}`
      await register(pattern, { transformation: { input: 'JSON', output: 'XML' } })
      const { status: got, headers, text } = answerIn(await exchange(service.url, request(pattern, ...sent)))
      assert.deepEqual([got, headers.get('content-type')], [status, 'application/xml'])
      assert.match(text, new RegExp(`<code>${code}</code>`))
    })
  }

  test('malformed input behind a whole message is of no endpoint', async () => {
    const first = ['POST /open HTTP/1.1', 'host: a', JSON_TYPE, 'content-length: 2', '', '{}'].join('\r\n')
    const { status, headers, text } = answerIn(await exchange(service.url, `${first}NONSENSE\r\n\r\n`))
    assert.deepEqual([status, headers.get('content-type')], [400, 'application/json'])
    assert.equal(JSON.parse(text).code, 'REQUEST_MALFORMED')
  })
})

test('no OperationOutcome answers a path or a method without an endpoint', async () => {
  for (const [path, method, code] of [
    ['/nowhere', 'POST', 'ROUTE_UNKNOWN'],
    ['/open', 'PUT', 'METHOD_NOT_ALLOWED'],
  ] as const) {
    const reply = await service.fetch(path, json(method, {}))
    assert.deepEqual([reply.json().code, reply.headers.get('content-type')], [code, 'application/json'])
  }
})

test('a dry run shows the OperationOutcome as the answer, and the failure in its own fields', async () => {
  const endpoint = {
    name: 'draft',
    endpoint: { pattern: '/draft' },
    transformation: { input: 'JSON', output: 'FHIR+JSON' },
    inputValidation: { required: ['a'] },
  }
  const reply = await service.fetch('/endpoints/dry-run', json('POST', { endpoint, message: { body: '{}' } }))
  const { answer, failure } = reply.json<{
    answer: { status: number; headers: Record<string, string>; body: string }
    failure: JsonObject
  }>()
  assert.deepEqual([answer.status, answer.headers['x-crosswalk-code']], [400, 'VALIDATION_FAILED'])
  assert.equal(issuesIn(answer.body)[0]?.code, 'required')
  assert.deepEqual(failure.details, [{ path: '/a', message: 'is required' }])
})
