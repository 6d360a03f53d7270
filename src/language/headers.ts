/** The syntax of HTTP headers, and the headers of a response that may be passed on. */
type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** A token (RFC 9110 section 5.6.2). */
export const isHeaderName = (name: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)

/**
 * The value has no control characters but the tab, and nothing above U+00FF (RFC 9110 section 5.5). Whitespace at its ends
 * is accepted; receivers drop it.
 */
export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

/** What sentences say of another value. */
export const NO_HEADER_VALUE = 'holds a line break or another character that no header can hold'

/** These describe one connection or one encoding of the body. */
const OF_TRANSFER = [
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * These are statements about the origin that a browser asked, which is this service and not the upstream, or orders to a
 * browser. Names with the prefixes of `STEERS` are more of them.
 */
const OF_ORIGIN = [
  'accept-ch',
  'activate-storage-access',
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'content-security-policy-report-only',
  'critical-ch',
  'document-policy',
  'document-policy-report-only',
  'expect-ct',
  'feature-policy',
  'integrity-policy',
  'integrity-policy-report-only',
  'nel',
  'origin-agent-cluster',
  'origin-trial',
  'permissions-policy',
  'permissions-policy-report-only',
  'public-key-pins',
  'public-key-pins-report-only',
  'referrer-policy',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'set-login',
  'sourcemap',
  'speculation-rules',
  'strict-transport-security',
  'supports-loading-mode',
  'timing-allow-origin',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-sourcemap',
  'x-ua-compatible',
  'x-xss-protection',
]

/** With `idempotency-replayed` the service speaks of its own messages; proxies in front take orders of `x-accel-` and `x-sendfile`. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([...OF_TRANSFER, ...OF_ORIGIN, 'idempotency-replayed', 'x-sendfile'])
const STEERS = /^(?:access-control-|cross-origin-|sec-|x-accel-|x-crosswalk-)/

/**
 * The headers of a response that may be passed on to another client.
 *
 * In and out: lower-case names. Drops hop-by-hop headers, those that `connection` names among them (RFC 9110 section 7.6.1),
 * headers between a client and its proxy (section 11.7), the length and codings of the transfer, and those that steer
 * browsers or proxies, or that only this service may set.
 */
export function endToEnd(headers: HeaderValues): Record<string, string | readonly string[]> {
  const named = connectionOptions(headers)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => mayBePassedOn(name) && !named.has(name)))
}

/** In: a lower-case name. */
export const mayBePassedOn = (name: string): boolean => !NOT_PASSED_ON.has(name) && !STEERS.test(name)

function connectionOptions(headers: HeaderValues): ReadonlySet<string> {
  const connection = Object.hasOwn(headers, 'connection') ? headers.connection : undefined
  if (connection === undefined) return new Set()
  const lines = typeof connection === 'string' ? [connection] : connection
  return new Set(lines.flatMap((line) => line.split(',')).map((option) => option.trim().toLowerCase()))
}
