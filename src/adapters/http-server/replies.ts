/** Reading what a management call is, and sending its answer. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Needed } from '../../access/authorise.ts'
import type { Failure } from '../../domain/failure.ts'
import type { Json } from '../../domain/json.ts'
import type { Answer } from '../../domain/message.ts'

export const pathOf = (url: string): string => url.split('?', 1)[0] as string

/** Answers calls with a failure before their body is read: nothing in it could change the answer. */
export function refuse(
  scope: FastifyInstance,
  url: string,
  methods: readonly string[],
  failureOf: (request: FastifyRequest) => Failure,
  needed: Needed = 'viewer',
): void {
  scope.route({
    method: [...methods],
    url,
    config: { needed },
    onRequest: async (request, reply) => {
      closeIfUnread(request, reply)
      throw failureOf(request)
    },
    handler: async () => undefined,
  })
}

export const hasBody = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** A body that stays unread: the connection cannot carry another request. */
export function closeIfUnread(request: FastifyRequest, reply: FastifyReply): void {
  if (hasBody(request)) reply.header('connection', 'close')
}

/**
 * Sends an answer as it is. Fastify would add a charset to every JSON type without a serialiser of our own, and a type
 * to an empty text.
 */
export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  reply.code(status).headers(headers as Record<string, string>)
  return reply.serializer(asItIs).send(body.length === 0 ? undefined : body)
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

const asItIs = (body: string): string => body
