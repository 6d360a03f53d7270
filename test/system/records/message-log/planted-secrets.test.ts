/**
 * Secrets that were put wherever one may stand: none may come out in the log, the records of messages, the metrics, the
 * traces or the answers to failures, however much of messages is kept and whatever goes wrong.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { type Database, describeDatabases } from '../../../support/databases.ts'
import { type CallOptions, call } from '../../../support/inbound/http/management/call.ts'
import { startCollector } from '../../../support/observe/traces/collector.ts'
import { endpointDocument, json, startUpstream } from '../../../support/service.ts'
import { freshFolder, spawnService, startProgram } from '../../../support/spawned-service.ts'

/** By where each is planted. */
const SECRETS = {
  callerAuthorization: 'Bearer s3cret-01-authorization',
  callerProxyAuthorization: 'Basic s3cret-02-proxy',
  callerCookie: 'session=s3cret-03-cookie',
  callerKey: 's3cret-04-api-key',
  callerQuery: 's3cret-05-query',
  callerVendorToken: 's3cret-06-vendor-token',
  configuredAuthorization: 'Bearer s3cret-07-configured',
  configuredKey: 's3cret-08-configured-key',
  urlQuery: 's3cret-09-url-query',
  urlUser: 's3cret-10-url-user',
  urlPassword: 's3cret-11-url-password',
  responseQuery: 's3cret-12-response-query',
  answerCookie: 'session=s3cret-13-set-cookie',
  answerToken: 's3cret-14-answer-token',
  answerBody: 's3cret-15-answer-body',
  databasePassword: 's3cret-16-database',
  saslPassword: 's3cret-17-sasl',
  collectorHeader: 's3cret-18-collector',
  constant: 's3cret-19-constant',
  state: 's3cret-20-tracestate',
  path: 's3cret-21-path',
  errorValue: 's3cret-22-error-value',
  fieldName: 's3cret-23-field-name',
  elementName: 's3cret-24-element name',
  mediaType: 's3cret-25-media-type',
} as const

/** What of each is the secret itself. */
const needles = Object.values(SECRETS).map((value) => /s3cret-\d\d[\w-]*/.exec(value)?.[0] ?? assert.fail(value))

assert.equal(new Set(needles).size, 25)

function assertNone(where: string, text: string, but: readonly string[] = []): void {
  const found = needles.filter((needle) => text.includes(needle) && !but.includes(needle))
  assert.deepEqual(found, [], `in ${where}`)
}

/** All that is stored of messages, as one text, and of how many. */
async function recordsIn({ messageRows }: Database): Promise<{ count: number; text: string }> {
  const records = await messageRows('messages')
  const rows = [...records, ...(await messageRows('message_bodies')), ...(await messageRows('message_keys'))]
  const text = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value))
  return { count: records.length, text: rows.map((row) => Object.values(row).map(text).join(' ')).join('\n') }
}

/** The address of a database with a password, which a server that asks for none ignores. */
function withPassword(databaseUrl: string): string {
  if (databaseUrl.startsWith('sqlite:')) return databaseUrl
  const url = new URL(databaseUrl)
  url.password ||= SECRETS.databasePassword
  return url.href
}

const upstream = await startUpstream(({ url }, response) => {
  response.setHeader('set-cookie', SECRETS.answerCookie)
  response.setHeader('x-auth-token', SECRETS.answerToken)
  if (url.startsWith('/resets')) response.destroy()
  else if (url.startsWith('/garbage')) response.setHeader('content-type', 'application/json').end('{"broken')
  else {
    response.statusCode = url.startsWith('/refuses') ? 422 : 200
    return { said: SECRETS.answerBody }
  }
  return undefined
})
const collector = await startCollector()
after(async () => {
  await upstream.stop()
  await collector.stop()
})

const plantedUrl = (path: string) => {
  const url = new URL(`${upstream.url}${path}`)
  url.username = SECRETS.urlUser
  url.password = SECRETS.urlPassword
  url.searchParams.set('token', SECRETS.urlQuery)
  return url.href
}
const config = (path: string): JsonObject => ({
  method: 'POST',
  url: `${upstream.url}${path}?token=${SECRETS.urlQuery}`,
  headers: { authorization: SECRETS.configuredAuthorization, 'x-api-key': SECRETS.configuredKey },
})
const response = (path: string): JsonObject => ({
  id: 'send',
  config: { ...(config(path) as JsonObject), url: `${upstream.url}${path}?key=${SECRETS.responseQuery}` },
})
const documents: Readonly<Record<string, JsonObject>> = {
  '/done': {
    inputMapping: { 'lookupRequests.look.data.said': 'said' },
    requests: { lookup: { id: 'look', config: config('/fine') }, response: response('/fine') },
  },
  // What the document asks for goes out; it is not kept all the same.
  '/maps-headers': {
    messageKeys: { key: 'requestHeaders.x-api-key', cookie: 'lookupRequests.look.headers.set-cookie' },
    inputMapping: { requestHeaders: 'came', 'lookupRequests.look.headers': 'got' },
    requests: { lookup: { id: 'look', config: config('/fine') } },
  },
  // Without a mapping, the headers of the lookup are a part of the output.
  '/maps-nothing': { requests: { lookup: { id: 'look', config: config('/fine') } } },
  '/lookup-refused': { requests: { lookup: { id: 'look', config: config('/refuses') } } },
  '/lookup-resets': { requests: { lookup: { id: 'look', config: config('/resets') } } },
  '/lookup-garbage': { requests: { lookup: { id: 'look', config: config('/garbage') } } },
  '/response-refused': { requests: { response: response('/refuses') } },
  '/response-resets': { requests: { response: response('/resets') } },
  '/partial': {
    requests: { response: [response('/fine'), { ...response('/resets'), id: 'other' }] },
  },
  '/invalid': { inputValidation: { required: ['missing'] } },
  '/transform-fails': { constants: { key: SECRETS.constant }, inputTransforms: { a: '$number($string($length))' } },
  '/no-broker': {
    constants: { key: SECRETS.constant },
    requests: { response: { id: 'out', kafkaProducerTopic: 'topic', timeoutMs: 300 } },
  },
}

describeDatabases('25 planted secrets', ({ withDatabase }) => {
  test(
    'come out nowhere, whatever becomes of messages',
    withDatabase(async (database, t) => {
      collector.forget()
      const answers: { what: string; text: string; headers: string; status: number }[] = []
      const service = await spawnService(freshFolder(t), {
        env: {
          DATABASE_URL: withPassword(database.url),
          LOG_LEVEL: 'debug',
          LOG_MESSAGES: 'all',
          MESSAGE_LOG: 'all',
          REDACT_HEADERS: 'x-vendor-token,x-auth-token,tracestate',
          REDACT_PATHS: 'query.token',
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRETS.collectorHeader}`,
          KAFKA_BROKERS: '127.0.0.1:1',
          KAFKA_SASL_MECHANISM: 'plain',
          KAFKA_SASL_USERNAME: 'user',
          KAFKA_SASL_PASSWORD: SECRETS.saslPassword,
        },
      })
      t.after(() => void service.child.kill('SIGKILL'))
      const send = async (what: string, method: string, path: string, options: CallOptions) => {
        const { status, text, headers } = await call(service.url, method, path, options)
        answers.push({ what, status, text, headers: JSON.stringify(headers) })
      }
      const sent = {
        'content-type': 'application/json',
        authorization: SECRETS.callerAuthorization,
        'proxy-authorization': SECRETS.callerProxyAuthorization,
        cookie: SECRETS.callerCookie,
        'x-api-key': SECRETS.callerKey,
        'x-vendor-token': SECRETS.callerVendorToken,
        tracestate: `vendor=${SECRETS.state}`,
        'x-test': 'kept',
      }
      for (const [pattern, document] of Object.entries(documents)) {
        const registered = await fetch(
          `${service.url}/endpoints`,
          json('POST', endpointDocument({ endpoint: { pattern }, ...document })),
        )
        assert.equal(registered.status, 201, await registered.text())
        for (const body of ['{}', '{"broken', '[[[[']) {
          await send(pattern, 'POST', `${pattern}?token=${SECRETS.callerQuery}`, { headers: sent, body })
        }
      }
      await send('an unknown route', 'POST', `/unknown?token=${SECRETS.callerQuery}`, { headers: sent })
      await send('another method', 'PUT', `/done?token=${SECRETS.callerQuery}`, { headers: sent })
      await send('a wrong media type', 'POST', '/done', { headers: { ...sent, 'content-type': 'a/b' }, body: 'x' })
      const refused = endpointDocument({
        endpoint: { pattern: '/with-user' },
        requests: { lookup: { id: 'look', config: { url: plantedUrl('/fine') } }, extra: 1 },
      })
      await send('a refused document', 'POST', '/endpoints', { headers: sent, body: JSON.stringify(refused) })
      const metrics = await call(service.adminUrl, 'GET', '/metrics')
      const ready = await call(service.adminUrl, 'GET', '/health/ready')
      service.child.kill('SIGTERM')
      await service.ended

      const statuses = new Set(answers.map(({ status }) => status))
      for (const status of [200, 400, 404, 405, 415, 422, 500, 502]) assert.ok(statuses.has(status), String(status))
      const log = service.output.stdout
      assert.equal(log.match(/"messageId"/g)?.length, Object.keys(documents).length * 3 + 3, log)
      assertNone('the log', log + service.output.stderr)
      assert.match(metrics.text, /crosswalk_outbound_calls_total\{.*fault="unreachable"/)
      assertNone('the metrics', metrics.text)
      assertNone('/health/ready', ready.text)
      const records = await recordsIn(database)
      assert.equal(records.count, Object.keys(documents).length * 3 + 3)
      assert.match(records.text, /"x-test":"kept"/)
      // The bodies that targets answer with are what is asked to be kept.
      assertNone('the records', records.text, ['s3cret-15-answer-body'])
      // The state of the trace goes where the trace goes.
      assert.ok(collector.spans.length > 50)
      assertNone('the traces', collector.received.map(({ body }) => body).join('\n'), ['s3cret-20-tracestate'])
      for (const { what, text, headers, status } of answers) {
        // What a target answered is the answer, or the reason of a refusal: that is what was configured.
        if (what.startsWith('/maps-') && status === 200) {
          assert.match(text, /s3cret-13-set-cookie/)
          continue
        }
        const isFromTarget = status === 200 || status === 422
        assertNone(`the answer to ${what}`, text, isFromTarget ? ['s3cret-15-answer-body'] : [])
        assertNone(`the headers of the answer to ${what}`, headers, isFromTarget ? ['s3cret-14-answer-token'] : [])
      }
    }),
  )

  // The sender learns what is wrong in its own words; what is kept without bodies has none of them.
  test(
    'come out in no line that reports a message, however it failed',
    withDatabase(async (database, t) => {
      const service = await spawnService(freshFolder(t), {
        env: { DATABASE_URL: withPassword(database.url), LOG_LEVEL: 'debug', MESSAGE_LOG: 'metadata' },
      })
      t.after(() => void service.child.kill('SIGKILL'))
      const failing: Readonly<Record<string, JsonObject>> = {
        '/by/:id': { inputMapping: { 'urlParams.id': 'id' } },
        '/error': { inputTransforms: { a: '$error("bad " & requestBody.value)' } },
        '/assert': { inputTransforms: { a: '$assert(false, requestBody.value)' } },
        '/field': { inputValidation: { type: 'object', additionalProperties: false } },
        '/element': { transformation: { input: 'JSON', output: 'XML' } },
      }
      for (const [pattern, document] of Object.entries(failing)) {
        const stored = endpointDocument({ endpoint: { pattern }, ...document })
        const registered = await fetch(`${service.url}/endpoints`, json('POST', stored))
        assert.equal(registered.status, 201, await registered.text())
      }
      const value = SECRETS.errorValue
      const calls: readonly {
        code: string
        secret: string
        path: string
        method?: string
        body?: JsonObject
        headers?: Record<string, string>
      }[] = [
        { code: 'ROUTE_UNKNOWN', secret: SECRETS.path, path: `/webhook/${SECRETS.path}` },
        { code: 'METHOD_NOT_ALLOWED', secret: SECRETS.path, path: `/by/${SECRETS.path}`, method: 'PUT' },
        { code: 'TRANSFORM_FAILED', secret: value, path: '/error', body: { value } },
        { code: 'TRANSFORM_FAILED', secret: value, path: '/assert', body: { value } },
        { code: 'VALIDATION_FAILED', secret: SECRETS.fieldName, path: '/field', body: { [SECRETS.fieldName]: 1 } },
        { code: 'SERIALISE_FAILED', secret: SECRETS.elementName, path: '/element', body: { [SECRETS.elementName]: 1 } },
        ...[`text/${SECRETS.mediaType}`, `application/json; charset=${SECRETS.mediaType}`].map((type) => ({
          code: 'MEDIA_TYPE_WRONG',
          secret: SECRETS.mediaType,
          path: '/error',
          headers: { 'content-type': type },
        })),
        {
          code: 'MEDIA_TYPE_WRONG',
          secret: SECRETS.mediaType,
          path: '/error',
          headers: { 'content-encoding': SECRETS.mediaType },
        },
      ]
      for (const { code, secret, path, method = 'POST', body = {}, headers = {} } of calls) {
        const sent = { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
        const reply = await call(service.url, method, path, sent)
        assert.match(reply.text, new RegExp(`\\b${code}\\b`))
        assert.ok(reply.text.includes(secret), reply.text)
      }
      const metrics = await call(service.adminUrl, 'GET', '/metrics')
      service.child.kill('SIGTERM')
      await service.ended
      const log = service.output.stdout
      assert.equal(log.match(/"messageId"/g)?.length, calls.length, log)
      for (const { code } of calls) assert.match(log, new RegExp(`"code":"${code}"`))
      assertNone('the log', log + service.output.stderr)
      assertNone('the metrics', metrics.text)
      const records = await recordsIn(database)
      assert.equal(records.count, calls.length)
      assertNone('the records', records.text)
    }),
  )
})

describe('planted secrets', () => {
  test('come out in no word about a database that is away or refused', async (t) => {
    for (const url of [
      `postgres://user:${SECRETS.databasePassword}@127.0.0.1:1/database`,
      `postgres://user:${SECRETS.databasePassword}@127.0.0.1/`,
      `mysql://user:${SECRETS.databasePassword}@127.0.0.1/database`,
    ]) {
      const env = { DATABASE_URL: url, DATABASE_START_TIMEOUT_MS: '0', LOG_LEVEL: 'debug' }
      const { ended, output } = startProgram(freshFolder(t), { env })
      assert.equal((await ended).code, 1)
      assert.notEqual(output.stderr, '')
      assertNone(url, output.stdout + output.stderr)
    }
  })

  test('come out in no word about settings of the collector that are wrong', async (t) => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:${SECRETS.collectorHeader}@127.0.0.1`,
      OTEL_EXPORTER_OTLP_HEADERS: `${SECRETS.collectorHeader}`,
    }
    const { ended, output } = startProgram(freshFolder(t), { env })
    assert.equal((await ended).code, 1)
    assert.equal(output.stderr.trim().split('\n').length, 2)
    assertNone('the refusal', output.stdout + output.stderr)
  })
})
