/**
 * What went wrong with an exchange, in words for a user. Never in them: the query, credentials, header values, or the
 * text of an error of Node or of the HTTP library, which may hold any of these.
 */

import { OutboundError } from '../../domain/ports/http-client-port.ts'
import { EgressDenied } from './connections/guarded-connector.ts'
import { errors } from './connections/undici.ts'

export const tooLarge = (subject: string, limitBytes: number): OutboundError =>
  new OutboundError('too-large', `The answer to ${subject} is larger than the limit of ${limitBytes} bytes.`)

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
  // Undici's own check of its parser's state, which some malformed answers trip.
  ERR_ASSERTION: 'the answer is not valid HTTP',
  UND_ERR_CLOSED: 'the service is shutting down',
  UND_ERR_DESTROYED: 'the service is shutting down',
}

/** Codes of TLS and of certificates, from OpenSSL and from Node. */
const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/**
 * The fault behind an error of a connection or of the HTTP library.
 *
 * In: `connectTimeoutMs`, for the message. Out: 'timeout' where connecting took too long, 'denied' where it may not be connected
 * to, else 'unreachable'.
 */
export function outboundError(subject: string, error: unknown, connectTimeoutMs: number): OutboundError {
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new OutboundError('timeout', `${subject} timed out: no connection within ${connectTimeoutMs} ms.`, {
      cause: error,
    })
  }
  if (error instanceof EgressDenied) {
    return new OutboundError('denied', `${subject} is not allowed: ${error.message}.`, { cause: error })
  }
  if (code === 'ETIMEDOUT')
    return new OutboundError('timeout', `${subject} timed out: the connection went silent.`, { cause: error })
  return new OutboundError('unreachable', `${subject} got no complete answer: ${causeOf(code, error)}.`, {
    cause: error,
  })
}

/** Whether the connection took too long, to be made or to say anything. */
export const isTimeout = (error: unknown): boolean => /^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/.test(codeOf(error))

/** Why a connection was lost, without the request: for the log. */
export function whyLost(error: unknown): string {
  if (isTimeout(error)) return 'no connection in time'
  return causeOf(codeOf(error), error)
}

/** Whether the error says how the other side is doing: not where nothing went there, for reasons of our own. */
export function saysOfUpstream(error: unknown): boolean {
  const isOurs =
    error instanceof EgressDenied ||
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.NotSupportedError
  return !isOurs && !/^UND_ERR_(?:CLOSED|DESTROYED)$/.test(codeOf(error))
}

/** Whether another attempt may go better: not where the request itself or the trust in its target is at fault. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return !(
    TLS.test(code) ||
    code === 'UND_ERR_INVALID_ARG' ||
    code === 'UND_ERR_NOT_SUPPORTED' ||
    error instanceof EgressDenied
  )
}

function causeOf(code: string, error: unknown): string {
  // The parser's errors have no code, and undici tells a 100 or 101 that it did not ask for from a lost connection by text alone.
  if (error instanceof errors.HTTPParserError)
    return /EOF/.test(error.message) ? CUT_SHORT : 'the answer is not valid HTTP'
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

/** The code of an error; of the first attempt with one where several addresses were tried. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof AggregateError ? (error.errors.map(codeOf).find((code) => code !== '') ?? '') : ''
}
