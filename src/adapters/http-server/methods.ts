/**
 * The methods of a request. The router has a tree for each that it knows, and a route for each that a path refuses; so
 * one method stands for all that nothing is ever done with.
 */
import { type IncomingMessage, METHODS } from 'node:http'

/** Of all that the router knows by itself the one that nothing is done with; no body is read for it. */
const STAND_IN = 'TRACE'

/** What Fastify's router knows by itself. */
const ROUTED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', STAND_IN])

const UNROUTED = METHODS.filter((method) => !ROUTED.has(method))

const SENT = Symbol('method that was sent')
type Renamed = IncomingMessage & { [SENT]?: string }

/** To be called before the router is. */
export function standIn(request: Renamed): void {
  const { method } = request
  if (method === undefined || ROUTED.has(method)) return
  request[SENT] = method
  request.method = STAND_IN
}

/** What the caller sent. */
export const methodOf = (request: IncomingMessage): string => (request as Renamed)[SENT] ?? request.method ?? ''

/** The methods that come to a route for these. */
export const methodsOf = (routed: readonly string[]): readonly string[] =>
  routed.includes(STAND_IN) ? [...routed, ...UNROUTED] : routed
