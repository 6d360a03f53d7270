/** What the server and its routes ask of a request, and how an answer is sent. */

import { type IncomingMessage, METHODS } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../../core/message.ts'

export const pathFromUrl = (url: string): string => url.split('?', 1)[0] as string

export const hasBody = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/**
 * Sends an answer unchanged. Without a serialiser of ours, Fastify would add a charset to every JSON type and a type to an
 * empty text.
 */
export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  reply.code(status).headers(headers as Record<string, string>)
  return reply.serializer(unchanged).send(body.length === 0 ? undefined : body)
}

const unchanged = (body: string): string => body

/**
 * Methods that no path of the service takes share one route, that of TRACE. The router builds a tree for each method, and a
 * route for each method that a path refuses: routes for all of Node's methods cost 80 ms of processor time at the start,
 * and 2 MB. The substitute is a method that the router knows, no path takes, and Fastify reads no body for.
 */
const STAND_IN = 'TRACE'

/** The methods that Fastify's router knows. */
const ROUTED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', STAND_IN])

const UNROUTED = METHODS.filter((method) => !ROUTED.has(method))

const SENT = Symbol('method that was sent')
type Renamed = IncomingMessage & { [SENT]?: string }

/** Renames the method of a request before the router sees it. */
export function standIn(request: Renamed): void {
  const { method } = request
  if (method === undefined || ROUTED.has(method)) return
  request[SENT] = method
  request.method = STAND_IN
}

/** The method that the caller sent. */
export const readMethod = (request: IncomingMessage): string => (request as Renamed)[SENT] ?? request.method ?? ''

/** In: the methods of a route. Out: the methods of its requests. */
export const expandMethods = (routed: readonly string[]): readonly string[] =>
  routed.includes(STAND_IN) ? [...routed, ...UNROUTED] : routed
