/** Reading management calls and sending their answers. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Needed } from '../../access/authorise.ts'
import { Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import type { Answer } from '../../domain/message.ts'
import { methodOf } from './unrouted-methods.ts'

/** The parameters of a route below `/things/:id`. */
export type ById = { Params: { id: string } }

/** A header of answers that no cache may keep: others may use the same browser later. */
export const NO_STORE = { 'cache-control': 'no-store' }

export const pathOf = (url: string): string => url.split('?', 1)[0] as string

/** The query of a call: each name with its values. */
export const queryOf = ({ query }: FastifyRequest): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(query as Record<string, string | string[]>).map(([name, value]) => [name, [value].flat()] as const),
  )

/** Answers calls with a failure before their body is read: nothing in it could change the answer. */
function refuse(
  scope: FastifyInstance,
  url: string,
  methods: readonly string[],
  needed: Needed,
  failureOf: (request: FastifyRequest) => Failure,
): void {
  scope.route({
    method: [...methods],
    url,
    config: { needed },
    onRequest: async (request) => {
      throw failureOf(request)
    },
    handler: async () => undefined,
  })
}

/** Answers the methods that a path does not take with 405 and `Allow`. */
export function refuseOtherMethods(
  scope: FastifyInstance,
  url: string,
  allowed: readonly string[],
  needed: Needed = 'viewer',
): void {
  const allow = allowed.join(', ')
  const others = scope.supportedMethods.filter((method) => !allowed.includes(method))
  refuse(scope, url, others, needed, (request) => {
    const sentence = `${pathOf(request.url)} does not take ${methodOf(request.raw)}, but ${allow}.`
    return new Failure('METHOD_NOT_ALLOWED', sentence, { headers: { allow } })
  })
}

/** Keeps the paths below a path of the service from the routes of users. */
export function refuseBelow(scope: FastifyInstance, url: string, needed: Needed = 'viewer'): void {
  refuse(scope, `${url}/*`, scope.supportedMethods, needed, (request) => {
    const sentence = `There is nothing at ${pathOf(request.url)}; paths below ${url} are reserved.`
    return new Failure('ROUTE_UNKNOWN', sentence)
  })
}

/** Keeps a path and those below it for another port, for every caller. `sentence`: where to call instead. */
export function leaveToOtherPort(scope: FastifyInstance, url: string, sentence: () => string): void {
  for (const path of [url, `${url}/*`]) {
    refuse(scope, path, scope.supportedMethods, 'open', () => new Failure('ROUTE_UNKNOWN', sentence()))
  }
}

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

/** Sends a value as JSON. `headers` has lower-case names. */
export function sendJson(
  reply: FastifyReply,
  status: number,
  value: Json | object,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply {
  return sendAnswer(reply, {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(value),
  })
}

const unchanged = (body: string): string => body
