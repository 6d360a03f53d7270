/**
 * The API of an OpenHIM core on 127.0.0.1, as openhim-core 4 and its documentation have it, which reports everything that is
 * not exactly so.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Ajv } from 'ajv'
import type { MediatorDocument } from '../../../src/openhim/core-port.ts'

export const USER = { username: 'root@openhim.org', password: 'pass word: ü' }

export type CoreCall = Readonly<{
  method: string
  path: string
  /** How the caller authenticated. */
  scheme: 'basic' | 'token' | 'none'
  status: number
  body: string
  /** In ms of `performance.now()`. */
  at: number
}>

export type StrictCore = {
  readonly url: string
  readonly calls: readonly CoreCall[]
  /** What a core would not have accepted, in sentences. */
  readonly faults: readonly string[]
  /** By URN: the document with the greatest version. */
  readonly mediators: Map<string, MediatorDocument>
  readonly heartbeats: number
  /** How the core authenticates. */
  scheme: 'basic' | 'token'
  /** How far the clock of the core is ahead. */
  clockAheadMs: number
  /** Answers every call with this status instead, after `delayMs`. */
  broken: number | undefined
  /** Closes the port; `listen` opens the same again. */
  close(): Promise<void>
  listen(): Promise<void>
}

const text = { type: 'string', minLength: 1 }

const ROUTE = {
  type: 'object',
  required: ['name', 'host', 'port', 'type'],
  additionalProperties: false,
  properties: {
    name: text,
    host: text,
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    path: { type: 'string' },
    secured: { type: 'boolean' },
    primary: { type: 'boolean' },
    type: { enum: ['http', 'tcp', 'mllp'] },
  },
}

const CHANNEL = {
  type: 'object',
  required: ['name', 'urlPattern', 'methods', 'type', 'allow', 'authType', 'routes'],
  additionalProperties: false,
  properties: {
    name: text,
    description: text,
    urlPattern: { type: 'string', format: 'regex', pattern: '^\\^.*\\$$' },
    methods: {
      type: 'array',
      minItems: 1,
      items: { enum: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'] },
    },
    type: { enum: ['http', 'tcp', 'tls', 'polling'] },
    allow: { type: 'array', minItems: 1, items: text },
    authType: { enum: ['private', 'public'] },
    routes: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        allOf: [{ $ref: 'route' }],
        type: 'object',
        required: ['primary'],
        properties: { primary: { const: true } },
      },
    },
  },
}

const MEDIATOR = {
  type: 'object',
  required: ['urn', 'version', 'name', 'endpoints', 'defaultChannelConfig'],
  additionalProperties: false,
  properties: {
    urn: text,
    version: { type: 'string', pattern: '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)$' },
    name: text,
    description: text,
    endpoints: { type: 'array', minItems: 1, items: { $ref: 'route' } },
    defaultChannelConfig: { type: 'array', items: { $ref: 'channel' } },
  },
}

const HEARTBEAT = {
  type: 'object',
  required: ['uptime'],
  additionalProperties: false,
  properties: { uptime: { type: 'number', minimum: 0 } },
}

const ajv = new Ajv({ allErrors: true, formats: { regex: (pattern: string) => new RegExp(pattern) !== undefined } })
ajv.addSchema(ROUTE, 'route').addSchema(CHANNEL, 'channel')
const isMediator = ajv.compile(MEDIATOR)
const isHeartbeat = ajv.compile(HEARTBEAT)

/** Semantic Versioning 2.0.0, section 11, for versions of three numbers. */
export function isGreater(version: string, before: string): boolean {
  const [own, other] = [version, before].map((one) => one.split('.').map(Number)) as [number[], number[]]
  const at = own.findIndex((number, index) => number !== other[index])
  return at >= 0 && (own[at] as number) > (other[at] as number)
}

const SALT = randomUUID()

/** Started, and closed after the test. */
export async function startStrictCore(test: { after(work: () => Promise<void>): void }): Promise<StrictCore> {
  const calls: CoreCall[] = []
  const faults: string[] = []
  const mediators = new Map<string, MediatorDocument>()
  let heartbeats = 0
  let port = 0

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { scheme, status, reply = '' } = answer(request, body)
    calls.push({ method: request.method ?? '', path: request.url ?? '', scheme, status, body, at: performance.now() })
    response.writeHead(status, { 'content-type': reply === '' ? 'text/plain; charset=utf-8' : 'application/json' })
    response.end(reply)
  })

  type Outcome = Readonly<{ scheme: CoreCall['scheme']; status: number; reply?: string }>

  function answer(request: IncomingMessage, body: string): Outcome {
    const { method = '', url = '' } = request
    if (core.broken !== undefined) return { scheme: 'none', status: core.broken }
    if (method === 'GET' && url === `/authenticate/${USER.username}`) {
      const ts = new Date(Date.now() + core.clockAheadMs)
      return { scheme: 'none', status: 200, reply: JSON.stringify({ salt: SALT, ts }) }
    }
    const scheme = schemeOf(request)
    if (scheme !== core.scheme) return { scheme, status: 401 }
    if (method !== 'POST') faults.push(`${method} ${url} is not a call of a mediator`)
    if (request.headers['content-type'] !== 'application/json') faults.push(`${url} has no JSON`)
    const [, urn] = /^\/mediators\/([^/]+)\/heartbeat$/.exec(url) ?? []
    if (url === '/mediators') return { scheme, ...register(body) }
    if (urn !== undefined) return { scheme, ...beat(decodeURIComponent(urn), body) }
    faults.push(`${method} ${url} is unknown`)
    return { scheme, status: 404 }
  }

  function register(body: string): Omit<Outcome, 'scheme'> {
    const mediator: unknown = JSON.parse(body)
    if (!isMediator(mediator)) {
      faults.push(`The mediator is not as documented: ${ajv.errorsText(isMediator.errors)}`)
      return { status: 400 }
    }
    const document = mediator as unknown as MediatorDocument
    const names = document.defaultChannelConfig.map(({ name }) => name)
    if (new Set(names).size < names.length) faults.push('Two channels have one name')
    const before = mediators.get(document.urn)
    if (before === undefined || isGreater(document.version, before.version)) mediators.set(document.urn, document)
    return { status: 201 }
  }

  function beat(urn: string, body: string): Omit<Outcome, 'scheme'> {
    if (!mediators.has(urn)) return { status: 404 }
    const heartbeat: unknown = JSON.parse(body)
    if (!isHeartbeat(heartbeat)) {
      faults.push(`The heartbeat is not as documented: ${ajv.errorsText(isHeartbeat.errors)}`)
      return { status: 400 }
    }
    heartbeats += 1
    return { status: 200 }
  }

  function schemeOf({ headers }: IncomingMessage): CoreCall['scheme'] {
    const { username, password } = USER
    const { authorization } = headers
    if (authorization !== undefined) {
      const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
      return authorization === expected ? 'basic' : 'none'
    }
    const { 'auth-username': name, 'auth-ts': ts = '', 'auth-salt': salt, 'auth-token': token } = headers
    const expected = sha512(sha512(SALT + password) + SALT + String(ts))
    // The core accepts times up to 10 s before and after its own.
    const isRecent = Math.abs(Date.parse(String(ts)) - Date.now() - core.clockAheadMs) <= 10_000
    return name === username && salt === SALT && token === expected && isRecent ? 'token' : 'none'
  }

  const core: StrictCore = {
    get url() {
      return `http://127.0.0.1:${port}`
    },
    calls,
    faults,
    mediators,
    get heartbeats() {
      return heartbeats
    },
    scheme: 'basic',
    clockAheadMs: 0,
    broken: undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
    listen: () => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve)),
  }
  await core.listen()
  port = (server.address() as AddressInfo).port
  test.after(core.close)
  return core
}

const sha512 = (content: string): string => createHash('sha512').update(content).digest('hex')
