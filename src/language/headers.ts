/** The syntax of HTTP headers, and the headers of a response that may be passed on. */
type HeaderValues = Readonly<Record<string, string | readonly string[]>>

/** Whether the text is a token (RFC 9110 section 5.6.2). */
export const isHeaderName = (name: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)

/**
 * Whether the text can be a header's value: no control characters but the tab, nothing above U+00FF (RFC 9110 section 5.5).
 * Whitespace at its ends is accepted; receivers drop it.
 */
export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

/** These describe one connection or one encoding of the body. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * The headers of a response that may be passed on to another client.
 *
 * In and out: lower-case names. Drops hop-by-hop headers, those that `connection` names among them (RFC 9110 section 7.6.1),
 * headers between a client and its proxy (section 11.7), `set-cookie`, and the length and codings of the transfer.
 */
export function endToEnd(headers: HeaderValues): Record<string, string | readonly string[]> {
  const named = connectionOptions(headers)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.has(name) && !named.has(name)))
}

function connectionOptions(headers: HeaderValues): ReadonlySet<string> {
  const connection = Object.hasOwn(headers, 'connection') ? headers.connection : undefined
  if (connection === undefined) return new Set()
  const lines = typeof connection === 'string' ? [connection] : connection
  return new Set(lines.flatMap((line) => line.split(',')).map((option) => option.trim().toLowerCase()))
}
