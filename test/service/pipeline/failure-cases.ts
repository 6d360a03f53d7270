/** Documents and messages that fail, one for each kind of failure that a message meets on its way. */
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { openPipeline } from './fixture.ts'

/** Settings of a service that the cases fail at soon. */
export const FAILING_SETTINGS = {
  PARSER_LIMIT: '4kb',
  ANSWER_LIMIT: '4kb',
  EXPRESSION_TIMEOUT_MS: '250',
  CIRCUIT_BREAKER_FAILURES: '0',
}

export type FailureCase = Readonly<{
  name: string
  status: number
  code: string
  says: RegExp
  /** Undefined where it failed before its stages. */
  stage?: string
  path?: string
  document?: () => JsonObject
  body?: Json | Buffer
  headers?: Record<string, string>
  details?: Json
  header?: [name: string, value: string]
}>

export function failureCases(pipeline: ReturnType<typeof openPipeline>): readonly FailureCase[] {
  const said = 'said by the upstream'
  const nowhere = () => 'http://127.0.0.1:1/x'
  const path = (name: string) => () => `${pipeline.upstream.url}/${name}`
  const at = (status: number) => () => pipeline.at({ status, body: said })
  const document = (kind: string, url: () => string, more: JsonObject = {}) => ({
    requests: { [kind]: { id: 'p', config: { url: url() }, ...more } },
  })
  const parse = { stage: 'parse', path: 'transformation.input' }
  const invalid = { status: 400, code: 'PARAMETER_INVALID', stage: 'lookup' }
  const param = { url: { id: { path: 'payload.id' } } }
  const toId = () => ({
    requests: { lookup: { id: 'p', config: { url: `${pipeline.upstream.url}/:id`, params: param } } },
  })
  const object = { type: 'object', const: {} }
  const ofAnswer = { properties: { lookupRequests: { properties: { p: { properties: { data: object } } } } } }

  type Called = [status: number, code: string, says: RegExp, url: () => string, more?: JsonObject]
  const called = (kind: string, [status, code, says, url, more]: Called): FailureCase => ({
    ...{ name: `a ${kind}: ${status} ${code} ${says}`, status, code: `${kind.toUpperCase()}_${code}`, says },
    ...{ stage: kind === 'lookup' ? kind : 'respond', path: `requests.${kind}[0]` },
    document: () => document(kind, url, more),
    ...(status === 503 ? { header: ['retry-after', '1'] } : {}),
  })
  const lookups: Called[] = [
    [404, 'REFUSED', /404.*said by the upstream/, at(404)],
    [503, 'REFUSED', /503.*said by the upstream/, at(503)],
    [502, 'REFUSED', /302/, at(302)],
    [502, 'UNREACHABLE', /refused/, nowhere],
    [502, 'UNREACHABLE', /"p"/, path('reset')],
    [502, 'UNREACHABLE', /nowhere\.invalid/, () => 'http://nowhere.invalid'],
    [504, 'TIMED_OUT', /100 ms/, path('silent'), { timeoutMs: 100 }],
    [502, 'UNREADABLE', /"p"/, () => pipeline.at({ type: 'application/json', body: `{ ${said}` })],
  ]
  const responses: Called[] = [
    [502, 'UNREACHABLE', /refused/, nowhere],
    [504, 'TIMED_OUT', /100 ms/, path('silent'), { timeoutMs: 100 }],
    [502, 'UNREADABLE', /"p"/, () => pipeline.at({ body: 'x'.repeat(5_000) })],
  ]
  return [
    {
      ...{ name: 'an unreadable body', status: 400, code: 'BODY_UNREADABLE', says: /line 1, column 2/, ...parse },
      body: Buffer.from('{'),
    },
    {
      ...{ name: 'a body that is too deep', status: 400, code: 'BODY_TOO_DEEP', says: /64 levels/, ...parse },
      body: Buffer.from('['.repeat(65) + ']'.repeat(65)),
    },
    {
      ...{ name: 'the wrong media type', status: 415, code: 'MEDIA_TYPE_WRONG', says: /"text\/csv"/, ...parse },
      ...{ body: Buffer.from('a=1'), headers: { 'content-type': 'text/csv' } },
    },
    {
      ...{ name: 'a body that is too large', status: 413, code: 'BODY_TOO_LARGE', says: /PARSER_LIMIT/ },
      body: 'x'.repeat(5_000),
    },
    {
      ...{ ...invalid, name: 'no value for a URL parameter', says: /payload\.id/, document: toId },
      path: 'requests.lookup[0].config.params.url.id',
    },
    {
      ...{ ...invalid, name: 'an object for a URL parameter', says: /object/, document: toId, body: { id: { a: 1 } } },
      path: 'requests.lookup[0].config.params.url.id',
    },
    {
      ...{ ...invalid, name: 'a forEach over no array', code: 'FOREACH_INVALID', says: /payload\.items.*string/ },
      ...{ path: 'requests.lookup[0].forEach.items', body: { items: 'one' } },
      document: () => document('lookup', at(200), { forEach: { items: 'payload.items' } }),
    },
    {
      ...{ name: 'a message that is not valid', status: 400, code: 'VALIDATION_FAILED', stage: 'validate' },
      ...{ path: 'inputValidation.required[0]', says: /^Validation failed: .*\/a.*\/b<c/ },
      document: () => ({ inputValidation: { required: ['a', 'b<c'] } }),
      details: ['/a', '/b<c'].map((path) => ({ path, message: 'is required' })),
    },
    {
      ...{ name: 'an answer of a lookup that is not valid', status: 502, code: 'LOOKUP_INVALID', stage: 'validate' },
      path: 'inputValidation.properties.lookupRequests.properties.p.properties.data.type',
      says: /^Lookup data is not valid: \/lookupRequests\/p\/data must be an object, not a string/,
      document: () => ({ ...document('lookup', at(200)), inputValidation: ofAnswer }),
      details: ['must be an object, not a string', 'must be {}'].map((message) => ({
        path: '/lookupRequests/p/data',
        message,
      })),
    },
    ...lookups.map((one) => called('lookup', one)),
    ...responses.map((one) => called('response', one)),
    {
      ...{ name: 'no response request that is made', status: 422, code: 'NOT_ROUTED', stage: 'respond' },
      ...{ path: 'requests.response', says: /"when" gave true for none of them/ },
      document: () => document('response', at(200), { when: 'false' }),
    },
    {
      ...{ name: 'a transform that throws', status: 500, code: 'TRANSFORM_FAILED', stage: 'transform' },
      ...{ path: 'inputTransforms.my\\.age', says: /inputTransforms\.my\\\.age/ },
      document: () => ({ inputTransforms: { 'my.age': '1 + "a"' } }),
    },
    {
      ...{ name: 'a value that its function cannot convert', status: 500, code: 'MAPPING_FAILED', stage: 'map' },
      path: 'inputMapping.constants\\.name',
      says: /^numberify cannot convert the string "Jane" that "constants\.name" gave\./,
      document: () => ({ inputMapping: { 'constants.name': [['age', 'numberify']] }, constants: { name: 'Jane' } }),
    },
    {
      ...{ name: 'an entry in another shape than the first', status: 500, code: 'MAPPING_FAILED', stage: 'map' },
      path: 'inputMapping.constants\\.code',
      says: /^The target "value\.code" needs an object where an earlier entry wrote a single value \(string\)\./,
      document: () => ({
        inputMapping: { 'constants.name': 'value', 'constants.code': 'value.code' },
        constants: { name: 'Jane', code: 'c' },
      }),
    },
  ]
}

/** The request of a case. */
export const messageOf = ({ body = {}, headers = {} }: FailureCase): RequestInit =>
  Buffer.isBuffer(body)
    ? { method: 'POST', body: new Uint8Array(body), headers }
    : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
