/** Documents and messages that fail, one for each kind of failure that a message meets on its way. */
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { startUpstream, type Upstream } from '../../support/service.ts'

/** Settings of a service that the cases fail at soon. */
export const FAILING_SETTINGS = {
  PARSER_LIMIT: '4kb',
  ANSWER_LIMIT: '4kb',
  EXPRESSION_TIMEOUT_MS: '250',
  CIRCUIT_BREAKER_FAILURES: '0',
}

export type FailureCase = {
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

/** `/hang`, `/reset`, `/large` and `/broken` answer so; `/<status>` with that status. */
export const startFailingUpstream = (): Promise<Upstream> =>
  startUpstream(({ url }, response) => {
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

/** `url`: of the failing upstream. */
export function failureCases(url: () => string): readonly FailureCase[] {
  const lookupAt = (path: string, more: JsonObject = {}) => ({
    requests: { lookup: { id: 'p', config: { url: `${url()}${path}` }, ...more } },
  })
  const responseAt = (path: string, more: JsonObject = {}) => ({
    requests: { response: { id: 'r', config: { url: `${url()}${path}` }, ...more } },
  })
  const param = (path: string) => ({
    requests: { lookup: { id: 'p', config: { url: `${url()}/:id`, params: { url: { id: { path } } } } } },
  })
  const ofAnswer = {
    properties: { lookupRequests: { properties: { p: { properties: { data: { type: 'object', const: {} } } } } } },
  }
  const nowhere = { config: { url: 'http://127.0.0.1:1/x' } }
  const input = 'transformation.input'
  const lookup = 'requests.lookup[0]'
  const response = 'requests.response[0]'

  return [
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
      path: 'inputValidation.required[0]',
      says: /^Validation failed: .*\/a.*\/b<c/,
      details: [
        { path: '/a', message: 'is required' },
        { path: '/b<c', message: 'is required' },
      ],
    },
    {
      name: 'an answer of a lookup that is not valid',
      document: () => ({ ...lookupAt('/200'), inputValidation: ofAnswer }),
      status: 502,
      code: 'LOOKUP_INVALID',
      stage: 'validate',
      path: 'inputValidation.properties.lookupRequests.properties.p.properties.data.type',
      says: /^Lookup data is not valid: \/lookupRequests\/p\/data must be an object, not a string/,
      details: [
        { path: '/lookupRequests/p/data', message: 'must be an object, not a string' },
        { path: '/lookupRequests/p/data', message: 'must be {}' },
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
    {
      name: 'a value that its function cannot convert',
      document: () => ({ inputMapping: { 'constants.name': [['age', 'numberify']] }, constants: { name: 'Jane' } }),
      status: 500,
      code: 'MAPPING_FAILED',
      stage: 'map',
      path: 'inputMapping.constants\\.name',
      says: /^numberify cannot convert the string "Jane" that "constants\.name" gave\./,
    },
    {
      name: 'an entry that would replace what another one wrote in another shape',
      document: () => ({
        inputMapping: { 'constants.name': 'value', 'constants.code': 'value.code' },
        constants: { name: 'Jane', code: 'c' },
      }),
      status: 500,
      code: 'MAPPING_FAILED',
      stage: 'map',
      path: 'inputMapping.constants\\.code',
      says: /^The target "value\.code" needs an object where an earlier entry wrote a single value \(string\)\./,
    },
  ]
}
