/**
 * Why a connection failed, as a sentence for users: it never has the text of an error of Node.js, which may hold a host, a
 * path or what was sent.
 */

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'name not found for now (the name server did not answer)',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'address not available',
  EMFILE: 'too many open connections',
}

/** Codes of TLS and of certificates, from OpenSSL and from Node.js. */
const TLS =
  /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

export const isTlsError = (error: unknown): boolean => TLS.test(findErrorCode(error))

export function describeErrorCode(code: string): string {
  const known = CAUSES[code]
  if (known !== undefined) return known
  if (TLS.test(code)) return `no secure connection (${code})`
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}

/** The code of an error; if several addresses were tried, the first code of these. */
export function findErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  return error instanceof AggregateError ? (error.errors.map(findErrorCode).find((code) => code !== '') ?? '') : ''
}
