/** A request as it goes to the dispatcher, ready for any number of attempts. */
import type { Dispatcher } from 'undici'
import { FRAMING_HEADERS } from '../../domain/http.ts'
import type { OutboundRequest } from '../../domain/ports.ts'

export type Call = Readonly<Dispatcher.DispatchOptions & { origin: string; path: string }>

/** How messages name a call: method, origin and path, never the query. */
export const subjectOf = ({ method, origin, path }: Pick<Call, 'method' | 'origin' | 'path'>): string =>
  `${method} ${origin}${path.split('?', 1)[0]}`

export type Target = Readonly<{ origin: string; path: string }>

/** In: a URL. Out: its origin, and its path with the query; undefined where it is no absolute http or https URL. */
export function targetOf(text: string): Target | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  return { origin: url.origin, path: url.pathname + url.search }
}

export function callOf(request: OutboundRequest, { origin, path }: Target): Call {
  const headers: string[] = []
  for (const name in request.headers) {
    if (!FRAMING_HEADERS.has(name)) headers.push(name, request.headers[name] as string)
  }
  if (!Object.hasOwn(request.headers, 'accept-encoding')) headers.push('accept-encoding', 'identity')
  return { origin, path, method: request.method, headers, body: request.body ?? null }
}
