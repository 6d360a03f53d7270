/**
 * How connections are opened: within a time, and only to where the operator allows. A host that is denied is not looked up,
 * and of the addresses of the others only the allowed ones are used; there is no second lookup whose result could differ.
 *
 * Faults of an exchange are sentences for users. They never have the query, credentials, header values, or the text of
 * an error of Node.js or undici, which may have any of these.
 */
import { lookup as systemLookup } from 'node:dns'
import { createRequire } from 'node:module'
import { type LookupFunction, Socket } from 'node:net'
import type { EgressPolicy } from '../../core/egress/egress-policy.ts'
import { OutboundError } from '../../core/ports/http-client-port.ts'

type Undici = typeof import('undici')
type Connector = import('undici').buildConnector.connector
type ConnectorOptions = import('undici').buildConnector.BuildOptions

/**
 * The parts of undici in use. Its index also loads fetch, WebSocket, caches and mocks: 12 MB of memory and a tenth of a
 * second at every start, for nothing.
 */
const require = createRequire(import.meta.url)
export const Agent: Undici['Agent'] = require('undici/lib/dispatcher/agent.js')
const buildConnector: Undici['buildConnector'] = require('undici/lib/core/connect.js')
const errors: Undici['errors'] = require('undici/lib/core/errors.js')

/** Looks up all addresses of a host. */
export type ResolveAddress = (
  host: string,
  options: Readonly<{ all: true; family?: number | 'IPv4' | 'IPv6'; hints?: number }>,
  callback: (
    error: NodeJS.ErrnoException | null,
    addresses: readonly Readonly<{ address: string; family: number }>[],
  ) => void,
) => void

/** Where connections may go; `resolve` is that of the system unless given. */
export type EgressGuard = Readonly<{ policy: EgressPolicy; resolve?: ResolveAddress }>

/** Nothing was sent and no connection opened. The message fits behind "… is not allowed: ". */
class EgressDenied extends Error {
  override readonly name = 'EgressDenied'
  readonly code = 'EGRESS_DENIED'
}

export type HttpConnections = Readonly<{
  connect: Connector
  /**
   * True if the error ended a connection on which an earlier exchange had succeeded: a server may close an idle connection
   * while a request is sent on it, which says nothing about the request.
   */
  endedUsed(error: unknown): boolean
  /** Ends the attempts to connect: closing the agent leaves these to time out. */
  abandon(): void
}>

/** HTTP/1.1 only, so that dropping a connection stops exactly one exchange. */
const CONNECTOR_OPTIONS = { allowH2: false, timeout: 0 }
/** Redirects may lead to any port. Without its connector, only a TLS session that could be resumed is lost. */
const MAX_PORTS = 64

/**
 * Opens connections within `connectTimeoutMs`, name lookup and TLS included; fails with ConnectTimeoutError or
 * EgressDenied.
 */
export function createHttpConnections(
  connectTimeoutMs: number,
  guard?: EgressGuard,
  acceptAnyCertificate = false,
): HttpConnections {
  const options = { ...CONNECTOR_OPTIONS, rejectUnauthorized: !acceptAnyCertificate }
  const open = guard === undefined ? buildConnector(options) : guardedConnector(guard, options)
  const connecting = new Set<Socket>()
  const endedUsed = new WeakSet<Error>()

  const connect: Connector = (options, callback) => {
    // Undici returns the socket without declaring it.
    const socket: unknown = open(options, (...opened) => {
      clearTimeout(timer)
      if (socket instanceof Socket) connecting.delete(socket)
      const [, connection] = opened
      if (connection instanceof Socket) watch(connection)
      callback(...opened)
    })
    const expire = (): void => {
      if (socket instanceof Socket) socket.destroy(new errors.ConnectTimeoutError('no connection in time'))
    }
    // Undici's own timer may be half a second late.
    const timer = setTimeout(expire, connectTimeoutMs)
    if (socket instanceof Socket) connecting.add(socket)
  }

  const watch = (connection: Socket): void => {
    boundHeaderErrors(connection)
    const bytesAtFirst = connection.bytesRead
    connection.on('error', (error) => {
      if (connection.bytesRead > bytesAtFirst) endedUsed.add(error)
    })
  }

  return {
    connect,
    endedUsed: (error) => error instanceof Error && endedUsed.has(error),
    abandon: () => {
      for (const socket of connecting) socket.destroy(new errors.ClientDestroyedError())
    },
  }
}

/**
 * Undici parses a chunk to its end although the headers in it exceed the limit, and makes an error for each further one:
 * with their stacks, an answer with ten thousand headers would hold up all messages for half a second.
 */
function boundHeaderErrors(connection: Socket): void {
  const destroy = connection.destroy
  connection.destroy = (error) => {
    if (error instanceof errors.HeadersOverflowError && Error.stackTraceLimit > 0) {
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      // The rest of the chunk is parsed before any other code runs.
      queueMicrotask(() => {
        Error.stackTraceLimit = stackTraceLimit
      })
    }
    return destroy.call(connection, error)
  }
}

function guardedConnector({ policy, resolve = systemLookup }: EgressGuard, options: ConnectorOptions): Connector {
  /** A connector for each port, because undici's lookup hook does not get the port. */
  const byPort = new Map<number, Connector>()

  const openAt = (port: number): Connector => {
    const known = byPort.get(port)
    if (known !== undefined) return known
    const connector = buildConnector({ ...options, lookup: guardedLookup(port, policy, resolve) })
    if (byPort.size >= MAX_PORTS) byPort.clear()
    byPort.set(port, connector)
    return connector
  }

  return (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    const refusal = policy.refusal(target.hostname, port)
    if (refusal === undefined) return openAt(port)(target, callback)
    // Not before this returns: `connect` has no timer yet.
    queueMicrotask(() => callback(new EgressDenied(refusal), null))
  }
}

function guardedLookup(port: number, policy: EgressPolicy, resolve: ResolveAddress): LookupFunction {
  return (host, { all, family, hints }, callback) => {
    const options = { all: true, ...(family && { family }), ...(hints && { hints }) } as const
    resolve(host, options, (error, found) => {
      if (error !== null) return callback(error, [])
      const refusals = found.map(({ address }) => policy.addressRefusal(host, address, port))
      const allowed = found.filter((_, index) => refusals[index] === undefined)
      const [first] = allowed
      if (first === undefined) callback(new EgressDenied(refusals[0] ?? 'its name has no address'), [])
      else if (all) callback(null, [...allowed])
      else callback(null, first.address, first.family)
    })
  }
}

export const overBudget = (subject: string): OutboundError =>
  new OutboundError('over-budget', `The answer to ${subject} is larger than what this message may still read.`)

export const tooManyInterim = (subject: string, max: number): OutboundError =>
  new OutboundError('unreadable', `${subject} got more than ${max} interim answers and none that is final.`)

export const timedOut = (subject: string, timeoutMs: number): OutboundError =>
  new OutboundError('timeout', `${subject} timed out after ${timeoutMs} ms.`)

const CUT_SHORT = 'connection closed before the answer was complete'

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: CUT_SHORT,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: CUT_SHORT,
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'name not found for now (the name server did not answer)',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'address not available',
  EMFILE: 'too many open connections',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  // Undici checks the state of its parser by assertions, and some malformed answers violate them.
  ERR_ASSERTION: 'the answer is not valid HTTP',
  UND_ERR_CLOSED: 'the service is shutting down',
  UND_ERR_DESTROYED: 'the service is shutting down',
}

/** Codes of TLS and of certificates, from OpenSSL and from Node.js. */
const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/**
 * In: an error of a connection or of undici; `connectTimeoutMs`, for the message. Out: 'timeout' if connecting took too
 * long, 'denied' if the egress rules forbid the address, otherwise 'unreachable'.
 */
export function outboundError(subject: string, error: unknown, connectTimeoutMs: number): OutboundError {
  const options = { cause: error }
  const code = findErrorCode(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new OutboundError('timeout', `${subject} timed out: no connection within ${connectTimeoutMs} ms.`, options)
  }
  if (error instanceof EgressDenied) {
    return new OutboundError('denied', `${subject} is not allowed: ${error.message}.`, options)
  }
  if (code === 'ETIMEDOUT') {
    return new OutboundError('timeout', `${subject} timed out: the connection went silent.`, options)
  }
  return new OutboundError('unreachable', `${subject} got no complete answer: ${describeCause(error)}.`, options)
}

/** True if connecting took too long, or the connection went silent. */
export const isTimeout = (error: unknown): boolean =>
  /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/.test(findErrorCode(error))

/** Why a connection was lost, without the request: for the log. */
export const whyLost = (error: unknown): string => (isTimeout(error) ? 'no connection in time' : describeCause(error))

/** True if undici or the egress rules refused the request, so that nothing was sent. */
const isRefusedHere = (error: unknown): boolean =>
  error instanceof EgressDenied ||
  error instanceof errors.InvalidArgumentError ||
  error instanceof errors.NotSupportedError

/** True for an error of the origin, not of this service. */
export const isOfOrigin = (error: unknown): boolean =>
  !isRefusedHere(error) && !/^UND_ERR_(?:CLOSED|DESTROYED)$/.test(findErrorCode(error))

/** True if another attempt may succeed: not if the request itself or the trust in its target is at fault. */
export const isTransient = (error: unknown): boolean => !isRefusedHere(error) && !TLS.test(findErrorCode(error))

function describeCause(error: unknown): string {
  const code = findErrorCode(error)
  // The parser's errors have no code, and for an unexpected 100 or 101, undici's error differs by its text alone.
  if (error instanceof errors.HTTPParserError) {
    return /EOF/.test(error.message) ? CUT_SHORT : 'the answer is not valid HTTP'
  }
  if (error instanceof errors.SocketError && error.message.startsWith('bad ')) {
    return 'it was answered with status 100 or 101, which was not asked for'
  }
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
    // These texts name a header or a part of the request, never a value.
    return `it cannot be sent (${error.message}); HTTP does not allow a character in it, such as a line break`
  }
  const known = CAUSES[code]
  if (known !== undefined) return known
  if (TLS.test(code)) return `no secure connection (${code})`
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}

/** The code of an error; if several addresses were tried, the first code of these. */
function findErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof AggregateError ? (error.errors.map(findErrorCode).find((code) => code !== '') ?? '') : ''
}
