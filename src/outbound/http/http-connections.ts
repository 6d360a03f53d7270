/**
 * How connections are opened: within a time, and only to where the operator allows.
 *
 * Faults of an exchange are sentences for users. They never have the query, credentials, header values, or the text of
 * an error of Node.js or undici, which may have any of these.
 */
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { OutboundError } from '../../core/ports/http-client-port.ts'
import { describeErrorCode, findErrorCode, isTlsError } from '../connection-errors.ts'
import { EgressDenied, type EgressGuard, guardedLookup } from '../egress-guard.ts'

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

export type HttpConnections = Readonly<{
  connect: Connector
  /** The same with certificates of its own. */
  connectWith(secureContext: SecureContext): Connector
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
  const build = (own: ConnectorOptions): Connector =>
    bounded(guard === undefined ? buildConnector(own) : guardedConnector(guard, own))
  const connecting = new Set<Socket>()
  const endedUsed = new WeakSet<Error>()

  const bounded =
    (open: Connector): Connector =>
    (options, callback) => {
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
    connect: build(options),
    connectWith: (secureContext) => build({ ...options, secureContext }),
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

function guardedConnector(guard: EgressGuard, options: ConnectorOptions): Connector {
  /** A connector for each port, because undici's lookup hook does not get the port. */
  const byPort = new Map<number, Connector>()

  const openAt = (port: number): Connector => {
    const known = byPort.get(port)
    if (known !== undefined) return known
    const connector = buildConnector({ ...options, lookup: guardedLookup(port, guard) })
    if (byPort.size >= MAX_PORTS) byPort.clear()
    byPort.set(port, connector)
    return connector
  }

  return (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    const refusal = guard.policy.refusal(target.hostname, port)
    if (refusal === undefined) return openAt(port)(target, callback)
    // Not before this returns: `connect` has no timer yet.
    queueMicrotask(() => callback(new EgressDenied(refusal), null))
  }
}

export const tooManyInterim = (subject: string, max: number): OutboundError =>
  new OutboundError('unreadable', `${subject} got more than ${max} interim answers and none that is final.`)

const CUT_SHORT = 'connection closed before the answer was complete'

const CAUSES: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: CUT_SHORT,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: CUT_SHORT,
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  // Undici checks the state of its parser by assertions, and some malformed answers violate them.
  ERR_ASSERTION: 'the answer is not valid HTTP',
  UND_ERR_CLOSED: 'the service is shutting down',
  UND_ERR_DESTROYED: 'the service is shutting down',
}

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
export const isTransient = (error: unknown): boolean => !isRefusedHere(error) && !isTlsError(error)

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
  return CAUSES[code] ?? describeErrorCode(code)
}
