/** `/endpoints/{id}/versions` and `/endpoints/{id}/diff`: the versions of an endpoint, what differs, and the way back to one. */
import type { FastifyInstance } from 'fastify'
import type { Json } from '../../../domain/json.ts'
import type { EndpointService } from '../../../endpoints/endpoint-service.ts'
import { type ById, refuseOtherMethods, sendJson } from '../replies.ts'
import { entryOfChange, needs } from './auth-hook.ts'
import { originOf, send, sendAccepted } from './endpoint-routes.ts'
import { readDocument } from './read-document.ts'

type ByVersions = { Params: { id: string; version: string; other: string } }
type ByVersion = { Params: { id: string; version: string } }

/** No version has a longer number. */
const numberOf = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0)

export function serveVersions(scope: FastifyInstance, endpoints: EndpointService): void {
  scope.get<ById>('/endpoints/:id/versions', needs('viewer'), async (request, reply) =>
    send(request, reply, 200, (await endpoints.versions.list(request.params.id)) as Json),
  )
  scope.get<ByVersion>('/endpoints/:id/versions/:version', needs('viewer'), async (request, reply) => {
    const { id, version } = request.params
    return send(request, reply, 200, (await endpoints.versions.get(id, numberOf(version))) as Json)
  })
  scope.get<ByVersions>('/endpoints/:id/versions/:version/diff/:other', needs('viewer'), async (request, reply) => {
    const { id, version, other } = request.params
    return send(request, reply, 200, (await endpoints.versions.diff(id, numberOf(version), numberOf(other))) as Json)
  })
  scope.post<ById>('/endpoints/:id/diff', needs('viewer'), async (request, reply) =>
    sendJson(reply, 200, (await endpoints.diff(request.params.id, readDocument(request))) as Json),
  )
  scope.post<ByVersion>('/endpoints/:id/versions/:version/restore', needs('author'), async (request, reply) => {
    const { id, version } = request.params
    const ifMatch = request.headers['if-match']
    const origin = originOf(request)
    const accepted = await endpoints.restore(id, numberOf(version), ifMatch, origin, entryOfChange(request))
    return sendAccepted(request, reply, 200, accepted)
  })
  refuseOtherMethods(scope, '/endpoints/:id/versions', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/versions/:version', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/versions/:version/restore', ['POST'])
  refuseOtherMethods(scope, '/endpoints/:id/versions/:version/diff/:other', ['GET'])
  refuseOtherMethods(scope, '/endpoints/:id/diff', ['POST'])
}
