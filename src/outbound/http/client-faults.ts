/**
 * The faults of an exchange, in words for users. They never have the query, credentials, header values, or the text of an
 * error of Node.js or undici, which may have any of these.
 */
import { OutboundError } from '../../core/ports/http-client-port.ts'
import { EgressDenied, errors } from './http-connections.ts'

export const overBudget = (subject: string): OutboundError =>
  new OutboundError('over-budget', `The answer to ${subject} is larger than what this message may still read.`)

export const tooManyInterim = (subject: string, most: number): OutboundError =>
  new OutboundError('unreadable', `${subject} got more than ${most} interim answers and none that is final.`)

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
 * In: an error of a connection or of undici; `connectTimeoutMs`, for the message. Out: 'timeout' if connecting took too long,
 * 'denied' if the egress rules forbid the address, otherwise 'unreachable'.
 */
export function outboundError(subject: string, error: unknown, connectTimeoutMs: number): OutboundError {
  const options = { cause: error }
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new OutboundError('timeout', `${subject} timed out: no connection within ${connectTimeoutMs} ms.`, options)
  }
  if (error instanceof EgressDenied) {
    return new OutboundError('denied', `${subject} is not allowed: ${error.message}.`, options)
  }
  if (code === 'ETIMEDOUT') {
    return new OutboundError('timeout', `${subject} timed out: the connection went silent.`, options)
  }
  return new OutboundError('unreachable', `${subject} got no complete answer: ${causeOf(error)}.`, options)
}

/** Whether connecting took too long, or the connection went silent. */
export const isTimeout = (error: unknown): boolean => /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/.test(codeOf(error))

/** Why a connection was lost, without the request: for the log. */
export const whyLost = (error: unknown): string => (isTimeout(error) ? 'no connection in time' : causeOf(error))

/** Whether undici or the egress rules refused the request, so that nothing was sent. */
const isRefusedHere = (error: unknown): boolean =>
  error instanceof EgressDenied ||
  error instanceof errors.InvalidArgumentError ||
  error instanceof errors.NotSupportedError

/** Whether the error is one of the origin, not of this service. */
export const isOfOrigin = (error: unknown): boolean =>
  !isRefusedHere(error) && !/^UND_ERR_(?:CLOSED|DESTROYED)$/.test(codeOf(error))

/** Whether another attempt may succeed: not if the request itself or the trust in its target is at fault. */
export const isTransient = (error: unknown): boolean => !isRefusedHere(error) && !TLS.test(codeOf(error))

function causeOf(error: unknown): string {
  const code = codeOf(error)
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
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof AggregateError ? (error.errors.map(codeOf).find((code) => code !== '') ?? '') : ''
}
