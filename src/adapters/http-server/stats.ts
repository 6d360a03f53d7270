/** `/endpoints/{id}/stats`: how the messages of an endpoint went. */
import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../domain/json.ts'
import type { Catalogue } from '../../registry/catalogue.ts'
import { refuseOtherMethods } from './management.ts'
import { needs } from './protect.ts'
import { sendJson } from './server.ts'

type ById = { Params: { id: string } }

/** In a scope whose callers may manage endpoints. */
export function serveStats(
  scope: FastifyInstance,
  catalogue: Catalogue,
  report: (endpointId: string) => Promise<JsonObject>,
): void {
  scope.get<ById>('/endpoints/:id/stats', needs('viewer'), async (request, reply) => {
    const { _id } = await catalogue.get(request.params.id)
    return sendJson(reply, 200, await report(_id))
  })
  refuseOtherMethods(scope, '/endpoints/:id/stats', ['GET'])
}
