/** `/endpoints/openapi.json` and `/endpoints/{id}/openapi.json`: what the endpoints take and answer, for those who call them. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import type { LiveOpenApi } from '../../../published-api/live-openapi.ts'
import type { WrittenOpenApi } from '../../../published-api/openapi-document.ts'
import { type ById, queryOf, refuseOtherMethods, sendAnswer } from '../replies.ts'
import { needs } from './auth-hook.ts'

/** In a scope with the auth hook. */
export function servePublishedApi(
  scope: FastifyInstance,
  publishedApi: LiveOpenApi,
  endpoints: Pick<EndpointService, 'get'>,
): void {
  scope.get('/endpoints/openapi.json', needs('viewer'), async (request, reply) =>
    sendDocument(request, reply, await publishedApi.ofAll([...queryOf(request)])),
  )
  scope.get<ById>('/endpoints/:id/openapi.json', needs('viewer'), async (request, reply) => {
    const { _id } = await endpoints.get(request.params.id)
    return sendDocument(request, reply, await publishedApi.ofOne(_id))
  })
  refuseOtherMethods(scope, '/endpoints/openapi.json', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/openapi.json', ['GET'])
}

/** Sends large documents chunk by chunk, so that no answer holds up others. */
function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { chunks, bytes, etag }: WrittenOpenApi,
): FastifyReply {
  if (request.headers['if-none-match'] === etag) return sendAnswer(reply, { status: 304, headers: { etag }, body: '' })
  reply.headers({ etag, 'content-type': 'application/json', 'content-length': String(bytes) })
  return reply.send(Readable.from(chunks))
}
