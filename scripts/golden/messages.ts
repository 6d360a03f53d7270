/**
 * The recorded messages, as data: the samples with their tests, the worked examples of mappings and XML, and everything that can
 * simply go wrong. They are those of the tree of the recorder, so that two trees get the same.
 */
import { createHmac } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Call } from './http-call.ts'
import type { Environment } from './tree-process.ts'
import type { Canned } from './upstream.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

type Json = unknown
type Document = Readonly<Record<string, Json>>

/** One message. A document is registered before it, anew if there is one of its name. A text as a call is sent as it is. */
export type Message = Readonly<{
  title: string
  document?: Document
  call: Call | string
  answers?: Readonly<Record<string, Canned | readonly Canned[]>>
}>

export type MessageGroup = Readonly<{ name: string; env: Environment; messages: readonly Message[] }>

/** In documents and calls: the addresses of this run. */
const UPSTREAM = 'http://{upstream}'
const TYPE_OF: Readonly<Record<string, string>> = {
  JSON: 'application/json',
  XML: 'application/xml',
  'FHIR+JSON': 'application/fhir+json',
}

const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const slug = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
const post = (path: string, body: Json, type = 'JSON'): Call => ({
  method: 'POST',
  path,
  headers: { 'content-type': TYPE_OF[type] ?? type },
  body,
})

function documentOf(name: string, input: string, output: string, changes: Document): Document {
  const endpoint = { pattern: `/${slug(name)}`, method: 'POST' }
  return { name, endpoint, transformation: { input, output }, messageLog: 'all', ...changes }
}

// The samples: each step of their tests, with the answers that it gives to the requests.

type Request = Readonly<{ id: string; forEach?: object; config: Readonly<{ url: string }> }>

type Given = Readonly<{
  message: Readonly<{ body?: Json; contentType?: string }>
  lookups?: Message['answers']
  responses?: Message['answers']
}>
type SampleTest = Readonly<{ name: string; given: Given; steps?: readonly Readonly<{ given: Given }>[] }>

/** Requests go to the upstream by their ids, one at a time and once, so that each run makes the same calls. */
function withUpstream(
  document: Document & Readonly<{ requests?: Readonly<Record<string, readonly Request[]>> }>,
): Document {
  const rewrite = (request: Request) => ({
    ...request,
    retries: 0,
    timeoutMs: 2000,
    ...(request.forEach === undefined ? {} : { forEach: { ...request.forEach, concurrency: 1 } }),
    config: { ...request.config, url: request.config.url.replace(/^http:\/\/[^/]+/, `${UPSTREAM}/test/${request.id}`) },
  })
  const requests = Object.entries(document.requests ?? {}).map(([kind, all]) => [kind, all.map(rewrite)])
  return { ...document, messageLog: 'all', requests: Object.fromEntries(requests) }
}

function sampleMessages(): readonly Message[] {
  return globSync('samples/*/*.tests.json', { cwd: root })
    .sort()
    .flatMap((path) => {
      const document = readJson(path.replace('.tests.json', '.json'))
      const { pattern, method = 'POST' } = document.endpoint
      const content = (value: Json): Json => {
        const file = (value as { $file?: string } | null)?.$file
        return file === undefined ? value : readFileSync(join(root, dirname(path), file), 'utf8')
      }
      const type = document.transformation.input === 'XML' ? 'XML' : 'JSON'
      return readJson(path).tests.flatMap(({ name, steps, given }: SampleTest) =>
        (steps ?? [{ given }]).map(
          ({ given: { message, lookups, responses } }, at): Message => ({
            title: `${path}: ${name}${at > 0 ? `, step ${at + 1}` : ''}`,
            ...(at === 0 ? { document: withUpstream(document) } : {}),
            call:
              message.body === undefined
                ? { method, path: pattern }
                : { ...post(pattern, content(message.body), message.contentType ?? type), method },
            answers: { ...lookups, ...responses },
          }),
        ),
      )
    })
}

// Worked examples.

function mappingMessages(): readonly Message[] {
  const { source, cases } = readJson('test/data/mapping.json')
  const lookup = [
    { id: 'p', config: { url: `${UPSTREAM}/json` } },
    {
      id: 'each',
      forEach: { items: 'payload.phones', concurrency: 1 },
      config: { url: `${UPSTREAM}/json/:n`, params: { url: { n: { path: 'item.number' } } } },
    },
  ]
  return cases.map(({ why, mapping }: { why: string; mapping: Json }, at: number): Message => {
    const name = `mapping ${String(at + 1).padStart(2, '0')}`
    const document = documentOf(name, 'JSON', 'JSON', {
      endpoint: { pattern: `/${slug(name)}/:id`, method: 'POST' },
      constants: source.constants,
      requests: { lookup },
      inputTransforms: { total: '10', rows: "[{'q': 1}, {'q': 2}]" },
      inputMapping: mapping,
    })
    return { title: `${name}: ${why}`, document, call: post(`/${slug(name)}/12?page=2`, source.requestBody) }
  })
}

function xmlMessages(): readonly Message[] {
  const { parse, refuse, build } = readJson('test/data/xml.json')
  const read = documentOf('xml to json', 'XML', 'JSON', {})
  const write = documentOf('json to xml', 'JSON', 'XML', {})
  return [
    ...[...parse, ...refuse].map(({ why, xml }) => ({
      title: `read: ${why}`,
      document: read,
      call: post('/xml-to-json', xml, 'XML'),
    })),
    ...build.map(({ why, input }: { why: string; input: Json }) => ({
      title: `write: ${why}`,
      document: write,
      call: post('/json-to-xml', input),
    })),
  ]
}

// Requests that are refused before or while they are read.

const REQUESTS: readonly (readonly [title: string, call: Partial<Call>])[] = [
  ['good', {}],
  ['with a query', { path: '?a=1&b=2&b=3' }],
  ['without a body', { body: '' }],
  ['a body that is cut', { body: '{"a":' }],
  ['a body of another format', { body: '<<>' }],
  ['null', { body: 'null' }],
  ['a text', { body: '"text"' }],
  ['an array', { body: '[1, 2]' }],
  ['a byte order mark', { body: '\uFEFF{"a":1}' }],
  ['a name twice', { body: '{"a":1,"a":2}' }],
  ['large numbers', { body: '{"a":12345678901234567890,"b":1e400,"c":0.10}' }],
  ['nested too deep', { body: `${'['.repeat(65)}${']'.repeat(65)}` }],
  ['XML that is nested too deep', { body: `${'<a>'.repeat(70)}${'</a>'.repeat(70)}` }],
  ['too large', { body: JSON.stringify('x'.repeat(70_000)) }],
  [
    'too many names',
    { body: JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`n${at}`, at]))) },
  ],
  ['no media type', { headers: {} }],
  ['another media type', { headers: { 'content-type': 'text/csv' } }],
  ['a malformed media type', { headers: { 'content-type': 'nonsense' } }],
  ['another charset', { headers: { 'content-type': 'application/json; charset=latin1' } }],
  ['XML by its media type', { headers: { 'content-type': 'text/xml' } }],
  ['a content coding', { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } }],
  ['another method', { method: 'DELETE' }],
  ['HEAD', { method: 'HEAD', body: undefined }],
  ['OPTIONS', { method: 'OPTIONS' }],
  ['a method that nobody knows', { method: 'PROPFIND' }],
  ['a path below', { path: '/further' }],
  ['a slash at the end', { path: '/' }],
  ['a broken percent-encoding', { path: '/%zz' }],
  ['an expectation', { headers: { 'content-type': 'application/json', expect: 'wonders' } }],
  ['large headers', { headers: { 'content-type': 'application/json', 'x-large': 'x'.repeat(20_000) } }],
  [
    'a trace',
    { headers: { 'content-type': 'application/json', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` } },
  ],
]

const RAW: readonly (readonly [title: string, text: string])[] = [
  ['no HTTP', 'nonsense\r\n\r\n'],
  ['no host', 'POST /request-json HTTP/1.1\r\n\r\n'],
  ['another version of HTTP', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
  ['HTTP/1.0', 'POST /request-json HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'],
  ['two lengths', 'POST /request-json HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
  [
    'a length and chunks',
    'POST /request-json HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'a wrong chunk',
    'POST /request-json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  ],
  [
    'a body that is cut',
    'POST /request-json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  ],
  [
    'two requests',
    'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\nGET /uptime HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  ],
]

function requestMessages(): readonly Message[] {
  const inputs = ['JSON', 'XML'] as const
  return [
    { title: 'unknown path', call: { method: 'GET', path: '/nothing' } },
    ...inputs.flatMap((input) =>
      REQUESTS.map(([title, { path = '', ...changes }]): Message => {
        const name = `request ${input}`
        const good = post(`/${slug(name)}${path}`, input === 'XML' ? '<m a="1"><b>2</b></m>' : { a: 1 }, input)
        return {
          title: `${input}: ${title}`,
          document: documentOf(name, input, input, {}),
          call: { ...good, ...changes } as Call,
        }
      }),
    ),
    ...RAW.map(([title, call]) => ({ title: `raw: ${title}`, call })),
  ]
}

// Failures of the stages, in each output.

const lookup = (url: string, more: Document = {}): Document => ({
  requests: { lookup: [{ id: 'a', config: { url }, ...more }] },
})
const response = (url: string, more: Document = {}): Document => ({
  requests: { response: [{ id: 'a', config: { url, method: 'POST' }, ...more }] },
})
const respondTo = (...ends: readonly string[]): Document => ({
  requests: {
    response: ends.map((end, at) => ({ id: `r${at}`, config: { url: `${UPSTREAM}/${end}`, method: 'POST' } })),
  },
})
const byItem = { config: { url: `${UPSTREAM}/json/:n`, params: { url: { n: { path: 'item' } } } } }

/** A token of HS256 with these claims. */
function token(claims: Document): string {
  const part = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'https://id.test/', aud: 'golden', exp: 4_102_444_800, ...claims })}`
  return `${signed}.${createHmac('sha256', SECRETS.CROSSWALK_SECRET_TOKENS).update(signed).digest('base64url')}`
}

const SECRETS = {
  CROSSWALK_SECRET_KEY: 'let-me-in',
  CROSSWALK_SECRET_TOKENS: '0123456789abcdef0123456789abcdef',
}
const AUTH = {
  auth: {
    apiKey: { header: 'X-Lab-Key', keys: ['${env:CROSSWALK_SECRET_KEY}'] },
    basic: { users: { lab: '${env:CROSSWALK_SECRET_KEY}' } },
    jwt: {
      issuer: 'https://id.test/',
      audience: 'golden',
      secret: '${env:CROSSWALK_SECRET_TOKENS}',
      scopes: ['write'],
    },
  },
}
const bearer = (claims: Document) => ({ authorization: `Bearer ${token(claims)}` })

const ENDLESS = '($f := function($n) { $f($n + 1) }; $f(1))'

/** Several headers: one message with each, in this order. */
type FailureRow = readonly [title: string, document: Document, ...headers: Readonly<Record<string, string>>[]]

const FAILURES: readonly FailureRow[] = [
  ['none', { inputMapping: { 'requestBody.text': 'out.text', 'requestBody.list': 'out.list' } }],
  ...[
    'status/404',
    'status/429',
    'status/500',
    'busy',
    'outcome',
    'redirect',
    'broken',
    'large',
    'deep',
    'closed',
    'xml',
    'text',
    'empty',
  ].map((end): FailureRow => [`lookup ${end}`, lookup(`${UPSTREAM}/${end}`)]),
  ['lookup unreachable', lookup('http://127.0.0.1:1/')],
  ['lookup timed out', lookup(`${UPSTREAM}/slow`, { timeoutMs: 150 })],
  ['lookup optional', lookup(`${UPSTREAM}/status/404`, { optional: true, default: { none: true } })],
  ['lookup allowed', lookup(`${UPSTREAM}/status/404`, { allowedStatuses: ['2xx', 404] })],
  ['lookup repeated', lookup(`${UPSTREAM}/status/503`, { retries: 1 })],
  [
    'lookup redirected',
    lookup(`${UPSTREAM}/redirect`, { config: { url: `${UPSTREAM}/redirect`, followRedirects: 1 } }),
  ],
  ['lookup fhir', lookup(`${UPSTREAM}/outcome`, { fhirResponse: true })],
  [
    'lookup invalid',
    {
      ...lookup(`${UPSTREAM}/json`),
      inputValidation: {
        properties: { lookupRequests: { properties: { a: { properties: { data: { required: ['name'] } } } } } },
      },
    },
  ],
  [
    'parameter invalid',
    lookup('', { config: { url: `${UPSTREAM}/json/:n`, params: { url: { n: { path: 'payload.missing' } } } } }),
  ],
  ['forEach no array', lookup('', { ...byItem, forEach: { items: 'payload.text' } })],
  ['forEach too many', lookup('', { ...byItem, forEach: { items: 'payload.list' } })],
  [
    'validation',
    { inputValidation: { required: ['name'], properties: { text: { type: 'number' }, list: { maxItems: 1 } } } },
  ],
  ['transform error', { inputTransforms: { a: "$error('No such thing.')" } }],
  ['transform type', { inputTransforms: { a: 'requestBody.text + 1' } }],
  ['transform endless', { inputTransforms: { a: ENDLESS } }],
  ['mapping conversion', { inputMapping: { 'requestBody.text': { key: 'n', transform: { function: 'numberify' } } } }],
  ['mapping shape', { inputMapping: { 'requestBody.text': 'a', 'requestBody.number': 'a.b' } }],
  ['serialise', { inputMapping: { 'requestBody.text': 'root.1 wrong name' } }],
  ...[
    'status/404',
    'status/503',
    'busy',
    'large',
    'broken',
    'closed',
    'empty',
    'xml',
    'text',
    'outcome',
    'redirect',
  ].map((end): FailureRow => [`response ${end}`, response(`${UPSTREAM}/${end}`)]),
  ['response unreachable', response('http://127.0.0.1:1/')],
  ['response timed out', response(`${UPSTREAM}/slow`, { timeoutMs: 150 })],
  ['responses good', respondTo('json/1', 'json/2')],
  ['responses partial', respondTo('json/1', 'status/500')],
  ['responses bad', respondTo('status/404', 'closed')],
  ['egress denied', lookup('http://169.254.169.254/latest')],
  ['own admin port', lookup('http://{admin}/keys')],
  [
    'secret missing',
    lookup(`${UPSTREAM}/json`, {
      config: { url: `${UPSTREAM}/json`, headers: { 'x-a': '${env:CROSSWALK_SECRET_NONE}' } },
    }),
  ],
  [
    'secret',
    lookup(`${UPSTREAM}/json`, {
      config: { url: `${UPSTREAM}/json`, headers: { 'x-a': '${env:CROSSWALK_SECRET_KEY}' } },
    }),
  ],
  ['state too large', { state: { extract: { requestBody: { all: 'long' } } } }],
  [
    'state',
    { state: { extract: { requestBody: { last: 'text' } } }, inputMapping: { 'state.requestBody.last': 'before' } },
    {},
    {},
  ],
  ['rate limited', { rateLimit: { messages: 1, seconds: 86_400 } }, {}, {}],
  [
    'idempotency',
    { ...response(`${UPSTREAM}/json`), idempotency: { required: true } },
    {},
    { 'idempotency-key': 'no quotes' },
    { 'idempotency-key': '""' },
    { 'idempotency-key': '"key"' },
    { 'idempotency-key': '"key"' },
    { 'idempotency-key': '"key"', 'content-type': 'application/json; charset=utf-8' },
  ],
  ['idempotency not kept', { idempotency: {} }, { 'idempotency-key': '"a"' }, { 'idempotency-key': '"a"' }],
  [
    'auth',
    AUTH,
    {},
    { 'x-lab-key': 'wrong' },
    { 'x-lab-key': 'let-me-in' },
    { authorization: 'Basic nonsense' },
    { authorization: `Basic ${btoa('lab:let-me-in')}` },
    { authorization: 'Bearer nonsense' },
    bearer({ scope: 'read' }),
    bearer({ scope: 'write', exp: 1 }),
    bearer({ scope: 'read write' }),
  ],
  [
    'auth without keys',
    { auth: { jwt: { issuer: 'https://id.test/', audience: 'golden', jwksUrl: 'http://127.0.0.1:1/keys' } } },
    bearer({}),
  ],
  [
    'overloaded by itself',
    {
      ...lookup('http://{message}/overloaded-by-itself-OUTPUT', {
        config: { url: 'http://{message}/overloaded-by-itself-OUTPUT', method: 'POST' },
      }),
      limits: { concurrency: 1, queue: 0 },
    },
  ],
]

const BODY = { text: 'a text', number: 5, list: [1, 2, 3, 4], long: 'x'.repeat(2000), at: '2020-02-03T04:05:06Z' }

function failureMessages(rows: readonly FailureRow[]): readonly Message[] {
  return rows.flatMap(([title, changes, ...headers]) =>
    ['JSON', 'XML', 'FHIR+JSON'].flatMap((output) => {
      const name = `${title} ${output}`
      const text = JSON.stringify(documentOf(name, 'JSON', output, changes)).replaceAll('OUTPUT', slug(output))
      return (headers.length === 0 ? [{}] : headers).map((own, at): Message => {
        const call = post(`/${slug(name)}`, BODY)
        const nth = headers.length > 1 ? `, message ${at + 1}` : ''
        return {
          title: `${name}${nth}`,
          ...(at === 0 ? { document: JSON.parse(text) } : {}),
          call: { ...call, headers: { ...call.headers, ...own } },
        }
      })
    }),
  )
}

const SETTINGS: Environment = {
  ...SECRETS,
  MESSAGE_LOG: 'all',
  CIRCUIT_BREAKER_FAILURES: '0',
  REQUEST_RETRY_BUDGET_PERCENT: '100',
  PARSER_LIMIT: '64kb',
  PARSER_MAX_NAMES_PER_OBJECT: '50',
  ANSWER_LIMIT: '64kb',
  FOREACH_MAX_ITEMS: '3',
  STATE_LIMIT: '1kb',
  IDEMPOTENCY_ANSWER_LIMIT: '1kb',
}

export const MESSAGE_GROUPS: readonly MessageGroup[] = [
  { name: 'samples', env: SETTINGS, messages: sampleMessages() },
  { name: 'mapping', env: SETTINGS, messages: mappingMessages() },
  { name: 'xml', env: SETTINGS, messages: xmlMessages() },
  { name: 'requests', env: SETTINGS, messages: requestMessages() },
  { name: 'failures', env: SETTINGS, messages: failureMessages(FAILURES) },
  {
    name: 'failures-of-tight-settings',
    env: {
      ...SETTINGS,
      MESSAGE_TIMEOUT_MS: '900',
      EXPRESSION_TIMEOUT_MS: '5000',
      MESSAGE_MAX_BYTES: '64kb',
      ANSWER_LIMIT: '1mb',
      EGRESS_DENY: 'localhost',
    },
    messages: failureMessages([
      ['deadline', lookup(`${UPSTREAM}/slow`)],
      ['deadline of a transform', { inputTransforms: { a: ENDLESS } }],
      ['deadline of a response', response(`${UPSTREAM}/slow`)],
      ['too costly', lookup(`${UPSTREAM}/large`)],
      ['egress denied', lookup('http://localhost:1/')],
    ]),
  },
  {
    name: 'failures-of-circuits',
    env: {
      ...SETTINGS,
      CIRCUIT_BREAKER_FAILURES: '2',
      CIRCUIT_BREAKER_PAUSE_MS: '86400000',
      CIRCUIT_BREAKER_MAX_PAUSE_MS: '86400000',
    },
    messages: failureMessages([
      ['circuit of a lookup', lookup(`${UPSTREAM}/status/503`), {}, {}, {}],
      ['circuit of a response', response(`${UPSTREAM}/status/503`), {}, {}, {}],
    ]),
  },
]
