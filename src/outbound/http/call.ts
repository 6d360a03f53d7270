/** A request in the form that undici's dispatcher takes, for any number of attempts. */
import type { Dispatcher } from 'undici'
import { FRAMING_HEADERS } from '../../core/http.ts'
import type { OutboundRequest } from '../../core/ports/http-client-port.ts'

export type ClientCall = Readonly<
  Dispatcher.DispatchOptions & { origin: string; path: string; budget: OutboundRequest['budget'] }
>

/** The name of a call in messages: method, origin and path, never the query. */
export const subjectOf = ({ method, origin, path }: Pick<ClientCall, 'method' | 'origin' | 'path'>): string =>
  `${method} ${origin}${path.split('?', 1)[0]}`

type CallTarget = Readonly<{ origin: string; path: string }>

/** A path and query of characters that RFC 3986 allows in them. */
const PLAIN = /^\/[A-Za-z0-9\-_.~!$&'()*+,;=:@/?%]*$/
/** A `.` or `..` segment, which the URL parser resolves: https://url.spec.whatwg.org/#path-state. */
const DOT_SEGMENT = /\/(?:\.|%2e)/i
/** Scheme, host and port alone; the URL parser removes tabs and line ends. */
const PLAIN_BASE = /^https?:\/\/[^/?#@\\\t\n\r]+$/i

/**
 * In: a URL. Out: its origin, and its path with the query; undefined if it is not an absolute http or https URL.
 *
 * A legal path is sent as written: the URL parser would change `'` in a query to `%27` and drop a trailing `?`.
 */
export function targetOf(text: string): CallTarget | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  const slash = text.indexOf('/', 'https://'.length)
  const path = slash < 0 ? '' : text.slice(slash)
  const isPlain = PLAIN.test(path) && !DOT_SEGMENT.test(path) && PLAIN_BASE.test(text.slice(0, slash))
  return { origin: url.origin, path: isPlain ? path : url.pathname + url.search }
}

/** `via`: a member that the header `Via` gets, behind those that the request has. */
export function callOf(request: OutboundRequest, { origin, path }: CallTarget, via?: string): ClientCall {
  const headers: string[] = []
  for (const name in request.headers) {
    if (FRAMING_HEADERS.has(name) || (name === 'via' && via !== undefined)) continue
    headers.push(name, request.headers[name] as string)
  }
  if (via !== undefined)
    headers.push('via', Object.hasOwn(request.headers, 'via') ? `${request.headers.via}, ${via}` : via)
  if (!Object.hasOwn(request.headers, 'accept-encoding')) headers.push('accept-encoding', 'identity')
  return { origin, path, method: request.method, headers, body: request.body ?? null, budget: request.budget }
}
