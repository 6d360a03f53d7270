/** `/endpoints/openapi.json` and `/endpoints/{id}/openapi.json`: what the endpoints take and answer, for those who call them. */
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import { isKnownEtag } from '../../../endpoints/precondition.ts'
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
  scope.get('/endpoints/openapi.json', needs('viewer'), async (request, reply) => {
    const left = new AbortController()
    reply.raw.once('close', () => left.abort())
    try {
      return sendDocument(request, reply, await publishedApi.ofAll([...queryOf(request)], left.signal))
    } catch (thrown) {
      if (left.signal.aborted) return reply.hijack()
      throw thrown
    }
  })
  scope.get<ById>('/endpoints/:id/openapi.json', needs('viewer'), async (request, reply) => {
    const { _id } = await endpoints.get(request.params.id)
    return sendDocument(request, reply, await publishedApi.ofOne(_id))
  })
  refuseOtherMethods(scope, '/endpoints/openapi.json', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/openapi.json', ['GET'])
}

function sendDocument(request: FastifyRequest, reply: FastifyReply, { bytes, etag }: WrittenOpenApi): FastifyReply {
  if (isKnownEtag(request.headers['if-none-match'], etag))
    return sendAnswer(reply, { status: 304, headers: { etag }, body: '' })
  reply.headers({ etag, 'content-type': 'application/json', 'content-length': String(bytes.byteLength) })
  return reply.send(Readable.from(inTurns(bytes)))
}

const CHUNK_BYTES = 65_536

/** Gives out one chunk in a turn of the event loop: a connection to the same machine takes megabytes at once. */
async function* inTurns(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += CHUNK_BYTES) {
    if (from > 0) await turn()
    yield bytes.subarray(from, from + CHUNK_BYTES)
  }
}
