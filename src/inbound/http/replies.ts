/** What the server and its routes ask of a request, and how an answer is sent. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../../core/message.ts'

export const pathOf = (url: string): string => url.split('?', 1)[0] as string

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
