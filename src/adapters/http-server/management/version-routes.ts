/** `/endpoints/{id}/versions`: what an endpoint was, and the way back to it. */
import type { FastifyInstance } from 'fastify'
import type { Json } from '../../../domain/json.ts'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import { needs } from './auth-hook.ts'
import { demandJson, originOf, refuseOtherMethods, send, sendAccepted } from './endpoint-routes.ts'

type ById = { Params: { id: string } }
type ByVersion = { Params: { id: string; version: string } }

/** Longer numbers are none that a version has. */
const numberOf = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0)

/** In a scope whose callers may manage endpoints. */
export function serveVersions(scope: FastifyInstance, catalogue: EndpointService): void {
  scope.get<ById>('/endpoints/:id/versions', needs('viewer'), async (request, reply) =>
    send(request, reply, 200, (await catalogue.versions.list(request.params.id)) as Json),
  )
  scope.get<ByVersion>('/endpoints/:id/versions/:version', needs('viewer'), async (request, reply) => {
    const { id, version } = request.params
    return send(request, reply, 200, (await catalogue.versions.get(id, numberOf(version))) as Json)
  })
  scope.post<ByVersion>('/endpoints/:id/versions/:version/restore', needs('author'), async (request, reply) => {
    demandJson(request)
    const { id, version } = request.params
    const condition = request.headers['if-match']
    const accepted = await catalogue.restore(id, numberOf(version), condition, originOf(request))
    return sendAccepted(request, reply, 200, accepted)
  })
  refuseOtherMethods(scope, '/endpoints/:id/versions', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/versions/:version', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/versions/:version/restore', ['POST'])
}
