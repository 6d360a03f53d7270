/** `/endpoints/{id}/stats`: how the messages of an endpoint went. */
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../../domain/json.ts'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import { sendJson } from '../replies.ts'
import { needs } from './auth-hook.ts'
import { refuseOtherMethods } from './endpoint-routes.ts'

type ById = { Params: { id: string } }

/** In a scope whose callers may manage endpoints. */
export function serveStats(
  scope: FastifyInstance,
  catalogue: EndpointService,
  report: (endpointId: string) => Promise<JsonObject>,
): void {
  scope.get<ById>('/endpoints/:id/stats', needs('viewer'), async (request, reply) => {
    const { _id } = await catalogue.get(request.params.id)
    return sendJson(reply, 200, await report(_id))
  })
  refuseOtherMethods(scope, '/endpoints/:id/stats', ['GET'])
}
