/** Rules of HTTP that the checks of documents, the servers and the HTTP client share. */

/** The methods that an endpoint may have. */
export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** True for the methods of an endpoint whose requests have a body that is parsed. */
export const takesBody = (method: unknown): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH'

/** True for the methods of requests of a document that are sent without a body. */
export const sendsNoBody = (method: unknown): boolean => method === 'GET' || method === 'HEAD'

/** Methods whose repetition does no harm (RFC 9110 §9.2.2). */
export const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])

/**
 * Headers that the client or server of the connection sets, from the URL, the body and the connection (RFC 9110 §7.2,
 * §7.6.1, §8.6, §10.1.1).
 */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A URL or path up to its query. */
export function withoutQuery(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? url : url.slice(0, at)
}

/** The member of `Via` (RFC 9110 section 7.6.3) of every call of a document: it is not the call of a person or program here. */
export const VIA = '1.1 crosswalk'

/** True if a header `Via` has the member of this service or of another of its kind. */
export const isViaDocument = (via: string | undefined): boolean =>
  via !== undefined && /(?:^|,)\s*1\.1\s+crosswalk\s*(?:$|[,(])/i.test(via)

/** The header of every answer to a message: the receiver can name the message by it, however the message ended. */
export const MESSAGE_ID_HEADER = 'x-crosswalk-message-id'

/**
 * Headers of every answer of the message port. Bodies of messages are texts of others, and endpoints may be changed at the
 * same origin: no browser may run them, or take them for what they do not say they are.
 */
export const MESSAGE_PORT_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
}

/** Statuses whose answers have neither a body nor a length (RFC 9110 section 8.6). */
export const isBodiless = (status: number): boolean => status === 204 || status === 304

/** Statuses whose `Location` names the URL to request instead (RFC 9110 §15.4). */
export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Paths of the message port that are reserved for the service, with everything below them. */
export const RESERVED = ['/uptime', '/endpoints']

/** The reserved path that `path` equals or is below; undefined if the path is free for endpoints. */
export const reservedBy = (path: string): string | undefined =>
  RESERVED.find((reserved) => path === reserved || path.startsWith(`${reserved}/`))

/** The fault of a text that is `host:port`, with or without a path: a URL that lacks its scheme. */
export const missingScheme = (text: string): string | undefined =>
  /^(?:\[[0-9a-f:.]+\]|[\w.-]+):\d+(?:\/|$)/i.test(text)
    ? `"${text}" has no scheme; did you mean http://${text}?`
    : undefined

/** Inclusive ranges of HTTP statuses. `any` also matches a record without a status. */
export type StatusSet = Readonly<{ any: boolean; ranges: readonly (readonly [from: number, to: number])[] }>
