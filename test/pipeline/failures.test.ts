import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Failure } from '../../src/domain/failure.ts'
import { FAILURES, type FailureCode } from '../../src/domain/failure-table.ts'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { codecOfFormat, FORMATS, type Format, MEDIA_TYPES } from '../../src/formats/codecs.ts'
import { answerFailure } from '../../src/pipeline/reply.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService({
    PARSER_LIMIT: '4kb',
    ANSWER_LIMIT: '4kb',
    EXPRESSION_TIMEOUT_MS: '250',
    CIRCUIT_BREAKER_FAILURES: '0',
  })
  upstream = await startUpstream(({ url }, response) => {
    if (url === '/hang') return undefined
    if (url === '/reset') response.destroy()
    if (url === '/reset') return undefined
    if (url === '/large') response.end('x'.repeat(5_000))
    if (url === '/large') return undefined
    if (url === '/broken') response.setHeader('content-type', 'application/json')
    else response.statusCode = Number(url.slice(1))
    response.end(`{ said by the upstream`)
    return undefined
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

type Case = {
  name: string
  document?: () => JsonObject
  body?: Json | Buffer
  headers?: Record<string, string>
  status: number
  code: string
  stage?: string
  path?: string
  says: RegExp
  details?: Json
  header?: [name: string, value: string]
}

const lookupAt = (path: string, more: JsonObject = {}) => ({
  requests: { lookup: { id: 'p', config: { url: `${upstream.url}${path}` }, ...more } },
})
const responseAt = (path: string, more: JsonObject = {}) => ({
  requests: { response: { id: 'r', config: { url: `${upstream.url}${path}` }, ...more } },
})
const param = (path: string) => ({
  requests: { lookup: { id: 'p', config: { url: `${upstream.url}/:id`, params: { url: { id: { path } } } } } },
})
const nowhere = { config: { url: 'http://127.0.0.1:1/x' } }
const input = 'transformation.input'
const lookup = 'requests.lookup[0]'
const response = 'requests.response[0]'

const cases: Case[] = [
  {
    name: 'an unreadable body',
    body: Buffer.from('{'),
    status: 400,
    code: 'BODY_UNREADABLE',
    stage: 'parse',
    path: input,
    says: /line 1, column 2/,
  },
  {
    name: 'a body that is too deep',
    body: Buffer.from('['.repeat(65) + ']'.repeat(65)),
    status: 400,
    code: 'BODY_TOO_DEEP',
    stage: 'parse',
    path: input,
    says: /64 levels/,
  },
  {
    name: 'the wrong media type',
    body: Buffer.from('a=1'),
    headers: { 'content-type': 'text/csv' },
    status: 415,
    code: 'MEDIA_TYPE_WRONG',
    stage: 'parse',
    path: input,
    says: /"text\/csv"/,
  },
  {
    name: 'a body that is too large',
    body: 'x'.repeat(5_000),
    status: 413,
    code: 'BODY_TOO_LARGE',
    says: /PARSER_LIMIT/,
  },
  {
    name: 'no value for a URL parameter',
    document: () => param('payload.id'),
    status: 400,
    code: 'PARAMETER_INVALID',
    stage: 'lookup',
    path: `${lookup}.config.params.url.id`,
    says: /payload\.id/,
  },
  {
    name: 'an object for a URL parameter',
    document: () => param('payload.id'),
    body: { id: { a: 1 } },
    status: 400,
    code: 'PARAMETER_INVALID',
    stage: 'lookup',
    path: `${lookup}.config.params.url.id`,
    says: /object/,
  },
  {
    name: 'a forEach over no array',
    document: () => lookupAt('/200', { forEach: { items: 'payload.items' } }),
    body: { items: 'one' },
    status: 400,
    code: 'FOREACH_INVALID',
    stage: 'lookup',
    path: `${lookup}.forEach.items`,
    says: /payload\.items.*string/,
  },
  {
    name: 'a message that is not valid',
    document: () => ({ inputValidation: { required: ['a', 'b<c'] } }),
    status: 400,
    code: 'VALIDATION_FAILED',
    stage: 'validate',
    path: 'inputValidation',
    says: /^Validation failed: .*\/a.*\/b<c/,
    details: [
      { path: '/a', message: 'is required' },
      { path: '/b<c', message: 'is required' },
    ],
  },
  {
    name: 'a lookup that answers with a 4xx',
    document: () => lookupAt('/404'),
    status: 404,
    code: 'LOOKUP_REFUSED',
    stage: 'lookup',
    path: lookup,
    says: /404.*said by the upstream/,
  },
  {
    name: 'a lookup that answers with a 5xx',
    document: () => lookupAt('/503'),
    status: 503,
    code: 'LOOKUP_REFUSED',
    stage: 'lookup',
    path: lookup,
    says: /503.*said by the upstream/,
    header: ['retry-after', '1'],
  },
  {
    name: 'a lookup that answers with another status',
    document: () => lookupAt('/302'),
    status: 502,
    code: 'LOOKUP_REFUSED',
    stage: 'lookup',
    path: lookup,
    says: /302/,
  },
  {
    name: 'a lookup that is refused',
    document: () => lookupAt('', nowhere),
    status: 502,
    code: 'LOOKUP_UNREACHABLE',
    stage: 'lookup',
    path: lookup,
    says: /refused/,
  },
  {
    name: 'a lookup that is reset',
    document: () => lookupAt('/reset'),
    status: 502,
    code: 'LOOKUP_UNREACHABLE',
    stage: 'lookup',
    path: lookup,
    says: /"p"/,
  },
  {
    name: 'a lookup of a name that does not exist',
    document: () => lookupAt('', { config: { url: 'http://nowhere.invalid' } }),
    status: 502,
    code: 'LOOKUP_UNREACHABLE',
    stage: 'lookup',
    path: lookup,
    says: /nowhere\.invalid/,
  },
  {
    name: 'a lookup that takes too long',
    document: () => lookupAt('/hang', { timeoutMs: 100 }),
    status: 504,
    code: 'LOOKUP_TIMED_OUT',
    stage: 'lookup',
    path: lookup,
    says: /100 ms/,
  },
  {
    name: 'a lookup that is unreadable',
    document: () => lookupAt('/broken'),
    status: 502,
    code: 'LOOKUP_UNREADABLE',
    stage: 'lookup',
    path: lookup,
    says: /"p"/,
  },
  {
    name: 'a response that is refused',
    document: () => responseAt('', nowhere),
    status: 502,
    code: 'RESPONSE_UNREACHABLE',
    stage: 'respond',
    path: response,
    says: /refused/,
  },
  {
    name: 'a response that takes too long',
    document: () => responseAt('/hang', { timeoutMs: 100 }),
    status: 504,
    code: 'RESPONSE_TIMED_OUT',
    stage: 'respond',
    path: response,
    says: /100 ms/,
  },
  {
    name: 'a response that is too large',
    document: () => responseAt('/large'),
    status: 502,
    code: 'RESPONSE_UNREADABLE',
    stage: 'respond',
    path: response,
    says: /"r"/,
  },
  {
    name: 'a transform that throws',
    document: () => ({ inputTransforms: { 'my.age': '1 + "a"' } }),
    status: 500,
    code: 'TRANSFORM_FAILED',
    stage: 'transform',
    path: 'inputTransforms.my\\.age',
    says: /inputTransforms\.my\\\.age/,
  },
]

let routes = 0

const PARSER = { parserXmlTrim: true, parserXmlExplicitRoot: false, parserXmlExplicitArray: false }

const bodyOf = (body: string | Uint8Array, output: Format): JsonObject =>
  codecOfFormat(output).read(Buffer.from(body), undefined, PARSER) as JsonObject

describe(`answered as ${FORMATS.join(', ')}`, () => {
  for (const { name, document, body = {}, headers, says, status, details, header, ...place } of cases) {
    it(name, async () => {
      for (const output of FORMATS) {
        routes += 1
        const pattern = `/failure-${routes}`
        await service.register({ endpoint: { pattern }, transformation: { input: 'JSON', output }, ...document?.() })
        const sent = Buffer.isBuffer(body) ? { method: 'POST', body, headers: headers ?? {} } : json('POST', body)
        const reply = await service.fetch(pattern, sent)
        assert.deepEqual([reply.status, reply.headers.get('content-type')], [status, MEDIA_TYPES[output]], reply.text)
        if (header !== undefined) assert.equal(reply.headers.get(header[0]), header[1])
        const { error, messageId, ...rest } = bodyOf(reply.text, output)
        assert.deepEqual(rest, { ...place, ...(details === undefined ? {} : { details }) })
        assert.match(String(error), says)
        assert.match(String(messageId), /^[0-9a-f]{24}$/)
        const logged = service.log.filter(({ fields }) => fields.messageId === messageId)
        assert.deepEqual(
          logged.map(({ fields: { code, stage, path } }) => ({ code, stage, path })),
          [{ code: place.code, stage: place.stage, path: place.path }],
        )
      }
    })
  }

  for (const output of FORMATS) {
    it(`every code of the catalogue, whole: ${output}`, () => {
      for (const code of Object.keys(FAILURES) as FailureCode[]) {
        const details = [
          { path: '/a<b', message: 'is "required" & more' },
          { path: '/c', message: 'is wrong' },
        ]
        const failure = new Failure(code, 'Not <this> & "that"', { path: 'a.b', details })
        const { status, headers, body } = answerFailure(failure, output, '0'.repeat(24))
        assert.deepEqual([status, headers['content-type']], [FAILURES[code].status, MEDIA_TYPES[output]])
        const reported = { error: 'Not <this> & "that"', code, path: 'a.b', messageId: '0'.repeat(24), details }
        assert.deepEqual(bodyOf(body, output), reported)
        const isSoon = status === 503 || code === 'IDEMPOTENCY_KEY_IN_USE'
        assert.equal(headers['retry-after'], isSoon ? '1' : undefined)
      }
    })
  }
})
