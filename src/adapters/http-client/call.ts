/** A request as it goes to the dispatcher, ready for any number of attempts. */
import type { Dispatcher } from 'undici'
import { FRAMING_HEADERS } from '../../domain/http.ts'
import type { OutboundRequest } from '../../domain/ports.ts'

export type Call = Readonly<Dispatcher.DispatchOptions & { origin: string; path: string }>

/** How messages name a call: method, origin and path, never the query. */
export const subjectOf = ({ method, origin, path }: Pick<Call, 'method' | 'origin' | 'path'>): string =>
  `${method} ${origin}${path.split('?', 1)[0]}`

/** `parse` gives undefined where the URL is no absolute http or https one. */
export type Targets = Readonly<{ parse(url: string): Target | undefined }>
export type Target = Readonly<{ origin: string; path: string }>

/** A path and query of characters that RFC 3986 allows in them: they are sent as they are. */
const PLAIN = /^\/[A-Za-z0-9\-_.~!$&'()*+,;=:@/?%]*$/
/** A step within the path, which parsing takes: https://url.spec.whatwg.org/#path-state. */
const STEP = /\/(?:\.|%2e)/i
const PLAIN_BASE = /^https?:\/\/[^/?#@\\]+$/i
const MOST_BASES = 1_000

/**
 * Parses URLs. Scheme, host and port are parsed once for each origin, and a plain path is not parsed at all: parsing takes longer than
 * anything else that is done for a call before it is sent. It also changes legal text: `'` in a query becomes `%27`, and a
 * trailing `?` is lost.
 */
export function createTargets(): Targets {
  const origins = new Map<string, string>()

  const parseWhole = (text: string, base: string): Target | undefined => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined
    if (PLAIN_BASE.test(base)) {
      if (origins.size >= MOST_BASES) origins.clear()
      origins.set(base, url.origin)
    }
    return { origin: url.origin, path: url.pathname + url.search }
  }
  return {
    parse: (text) => {
      // Behind the longest scheme.
      const slash = text.indexOf('/', 'https://'.length)
      if (slash < 0) return parseWhole(text, text)
      const base = text.slice(0, slash)
      const path = text.slice(slash)
      if (!PLAIN.test(path) || STEP.test(path)) return parseWhole(text, base)
      const origin = origins.get(base) ?? (PLAIN_BASE.test(base) ? parseWhole(`${base}/`, base)?.origin : undefined)
      return origin === undefined ? parseWhole(text, base) : { origin, path }
    },
  }
}

export function callOf(request: OutboundRequest, { origin, path }: Target): Call {
  const headers: string[] = []
  for (const name in request.headers) {
    if (!FRAMING_HEADERS.has(name)) headers.push(name, request.headers[name] as string)
  }
  if (!Object.hasOwn(request.headers, 'accept-encoding')) headers.push('accept-encoding', 'identity')
  return { origin, path, method: request.method, headers, body: request.body ?? null }
}
