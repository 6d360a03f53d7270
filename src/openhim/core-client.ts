/**
 * The API of an OpenHIM core. A call authenticates with Basic credentials, which newer cores take, or else with the token of
 * older ones; the scheme that the core took last is tried first.
 */
import { createHash } from 'node:crypto'
import type { Json } from '../core/json.ts'
import { type HttpClient, type OutboundAnswer, OutboundError } from '../core/ports/http-client-port.ts'
import { CoreFault, type OpenhimCore } from './core-port.ts'

export type CoreClientOptions = Readonly<{
  /** Of the API, with or without a last `/`. */
  url: string
  username: string
  password: string
  http: HttpClient
  /** Of one call; 5 seconds unless given. */
  timeoutMs?: number
}>

type Scheme = 'basic' | 'token'

/** The headers of a scheme; undefined if the core does not offer it. */
type Credentials = Readonly<Record<string, string>> | undefined

const TIMEOUT_MS = 5_000

/** The client closes `http` when it is closed. */
export function createCoreClient(options: CoreClientOptions): OpenhimCore {
  const { url, username, password, http, timeoutMs = TIMEOUT_MS } = options
  const base = url.replace(/\/+$/, '')
  const basic = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  let scheme: Scheme = 'basic'

  const send = async (method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) => {
    try {
      const request = { method, url: `${base}${path}`, headers, timeoutMs, retries: 0 }
      // Registering and reporting twice is as good as once.
      return await http.send({ ...request, idempotent: true, ...(body === undefined ? {} : { body }) })
    } catch (thrown) {
      if (!(thrown instanceof OutboundError)) throw thrown
      throw new CoreFault('unreachable', `The OpenHIM core does not answer: ${hinted(thrown.message)}`, {
        cause: thrown,
      })
    }
  }

  /** The core says which time it has, so that its clock and this one may differ. */
  const token = async (): Promise<Credentials> => {
    const { status, body } = await send('GET', `/authenticate/${encodeSegment(username)}`, {})
    const { salt, ts } = status === 200 ? parseFields(body) : {}
    if (!isHeaderText(salt) || !isHeaderText(ts)) return undefined
    const secret = sha512(sha512(salt + password) + salt + ts)
    return { 'auth-username': username, 'auth-ts': ts, 'auth-salt': salt, 'auth-token': secret }
  }

  const call = async (method: 'GET' | 'POST', path: string, content?: Json): Promise<OutboundAnswer> => {
    const body = content === undefined ? undefined : JSON.stringify(content)
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const schemes: readonly Scheme[] = scheme === 'basic' ? ['basic', 'token'] : ['token', 'basic']
    for (const candidate of schemes) {
      const credentials = candidate === 'basic' ? basic : await token()
      if (credentials === undefined) continue
      const answer = await send(method, path, { ...type, ...credentials }, body)
      if (answer.status === 401) continue
      scheme = candidate
      return answer
    }
    throw new CoreFault('unauthorized', 'The OpenHIM core does not accept OPENHIM_USERNAME and OPENHIM_PASSWORD')
  }

  return {
    register: async (mediator) => {
      const { status } = await call('POST', '/mediators', mediator)
      if (!isSuccess(status)) throw refused('the registration', status)
    },
    heartbeat: async (urn, uptimeSeconds) => {
      const { status } = await call('POST', `/mediators/${encodeSegment(urn)}/heartbeat`, { uptime: uptimeSeconds })
      if (status === 404) return 'unknown'
      if (!isSuccess(status)) throw refused('the heartbeat', status)
      return 'alive'
    },
    transactions: async (query) => {
      const { status, body } = await call('GET', `/transactions?${query}`)
      if (!isSuccess(status)) throw refused('the request for transactions', status)
      return parseJson(body)
    },
    close: () => http.close(),
  }
}

/** A segment of a path; `:` and `@` stay as they are (RFC 3986 section 3.3), because they are in every URN and user name. */
const encodeSegment = (text: string): string => encodeURIComponent(text).replace(/%(?:3A|40)/g, decodeURIComponent)

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const refused = (what: string, status: number): CoreFault => {
  const why = status === 403 ? '; OPENHIM_USERNAME must be an administrator of the core' : ''
  return new CoreFault('refused', `The OpenHIM core answers ${what} with status ${status}${why}`)
}

const hinted = (message: string): string => {
  const sentence = message.replace(/\.$/, '')
  return /SELF_SIGNED|UNABLE_TO_VERIFY/.test(sentence)
    ? `${sentence}; set TRUST_SELF_SIGNED=true if its certificate is your own`
    : sentence
}

const sha512 = (text: string): string => createHash('sha512').update(text).digest('hex')

const isHeaderText = (value: unknown): value is string => typeof value === 'string' && /^[!-~][ -~]{0,255}$/.test(value)

function parseFields(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value = parseJson(body)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function parseJson(body: Uint8Array): Json {
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch (cause) {
    throw new CoreFault('refused', 'The OpenHIM core does not answer with JSON: is OPENHIM_URL its API?', { cause })
  }
}
